//! Which part of a response an assertion judges.

use std::borrow::Cow;

use quintain_evidence::evidence::{Evidence, Outcome};
use quintain_evidence::response::Response;
use serde_json::Value;

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
