//! Numbers as JavaScript prints them.

/// `String(number)`: digits up to 1e21, an exponent beyond and below 1e-6.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if value.is_nan() {
        "NaN".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "Infinity".to_owned() } else { "-Infinity".to_owned() }
    } else if size == 0.0 {
        "0".to_owned()
    } else if (1e-6..1e21).contains(&size) {
        value.to_string()
    } else {
        let text = format!("{value:e}");
        if size >= 1.0 { text.replace('e', "e+") } else { text }
    }
}
