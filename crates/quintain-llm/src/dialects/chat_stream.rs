//! Chunks of a chat completion, assembled into the body of one.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::exchange::{Assemble, Failure};

#[derive(Default)]
pub(crate) struct ChatStream {
    model: Option<Value>,
    content: Option<String>,
    refusal: Option<String>,
    reasoning: Option<String>,
    /// By their index.
    calls: BTreeMap<u64, Call>,
    function_call: Option<Call>,
    logprobs: Vec<Value>,
    finish: Option<Value>,
    usage: Option<Value>,
    is_done: bool,
}

#[derive(Default)]
struct Call {
    id: String,
    name: String,
    arguments: String,
}

impl Call {
    fn add(&mut self, function: &Value) {
        self.name.push_str(function.get("name").and_then(Value::as_str).unwrap_or_default());
        self.arguments
            .push_str(function.get("arguments").and_then(Value::as_str).unwrap_or_default());
    }
}

impl Assemble for ChatStream {
    fn event(&mut self, chunk: &Value) -> Result<(), Failure> {
        if let Some(usage) = chunk.get("usage").filter(|usage| usage.is_object()) {
            self.usage = Some(usage.clone());
        }
        if let Some(model) = chunk.get("model").filter(|model| model.is_string()) {
            self.model = Some(model.clone());
        }
        let choices = chunk.get("choices").and_then(Value::as_array);
        // Other choices are alternatives, which nobody asked for.
        let is_first =
            |choice: &&Value| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0;
        let Some(choice) = choices.and_then(|choices| choices.iter().find(is_first)) else {
            return Ok(());
        };
        if let Some(reason) = choice.get("finish_reason").filter(|reason| !reason.is_null()) {
            self.finish = Some(reason.clone());
        }
        if let Some(Value::Array(tokens)) = choice.pointer("/logprobs/content") {
            self.logprobs.extend(tokens.iter().cloned());
        }
        let Some(delta) = choice.get("delta") else { return Ok(()) };
        append(&mut self.content, delta.get("content"));
        append(&mut self.refusal, delta.get("refusal"));
        append(
            &mut self.reasoning,
            delta.get("reasoning_content").or_else(|| delta.get("reasoning")),
        );
        for call in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            let index = call.get("index").and_then(Value::as_u64).unwrap_or(0);
            let known = self.calls.entry(index).or_default();
            if let Some(id) = call.get("id").and_then(Value::as_str).filter(|id| !id.is_empty()) {
                id.clone_into(&mut known.id);
            }
            known.add(call.get("function").unwrap_or(&Value::Null));
        }
        if let Some(call) = delta.get("function_call").filter(|call| call.is_object()) {
            self.function_call.get_or_insert_default().add(call);
        }
        Ok(())
    }

    fn mark(&mut self, text: &str) {
        self.is_done |= text == "[DONE]";
    }

    fn is_complete(&self) -> bool {
        self.is_done || self.finish.is_some()
    }

    fn body(&mut self) -> Value {
        let mut message = Map::new();
        message.insert("role".to_owned(), json!("assistant"));
        message.insert("content".to_owned(), json!(self.content.take()));
        for (key, text) in
            [("refusal", self.refusal.take()), ("reasoning_content", self.reasoning.take())]
        {
            if let Some(text) = text {
                message.insert(key.to_owned(), json!(text));
            }
        }
        if !self.calls.is_empty() {
            let calls = std::mem::take(&mut self.calls).into_values().map(|call| {
                json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}})
            });
            message.insert("tool_calls".to_owned(), calls.collect());
        }
        if let Some(call) = self.function_call.take() {
            let call = json!({"name": call.name, "arguments": call.arguments});
            message.insert("function_call".to_owned(), call);
        }
        let mut choice =
            json!({"index": 0, "message": message, "finish_reason": self.finish.take()});
        if !self.logprobs.is_empty() {
            choice["logprobs"] = json!({"content": std::mem::take(&mut self.logprobs)});
        }
        json!({"model": self.model.take(), "choices": [choice], "usage": self.usage.take()})
    }
}

fn append(to: &mut Option<String>, piece: Option<&Value>) {
    if let Some(piece) = piece.and_then(Value::as_str) {
        to.get_or_insert_default().push_str(piece);
    }
}
