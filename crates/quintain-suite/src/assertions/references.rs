//! `value` of the assertions that compare with one or several references.

use serde_json::Value;

/// The references in lower case; `no_text` is the error message for anything but texts.
pub(super) fn references(value: Option<&Value>, no_text: &str) -> Result<Vec<String>, String> {
    let lower = |text: &Value| text.as_str().map(str::to_lowercase);
    match value {
        Some(Value::Array(texts)) if texts.is_empty() => Err("Invalid inputs".to_owned()),
        Some(Value::Array(texts)) => {
            texts.iter().map(lower).collect::<Option<_>>().ok_or_else(|| no_text.to_owned())
        }
        Some(text) => lower(text).map(|text| vec![text]).ok_or_else(|| no_text.to_owned()),
        None => Err(no_text.to_owned()),
    }
}
