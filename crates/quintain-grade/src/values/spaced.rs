//! Numbers whose groups of digits are separated by plain spaces: `1 200,50`. Two numbers side by side look alike, so both
//! readings count.

use super::literal::{self, Readings};

/// A number in a text, in bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spaced {
    pub start: usize,
    pub end: usize,
    pub readings: Readings,
}

/// All numbers of this form.
pub fn numbers(text: &str) -> Vec<Spaced> {
    let bytes = text.as_bytes();
    let digits =
        |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let first = digits(at);
        if first == 0 {
            at += 1;
            continue;
        }
        let start = at;
        let is_inside = start > 0
            && (bytes[start - 1].is_ascii_alphanumeric() || b"-.,:/_#".contains(&bytes[start - 1]));
        at += first;
        if is_inside || first > 3 || text[start..].starts_with('0') {
            continue;
        }
        let mut groups = 0;
        while bytes.get(at) == Some(&b' ') && digits(at + 1) == 3 {
            at += 4;
            groups += 1;
        }
        if groups == 0 {
            continue;
        }
        if matches!(bytes.get(at), Some(b',' | b'.')) {
            let decimals = digits(at + 1);
            at += if decimals > 0 { decimals + 1 } else { 0 };
        }
        let is_cut = bytes.get(at).is_some_and(u8::is_ascii_alphanumeric);
        let plain = text[start..at].replace(' ', "_");
        if let Some(readings) = literal::read(&plain).filter(|_| !is_cut) {
            found.push(Spaced { start, end: at, readings });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn groups_of_three_make_one_number() {
        let values = |text: &str| {
            numbers(text).iter().map(|one| one.readings.first.value).collect::<Vec<_>>()
        };
        assert_eq!(values("amount 1 200,50 or 12 345 678"), [1200.5, 12_345_678.0]);
        assert_eq!(values("1 20 3000, 007 123, 2026-05 100, 5 1000"), [0.0; 0]);
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in "[0-9 .,aé-]{0,30}") {
            for found in numbers(&text) {
                prop_assert!(text.get(found.start..found.end).is_some());
            }
        }
    }
}
