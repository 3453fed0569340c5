//! How random a text looks.

/// Bits per character of the beginning of a text.
pub(super) fn bits(text: &str) -> f64 {
    let bytes = &text.as_bytes()[..text.len().min(256)];
    let mut counts = [0_u32; 256];
    for byte in bytes {
        counts[usize::from(*byte)] += 1;
    }
    let length = bytes.len() as f64;
    let shares = counts.iter().filter(|count| **count > 0).map(|count| f64::from(*count) / length);
    -shares.map(|share| share * share.log2()).sum::<f64>()
}

/// Letters and digits mixed, and not too regular.
pub(super) fn looks_random(text: &str, least: f64) -> bool {
    let has = |of: fn(&u8) -> bool| text.bytes().take(256).any(|byte| of(&byte));
    has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic) && bits(text) >= least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_text_has_more_bits() {
        assert!(bits("aaaaaaaa") < 0.1);
        assert!(bits("kX9vQ2mL7pR4tZ8w") > 3.5);
        assert!(looks_random("kX9vQ2mL7pR4tZ8w", 3.5));
        assert!(!looks_random("spinner-fading-circle", 3.0), "it has no digits");
        assert!(!looks_random("", 3.0));
    }
}
