//! What is asked of a model.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One request for a completion.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ChatRequest {
    pub messages: Prompt,
    /// In the form of OpenAI, Anthropic, Gemini or MCP; each provider translates functions into its own.
    pub tools: Option<Value>,
    /// `auto`, `none`, `required`, or `{type: function, function: {name}}`; provider forms are accepted as well.
    pub tool_choice: Option<Value>,
    /// The answer must match this schema. Use `Handle::chat_json` to have it checked.
    pub schema: Option<JsonSchema>,
    /// Options that replace those of the model for this request: `temperature`, `max_tokens`, `stop`, ...
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub overrides: Map<String, Value>,
    /// Distinguishes several samples in the cache.
    #[serde(default)]
    pub sample: usize,
    /// Distinguishes repetitions of a test in the cache.
    #[serde(default)]
    pub repetition: usize,
}

/// The conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Prompt {
    /// A text as a suite has it. It may be a conversation written as JSON (or YAML, for OpenAI's dialect); otherwise
    /// it is one message of the user.
    Text(String),
    /// Chat messages in OpenAI's form: `{role, content, tool_calls?, tool_call_id?}`.
    Messages(Vec<Value>),
}

impl Default for Prompt {
    fn default() -> Self {
        Self::Messages(Vec::new())
    }
}

impl From<&str> for Prompt {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// A schema that the answer must match.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JsonSchema {
    /// Letters, digits, `_` and `-` only.
    pub name: String,
    pub schema: Value,
}

impl ChatRequest {
    /// A request with one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { messages: Prompt::Text(text.into()), ..Self::default() }
    }

    /// A request with a conversation.
    pub fn messages(messages: Vec<Value>) -> Self {
        Self { messages: Prompt::Messages(messages), ..Self::default() }
    }
}
