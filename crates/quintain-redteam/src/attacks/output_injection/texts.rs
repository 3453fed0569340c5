//! The texts of a response that a model reads, and whether they are marked as untrusted.

use quintain_evidence::evidence::Outcome;
use serde_json::Value;

/// The number of bytes that are read of one text.
const MAX_TEXT: usize = 65_536;
/// The maximum distance between a mark and the text.
const NEAR: usize = 300;

/// The texts that a model reads: contents, resources and messages, but not structured data.
pub(super) fn texts(outcome: &Outcome) -> Vec<&str> {
    let Some(result) = outcome.result() else { return Vec::new() };
    let items = |key: &str| result.get(key).and_then(Value::as_array).into_iter().flatten();
    let mut found = outcome.texts();
    found.extend(items("contents").filter_map(|item| item.get("text")?.as_str()));
    found.extend(items("messages").filter_map(|item| item.get("content")?.get("text")?.as_str()));
    found
        .into_iter()
        .map(|text| &text[..text.floor_char_boundary(MAX_TEXT.min(text.len()))])
        .collect()
}

/// Whether a text is JSON data.
pub(super) fn is_data(text: &str) -> bool {
    let text = text.trim_start();
    (text.starts_with('{') || text.starts_with('['))
        && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// Whether something before a text marks it as untrusted.
pub(super) fn is_marked(text: &str, at: usize) -> bool {
    let start = text.floor_char_boundary(at.saturating_sub(NEAR));
    let before = text[start..at].to_lowercase();
    let words = [
        "untrusted",
        "user-provided",
        "user provided",
        "user-supplied",
        "user-generated",
        "external content",
        "third-party",
        "not instructions",
        "do not follow",
        "```",
        "\"\"\"",
        "-----begin",
        "[begin",
        "<<<",
    ];
    if words.iter().any(|word| before.contains(word)) {
        return true;
    }
    // An XML element around the text.
    let opened = before.rfind('<').map(|open| &before[open + 1..]);
    let name: String = opened
        .unwrap_or_default()
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
        .collect();
    !name.is_empty() && text[at..].to_lowercase().contains(&format!("</{name}>"))
}
