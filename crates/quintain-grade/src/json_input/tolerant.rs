//! JSON that is valid but beyond the limits of our parser: numbers out of range and values that are nested too deep. A
//! recorder writes what passes, so its own captures must be readable whatever they contain.

use serde_json::Value;

/// Deeper values are left out: the parser goes to 128, and a frame is inside of an entry.
const MAX_DEPTH: usize = 100;

/// The value of a text, with `null` for what is nested too deep and the largest number for what is beyond it. None if
/// the text is not JSON.
pub(crate) fn parse(text: &str) -> Option<Value> {
    quintain_content::json_text::is_json(text)
        .then(|| quintain_content::json_text::parse(&within_limits(text)).ok())
        .flatten()
}

/// The same text without what is beyond the limits. The text must be JSON.
fn within_limits(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let (mut at, mut depth) = (0, 0);
    while let Some(byte) = bytes.get(at) {
        let end = match byte {
            b'"' => string_end(bytes, at),
            b'-' | b'0'..=b'9' => {
                let is_part = |byte: &&u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
                at + bytes[at..].iter().take_while(is_part).count()
            }
            _ => at + 1,
        };
        match byte {
            b'{' | b'[' => {
                depth += 1;
                if depth == MAX_DEPTH {
                    out.push_str("null");
                }
            }
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        let is_closing = matches!(byte, b'}' | b']');
        if depth + usize::from(is_closing) < MAX_DEPTH {
            let part = &text[at..end];
            let is_number = matches!(byte, b'-' | b'0'..=b'9');
            let is_infinite = || part.parse::<f64>().is_ok_and(f64::is_infinite);
            match is_number && is_infinite() {
                true if part.starts_with('-') => out.push_str("-1.7976931348623157e308"),
                true => out.push_str("1.7976931348623157e308"),
                false => out.push_str(part),
            }
        }
        at = end;
        // A character of several bytes is only in strings.
        while !text.is_char_boundary(at) {
            at += 1;
        }
    }
    out
}

fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn large_numbers_and_deep_values_are_cut() {
        assert_eq!(
            parse(r#"{"n": 1e400, "m": -1e999}"#),
            Some(json!({"n": f64::MAX, "m": f64::MIN}))
        );
        let deep =
            format!(r#"{{"id": 1, "d": {}"]"{}, "e": 2}}"#, "[".repeat(200), "]".repeat(200));
        let value = parse(&deep).unwrap();
        assert_eq!((&value["id"], &value["e"]), (&json!(1), &json!(2)));
        assert_eq!(parse("{\"a\": }"), None);
        assert_eq!(parse("[1] x"), None);
    }

    proptest! {
        #[test]
        fn ordinary_json_stays_the_same(text in "\\PC{0,20}", number in any::<f64>()) {
            let value = json!({"a": [text, number], "é": {"b": null, "c": [[true]]}});
            prop_assert_eq!(parse(&value.to_string()), Some(value));
        }

        #[test]
        fn any_text_is_read_without_panic(text in "[\\[\\]{}\",:0-9eE.+é\\\\ -]{0,40}") {
            let _ = parse(&text);
        }
    }
}
