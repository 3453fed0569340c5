//! Expands the templates of a case just before it is sent: variables, prompt, probe.

use quintain_content::text::javascript_json;
use quintain_evidence::probe::{self, Probe};
use quintain_evidence::tool_call::ToolCallError;
use quintain_source::{Nunjucks, RenderError, is_template, switched_on};
use serde_json::{Map, Value};

pub use crate::step_templates::fill;

use crate::plan::Case;
use crate::suite::{Prompt, PromptBody, resolve};

/// A case with its templates expanded.
#[derive(Debug)]
pub struct PreparedCase {
    /// Variables, with references to other variables expanded.
    pub vars: Map<String, Value>,
    /// The prompt as reports show it.
    pub prompt: String,
    /// For MCP servers: the prompt as data.
    pub payload: Option<Value>,
    /// The probe, or why the case cannot be sent.
    pub probe: Result<Probe, ToolCallError>,
}

/// Expands the templates of a case. `carried` are values from earlier cases; `speaks_mcp` turns the prompt
/// into a tool call.
///
/// # Errors
/// If a template is invalid.
pub fn prepare(
    case: &Case<'_>,
    prompt: &Prompt,
    carried: &Map<String, Value>,
    speaks_mcp: bool,
    templates: &Nunjucks,
) -> Result<PreparedCase, RenderError> {
    let given = case.given(carried);
    let vars = resolve(&given, templates)?;
    let options = &case.test.options;
    let (prefix, suffix) = (options.prefix.as_deref(), options.suffix.as_deref());
    let shown = match &prompt.body {
        PromptBody::Text(text) if prefix.is_none() && suffix.is_none() => {
            render(text, &vars, templates)?
        }
        PromptBody::Text(text) => {
            let whole = format!("{}{text}{}", prefix.unwrap_or(""), suffix.unwrap_or(""));
            render(&whole, &vars, templates)?
        }
        PromptBody::Call(call) => {
            javascript_json::stringify_pretty(&templates.render_value(call, &vars)?)
        }
        PromptBody::Code(_) => prompt.raw(),
    };
    if !speaks_mcp {
        let probe = Ok(Probe::Text(shown.clone()));
        return Ok(PreparedCase { vars, prompt: shown, payload: None, probe });
    }
    let payload = match given.get("prompt") {
        Some(Value::String(text)) => from_text(text, &vars, templates)?,
        Some(value @ (Value::Object(_) | Value::Array(_))) => Ok(value.clone()),
        Some(_) => from_text(&shown, &vars, templates)?,
        None => match &prompt.body {
            PromptBody::Call(call) => Ok(call.clone()),
            PromptBody::Text(text) if prefix.is_none() && suffix.is_none() => {
                from_text(text, &vars, templates)?
            }
            _ => from_text(&shown, &vars, templates)?,
        },
    };
    let probe = payload.as_ref().map_err(Clone::clone).and_then(probe::steps).map(Probe::Steps);
    let payload =
        payload.ok().map(|payload| templates.render_value(&payload, &vars)).transpose()?;
    // A call that is data is shown as JSON; as text it would be `[object Object]`.
    let is_data = matches!(given.get("prompt"), Some(Value::Object(_) | Value::Array(_)))
        || shown.contains("[object Object]");
    let shown =
        payload.as_ref().filter(|_| is_data).map_or(shown, javascript_json::stringify_pretty);
    Ok(PreparedCase { vars, prompt: shown, payload, probe })
}

/// Reads a tool call from text. If the text is JSON before its templates are expanded, they are expanded
/// later, step by step; otherwise at once.
fn from_text(
    text: &str,
    vars: &Map<String, Value>,
    templates: &Nunjucks,
) -> Result<Result<Value, ToolCallError>, RenderError> {
    if let Ok(payload @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text) {
        return Ok(Ok(payload));
    }
    if templates.is_literal() || !is_template(text) {
        return Ok(quintain_evidence::tool_call::read(text));
    }
    // A template around a variable that is a call: `{{prompt}}`.
    let plain = templates.render(text, vars)?;
    if let Ok(payload @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(&plain) {
        return Ok(Ok(payload));
    }
    Ok(templates.render_json(text, vars).or_else(|_| quintain_evidence::tool_call::read(&plain)))
}

/// Follows promptfoo: templates in JSON are expanded text by text and the JSON is serialised again; any other
/// text is expanded as a whole.
fn render(
    text: &str,
    vars: &Map<String, Value>,
    templates: &Nunjucks,
) -> Result<String, RenderError> {
    if templates.is_literal() {
        return templates.render_prompt(text, vars);
    }
    if switched_on(templates.env(), "PROMPTFOO_DISABLE_JSON_AUTOESCAPE") {
        return templates.render(text, vars).or_else(|_| templates.render_prompt(text, vars));
    }
    if let Ok(mut json) = serde_json::from_str::<Value>(text)
        && fill_texts(&mut json, vars, templates).is_ok()
    {
        return Ok(javascript_json::stringify_pretty(&javascript_json::ordered(json)));
    }
    if !is_template(text) {
        return Ok(text.to_owned());
    }
    templates.render_prompt(text, vars)
}

fn fill_texts(
    value: &mut Value,
    vars: &Map<String, Value>,
    templates: &Nunjucks,
) -> Result<(), RenderError> {
    match value {
        Value::String(text) if is_template(text) => *text = templates.render(text, vars)?,
        Value::Array(items) => {
            for item in items {
                fill_texts(item, vars, templates)?;
            }
        }
        Value::Object(entries) => {
            for (_, item) in entries.iter_mut() {
                fill_texts(item, vars, templates)?;
            }
        }
        _ => {}
    }
    Ok(())
}
