//! Conversations in the form of Gemini: the system instruction apart, content as parts, results by the name of the tool.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::chat::Prompt;
use crate::conversation::{self, text_of};
use crate::error::ModelError;

#[derive(Debug, Default, PartialEq)]
pub(crate) struct Contents {
    pub(crate) system: Vec<Value>,
    pub(crate) contents: Vec<Value>,
}

/// # Errors
/// When the text looks like a conversation and cannot be parsed.
pub(crate) fn read(prompt: &Prompt) -> Result<Contents, ModelError> {
    let messages = conversation::messages(prompt)?;
    let mut made = Contents::default();
    // Results refer to calls by id, Gemini by name.
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    for message in &messages {
        let role = message.get("role").and_then(Value::as_str).unwrap_or("user");
        let parts = match message.get("parts") {
            Some(Value::Array(parts)) => parts.clone(),
            Some(part @ Value::Object(_)) => vec![part.clone()],
            _ => parts(message.get("content").unwrap_or(&Value::Null)),
        };
        match role {
            "system" | "developer" => made.system.extend(parts),
            "assistant" | "model" => {
                let mut parts = parts;
                parts.extend(calls(message, &mut names));
                made.push("model", parts);
            }
            "tool" | "function" => made.push("user", vec![result(message, &names)]),
            _ => made.push("user", parts),
        }
    }
    Ok(made)
}

impl Contents {
    /// Results of parallel calls belong into one entry.
    fn push(&mut self, role: &str, parts: Vec<Value>) {
        if parts.is_empty() {
            return;
        }
        let is_results =
            |parts: &[Value]| parts.iter().all(|part| part.get("functionResponse").is_some());
        if let Some(last) = self.contents.last_mut() {
            let same_role = last.get("role").and_then(Value::as_str) == Some(role);
            if let (true, Some(Value::Array(known))) = (same_role, last.get_mut("parts"))
                && is_results(&parts)
                && is_results(known)
            {
                known.extend(parts);
                return;
            }
        }
        self.contents.push(json!({"role": role, "parts": parts}));
    }
}

fn parts(content: &Value) -> Vec<Value> {
    match content {
        Value::Null => Vec::new(),
        Value::String(text) if text.is_empty() => Vec::new(),
        Value::String(text) => vec![json!({"text": text})],
        Value::Array(parts) => parts.iter().map(part).collect(),
        other => vec![json!({"text": other.to_string()})],
    }
}

fn part(part: &Value) -> Value {
    if let Value::String(text) = part {
        return json!({"text": text});
    }
    let url =
        part.pointer("/image_url/url").or_else(|| part.get("image_url")).and_then(Value::as_str);
    if let Some(url) = url {
        return match url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")) {
            Some((kind, data)) => json!({"inlineData": {"mimeType": kind, "data": data}}),
            None => json!({"fileData": {"fileUri": url}}),
        };
    }
    match (part.get("type").and_then(Value::as_str), part.get("text")) {
        (Some("text" | "input_text" | "output_text"), Some(text)) => json!({"text": text}),
        _ => part.clone(),
    }
}

fn calls(message: &Value, names: &mut BTreeMap<String, String>) -> Vec<Value> {
    let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    let made = calls.map(|call| {
        let function = call.get("function").unwrap_or(call);
        let name = function.get("name").and_then(Value::as_str).unwrap_or_default();
        if let Some(id) = call.get("id").and_then(Value::as_str) {
            names.insert(id.to_owned(), name.to_owned());
        }
        let args = match function.get("arguments") {
            Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_else(|_| json!({})),
            Some(other) => other.clone(),
            None => json!({}),
        };
        json!({"functionCall": {"name": name, "args": args}})
    });
    made.collect()
}

fn result(message: &Value, names: &BTreeMap<String, String>) -> Value {
    let id = message.get("tool_call_id").and_then(Value::as_str).unwrap_or_default();
    let named = message.get("name").and_then(Value::as_str);
    let name = named.or_else(|| names.get(id).map(String::as_str)).unwrap_or(id);
    let text = text_of(message.get("content").unwrap_or(&Value::Null));
    // A response must be an object.
    let response = match serde_json::from_str::<Value>(&text) {
        Ok(object @ Value::Object(_)) => object,
        _ => json!({"result": text}),
    };
    json!({"functionResponse": {"name": name, "response": response}})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversations_become_contents() {
        let found = read(&Prompt::Messages(vec![
            json!({"role": "system", "content": "Be brief"}),
            json!({"role": "user", "content": "2+3"}),
            json!({"role": "assistant", "content": null, "tool_calls": [
                {"id": "a", "function": {"name": "add", "arguments": "{\"x\":2}"}}]}),
            json!({"role": "tool", "tool_call_id": "a", "content": "5"}),
        ]))
        .unwrap();
        assert_eq!(found.system, [json!({"text": "Be brief"})]);
        assert_eq!(
            found.contents,
            [
                json!({"role": "user", "parts": [{"text": "2+3"}]}),
                json!({"role": "model", "parts": [{"functionCall": {"name": "add", "args": {"x": 2}}}]}),
                json!({"role": "user", "parts": [{"functionResponse": {"name": "add", "response": {"result": "5"}}}]}),
            ]
        );
    }

    #[test]
    fn contents_stay_as_they_are() {
        let native = json!([{"role": "user", "parts": [{"text": "Hi"}]}]);
        let found = read(&Prompt::Text(native.to_string())).unwrap();
        assert_eq!(Value::Array(found.contents), native);
    }
}
