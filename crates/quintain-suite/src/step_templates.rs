//! Expands the templates of one step with the variables known so far.

use quintain_evidence::probe::{PlannedStep, Step};
use quintain_source::{Nunjucks, RenderError, is_template};
use serde_json::{Map, Value};

/// Expands the templates of a step.
///
/// # Errors
/// If a template is invalid.
pub fn fill(
    planned: &PlannedStep,
    vars: &Map<String, Value>,
    templates: &Nunjucks,
) -> Result<Step, RenderError> {
    let map = |entries: &Map<String, Value>| -> Result<Map<String, Value>, RenderError> {
        let filled = entries.iter().map(|(key, value)| {
            let key = if is_template(key) { templates.render(key, vars)? } else { key.clone() };
            Ok((key, templates.render_value(value, vars)?))
        });
        filled.collect()
    };
    Ok(match &planned.step {
        Step::Call(call) => {
            let mut call = call.clone();
            call.tool = templates.render(&call.tool, vars)?;
            call.args = map(&call.args)?;
            Step::Call(call)
        }
        Step::Request { method, params, server } => {
            Step::Request { method: method.clone(), params: map(params)?, server: server.clone() }
        }
    })
}
