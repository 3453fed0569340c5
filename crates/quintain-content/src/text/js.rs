//! Numbers, white space and JSON as JavaScript has them: promptfoo's verdicts depend on it.

use serde_json::Value;

pub use super::javascript_json::stringify;
pub use super::javascript_number::number;

/// What `\s` stands for and `trim` cuts off.
pub fn is_space(c: char) -> bool {
    c != '\u{85}' && (c.is_whitespace() || c == '\u{feff}')
}

pub fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// The words between white space; none for blank text.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|word| !word.is_empty())
}

/// `number.toFixed(digits)`, which rounds a tie away from zero.
pub fn to_fixed(value: f64, digits: u8) -> String {
    if !value.is_finite() || value.abs() >= 1e21 {
        return number(value);
    }
    let (size, digits) = (value.abs(), usize::from(digits));
    // Only a multiple of 1/2^(digits+1) can lie in the middle between two texts.
    let scaled = size * f64::exp2(f64::from(u8::try_from(digits + 1).unwrap_or(u8::MAX)));
    let tie = scaled.fract() == 0.0 && format!("{size:.*}", digits + 1).ends_with('5');
    let size = if tie { size.next_up() } else { size };
    let text = format!("{size:.digits$}");
    if value < 0.0 { format!("-{text}") } else { text }
}

/// `number.toPrecision(digits)` of a number that is not negative.
pub fn to_precision(value: f64, digits: u8) -> String {
    if !value.is_finite() {
        return number(value);
    }
    let digits = i32::from(digits.max(1));
    let text = format!("{value:.*e}", usize::try_from(digits - 1).unwrap_or_default());
    let exponent = text.split_once('e').and_then(|(_, e)| e.parse::<i32>().ok()).unwrap_or(0);
    if exponent < -6 || exponent >= digits {
        return if exponent > 0 { text.replace('e', "e+") } else { text };
    }
    format!("{value:.*}", usize::try_from(digits - 1 - exponent).unwrap_or_default())
}

/// `String(value)`: lists without brackets, maps without content.
pub fn string(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let shown = items.iter().map(|item| match item {
                Value::Null => String::new(),
                other => string(other),
            });
            shown.collect::<Vec<_>>().join(",")
        }
        Value::Object(_) => "[object Object]".to_owned(),
        scalar => stringify(scalar),
    }
}

/// Whether JavaScript takes the value for false.
pub fn is_falsy(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Number(number) => number.as_f64() == Some(0.0),
        _ => false,
    }
}

/// `util.isDeepStrictEqual` for JSON: the order of keys and the way numbers are written do not
/// count, kinds do.
pub fn deep_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            a == b
                || (a.is_f64() || b.is_f64())
                    && a.as_f64().map(f64::to_bits) == b.as_f64().map(f64::to_bits)
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| deep_equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| deep_equal(a, b)))
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_look_as_in_javascript() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (0.1, "0.1"),
            (-2.5, "-2.5"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (1.5e300, "1.5e+300"),
            (0.000_001, "0.000001"),
            (1.5e-7, "1.5e-7"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn ties_are_rounded_away_from_zero() {
        for (value, digits, text) in [
            (0.125, 2, "0.13"),
            (-0.125, 2, "-0.13"),
            (1.005, 2, "1.00"),
            (0.5, 0, "1"),
            (2.5, 0, "3"),
            (0.75, 4, "0.7500"),
            (0.0, 2, "0.00"),
            (1e21, 2, "1e+21"),
        ] {
            assert_eq!(to_fixed(value, digits), text);
        }
    }

    #[test]
    fn precision_counts_significant_digits() {
        for (value, text) in [
            (0.0, "0.0"),
            (0.002, "0.0020"),
            (0.123, "0.12"),
            (12.3, "12"),
            (123.0, "1.2e+2"),
            (0.000_000_1, "1.0e-7"),
        ] {
            assert_eq!(to_precision(value, 2), text);
        }
    }

    #[test]
    fn json_text_has_the_numbers_of_javascript() {
        assert_eq!(stringify(&json!({"a": [1.0, 1e21, "ü\n"]})), r#"{"a":[1,1e+21,"ü\n"]}"#);
        assert_eq!(stringify(&json!(12_345_678_901_234_567_890_u64)), "12345678901234567890");
        assert_eq!(string(&json!([1.0, null, ["a", {}]])), "1,,a,[object Object]");
    }

    #[test]
    fn equality_looks_at_kinds_but_not_at_order() {
        assert!(deep_equal(&json!({"a": 1, "b": [2.0]}), &json!({"b": [2], "a": 1.0})));
        assert!(!deep_equal(&json!(1), &json!("1")));
        assert!(!deep_equal(&json!({"a": 1}), &json!({"a": 1, "b": null})));
        assert!(!deep_equal(&json!(-0.0), &json!(0)));
    }

    #[test]
    fn white_space_is_that_of_javascript() {
        assert_eq!(trim("\u{feff} a\u{a0}"), "a");
        assert_eq!(trim("\u{85}a"), "\u{85}a");
        assert_eq!(words(" a\u{2028}b  c ").collect::<Vec<_>>(), ["a", "b", "c"]);
    }
}
