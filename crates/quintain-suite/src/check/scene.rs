//! What a check can see of a case.

use std::borrow::Cow;

use quintain_content::text::js;
use quintain_evidence::evidence::{Evidence, Outcome};
use quintain_evidence::response::Response;
use quintain_evidence::surface::Surface;
use quintain_source::{Nunjucks, RenderError};
use serde_json::{Map, Value};

use super::Test;
use crate::target::Target;

/// One case with its response.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// The output after all transforms, or the part of the response that `view` selects.
    pub output: &'a Value,
    pub response: &'a Response,
    pub evidence: &'a Evidence,
    /// The surfaces of the servers of the target, by the key of the server.
    pub surfaces: &'a [(String, Surface)],
    pub vars: &'a Map<String, Value>,
    /// The prompt as it was sent.
    pub prompt: &'a str,
    pub test: &'a Test,
    /// Label or id of the target.
    pub target: &'a str,
    /// The target as the suite defines it.
    pub definition: Option<&'a Target>,
    /// How long the target took; unknown for recorded outputs.
    pub latency_ms: Option<f64>,
    pub templates: &'a Nunjucks,
    /// What the script of `value: file://...` returned.
    pub script_value: Option<&'a Value>,
}

impl Scene<'_> {
    /// The output as text: text as it is, anything else as JSON.
    pub fn text(&self) -> Cow<'_, str> {
        as_text(self.output)
    }

    pub fn render(&self, template: &str) -> Result<String, RenderError> {
        self.templates.render(template, self.vars)
    }
}

/// Text as it is, anything else as JSON, with numbers as JavaScript writes them.
pub fn as_text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(js::stringify(other)),
    }
}

/// The part of the response that an assertion judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum View {
    /// The output after transforms.
    #[default]
    Output,
    /// The texts of the content blocks, joined by line breaks.
    Text,
    /// The texts of the content blocks, read as JSON.
    Json,
    /// `structuredContent` of the result.
    Structured,
    /// The message of an error, or the texts of a result with `isError`.
    Error,
}

impl View {
    pub const WORDS: [(&'static str, Self); 5] = [
        ("output", Self::Output),
        ("text", Self::Text),
        ("json", Self::Json),
        ("structured", Self::Structured),
        ("error", Self::Error),
    ];

    /// The part of the response that this view selects.
    ///
    /// # Errors
    /// If the response has no such part; the text is the reason of the failed assertion.
    pub fn of<'a>(
        self,
        output: &'a Value,
        response: &Response,
        evidence: &Evidence,
    ) -> Result<Cow<'a, Value>, String> {
        let outcome = evidence.last().map(|exchange| &exchange.outcome);
        let texts = || outcome.map(Outcome::texts).unwrap_or_default().join("\n");
        match self {
            Self::Output => Ok(Cow::Borrowed(output)),
            Self::Text => Ok(Cow::Owned(Value::String(texts()))),
            Self::Json => serde_json::from_str(&texts())
                .map(Cow::Owned)
                .map_err(|error| format!("the text of the response is not JSON: {error}")),
            Self::Structured => outcome
                .and_then(|outcome| outcome.result()?.get("structuredContent"))
                .map(|structured| Cow::Owned(structured.clone()))
                .ok_or_else(|| "the response has no structuredContent".to_owned()),
            Self::Error => match (&response.error, outcome) {
                (Some(error), _) => Ok(Cow::Owned(Value::String(error.clone()))),
                (None, Some(Outcome::ToolError(_))) => Ok(Cow::Owned(Value::String(texts()))),
                _ => Err("the response is not an error".to_owned()),
            },
        }
    }
}
