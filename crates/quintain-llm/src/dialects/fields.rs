//! Small pieces that all dialects share: merged options, numbers, finish reasons, identifiers.

use quintain_content::secret;
use serde_json::{Map, Number, Value, json};

use crate::config::as_number;

/// Options of the model with those of the request on top.
pub(crate) fn merged(
    config: &Map<String, Value>,
    overrides: &Map<String, Value>,
) -> Map<String, Value> {
    let mut merged = config.clone();
    for (key, value) in overrides {
        merged.insert(key.clone(), value.clone());
    }
    merged.retain(|_, value| !value.is_null());
    merged
}

/// A number, also if it is written as a text; anything else as it is, for the server to judge.
pub(crate) fn number(value: &Value) -> Value {
    let (Value::String(text), Some(number)) = (value, as_number(value)) else {
        return value.clone();
    };
    let whole = text.trim().parse::<i64>().ok().map(Number::from);
    whole.or_else(|| Number::from_f64(number)).map_or_else(|| value.clone(), Value::Number)
}

/// Copies options into a body under their own names.
pub(crate) fn copy(from: &Map<String, Value>, keys: &[&str], body: &mut Map<String, Value>) {
    for key in keys {
        if let Some(value) = from.get(*key) {
            body.insert((*key).to_owned(), value.clone());
        }
    }
}

/// Copies what users add to the body as it is: `passthrough` and `extra_body`, promptfoo's names for the same.
pub(crate) fn pass_through(from: &Map<String, Value>, body: &mut Map<String, Value>) {
    for key in ["extra_body", "passthrough"] {
        copy_entries(from, key, body);
    }
}

/// Copies all entries of an option into a body.
pub(crate) fn copy_entries(from: &Map<String, Value>, key: &str, body: &mut Map<String, Value>) {
    for (name, value) in from.get(key).and_then(Value::as_object).into_iter().flatten() {
        body.insert(name.clone(), value.clone());
    }
}

/// The reason in OpenAI's words, as promptfoo reports it.
pub(crate) fn finish_reason(reason: Option<&Value>) -> Option<String> {
    let reason = reason?.as_str()?.trim().to_lowercase();
    let word = match reason.as_str() {
        "" => return None,
        "function_call" | "tool_use" => "tool_calls",
        "end_turn" | "stop_sequence" => "stop",
        "max_tokens" | "model_context_window_exceeded" => "length",
        "refusal" => "content_filter",
        other => other,
    };
    Some(word.to_owned())
}

pub(crate) fn count(value: Option<&Value>) -> Option<u64> {
    let number = as_number(value?)?;
    (number >= 0.0).then_some(number as u64)
}

pub(crate) fn text(value: Option<&Value>) -> Option<String> {
    value.and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// An id for a call without one.
pub(crate) fn call_id(position: usize) -> String {
    format!("call_{position}")
}

/// The text as JSON, if structured output was asked for and it is some.
pub(crate) fn structured(text: &str, is_asked: bool) -> Option<Value> {
    is_asked.then(|| serde_json::from_str(text.trim()).ok()).flatten()
}

/// Options without keys, and without those about the way requests are sent.
pub(crate) fn without_secrets(config: &Map<String, Value>) -> Value {
    let ignored = [crate::config::KEY_KEYS, crate::limits::KEYS, crate::prices::KEYS];
    let kept =
        config.iter().filter(|(key, _)| !ignored.iter().any(|keys| keys.contains(&key.as_str())));
    without_credentials(&kept.map(|(key, value)| (key.clone(), value.clone())).collect())
}

fn without_credentials(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.iter().filter(|(key, _)| !secret::is_credential(key));
            kept.map(|(key, value)| (key.clone(), without_credentials(value))).collect()
        }
        Value::Array(items) => items.iter().map(without_credentials).collect(),
        Value::String(text) if text.contains("://") => json!(secret::shown_url(text)),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_are_numbers_become_numbers() {
        assert_eq!(number(&json!("0.5")), json!(0.5));
        assert_eq!(number(&json!("100")), json!(100));
        assert_eq!(number(&json!(1)), json!(1));
        assert_eq!(number(&json!("hot")), json!("hot"));
    }

    #[test]
    fn keys_are_removed_however_deep() {
        let config = json!({"apiKey": "k", "max_tokens": 3, "passthrough": {"token": "t", "a": [{"secret": 1}]}});
        let kept = without_secrets(config.as_object().unwrap());
        assert_eq!(kept, json!({"max_tokens": 3, "passthrough": {"a": [{}]}}));
    }

    #[test]
    fn finish_reasons_have_one_vocabulary() {
        let reason = |text: &str| finish_reason(Some(&json!(text)));
        assert_eq!(reason("end_turn").as_deref(), Some("stop"));
        assert_eq!(reason("MAX_TOKENS").as_deref(), Some("length"));
        assert_eq!(reason("new_reason").as_deref(), Some("new_reason"));
        assert_eq!(finish_reason(None), None);
    }
}
