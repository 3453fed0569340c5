//! What a model answered.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Completion {
    /// The answer as promptfoo shows it.
    pub output: Output,
    /// All text of the answer; empty if there is none.
    pub text: String,
    pub tool_calls: Vec<ToolCallRequest>,
    pub usage: Usage,
    /// In US dollars. Of a cached completion: what it cost when it was made.
    pub cost: Option<f64>,
    /// As promptfoo names it: `stop`, `length`, `tool_calls`, `content_filter`, or the provider's word.
    pub finish_reason: Option<String>,
    /// The words of the refusal, if the model or a filter refused.
    pub refusal: Option<String>,
    /// Natural logarithms of the probabilities of the tokens of the answer.
    pub logprobs: Option<Vec<f64>>,
    /// The model that answered, as the endpoint names it.
    pub model: Option<String>,
    pub raw: RawExchange,
    #[serde(default)]
    pub cached: bool,
    /// Requests that were sent for it.
    pub attempts: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "value", rename_all = "snake_case")]
pub enum Output {
    Text(String),
    Json(Value),
    /// The calls in the form of the provider.
    ToolCalls(Vec<Value>),
}

impl Output {
    pub fn to_value(&self) -> Value {
        match self {
            Self::Text(text) => Value::String(text.clone()),
            Self::Json(value) => value.clone(),
            Self::ToolCalls(calls) => Value::Array(calls.clone()),
        }
    }
}

/// A call that the model asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCallRequest {
    /// Made up where the provider gives none, so that results can refer to it.
    pub id: String,
    pub name: String,
    /// The arguments, or the text that is not valid JSON.
    pub arguments: Result<Value, String>,
}

impl ToolCallRequest {
    /// Arguments that providers send as a text. No text means no arguments.
    pub(crate) fn of_text(id: String, name: String, arguments: &str) -> Self {
        let arguments = match arguments.trim() {
            "" => Ok(json!({})),
            text => serde_json::from_str(text).map_err(|_| arguments.to_owned()),
        };
        Self { id, name, arguments }
    }

    /// The call in OpenAI's form, as it belongs into the conversation.
    pub fn to_openai(&self) -> Value {
        let arguments = match &self.arguments {
            Ok(value) => value.to_string(),
            Err(text) => text.clone(),
        };
        json!({"id": self.id, "type": "function", "function": {"name": self.name, "arguments": arguments}})
    }
}

/// Tokens. Absent is what the endpoint does not report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    pub prompt: Option<u64>,
    pub completion: Option<u64>,
    pub total: Option<u64>,
    /// Tokens of the prompt that the provider had in its cache.
    pub cached: Option<u64>,
    /// Tokens of the prompt that the provider put into its cache.
    pub cache_write: Option<u64>,
    /// Tokens of the completion that were spent on reasoning.
    pub reasoning: Option<u64>,
}

impl Usage {
    /// Fills in the total, if it can be computed.
    pub(crate) fn summed(mut self) -> Self {
        if self.total.is_none() {
            self.total = match (self.prompt, self.completion) {
                (Some(prompt), Some(completion)) => Some(prompt + completion),
                (one, other) => one.or(other),
            };
        }
        self
    }
}

/// What was sent and what came back, without headers.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RawExchange {
    /// `{method, url, body}`.
    pub request: Value,
    /// The body; the list of events, if it was a stream.
    pub response: Value,
}

impl Completion {
    /// A completion of text only.
    pub fn of_text(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            output: Output::Text(text.clone()),
            text,
            tool_calls: Vec::new(),
            usage: Usage::default(),
            cost: None,
            finish_reason: None,
            refusal: None,
            logprobs: None,
            model: None,
            raw: RawExchange::default(),
            cached: false,
            attempts: 1,
        }
    }

    /// The message of the assistant in OpenAI's form, to continue the conversation with.
    pub fn to_message(&self) -> Value {
        let content = if self.text.is_empty() && !self.tool_calls.is_empty() {
            Value::Null
        } else {
            Value::String(self.text.clone())
        };
        let mut message = json!({"role": "assistant", "content": content});
        if !self.tool_calls.is_empty() {
            let calls = self.tool_calls.iter().map(ToolCallRequest::to_openai);
            message["tool_calls"] = calls.collect();
        }
        message
    }
}
