//! JSON whose end is missing: the head of a large file, or what a log cut off.

use serde_json::Value;

use super::record::json_in;

/// A text that was cut off, with its last string and its brackets closed. None if it breaks off elsewhere.
pub(crate) fn completed(text: &str) -> Option<Value> {
    let (_, open) = open_brackets(text.as_bytes());
    // Without an odd backslash at the end, which starts an escape.
    let cut = text.trim_end_matches('\\');
    let escapes = text.len() - cut.len();
    let mut whole = text[..cut.len() + escapes / 2 * 2].to_owned();
    // An escape of four digits may be cut in the middle.
    if let Some(start) = whole.rfind("\\u").filter(|start| whole.len() - start < 6) {
        whole.truncate(start);
    }
    whole.push('"');
    whole.extend(open.iter().rev().map(|bracket| if *bracket == b'{' { '}' } else { ']' }));
    json_in(&whole)
}

/// The start of a document up to its end or to what is broken, with its open brackets closed.
pub(crate) fn readable(head: &[u8]) -> Option<Value> {
    let mut head = head;
    loop {
        let (cut, _) = open_brackets(head);
        let (_, open) = open_brackets(&head[..cut]);
        let mut text = head[..cut].to_vec();
        text.extend(open.iter().rev().map(|bracket| if *bracket == b'{' { b'}' } else { b']' }));
        let mut values = serde_json::Deserializer::from_slice(&text).into_iter::<Value>();
        match values.next()? {
            Ok(value) => return Some(value),
            Err(error) => {
                // Halves of surrogate pairs, which JavaScript and Python write.
                let whole = std::str::from_utf8(&text).ok();
                let whole = whole.and_then(|text| quintain_content::json_text::parse(text).ok());
                if whole.is_some() {
                    return whole;
                }
                let broken_at = offset(head, error.line(), error.column()).saturating_sub(1);
                // Each round is shorter, and the first one is usually enough.
                head = &head[..broken_at.min(cut.saturating_sub(1))];
            }
        }
        if head.is_empty() {
            return None;
        }
    }
}

fn offset(text: &[u8], line: usize, column: usize) -> usize {
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    let before: usize = lines.take(line.saturating_sub(1)).map(<[u8]>::len).sum();
    (before + column).min(text.len())
}

/// The last place after a whole value or an opening bracket, and the brackets that are open at the end.
fn open_brackets(text: &[u8]) -> (usize, Vec<u8>) {
    let mut open = Vec::new();
    let mut cut = 0;
    let mut in_string = false;
    let mut escaped = false;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => {
                open.push(*byte);
                cut = at + 1;
            }
            b'}' | b']' => {
                open.pop();
                cut = at + 1;
            }
            b',' => cut = at,
            _ => {}
        }
    }
    (cut, open)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_head_of_a_document_is_completed() {
        for (text, expected) in [
            (r#"{"a": [1, {"b": "x"#, json!({"a": [1, {}]})),
            (r#"[{"a": 1}, {"b": 2, "c"#, json!([{"a": 1}, {"b": 2}])),
            (r#"{"a": ["x, ]"], "b"#, json!({"a": ["x, ]"]})),
        ] {
            assert_eq!(readable(text.as_bytes()), Some(expected), "{text}");
        }
        assert_eq!(readable(b"{\"a"), Some(json!({})));
    }

    #[test]
    fn a_cut_string_is_kept() {
        for (text, expected) in [
            (r#"{"a": [{"b": "x y"#, json!({"a": [{"b": "x y"}]})),
            (r#"{"a": "x\"#, json!({"a": "x"})),
            (r#"{"a": "x\\"#, json!({"a": "x\\"})),
            (r#"{"a": "x\u00"#, json!({"a": "x"})),
        ] {
            assert_eq!(completed(text), Some(expected), "{text}");
        }
        assert_eq!(completed(r#"{"a": 1, "b"#), None);
        assert_eq!(completed(r#"{"a": 1"#), None);
    }
}
