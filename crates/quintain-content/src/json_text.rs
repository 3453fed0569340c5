//! JSON in what a target wrote: as the whole text, or somewhere in prose.

use quintain_source::{Diagnostics, SourceFile, Sources};
use serde::de::IgnoredAny;
use serde_json::Value;

/// An object in prose is not looked for beyond this many bytes.
const MAX_OBJECT: usize = 100_000;
/// Braces inside of braces make it necessary to look at the same text again, but not forever.
const MAX_WORK: usize = 4 << 20;

/// Whether the whole text is JSON, however deep.
pub fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// The whole text as JSON. Halves of surrogate pairs, which JavaScript lets pass, become U+FFFD.
///
/// # Errors
/// What the reader says.
pub fn parse(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(text).or_else(|error| {
        if is_json(text) {
            serde_json::from_str(&without_lone_surrogates(text))
        } else {
            Err(error)
        }
    })
}

fn without_lone_surrogates(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (taken, kept) = match (surrogate(rest), rest.get(6..).and_then(surrogate)) {
            (Some(high), Some(low)) if high < 0xDC00 && low >= 0xDC00 => (12, None),
            (Some(_), _) => (6, Some("\\ufffd")),
            (None, _) => (rest.char_indices().nth(2).map_or(rest.len(), |(end, _)| end), None),
        };
        out.push_str(kept.unwrap_or(&rest[..taken]));
        rest = &rest[taken..];
    }
    out.push_str(rest);
    out
}

/// The escape of a surrogate at the start of the text.
fn surrogate(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let unit = u16::from_str_radix(digits, 16).ok()?;
    (0xD800..=0xDFFF).contains(&unit).then_some(unit)
}

/// The objects inside prose, outermost only. As in promptfoo, braces are counted without
/// regard to quotes, what lies between them is read as YAML in which `//` begins a comment, and what
/// the end of the text cut off is completed.
pub fn objects(text: &str) -> Vec<Value> {
    found_objects(text).into_iter().map(|found| found.value).collect()
}

/// An object inside prose.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundObject {
    pub value: Value,
    /// Whether the text ends before the object does.
    pub is_cut: bool,
}

/// The same, with what says whether each of them is whole.
pub fn found_objects(text: &str) -> Vec<FoundObject> {
    let ends = matching_braces(text.as_bytes());
    let mut found = Vec::new();
    let mut from = 0;
    let mut work = 0;
    while let Some(start) = text[from..].find('{').map(|at| from + at) {
        // A brace that nothing follows is no object.
        if start + 1 == text.len() {
            break;
        }
        let limit = text.floor_char_boundary(text.len().min(start + MAX_OBJECT));
        let end = ends.get(&start).copied().filter(|end| *end <= limit).unwrap_or(limit);
        work += end - start;
        if work > MAX_WORK {
            break;
        }
        match object(&text[start..end]) {
            Some(object) => {
                found.push(object);
                from = end;
            }
            None => from = start + 1,
        }
    }
    found
}

/// Where the brace that closes each opening one ends.
fn matching_braces(text: &[u8]) -> std::collections::HashMap<usize, usize> {
    let mut open = Vec::new();
    let mut ends = std::collections::HashMap::new();
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'{' => open.push(at),
            b'}' => {
                if let Some(start) = open.pop() {
                    ends.insert(start, at + 1);
                }
            }
            _ => {}
        }
    }
    ends
}

fn object(text: &str) -> Option<FoundObject> {
    if let Ok(value @ Value::Object(_)) = parse(text) {
        return Some(FoundObject { value, is_cut: false });
    }
    let count = |brace: u8| text.bytes().filter(|byte| *byte == brace).count();
    let missing = count(b'{').saturating_sub(count(b'}'));
    let completed = hash_comments(text) + &"}".repeat(missing);
    let value = yaml(&completed)?;
    (value.is_object() || value.is_array()).then_some(FoundObject { value, is_cut: missing > 0 })
}

