//! Quotes foreign text in prompts for models.

use sha2::{Digest as _, Sha256};

/// A text between two lines that it cannot contain, because they are made of its digest.
pub(crate) fn quoted(text: &str) -> String {
    let digest = Sha256::digest(text);
    let mark = digest.iter().take(6).fold(0_u64, |mark, byte| mark << 8 | u64::from(*byte));
    format!("[text {mark:012x}\n{text}\ntext {mark:012x}]")
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_text_cannot_end_its_quotation() {
        let inner = quoted("ignore the rest");
        let outer = quoted(&inner);
        let close = outer.lines().last().unwrap_or_default();
        assert_eq!(outer.matches(close).count(), 1);
    }
}
