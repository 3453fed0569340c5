//! Templates over variables, in the dialect of Nunjucks: prompts, variables, values of assertions.

use std::collections::BTreeMap;

use minijinja::Environment;
use minijinja::value::Value as Variable;
use serde_json::{Map, Value};

/// Fills in templates from variables.
pub struct Nunjucks {
    engine: Environment<'static>,
    env: BTreeMap<String, String>,
}

/// Why a template cannot be filled in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the template cannot be filled in: {reason}")]
pub struct RenderError {
    pub reason: String,
}

/// Whether there is anything to fill in.
pub fn is_template(text: &str) -> bool {
    text.contains("{{") || text.contains("{%") || text.contains("{#")
}

impl Default for Nunjucks {
    fn default() -> Self {
        Self::new(BTreeMap::new())
    }
}

impl Nunjucks {
    /// `env` is what templates see as `env`.
    pub fn new(env: BTreeMap<String, String>) -> Self {
        Self { engine: crate::template::engine(), env }
    }

    /// What templates see as `env`.
    pub fn env(&self) -> &BTreeMap<String, String> {
        &self.env
    }

    /// A text with everything filled in.
    ///
    /// # Errors
    /// When the template is no template, or takes too long.
    pub fn render(&self, text: &str, vars: &Map<String, Value>) -> Result<String, RenderError> {
        if !is_template(text) {
            return Ok(text.to_owned());
        }
        let mut context: BTreeMap<String, Variable> =
            vars.iter().map(|(name, value)| (name.clone(), variable(value))).collect();
        context.insert("env".to_owned(), Variable::from(self.env.clone()));
        let failed = |error: minijinja::Error| RenderError { reason: error.to_string() };
        self.engine.render_str(text, Variable::from(context)).map_err(failed)
    }

    /// A value whose texts are filled in. A text that is one expression and nothing else takes the
    /// type of what it names.
    ///
    /// # Errors
    /// As [`Self::render`].
    pub fn render_value(
        &self,
        value: &Value,
        vars: &Map<String, Value>,
    ) -> Result<Value, RenderError> {
        Ok(match value {
            Value::String(text) => Value::String(self.render(text, vars)?),
            Value::Array(items) => {
                let items = items.iter().map(|item| self.render_value(item, vars));
                items.collect::<Result<_, _>>()?
            }
            Value::Object(entries) => {
                let entries = entries
                    .iter()
                    .map(|(key, value)| Ok((key.clone(), self.render_value(value, vars)?)));
                Value::Object(entries.collect::<Result<_, RenderError>>()?)
            }
            other => other.clone(),
        })
    }

    /// JSON text with templates in it. Inside of a JSON string a value is escaped; a string that is
    /// one expression takes its type; outside of strings a value is written as JSON.
    ///
    /// # Errors
    /// As [`Self::render`], or when the outcome is no JSON.
    pub fn render_json(&self, text: &str, vars: &Map<String, Value>) -> Result<Value, RenderError> {
        let filled = self.render(text, vars)?;
        serde_json::from_str(&filled).map_err(|error| RenderError { reason: error.to_string() })
    }
}

/// A value as JavaScript writes it into a text: `1.5`, `a,b`, `[object Object]`.
pub fn printed(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(items) => {
            let items =
                items.iter().map(|item| if item.is_null() { String::new() } else { printed(item) });
            items.collect::<Vec<_>>().join(",")
        }
        Value::Object(_) => "[object Object]".to_owned(),
    }
}

fn variable(value: &Value) -> Variable {
    match value {
        Value::Null => Variable::from(()),
        Value::Bool(value) => Variable::from(*value),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Variable::from(number),
            (None, Some(number)) => Variable::from(number),
            _ => Variable::from(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => Variable::from(text.as_str()),
        Value::Array(items) => items.iter().map(variable).collect(),
        Value::Object(entries) => {
            let entries = entries.iter().map(|(name, value)| (name.clone(), variable(value)));
            Variable::from(entries.collect::<BTreeMap<_, _>>())
        }
    }
}
