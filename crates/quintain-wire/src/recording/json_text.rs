//! The tokens of a JSON text that is known to be valid, by their positions. Nothing is parsed into values, so numbers stay
//! as written, and neither depth nor unusual escapes matter.

use std::borrow::Cow;
use std::ops::Range;

/// What a token is. Brackets, commas and words are not of interest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A string before a colon.
    Key,
    /// Any other string.
    Text,
    Number,
}

/// A key, a string or a number, with its place in the text; strings with their quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// The number of objects and arrays around it.
    pub(super) depth: usize,
    pub(super) place: Range<usize>,
}

/// The keys, strings and numbers of a valid JSON text, in order.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = Token> + '_ {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0_usize);
    std::iter::from_fn(move || {
        while let Some(&byte) = bytes.get(at) {
            let start = at;
            match byte {
                b'"' => {
                    at = end_of_string(bytes, start);
                    let next = bytes[at..].iter().find(|byte| !byte.is_ascii_whitespace());
                    let kind = if next == Some(&b':') { Kind::Key } else { Kind::Text };
                    return Some(Token { kind, depth, place: start..at });
                }
                b'-' | b'0'..=b'9' => {
                    let part =
                        |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
                    at += bytes[start..].iter().take_while(|byte| part(byte)).count();
                    return Some(Token { kind: Kind::Number, depth, place: start..at });
                }
                b'[' | b'{' => {
                    depth += 1;
                    at += 1;
                }
                b']' | b'}' => {
                    depth = depth.saturating_sub(1);
                    at += 1;
                }
                _ => at += 1,
            }
        }
        None
    })
}

/// How deeply the objects and arrays of a valid JSON text are nested.
pub(super) fn depth(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut now, mut deepest) = (0, 0_usize, 0);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = end_of_string(bytes, at);
                continue;
            }
            b'[' | b'{' => {
                now += 1;
                deepest = deepest.max(now);
            }
            b']' | b'}' => now = now.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    deepest
}

/// The position after the closing quote.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(next) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += next;
        if bytes[at] == b'"' {
            return at + 1;
        }
        at += 2;
    }
    bytes.len()
}

/// The content of a string token without its quotes, escapes decoded. A lone surrogate becomes U+FFFD.
pub(super) fn decoded(token: &str) -> Cow<'_, str> {
    let inner = token.strip_prefix('"').unwrap_or(token);
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    if !inner.contains('\\') {
        return Cow::Borrowed(inner);
    }
    let mut text = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        let escape = &rest[at + 1..];
        let Some(letter) = escape.chars().next() else { break };
        rest = &escape[letter.len_utf8()..];
        match letter {
            'b' => text.push('\u{8}'),
            'f' => text.push('\u{c}'),
            'n' => text.push('\n'),
            'r' => text.push('\r'),
            't' => text.push('\t'),
            'u' => {
                let (character, length) = unicode(rest);
                text.push(character);
                rest = rest.get(length..).unwrap_or_default();
            }
            other => text.push(other),
        }
    }
    text.push_str(rest);
    Cow::Owned(text)
}

/// The character of a `\u` escape, and the number of bytes behind the `u` that it takes.
fn unicode(rest: &str) -> (char, usize) {
    let unit = |at: usize| {
        let digits = rest.get(at..at + 4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let Some(first) = unit(0) else { return (char::REPLACEMENT_CHARACTER, 0) };
    let second = rest.get(4..6).filter(|mark| *mark == "\\u").and_then(|_| unit(6));
    let pair = second.map(|second| char::decode_utf16([first, second]).next());
    if let (0xD800..=0xDBFF, Some(Some(Ok(character)))) = (first, pair) {
        return (character, 10);
    }
    (char::from_u32(first.into()).unwrap_or(char::REPLACEMENT_CHARACTER), 4)
}

/// A text as a JSON string.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The place of a slice in the text that it was taken from.
pub(super) fn place_of(part: &str, text: &str) -> Option<Range<usize>> {
    let start = (part.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    let place = start..start + part.len();
    (text.get(place.clone()) == Some(part)).then_some(place)
}

/// The text with other texts at these places, which are in order and do not overlap.
pub(super) fn edited(text: &str, edits: &[(Range<usize>, String)]) -> String {
    let mut edited = String::with_capacity(text.len() + 32);
    let mut at = 0;
    for (place, new) in edits {
        edited.push_str(text.get(at..place.start).unwrap_or_default());
        edited.push_str(new);
        at = place.end;
    }
    edited.push_str(text.get(at..).unwrap_or_default());
    edited
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(text: &str) -> Vec<(Kind, &str)> {
        tokens(text).map(|token| (token.kind, &text[token.place])).collect()
    }

    #[test]
    fn keys_strings_and_numbers_are_found_as_written() {
        let text = r#"{"a" : "b\"\\", "c":[-1.50e+400, true, "d: "], "e":{"f":null}}"#;
        let expected = [
            (Kind::Key, r#""a""#),
            (Kind::Text, r#""b\"\\""#),
            (Kind::Key, r#""c""#),
            (Kind::Number, "-1.50e+400"),
            (Kind::Text, r#""d: ""#),
            (Kind::Key, r#""e""#),
            (Kind::Key, r#""f""#),
        ];
        assert_eq!(shown(text), expected);
    }

    #[test]
    fn only_brackets_outside_of_strings_nest() {
        for (text, expected) in
            [("1", 0), (r#"["[[{"]"#, 1), (r#"{"a":[1,{}],"b\"[":[[]]}"#, 3), ("[[],[[]]]", 3)]
        {
            assert_eq!(depth(text), expected, "{text}");
        }
    }

    #[test]
    fn escapes_are_decoded_even_where_they_are_not_needed() {
        for (token, plain) in [
            (r#""a\/b\u002Bc""#, "a/b+c"),
            (r#""\ud83d\ude00""#, "😀"),
            (r#""\ud83dx""#, "\u{fffd}x"),
            (r#""\ud83d\u0041""#, "\u{fffd}A"),
            (r#""\u00""#, "\u{fffd}00"),
            (r#""\n\t\b""#, "\n\t\u{8}"),
        ] {
            assert_eq!(decoded(token), plain, "{token}");
        }
    }

    proptest! {
        #[test]
        fn what_a_library_writes_is_decoded_like_it_reads_it(text in any::<String>()) {
            let token = quoted(&text);
            prop_assert_eq!(decoded(&token), text);
        }

        #[test]
        fn any_text_is_scanned_without_panic(text in any::<String>()) {
            for token in tokens(&text) {
                let _ = decoded(text.get(token.place).unwrap_or_default());
            }
        }
    }
}
