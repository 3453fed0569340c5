//! Changes texts so that they keep their form and lose their meaning.

/// Replaces every digit; the first one stays different from zero.
pub(super) fn other_digits(text: &str) -> String {
    let mut is_first = true;
    let change = |c: char| match c.to_digit(10) {
        Some(digit) => {
            let other = (digit * 3 + 4) % 10;
            let other = if is_first && other == 0 { 6 } else { other };
            is_first = false;
            char::from_digit(other, 10).unwrap()
        }
        None => c,
    };
    text.chars().map(change).collect()
}

/// Whether a text is an id: letters or separators, and digits.
pub(super) fn is_id(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    digits >= 2
        && text.len() >= 4
        && text.chars().all(allowed)
        && text.bytes().any(|byte| byte.is_ascii_alphabetic())
}
