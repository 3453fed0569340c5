//! Splits responses into pieces that can be compared.

use std::collections::BTreeSet;

use quintain_evidence::evidence::Outcome;
use serde_json::Value;

use crate::attack::Tried;

/// Shorter pieces are not specific, longer ones are never the same twice.
const LENGTHS: std::ops::RangeInclusive<usize> = 4..=400;
const MAX_MARKS: usize = 2_000;
/// Replaces the requested id.
pub(super) const ID: &str = "·";

/// The leaves and lines of a response, with the requested id replaced, so that a text that only repeats the
/// id is the same for every id.
pub(super) fn marks(outcome: &Outcome, id: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    if let Some(result) = outcome.result() {
        leaves(result, id, &mut found, true);
    }
    found
}

fn leaves(value: &Value, id: &str, found: &mut BTreeSet<String>, parse: bool) {
    match value {
        Value::String(text) => {
            let inner = if parse { serde_json::from_str::<Value>(text).ok() } else { None };
            match inner {
                Some(inner @ (Value::Object(_) | Value::Array(_))) => {
                    leaves(&inner, id, found, false);
                }
                _ => text.lines().for_each(|line| keep(line, id, found)),
            }
        }
        Value::Number(number) => keep(&number.to_string(), id, found),
        Value::Array(items) => items.iter().for_each(|item| leaves(item, id, found, parse)),
        Value::Object(entries) => {
            // Protocol fields are the same for every identity.
            let frames = ["type", "mimeType", "uri", "role"];
            for (name, item) in entries {
                if !(parse && frames.contains(&name.as_str())) {
                    leaves(item, id, found, parse);
                }
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
}

fn keep(text: &str, id: &str, found: &mut BTreeSet<String>) {
    let text = text.trim().trim_end_matches(',');
    let text = if id.is_empty() { text.to_owned() } else { text.replace(id, ID) };
    let letters = text.chars().filter(|c| c.is_alphanumeric()).count();
    if letters >= 3 && LENGTHS.contains(&text.len()) && found.len() < MAX_MARKS {
        found.insert(text);
    }
}

/// What responses say about an object: the records that contain its id, the lines that name it, and the
/// whole response to a request for it.
pub(super) fn about(tried: &Tried, id: &str) -> Vec<String> {
    let mut found = Vec::new();
    for exchange in &tried.evidence.exchanges {
        if exchange.sent.to_string().contains(id) {
            found.push(exchange.outcome.said());
            continue;
        }
        for text in exchange.outcome.texts() {
            if let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text) {
                records(&value, id, &mut found);
            } else {
                let lines = text.lines().filter(|line| line.contains(id));
                found.extend(lines.map(str::to_owned));
            }
        }
    }
    found
}

/// The smallest JSON objects that contain an id.
fn records(value: &Value, id: &str, found: &mut Vec<String>) {
    let is_id = |value: &Value| match value {
        Value::String(text) => text == id,
        Value::Number(number) => number.to_string() == id,
        _ => false,
    };
    match value {
        Value::Object(entries) if entries.values().any(is_id) => found.push(value.to_string()),
        Value::Object(entries) => entries.values().for_each(|entry| records(entry, id, found)),
        Value::Array(items) => {
            found.extend(items.iter().filter(|item| is_id(item)).map(ToString::to_string));
            items.iter().for_each(|item| records(item, id, found));
        }
        _ => {}
    }
}

/// Whether a text contains a name as a whole word.
pub(super) fn names(text: &str, name: &str) -> bool {
    if name.chars().count() < 3 {
        return false;
    }
    let (text, name) = (text.to_lowercase(), name.to_lowercase());
    text.match_indices(&name).any(|(at, _)| {
        let part = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        !part(text[..at].chars().next_back()) && !part(text[at + name.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ids_are_the_same_whatever_they_are() {
        let outcome =
            |text: &str| Outcome::Reply(json!({"content": [{"type": "text", "text": text}]}));
        let one = marks(&outcome("no note n-1 here"), "n-1");
        assert_eq!(one, marks(&outcome("no note n-2 here"), "n-2"));
        let json = marks(&outcome("{\"title\": \"Gift list\", \"id\": \"n-1\"}"), "n-1");
        assert_eq!(json, BTreeSet::from(["Gift list".to_owned()]));
    }

    #[test]
    fn names_are_whole_words() {
        assert!(names("Hello Alice!", "alice"));
        assert!(!names("malice", "alice"));
        assert!(!names("a b", "a"));
    }
}
