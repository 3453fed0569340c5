//! A cell under `__expected`: `contains: x`, `similar(0.8): y`, `fn: output.length > 3`, or the
//! output itself.

use quintain_source::{Key, Node, Span};

use crate::assertions;

const JAVASCRIPT: [&str; 3] = ["javascript:", "fn:", "eval:"];
const RUBRIC: [&str; 2] = ["grade:", "llm-rubric:"];
const LISTS: [&str; 4] = ["contains-all", "contains-any", "icontains-all", "icontains-any"];
const UNTRIMMED: [&str; 2] = ["contains-json", "is-json"];
/// Types for which promptfoo sets a threshold even if the cell has none.
const THRESHOLDS: [&str; 13] = [
    "answer-relevance",
    "classifier",
    "context-faithfulness",
    "context-recall",
    "context-relevance",
    "cost",
    "latency",
    "levenshtein",
    "perplexity-score",
    "perplexity",
    "rouge-n",
    "similar",
    "starts-with",
];

/// Converts a cell into an entry of `assert`.
pub(super) fn assertion(cell: &str, span: Span) -> Vec<(Key, Node)> {
    let script = cell.strip_prefix("file://").map(|path| {
        let suffix = path.rsplit('.').next().unwrap_or_default();
        crate::files::language_of(suffix.split(':').next().unwrap_or_default())
    });
    let text = |kind: &str, value: &str| entry(kind, Some(Node::text(value, span)), span);
    if let Some(value) = stripped(cell, &JAVASCRIPT) {
        return text("javascript", value.trim());
    }
    match script.flatten() {
        Some(quintain_evidence::code::Language::JavaScript) => return text("javascript", cell),
        Some(quintain_evidence::code::Language::Python) => return text("python", cell),
        Some(quintain_evidence::code::Language::Ruby) => return text("ruby", cell),
        None => {}
    }
    if let Some(value) = stripped(cell, &RUBRIC) {
        return text("llm-rubric", value);
    }
    if let Some(value) = cell.strip_prefix("python:") {
        return text("python", value.trim());
    }
    typed(cell, span).unwrap_or_else(|| text("equals", cell))
}

/// `[not-]type[(threshold)][: value]`
fn typed(cell: &str, span: Span) -> Option<Vec<(Key, Node)>> {
    let bare = cell.strip_prefix("not-").unwrap_or(cell);
    let negated = bare.len() < cell.len();
    // Types may contain a colon, so the longest matching name counts.
    let ends = |rest: &str| rest.is_empty() || rest.starts_with(['(', ':']);
    let name_of = |name: &&str| bare.strip_prefix(*name).is_some_and(ends);
    let name = names().filter(name_of).max_by_key(|name| name.len())?;
    let rest = &bare[name.len()..];
    let (threshold, rest) = match rest.strip_prefix('(') {
        Some(inner) => {
            let (number, rest) = inner.split_once(')')?;
            let plain = |c: char| c.is_ascii_digit() || c == '.';
            let number = Some(number).filter(|text| text.chars().all(plain));
            (Some(number?.parse::<f64>().ok()?), rest)
        }
        None => (None, rest),
    };
    let value = match rest.strip_prefix(':') {
        None if rest.is_empty() => None,
        value => Some(value?),
    };
    let kind = if negated { format!("not-{name}") } else { name.to_owned() };
    let node = value.map(|value| {
        if LISTS.contains(&name) && !value.trim().is_empty() {
            let items = list(value).into_iter().map(|item| Node::text(item, span));
            Node::seq(items.collect(), span)
        } else if UNTRIMMED.contains(&name) {
            Node::text(value, span)
        } else {
            Node::text(value.trim(), span)
        }
    });
    let mut entries = entry(&kind, node, span);
    if THRESHOLDS.contains(&name) {
        let default = if name == "similar" { 0.8 } else { 0.75 };
        entries.push((key("threshold", span), Node::number(threshold.unwrap_or(default), span)));
    }
    Some(entries)
}

fn stripped<'c>(cell: &'c str, prefixes: &[&str]) -> Option<&'c str> {
    prefixes.iter().find_map(|prefix| cell.strip_prefix(prefix))
}

fn names() -> impl Iterator<Item = &'static str> {
    assertions::all().iter().flat_map(|assertion| {
        let meta = assertion.meta();
        std::iter::once(meta.id).chain(meta.aliases.iter().copied())
    })
}

fn entry(kind: &str, value: Option<Node>, span: Span) -> Vec<(Key, Node)> {
    let mut entries = vec![(key("type", span), Node::text(kind, span))];
    entries.extend(value.map(|value| (key("value", span), value)));
    entries
}

pub(super) fn key(text: &str, span: Span) -> Key {
    Key { text: text.to_owned(), span }
}

/// Splits `a, "b, c", d` at commas outside of quotes.
fn list(value: &str) -> Vec<String> {
    let mut items = Vec::new();
    let mut rest = value;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        if rest.is_empty() {
            return items;
        }
        let quoted = rest.strip_prefix('"').and_then(unquoted);
        let (item, after) = quoted.unwrap_or_else(|| {
            let end = rest.find(',').unwrap_or(rest.len());
            (rest[..end].trim().to_owned(), &rest[end..])
        });
        items.push(item);
        rest = after;
    }
}

/// Splits a text at the closing quote; none if there is none.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut item = String::new();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match (c, chars.peek().map(|(_, next)| *next)) {
            ('\\', Some(next @ ('"' | '\\'))) | ('"', Some(next @ '"')) => {
                item.push(next);
                chars.next();
            }
            ('"', _) => {
                let after = &text[at + 1..];
                let separated =
                    after.trim_start().is_empty() || after.trim_start().starts_with(',');
                return separated.then_some((item, after));
            }
            _ => item.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(cell: &str) -> Value {
        Node::map(assertion(cell, Span::default()), Span::default()).to_json()
    }

    #[test]
    fn prefixes_name_the_type() {
        for (cell, expected) in [
            ("contains: a b ", json!({"type": "contains", "value": "a b"})),
            ("not-icontains:x", json!({"type": "not-icontains", "value": "x"})),
            ("fn: output > 1", json!({"type": "javascript", "value": "output > 1"})),
            ("eval:1", json!({"type": "javascript", "value": "1"})),
            ("javascript:1", json!({"type": "javascript", "value": "1"})),
            ("python: 1", json!({"type": "python", "value": "1"})),
            ("grade: is kind", json!({"type": "llm-rubric", "value": " is kind"})),
            ("file://a.js", json!({"type": "javascript", "value": "file://a.js"})),
            ("file://a.py:f", json!({"type": "python", "value": "file://a.py:f"})),
            ("contains", json!({"type": "contains"})),
        ] {
            assert_eq!(read(cell), expected, "{cell}");
        }
    }

    #[test]
    fn anything_else_is_the_output_itself() {
        for cell in
            ["hello", "containsx: a", "note: b", "contains(x): a", "contains(0.5) a", "not-"]
        {
            assert_eq!(read(cell), json!({"type": "equals", "value": cell}), "{cell}");
        }
    }

    #[test]
    fn lists_are_taken_apart() {
        assert_eq!(list(r#" a ,, "b, ""c""" , d "e"#), ["a", "b, \"c\"", "d \"e"]);
        assert_eq!(list(r#""a\"b",c"#), ["a\"b", "c"]);
        assert_eq!(list("\"open, x"), ["\"open", "x"]);
        assert!(list(" , ").is_empty());
    }
}
