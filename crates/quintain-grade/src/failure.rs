//! Whether a call failed: by the protocol, by `isError`, or because its result as a whole states so. Logs, search hits,
//! counters and records that mention errors are contents, not failures.

mod envelope;
mod response;
mod subject;
mod text;

use quintain_content::text::short::one_line;
use quintain_evidence::surface::Tool;
use quintain_evidence::trace::{Call, CallKind, CallOutcome};
use serde_json::Value;

pub use self::response::{Reaction, Response};
use self::subject::Subject;
use crate::outcome;

/// Characters that are kept of what a failure states.
const MAX_TEXT: usize = 300;
/// Longer texts are contents: nobody writes an error of this length.
const MAX_JSON: usize = 1 << 20;
/// Results inside of results.
const MAX_WRAPPERS: usize = 3;

/// A call that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub kind: FailureKind,
    /// JSON pointer into the result to what shows the failure; empty for an error of the protocol.
    pub pointer: String,
    /// What the server states, on one line and shortened.
    pub text: String,
}

/// What shows that a call failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// An error of JSON-RPC, or what the application recorded as one.
    Protocol,
    /// `isError` is true.
    Declared,
    /// The result is marked as a success, but its content states a failure (a soft error).
    Stated,
}

/// The failure of a call, if it failed. `tool` is what the server offers under its name, if that is known.
pub fn of_call(call: &Call, tool: Option<&Tool>) -> Option<Failure> {
    match &call.outcome {
        CallOutcome::Error { message, .. } => {
            Some(failure(FailureKind::Protocol, String::new(), message))
        }
        CallOutcome::Result(_) if call.is_error() => {
            Some(failure(FailureKind::Declared, "/isError".to_owned(), &call.text()))
        }
        // What is read from resources and prompts is content, whatever it states.
        CallOutcome::Result(result) if call.kind == CallKind::Tool => {
            let subject = Subject::new(call, tool);
            let (pointer, text) = in_result(result, &subject, MAX_WRAPPERS)?;
            Some(failure(FailureKind::Stated, pointer, &text))
        }
        CallOutcome::Result(_) | CallOutcome::Unknown => None,
    }
}

fn failure(kind: FailureKind, pointer: String, text: &str) -> Failure {
    Failure { kind, pointer, text: one_line(text, MAX_TEXT) }
}

/// Where a result states a failure, and its words.
fn in_result(result: &Value, subject: &Subject<'_>, wrappers: usize) -> Option<(String, String)> {
    if let Some(text) = result.as_str() {
        return in_text(text, subject, wrappers).map(|text| (String::new(), text));
    }
    let structured = ["structuredContent", "structured_content"]
        .iter()
        .find_map(|key| Some((*key, result.get(key).filter(|value| !value.is_null())?)));
    let in_structured = structured.and_then(|(key, value)| {
        let (pointer, text) = envelope::states_failure(value, subject)?;
        Some((format!("/{key}{pointer}"), text))
    });
    let Some(blocks) = result.get("content").and_then(Value::as_array) else {
        return in_structured.or_else(|| envelope::states_failure(result, subject));
    };
    in_structured.or_else(|| in_blocks(blocks, subject, wrappers))
}

/// Only a single text can state that all failed: images and further texts are what was asked for.
fn in_blocks(blocks: &[Value], subject: &Subject<'_>, wrappers: usize) -> Option<(String, String)> {
    let mut texts = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        let text = block.get("text").and_then(Value::as_str)?;
        if !text.trim().is_empty() {
            texts.push((index, text));
        }
    }
    let (first, text) = *texts.first()?;
    let stated = if texts.len() == 1 {
        in_text(text, subject, wrappers)?
    } else {
        let joined: Vec<&str> = texts.iter().map(|(_, text)| *text).collect();
        in_text(&joined.join("\n"), subject, wrappers)?
    };
    Some((format!("/content/{first}/text"), stated))
}

fn in_text(text: &str, subject: &Subject<'_>, wrappers: usize) -> Option<String> {
    let trimmed = text.trim();
    if trimmed.starts_with(['{', '[', '"'])
        && trimmed.len() <= MAX_JSON
        && let Ok(value) = serde_json::from_str::<Value>(trimmed)
    {
        return in_json(&value, subject, wrappers);
    }
    if trimmed.starts_with("{'")
        && trimmed.len() <= MAX_JSON
        && let Some(value) = outcome::of_python_dict(trimmed)
    {
        return in_json(&value, subject, wrappers);
    }
    if let Some(pairs) = text::pairs(trimmed)
        && let Some((_, text)) = envelope::states_failure(&pairs, subject)
    {
        return Some(text);
    }
    text::states_failure(trimmed, subject).then(|| trimmed.to_owned())
}

