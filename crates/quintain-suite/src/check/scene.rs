//! What a check can see of a case.

use std::borrow::Cow;

use quintain_content::text::js;
use quintain_evidence::evidence::Evidence;
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
