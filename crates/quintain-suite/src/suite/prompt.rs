//! A prompt of a suite.

use quintain_evidence::code::Code;
use quintain_source::Span;
use serde_json::Value;

/// One entry of `prompts`.
#[derive(Debug, Clone)]
pub struct Prompt {
    /// The name in reports and filters.
    pub label: String,
    pub id: Option<String>,
    pub body: PromptBody,
    /// Passed to the function that generates the prompt.
    pub config: Option<Value>,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub enum PromptBody {
    /// A template.
    Text(String),
    /// A tool call, a request or a sequence in YAML; its texts are templates.
    Call(Value),
    /// A function that generates the prompt.
    Code(Code),
}

impl Prompt {
    /// The text in reports, before variables are expanded.
    pub fn raw(&self) -> String {
        match &self.body {
            PromptBody::Call(call) => call.to_string(),
            PromptBody::Text(text)
            | PromptBody::Code(Code::Inline { text, .. } | Code::File { text, .. }) => text.clone(),
        }
    }
}
