//! What promptfoo says about code that fails, or that returns no grade.

use quintain_content::text::js;
use quintain_evidence::verdict::Verdict;
use quintain_script::ScriptError;
use serde_json::Value;

/// As in promptfoo, an exception of inline code is a failure and one of a file is an error. An API that
/// only Quintain lacks is an error in both cases.
pub(super) fn failure(error: &ScriptError, in_file: bool, shown: &str) -> Verdict {
    let (message, stack) = match error {
        ScriptError::Thrown { name, message, stack } => {
            (message.clone(), format!("{name}: {message}\n{stack}"))
        }
        ScriptError::Syntax { .. } | ScriptError::Result { .. } => {
            (error.to_string(), error.to_string())
        }
        other => return Verdict::error(other.to_string()),
    };
    if in_file {
        return Verdict::error(message);
    }
    let reason =
        format!("Custom function threw error: {message}\nStack Trace: {}", stack.trim_end());
    Verdict::fail(with_code(reason, shown))
}

pub(super) fn thrown(message: &str, shown: &str) -> String {
    let reason = format!("Custom function threw error: {message}\nStack Trace: Error: {message}");
    with_code(reason, shown)
}

fn with_code(reason: String, shown: &str) -> String {
    if shown.is_empty() { reason } else { format!("{reason}\n{shown}") }
}

pub(super) fn not_a_grade(value: &Value) -> String {
    let (kind, json) = match value {
        // Mostly a forgotten `return`; a real null looks the same.
        Value::Null => ("undefined", "undefined".to_owned()),
        Value::String(_) => ("string", js::stringify(value)),
        other => ("object", js::stringify(other)),
    };
    format!(
        "Custom function must return a boolean, number, or GradingResult object. Got type {kind}: \
         {json}"
    )
}