fn in_json(value: &Value, subject: &Subject<'_>, wrappers: usize) -> Option<String> {
    // A router returns the result of another call as text.
    let is_result = value.get("content").is_some_and(Value::is_array)
        && ["isError", "is_error"].iter().any(|key| value.get(key).is_some_and(Value::is_boolean));
    if !is_result {
        return envelope::states_failure(value, subject).map(|(_, text)| text);
    }
    let wrappers = wrappers.checked_sub(1)?;
    let is_error =
        ["isError", "is_error"].iter().any(|key| value.get(key) == Some(&Value::Bool(true)));
    if is_error {
        let inner = Call {
            outcome: CallOutcome::Result(value.clone()),
            ..Call::tool(subject.name, Value::Null)
        };
        return Some(inner.text().into_owned());
    }
    in_result(value, subject, wrappers).map(|(_, text)| text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(name: &str, args: Value, result: Value) -> Call {
        Call { outcome: CallOutcome::Result(result), ..Call::tool(name, args) }
    }

    fn text(name: &str, args: Value, text: &str) -> Option<Failure> {
        of_call(&call(name, args, json!({"content": [{"type": "text", "text": text}]})), None)
    }

    #[test]
    fn hard_failures_are_known_by_their_kind() {
        let mut one = Call::tool("pay", json!({}));
        assert_eq!(of_call(&one, None), None);
        one.outcome = CallOutcome::Error { code: Some(-32602), message: "bad".into(), data: None };
        assert_eq!(of_call(&one, None).map(|failure| failure.kind), Some(FailureKind::Protocol));
        one.outcome = CallOutcome::Result(json!({"content": [], "isError": true}));
        assert_eq!(of_call(&one, None).map(|failure| failure.kind), Some(FailureKind::Declared));
        one.kind = CallKind::Resource;
        one.outcome = CallOutcome::Result(json!({"contents": [{"text": "Error: x"}]}));
        assert_eq!(of_call(&one, None), None);
    }

    #[test]
    fn pointers_lead_to_what_states_it() {
        let structured = json!({"content": [], "structuredContent": {"error": "no such order"}});
        let found = of_call(&call("get_order", json!({}), structured), None).unwrap();
        assert_eq!(
            (found.pointer.as_str(), found.text.as_str()),
            ("/structuredContent/error", "no such order")
        );
        let found = text("get_order", json!({}), "Error: no such order").unwrap();
        assert_eq!(found.pointer, "/content/0/text");
        let found = of_call(&call("get_order", json!({}), json!({"error": "x y"})), None).unwrap();
        assert_eq!(found.pointer, "/error");
    }

    #[test]
    fn results_inside_of_results_count() {
        let inner = json!({"_meta": null, "content": [{"type": "text", "text": "Unknown tool: x"}], "isError": true});
        assert!(text("execute", json!({}), &inner.to_string()).is_some());
        let inner =
            json!({"content": [{"type": "text", "text": "Failed to fetch it"}], "isError": false});
        assert!(text("execute", json!({}), &inner.to_string()).is_some());
        let inner = json!({"content": [{"type": "text", "text": "fine"}], "isError": false});
        assert_eq!(text("execute", json!({}), &inner.to_string()), None);
    }

    #[test]
    fn what_python_prints_counts() {
        let failed = "{'status': 'error', 'message': 'order is locked'}";
        assert!(text("get_order", json!({}), failed).is_some());
        assert_eq!(text("get_order", json!({}), "{'status': 'open', 'total': 4.5}"), None);
    }

    #[test]
    fn further_content_is_what_was_asked_for() {
        let blocks = json!({"content": [{"type": "text", "text": "Error: partial"},
            {"type": "image", "data": "", "mimeType": "image/png"}]});
        assert_eq!(of_call(&call("draw", json!({}), blocks), None), None);
    }

    #[test]
    fn hostile_texts_cost_linear_time() {
        for piece in ["error ", "[", "a: b\n", "{\"a\":", "failed ", "x not found "] {
            let _ = text("run", json!({"a": piece.repeat(1000)}), &piece.repeat(500_000));
        }
    }
}
