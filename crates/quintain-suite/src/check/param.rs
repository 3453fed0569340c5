//! An option of an assertion that may contain templates or come from a script.

use std::borrow::Cow;

use quintain_evidence::verdict::Verdict;
use quintain_source::is_template;
use serde_json::Value;

use super::Scene;

/// A value as written in the suite.
#[derive(Debug, Clone, PartialEq)]
pub enum Param {
    /// The same for all cases.
    Fixed(Value),
    /// Text or a list of texts with templates, expanded for every case.
    Template(Value),
    /// What the script of `value: file://...` returns, for an assertion of type `kind`.
    Script { kind: String },
}

impl Param {
    /// promptfoo expands text and the texts of a list, but not the values of maps.
    pub fn new(value: Value) -> Self {
        let templated = match &value {
            Value::String(text) => is_template(text),
            Value::Array(items) => items.iter().any(|item| item.as_str().is_some_and(is_template)),
            _ => false,
        };
        if templated { Self::Template(value) } else { Self::Fixed(value) }
    }

    /// The value for this case. A template that fails is an error verdict.
    #[expect(clippy::result_large_err, reason = "the error is the verdict of the check")]
    pub fn resolve<'a>(&'a self, scene: &Scene<'a>) -> Result<Cow<'a, Value>, Verdict> {
        let fill = |text: &str| {
            scene.render(text).map(Value::String).map_err(|error| Verdict::error(error.to_string()))
        };
        match self {
            Self::Fixed(value) => Ok(Cow::Borrowed(value)),
            Self::Template(Value::String(text)) => fill(text).map(Cow::Owned),
            Self::Template(Value::Array(items)) => {
                let filled = items.iter().map(|item| match item {
                    Value::String(text) => fill(text),
                    other => Ok(other.clone()),
                });
                Ok(Cow::Owned(filled.collect::<Result<Value, _>>()?))
            }
            Self::Template(other) => Ok(Cow::Borrowed(other)),
            Self::Script { kind } => match scene.script_value {
                Some(value) => usable(kind, value).map(Cow::Borrowed),
                None => Err(Verdict::error("the script for `value` returned nothing")),
            },
        }
    }
}

/// A script for `value` returns the value to compare with. If it returns a verdict instead, the user
/// probably meant an assertion of type `javascript`.
#[expect(clippy::result_large_err, reason = "the error is the verdict of the check")]
fn usable<'a>(kind: &str, value: &'a Value) -> Result<&'a Value, Verdict> {
    let (what, many) = match value {
        Value::Bool(_) => ("boolean", "boolean values"),
        Value::Object(map) if map.contains_key("pass") => {
            ("GradingResult", "GradingResult objects")
        }
        _ => return Ok(value),
    };
    Err(Verdict::error(format!(
        "Script for \"{kind}\" assertion returned a {what}. Only javascript/python/ruby assertion \
         types can return {many}. For other assertion types, return the expected value (string, \
         number, array, or object)."
    )))
}
