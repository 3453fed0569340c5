//! JSON text with templates in it: an expanded value never breaks the JSON around it.

use serde_json::{Map, Value};

use super::{Nunjucks, RenderError, is_template, only_expression};
use crate::template::expression_end;

impl Nunjucks {
    /// JSON text with templates in it. Inside a JSON string a value is escaped; a string that is
    /// one expression takes its type; outside strings a value is written as JSON, and text that
    /// is already JSON unchanged.
    ///
    /// # Errors
    /// As [`Self::render`], or if the result is not valid JSON.
    pub fn render_json(&self, text: &str, vars: &Map<String, Value>) -> Result<Value, RenderError> {
        if let Ok(value) = serde_json::from_str(text) {
            return if is_template(text) { self.render_value(&value, vars) } else { Ok(value) };
        }
        let filled = if text.contains("{%") || text.contains("{#") {
            self.render(text, vars)?
        } else {
            self.spliced(text, vars)?
        };
        serde_json::from_str(&filled).map_err(|error| RenderError { reason: error.to_string() })
    }

    /// The text with each expression replaced by JSON that fits its place.
    fn spliced(&self, text: &str, vars: &Map<String, Value>) -> Result<String, RenderError> {
        let mut out = String::with_capacity(text.len() + 64);
        let mut rest = text;
        let mut inside = false;
        while let Some(c) = rest.chars().next() {
            let expression = rest.strip_prefix("{{").and_then(|after| {
                let quoted = if inside { end_in_string(after) } else { None };
                let end = quoted.or_else(|| expression_end(after))?;
                Some((&rest[..end + 2], &after[end..]))
            });
            match (c, expression) {
                (_, Some((tag, after))) => {
                    let value = self.evaluate_in(tag, inside, vars)?;
                    // `"{{x}}"`: the quotes belong to the expression.
                    if inside && out.ends_with('"') && after.starts_with('"') {
                        out.pop();
                        out.push_str(&value.to_string());
                        rest = &after[1..];
                        inside = false;
                    } else {
                        out.push_str(&fitting(&value, inside));
                        rest = after;
                    }
                }
                ('\\', None) if inside => {
                    let len = 1 + rest[1..].chars().next().map_or(0, char::len_utf8);
                    out.push_str(&rest[..len]);
                    rest = &rest[len..];
                }
                (c, None) => {
                    inside ^= c == '"';
                    out.push(c);
                    rest = &rest[c.len_utf8()..];
                }
            }
        }
        Ok(out)
    }

    fn evaluate_in(
        &self,
        tag: &str,
        inside: bool,
        vars: &Map<String, Value>,
    ) -> Result<Value, RenderError> {
        if inside && tag.contains("\\\"") {
            let tag = tag.replace("\\\"", "\"");
            return self.evaluate(only_expression(&tag).unwrap_or_default(), vars);
        }
        self.evaluate(only_expression(tag).unwrap_or_default(), vars)
    }
}

/// The offset after the closing braces of an expression in a JSON string, where quotes are
/// escaped. None if they are not.
fn end_in_string(text: &str) -> Option<usize> {
    let mut quote = None;
    let mut bytes = text.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match (quote, byte) {
            (None, b'"') => return None,
            (_, b'\\') => {
                let next = bytes.next().map(|(_, next)| next);
                quote = match (quote, next) {
                    (None, Some(b'"')) => Some(b'"'),
                    (Some(b'"'), Some(b'"')) => None,
                    _ => quote,
                };
            }
            (None, b'\'') => quote = Some(b'\''),
            (Some(b'\''), b'\'') => quote = None,
            (None, b'}') if text.as_bytes().get(at + 1) == Some(&b'}') => return Some(at + 2),
            _ => {}
        }
    }
    None
}

/// A value in the form that fits between other JSON text.
fn fitting(value: &Value, inside: bool) -> String {
    if inside {
        let text = if value.is_null() { String::new() } else { super::printed(value) };
        let quoted = Value::String(text).to_string();
        return quoted[1..quoted.len() - 1].to_owned();
    }
    match value {
        Value::String(text) if serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() => {
            text.clone()
        }
        // An undefined value becomes empty, as in a template.
        Value::String(text) if text.is_empty() => String::new(),
        other => other.to_string(),
    }
}
