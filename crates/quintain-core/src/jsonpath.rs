//! JSONPath.
use serde_json::Value;
pub fn first(path: &str, value: &Value) -> Result<Option<Value>, String> {
    let _ = path;
    Ok(Some(value.clone()))
}
