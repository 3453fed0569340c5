//! Results of calls as applications log them: plain JSON, JSON in text, a whole response, or what Python prints for a
//! result object.

mod python_repr;

use quintain_evidence::trace::CallOutcome;
use serde_json::{Map, Value, json};

use crate::json_input::record::{json_in, take};

/// The outcome that a logged result stands for. Null means that nothing is recorded.
pub(crate) fn of(value: Value) -> CallOutcome {
    let mut value = value;
    // A response inside of a response is unwrapped, too; each round makes the value smaller.
    loop {
        match simpler(value) {
            Simpler::Yes(inner) => value = inner,
            Simpler::Error(error) => return of_error(error),
            Simpler::No(Value::Null) => return CallOutcome::Unknown,
            Simpler::No(value) => return CallOutcome::Result(value),
        }
    }
}

/// A dictionary as Python prints it, as JSON.
pub(crate) fn of_python_dict(text: &str) -> Option<Value> {
    python_repr::parse_dict(text)
}

enum Simpler {
    Yes(Value),
    Error(Value),
    No(Value),
}

fn simpler(mut value: Value) -> Simpler {
    match &value {
        Value::String(text) => match of_text(text) {
            Some(inner) => Simpler::Yes(inner),
            None => Simpler::No(value),
        },
        Value::Object(members) if members.contains_key("jsonrpc") => {
            if let Some(error) = take(&mut value, "error") {
                Simpler::Error(error)
            } else if members_has(&value, "result") {
                Simpler::Yes(take(&mut value, "result").unwrap_or_default())
            } else {
                Simpler::No(value)
            }
        }
        _ => Simpler::No(value),
    }
}

fn members_has(value: &Value, key: &str) -> bool {
    value.get(key).is_some()
}

/// A result object that was logged as text. Other text, also other JSON, is what the tool said.
fn of_text(text: &str) -> Option<Value> {
    let start = text.trim_start();
    let found =
        if start.starts_with('{') { json_in(text) } else { python_repr::parse(start.trim_end()) };
    found.filter(|value| is_result(value) || is_response(value))
}

fn is_response(value: &Value) -> bool {
    value.get("jsonrpc").is_some() && (members_has(value, "result") || members_has(value, "error"))
}

/// Whether a value is what `tools/call`, `resources/read` or `prompts/get` returns.
pub(crate) fn is_result(value: &Value) -> bool {
    let blocks = ["content", "contents", "messages"].iter().find_map(|key| value.get(key));
    let Some(blocks) = blocks.and_then(Value::as_array) else { return false };
    let marks = ["type", "uri", "role"];
    blocks.iter().all(|block| marks.iter().any(|mark| block.get(mark).is_some()))
}

/// A JSON-RPC error, or what somebody logged in its place.
pub(crate) fn of_error(error: Value) -> CallOutcome {
    let mut error = error;
    let code = error.get("code").and_then(Value::as_i64);
    let message = match take(&mut error, "message") {
        Some(Value::String(message)) => message,
        Some(other) => other.to_string(),
        None => match &error {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        },
    };
    CallOutcome::Error { code, message, data: take(&mut error, "data") }
}

/// The result of a tool that an application passed on to its model as text or content blocks.
pub(crate) fn of_content(content: Value, is_error: bool) -> CallOutcome {
    match content {
        Value::Null if is_error => CallOutcome::Result(json!({"content": [], "isError": true})),
        Value::String(text) if is_error => {
            let content = json!([{"type": "text", "text": text}]);
            CallOutcome::Result(json!({"content": content, "isError": true}))
        }
        Value::Array(blocks) if blocks.iter().all(|block| block.get("type").is_some()) => {
            let mut result = Map::new();
            result.insert("content".into(), Value::Array(blocks));
            if is_error {
                result.insert("isError".into(), true.into());
            }
            CallOutcome::Result(result.into())
        }
        other => of(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_found_in_every_wrapping() {
        let plain = json!({"content": [{"type": "text", "text": "hi"}], "isError": false});
        for logged in [
            plain.clone(),
            json!(plain.to_string()),
            json!({"jsonrpc": "2.0", "id": 1, "result": plain}),
            json!(json!({"jsonrpc": "2.0", "id": 1, "result": plain}).to_string()),
            json!("content=[TextContent(type='text', text='hi')] isError=False"),
        ] {
            assert_eq!(of(logged.clone()), CallOutcome::Result(plain.clone()), "{logged}");
        }
    }

    #[test]
    fn other_values_are_results_as_they_are() {
        for value in [
            json!("plain"),
            json!("{\"temperature\": 3}"),
            json!({"result": 7}),
            json!([1]),
            json!(false),
            json!({"error": "not found"}),
            json!("{\"content\": [1]}"),
            json!("x=1"),
        ] {
            assert_eq!(of(value.clone()), CallOutcome::Result(value));
        }
        assert_eq!(of(Value::Null), CallOutcome::Unknown);
        assert_eq!(of(json!({"jsonrpc": "2.0", "result": null})), CallOutcome::Unknown);
    }

    #[test]
    fn errors_of_the_protocol_are_errors() {
        let error = json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "no"}});
        let expected = CallOutcome::Error { code: Some(-32602), message: "no".into(), data: None };
        assert_eq!(of(error), expected);
        let odd = of_error(json!("broken"));
        assert!(matches!(odd, CallOutcome::Error { message, .. } if message == "broken"));
    }

    #[test]
    fn content_that_failed_says_so() {
        let outcome = of_content(json!("boom"), true);
        let CallOutcome::Result(result) = outcome else { panic!() };
        assert_eq!(result["isError"], true);
        assert_eq!(result["content"][0]["text"], "boom");
        assert_eq!(of_content(json!("fine"), false), CallOutcome::Result(json!("fine")));
    }
}
