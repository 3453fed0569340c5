//! Values that a target discloses: ids, names and paths in its answers.

use quintain_evidence::evidence::Exchange;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::literal::python;
use super::words;

/// Maximum number of values from one answer.
const MAX_VALUES: usize = 200;
const MAX_LENGTH: usize = 200;

/// A value from an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Learned {
    /// Its key in the answer.
    pub name: String,
    pub value: Value,
    /// The tool that disclosed it.
    pub tool: String,
    /// Index of the identity that received it.
    pub identity: usize,
}

/// The values in an answer.
pub fn harvest(exchange: &Exchange, tool: &str, identity: usize) -> Vec<Learned> {
    let Some(result) = exchange.outcome.result() else { return Vec::new() };
    let mut found = Vec::new();
    let mut keep = |name: &str, value: Value| {
        let learned = Learned { name: name.to_owned(), value, tool: tool.to_owned(), identity };
        if found.len() < MAX_VALUES && !found.contains(&learned) {
            found.push(learned);
        }
    };
    if let Some(structured) = result.get("structuredContent") {
        leaves("", structured, &mut keep);
    }
    for text in exchange.outcome.texts() {
        match serde_json::from_str::<Value>(text) {
            Ok(value @ (Value::Object(_) | Value::Array(_))) => leaves("", &value, &mut keep),
            _ => match python(text) {
                Some(value) => leaves("", &value, &mut keep),
                None => lines(text, &mut keep),
            },
        }
    }
    found
}

fn leaves(name: &str, value: &Value, keep: &mut dyn FnMut(&str, Value)) {
    match value {
        Value::Object(entries) => entries.iter().for_each(|(key, value)| leaves(key, value, keep)),
        Value::Array(items) => items.iter().for_each(|item| leaves(name, item, keep)),
        Value::String(text) if text.is_empty() || text.len() > MAX_LENGTH => {}
        Value::String(_) | Value::Number(_) => keep(name, value.clone()),
        Value::Null | Value::Bool(_) => {}
    }
}

/// Reads `name: value`, `[FILE] name`, and words that look like ids.
fn lines(text: &str, keep: &mut dyn FnMut(&str, Value)) {
    for line in text.lines().take(MAX_VALUES) {
        let line = line.trim().trim_start_matches(['-', '*', '•', ' ']);
        if let Some((name, value)) = line.split_once(": ")
            && words(name).len() <= 3
            && !value.trim().is_empty()
            && value.len() <= MAX_LENGTH
        {
            keep(name.trim(), Value::String(value.trim().to_owned()));
        }
        if let Some(name) = line.strip_prefix("[FILE] ").or_else(|| line.strip_prefix("[DIR] ")) {
            keep("file", Value::String(name.trim().to_owned()));
        }
        for word in line.split(|c: char| c.is_whitespace() || ",;()[]{}\"'`".contains(c)) {
            if looks_like_id(word) {
                keep("id", Value::String(word.to_owned()));
            }
        }
    }
}

/// Whether a word consists of letters and digits joined by a dash or underscore, or is a UUID.
fn looks_like_id(word: &str) -> bool {
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    (4..=64).contains(&word.len())
        && digits > 0
        && word.contains(['-', '_'])
        && word.chars().all(plain)
        && word.chars().next().is_some_and(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {

    use quintain_evidence::evidence::Outcome;
    use serde_json::json;

    use super::*;

    fn answer(result: Value) -> Exchange {
        Exchange::new("", "tools/call", Value::Null, Outcome::Reply(result))
    }

    fn values(result: Value) -> Vec<(String, Value)> {
        harvest(&answer(result), "list", 0).into_iter().map(|l| (l.name, l.value)).collect()
    }

    #[test]
    fn structured_data_and_json_texts_give_their_leaves() {
        let found = values(json!({"structuredContent": {"users": [{"id": 7, "name": "Ann"}]},
            "content": [{"type": "text", "text": "[{\"sku\": \"A-1\"}]"}]}));
        let named = |name: &str| found.iter().filter(|(n, _)| n == name).count();
        assert_eq!((named("id"), named("name"), named("sku")), (1, 1, 1));
    }

    #[test]
    fn plain_texts_give_pairs_and_ids() {
        let text = "- Account: ACC-1001 (Ann)\nBranch: main\nnothing here";
        let found = values(json!({"content": [{"type": "text", "text": text}]}));
        assert!(found.contains(&("Branch".into(), json!("main"))));
        assert!(found.contains(&("id".into(), json!("ACC-1001"))));
    }
}