/// YAML as data; nothing if it cannot be read.
pub fn yaml(text: &str) -> Option<Value> {
    let mut sources = Sources::new();
    let id = sources.add(SourceFile::new("text.yaml", text));
    quintain_source::read(&sources, id, &mut Diagnostics::new()).map(|node| node.to_json())
}

/// `// comment` into `# comment`, except in quotes and in addresses.
fn hash_comments(text: &str) -> String {
    let lines = text.split('\n').map(|line| match comment_start(line) {
        Some(at) => {
            let slashes = line[at..].bytes().take_while(|byte| *byte == b'/').count();
            format!("{}{}{}", &line[..at], "#".repeat(slashes / 2), &line[at + slashes..])
        }
        None => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn comment_start(line: &str) -> Option<usize> {
    let bytes = line.as_bytes();
    let letter =
        |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_alphabetic);
    let mut quote = None;
    let mut word = 0;
    let mut address = false;
    for (at, byte) in bytes.iter().copied().enumerate() {
        let escaped = at > 0 && bytes[at - 1] == b'\\';
        match quote {
            // An apostrophe inside of a word ends nothing.
            Some(open) if open == byte && !escaped && (open == b'"' || !letter(Some(at + 1))) => {
                quote = None;
            }
            None if byte == b'\'' && !letter(at.checked_sub(1)) => quote = Some(byte),
            None if byte == b'"' => quote = Some(byte),
            None if byte == b'/' && bytes.get(at + 1) == Some(&b'/') => {
                address |= at > word && bytes[at - 1] == b':';
                if !address {
                    return Some(at);
                }
            }
            _ => {}
        }
        if byte.is_ascii_whitespace() {
            word = at + 1;
            address = false;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_is_what_javascript_takes_for_it() {
        for text in ["{}", " [1]\n", "\"\\ud800\"", "1e999", "null", &"[".repeat(9000)] {
            assert_eq!(is_json(text), !text.starts_with("[["), "{}", &text[..2]);
        }
        let deep = format!("{}{}", "[".repeat(9000), "]".repeat(9000));
        assert!(is_json(&deep));
        for text in ["", "{'a': 1}", "{\"a\": 1,}", "01", "NaN", "\u{feff}{}", "\"a\nb\""] {
            assert!(!is_json(text), "{text}");
        }
    }

    #[test]
    fn halves_of_pairs_are_replaced() {
        assert_eq!(parse(r#""\ud800 \\ud800 \ud83d\ude00""#).unwrap(), "\u{fffd} \\ud800 😀");
    }

    #[test]
    fn objects_are_found_in_prose() {
        assert_eq!(objects("so {\"a\": 1} and {b: [2]}!"), [json!({"a": 1}), json!({"b": [2]})]);
        assert_eq!(objects("cut {\"a\": {\"b\": 1"), [json!({"a": {"b": 1}})]);
        assert_eq!(objects("cut {"), [] as [Value; 0]);
        assert_eq!(objects("{\"a\": 1, // one\n \"b\": 2}"), [json!({"a": 1, "b": 2})]);
        assert_eq!(objects("{u: https://x.org//y}"), [json!({"u": "https://x.org//y"})]);
        assert_eq!(objects("[1, 2] } nothing"), [] as [Value; 0]);
    }

    #[test]
    fn an_object_that_the_text_cuts_off_is_marked() {
        let is_cut =
            |text: &str| found_objects(text).iter().map(|one| one.is_cut).collect::<Vec<_>>();
        assert_eq!(is_cut("{\"a\": 1} {\"b\": {\"c\": 1}"), [false, true]);
        assert_eq!(is_cut("{\"a\": \"{\"} {b: 2}"), [false]);
    }

    #[test]
    fn braces_upon_braces_take_bearable_time() {
        assert!(objects(&"{".repeat(1_000_000)).is_empty());
        assert!(objects(&format!("{}!{}", "{\"".repeat(50_000), "}".repeat(50_000))).is_empty());
    }
}
