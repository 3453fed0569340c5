//! Answers as JSON that match a schema. Models wrap JSON into prose and fences; one that does not match is asked once
//! more, with the fault named.

use quintain_content::json_text;
use quintain_content::schema::{self, Fault};
use serde_json::{Value, json};

use crate::chat::{ChatRequest, JsonSchema, Prompt};
use crate::completion::{Completion, Output};
use crate::conversation;
use crate::error::{ModelError, shorten};
use crate::models::Handle;

/// Braces at which an object may start, and bytes of the text; nothing is searched beyond them.
const MAX_STARTS: usize = 1_000;
const MAX_SEARCHED: usize = 1 << 20;
/// The member with the reason of an answer.
const REASON: &str = "reason";

/// A structured answer.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonAnswer {
    pub value: Value,
    /// All completions that were needed, the last one with the value.
    pub completions: Vec<Completion>,
}

impl Handle {
    /// Asks for JSON that matches a schema, and asks once more if the answer does not. Only an answer that matches is
    /// stored in the cache.
    ///
    /// # Errors
    /// When the model does not answer, refuses, or twice answers with something else.
    pub async fn chat_json(
        &self,
        request: &ChatRequest,
        schema: &JsonSchema,
    ) -> Result<JsonAnswer, ModelError> {
        let mut request = request.clone();
        request.schema = Some(schema.clone());
        if let Some(stored) = self.stored_chat(&request).await
            && let Ok(value) = read(&stored, schema)
        {
            return Ok(JsonAnswer { value, completions: vec![stored] });
        }
        let first = self.fresh_chat(&request).await?;
        let fault = match read(&first, schema) {
            Ok(value) => {
                self.store_chat(&request, &first).await;
                return Ok(JsonAnswer { value, completions: vec![first] });
            }
            Err(fault @ (ModelError::NotJson(_) | ModelError::WrongSchema(_))) => fault,
            Err(other) => return Err(other),
        };
        let mut messages = conversation::messages(&request.messages)?;
        messages.push(json!({"role": "assistant", "content": said(&first)}));
        let again = format!(
            "{fault}. Answer again, with nothing but JSON that matches this JSON schema: {}",
            schema.schema
        );
        messages.push(conversation::user(&again));
        let again = ChatRequest { messages: Prompt::Messages(messages), ..request.clone() };
        let second = self.fresh_chat(&again).await?;
        let value = read(&second, schema)?;
        // What answers the question at last is the answer to it.
        self.store_chat(&request, &second).await;
        Ok(JsonAnswer { value, completions: vec![first, second] })
    }
}

/// What the model said, to be quoted in the conversation. Providers reject empty messages.
fn said(completion: &Completion) -> String {
    match &completion.output {
        Output::Text(text) if !text.trim().is_empty() => text.clone(),
        Output::Text(_) => "(no answer)".to_owned(),
        other => other.to_value().to_string(),
    }
}

/// The JSON in a text that matches a schema, for answers of other programs.
///
/// # Errors
/// When the text contains none.
pub fn json_in(text: &str, schema: &JsonSchema) -> Result<Value, ModelError> {
    read(&Completion::of_text(text), schema)
}

fn read(completion: &Completion, schema: &JsonSchema) -> Result<Value, ModelError> {
    let candidates = match &completion.output {
        Output::Json(value) => vec![value.clone()],
        _ => candidates(&completion.text),
    };
    let Some(first) = candidates.first() else {
        if let Some(refusal) = &completion.refusal {
            return Err(ModelError::Refused(shorten(refusal)));
        }
        let cut = match completion.finish_reason.as_deref() {
            Some("length") => " (it was cut at the token limit)",
            _ => "",
        };
        let text = if completion.text.trim().is_empty() { "nothing" } else { &completion.text };
        let text: String = text.chars().take(200).collect();
        return Err(ModelError::NotJson(format!("`{}`{cut}", shorten(&text))));
    };
    let mut fault = None;
    for value in &candidates {
        match fits(value, schema)? {
            None => return Ok(value.clone()),
            Some(problem) => fault = fault.or(Some(problem)),
        }
    }
    let fault = fault.unwrap_or_else(|| format!("{first}"));
    Err(ModelError::WrongSchema(fault))
}

/// Why a value does not match; nothing, if it does. A reason explains an answer and decides nothing: models are asked for
/// one, and an answer without it is still an answer.
fn fits(value: &Value, schema: &JsonSchema) -> Result<Option<String>, ModelError> {
    let problems = schema::validate(&with_optional_reasons(&schema.schema), value);
    let Some(first) = problems.first() else { return Ok(None) };
    // A schema that cannot be checked here, for example because it is too large, is enforced by the provider only.
    if first.fault == Fault::Schema {
        return Ok(None);
    }
    let place = if first.pointer.is_empty() { "the answer" } else { &first.pointer };
    Ok(Some(format!("{place}: {}", first.message)))
}

