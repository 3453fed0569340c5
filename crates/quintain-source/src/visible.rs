//! Makes characters visible that could otherwise deceive the reader of a terminal.

use std::borrow::Cow;
use std::fmt::Write;

/// Text in which control, bidirectional, zero-width and other invisible characters are written
/// as `<U+202E>`. Line feeds and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    if is_honest(text) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    text.chars().for_each(|c| push(&mut shown, c));
    Cow::Owned(shown)
}

/// JSON text in which the same characters are written as `\u202e`, which keeps its meaning.
pub fn visible_json(json: &str) -> Cow<'_, str> {
    if is_honest(json) {
        return Cow::Borrowed(json);
    }
    let mut shown = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if deceives(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// The same for a text with offsets into it, which are adjusted.
pub(crate) fn visible_with_offsets(text: &str, offsets: &mut [usize]) -> String {
    let mut order: Vec<usize> = (0..offsets.len()).collect();
    order.sort_by_key(|index| offsets[*index]);
    let mut waiting = order.into_iter().peekable();
    let mut shown = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        while let Some(index) = waiting.next_if(|index| offsets[*index] <= at) {
            offsets[index] = shown.len();
        }
        push(&mut shown, c);
    }
    waiting.for_each(|index| offsets[index] = shown.len());
    shown
}

/// Nearly all text is plain ASCII, and checking bytes is faster than checking characters.
fn is_honest(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t'))
        || !text.chars().any(deceives)
}

fn push(shown: &mut String, c: char) {
    if deceives(c) {
        let _ = write!(shown, "<U+{:04X}>", c as u32);
    } else {
        shown.push(c);
    }
}

fn deceives(c: char) -> bool {
    if c.is_control() {
        return !matches!(c, '\n' | '\t');
    }
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deceiving_characters_are_written_out() {
        assert_eq!(visible("a\u{1b}[31m\u{202e}b\u{200b}"), "a<U+001B>[31m<U+202E>b<U+200B>");
        assert_eq!(visible("\u{e0041}\r\u{9b}"), "<U+E0041><U+000D><U+009B>");
        assert!(matches!(visible("plain\tårø 漢字 😀\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn bytes_and_characters_agree_on_what_is_plain() {
        for c in (0..=0xff).map(char::from) {
            assert_eq!(is_honest(&c.to_string()), !deceives(c), "{c:?}");
        }
    }

    #[test]
    fn json_keeps_its_meaning() {
        let json = "{\n  \"a\": \"\u{202e}b\u{e0041}\"\n}";
        let shown = visible_json(json);
        assert_eq!(shown, "{\n  \"a\": \"\\u202eb\\udb40\\udc41\"\n}");
        let same: serde_json::Value = serde_json::from_str(&shown).unwrap();
        assert_eq!(same, serde_json::from_str::<serde_json::Value>(json).unwrap());
    }

    #[test]
    fn offsets_follow_their_characters() {
        let mut offsets = [4, 0, 1, 99];
        assert_eq!(visible_with_offsets("a\u{200b}b", &mut offsets), "a<U+200B>b");
        assert_eq!(offsets, [9, 0, 1, 10]);
    }
}
