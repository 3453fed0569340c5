//! The calls of a trace: tools, resources and prompts.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One call with its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Call {
    pub kind: CallKind,
    /// The name of a tool or prompt, the URI of a resource.
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(default)]
    pub args: Args,
    #[serde(default)]
    pub outcome: CallOutcome,
    /// Seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<f64>,
    /// The id of the call or span in which it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CallKind {
    Tool,
    Resource,
    Prompt,
}

impl CallKind {
    pub fn word(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Resource => "resource",
            Self::Prompt => "prompt",
        }
    }
}

/// The arguments of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Args {
    /// What was sent, usually an object.
    Json(Value),
    /// A text that the model wrote and that is not JSON.
    Invalid(String),
    /// The source does not record arguments.
    Unknown,
}

impl Default for Args {
    fn default() -> Self {
        Self::Json(Value::Object(Map::new()))
    }
}

impl Args {
    /// Reads arguments that a model wrote as text. No text means no arguments.
    pub fn from_text(text: &str) -> Self {
        if text.trim().is_empty() {
            return Self::default();
        }
        serde_json::from_str(text).map_or_else(|_| Self::Invalid(text.to_owned()), Self::Json)
    }

    pub fn json(&self) -> Option<&Value> {
        match self {
            Self::Json(value) => Some(value),
            Self::Invalid(_) | Self::Unknown => None,
        }
    }

    pub fn object(&self) -> Option<&Map<String, Value>> {
        self.json().and_then(Value::as_object)
    }
}

/// How a call ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CallOutcome {
    /// The result as sent: of a tool usually an object with `content`.
    Result(Value),
    /// A JSON-RPC error, or what the application recorded as one.
    Error {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<i64>,
        message: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<Value>,
    },
    /// Nothing is recorded.
    #[default]
    Unknown,
}

impl Call {
    pub fn tool(name: impl Into<String>, args: Value) -> Self {
        Self::new(CallKind::Tool, name, Args::Json(args))
    }

    pub fn new(kind: CallKind, name: impl Into<String>, args: Args) -> Self {
        Self {
            kind,
            name: name.into(),
            server: None,
            id: None,
            args,
            outcome: CallOutcome::Unknown,
            at: None,
            took_ms: None,
            parent: None,
        }
    }

    pub fn result(&self) -> Option<&Value> {
        match &self.outcome {
            CallOutcome::Result(value) => Some(value),
            CallOutcome::Error { .. } | CallOutcome::Unknown => None,
        }
    }

    /// `structuredContent` of the result, also in the spelling of Python clients.
    pub fn structured(&self) -> Option<&Value> {
        let result = self.result()?;
        let found = result.get("structuredContent").or_else(|| result.get("structured_content"));
        found.filter(|value| !value.is_null())
    }

    /// Whether the server says that the call failed: an error of the protocol, or `isError`.
    pub fn is_error(&self) -> bool {
        match &self.outcome {
            CallOutcome::Error { .. } => true,
            CallOutcome::Result(value) => {
                let flag = value.get("isError").or_else(|| value.get("is_error"));
                flag.and_then(Value::as_bool).unwrap_or(false)
            }
            CallOutcome::Unknown => false,
        }
    }

    /// The text of the result: that of its content blocks, resources and messages; of a result of another shape, its JSON.
    pub fn text(&self) -> Cow<'_, str> {
        match &self.outcome {
            CallOutcome::Result(value) => result_text(value),
            CallOutcome::Error { message, .. } => Cow::Borrowed(message),
            CallOutcome::Unknown => Cow::Borrowed(""),
        }
    }
}

fn result_text(value: &Value) -> Cow<'_, str> {
    if let Value::String(text) = value {
        return Cow::Borrowed(text);
    }
    let blocks =
        ["content", "contents", "messages"].iter().find_map(|key| value.get(key)?.as_array());
    let Some(blocks) = blocks else { return Cow::Owned(value.to_string()) };
    let mut texts: Vec<&str> = blocks.iter().filter_map(block_text).collect();
    match texts.as_slice() {
        [] => Cow::Borrowed(""),
        [_] => Cow::Borrowed(texts.remove(0)),
        _ => Cow::Owned(texts.join("\n")),
    }
}

fn block_text(block: &Value) -> Option<&str> {
    let inner = [
        block.get("text"),
        block.pointer("/resource/text"),
        block.pointer("/content/text"),
        block.get("content"),
    ];
    block.as_str().or_else(|| inner.into_iter().flatten().find_map(Value::as_str))
}

/// A call as the author of a test case describes it, for comparison.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExpectedCall {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// `FUNCTION` or `MCP`, as deepeval writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
}