fn with_optional_reasons(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => {
            let relaxed = members.iter().map(|(key, value)| {
                let value = match (key.as_str(), value) {
                    ("required", Value::Array(names)) => {
                        names.iter().filter(|&name| name != REASON).cloned().collect()
                    }
                    ("properties", Value::Object(_)) => {
                        let mut properties = with_optional_reasons(value);
                        if let Some(reason) = properties.get_mut(REASON) {
                            *reason = json!({"type": ["string", "null"]});
                        }
                        properties
                    }
                    _ => with_optional_reasons(value),
                };
                (key.clone(), value)
            });
            Value::Object(relaxed.collect())
        }
        Value::Array(items) => items.iter().map(with_optional_reasons).collect(),
        other => other.clone(),
    }
}

/// Values in a text: the whole of it, what a code fence contains, or objects in prose, in this order.
fn candidates(text: &str) -> Vec<Value> {
    let text = after_thinking(text).trim();
    if let Ok(value) = json_text::parse(text) {
        return vec![value];
    }
    let mut found: Vec<Value> =
        fences(text).filter_map(|inner| json_text::parse(inner).ok()).collect();
    if found.is_empty() {
        found = embedded(text);
    }
    found
}

/// Local models think aloud before they answer.
fn after_thinking(text: &str) -> &str {
    match text.trim_start().strip_prefix("<think>") {
        Some(thought) => thought.split_once("</think>").map_or(text, |(_, answer)| answer),
        None => text,
    }
}

/// What is between pairs of fences, without the name of the language.
fn fences(text: &str) -> impl Iterator<Item = &str> {
    text.split("```").skip(1).step_by(2).map(|inner| {
        let body = inner.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
        body.trim()
    })
}

/// Complete objects or lists in prose, outermost only.
fn embedded(text: &str) -> Vec<Value> {
    let text = &text[..text.floor_char_boundary(MAX_SEARCHED)];
    let (mut found, mut from) = (Vec::new(), 0);
    for _ in 0..MAX_STARTS {
        let Some(start) = text[from..].find(['{', '[']).map(|at| from + at) else { break };
        let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => {
                from = start + values.byte_offset();
                found.push(value);
            }
            _ => from = start + 1,
        }
    }
    // `[1]` in prose is a footnote more often than an answer.
    found.sort_by_key(|value| !value.is_object());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_found_in_what_models_write() {
        let value = json!({"pass": true, "reason": "a {b} ```c```"});
        let plain = value.to_string();
        for text in [
            plain.clone(),
            format!("  {plain}\n"),
            format!("<think>hm {{no}}</think>\n{plain}"),
            format!("Sure [1]! Here it is: {plain} Hope it helps {{really}}."),
        ] {
            assert_eq!(candidates(&text).first(), Some(&value), "{text}");
        }
        let simple = json!({"pass": true});
        for text in ["```json\n{\"pass\": true}\n```", "Here:\n```\n{\"pass\": true}\n```\nDone."] {
            assert_eq!(candidates(text), std::slice::from_ref(&simple), "{text}");
        }
    }

    #[test]
    fn half_an_object_is_no_answer() {
        for text in ["", "no", "{\"pass\": tr", "```json\n{\"pass\":\n```"] {
            assert!(candidates(text).is_empty(), "{text}");
        }
        assert!(candidates(&"{".repeat(100_000)).is_empty());
    }

    #[test]
    fn answers_without_a_reason_fit() {
        let verdict = json!({"type": "object", "properties": {"verdict": {"enum": ["yes", "no"]}, "reason": {"type": "string"}},
            "required": ["reason", "verdict"], "additionalProperties": false});
        let list = json!({"type": "object", "properties": {"verdicts": {"type": "array", "items": verdict}}, "required": ["verdicts"]});
        let schema = JsonSchema { name: "verdicts".to_owned(), schema: list };
        let fault = |one: Value| fits(&json!({"verdicts": [one]}), &schema).unwrap();
        assert_eq!(fault(json!({"verdict": "yes"})), None);
        assert_eq!(fault(json!({"verdict": "yes", "reason": null})), None);
        assert_eq!(fault(json!({"verdict": "no", "reason": "because"})), None);
        assert!(fault(json!({"reason": "because"})).is_some());
        assert!(fault(json!({"verdict": "maybe"})).is_some());
        assert!(fault(json!({"verdict": "yes", "reason": 3})).is_some());
    }
}
