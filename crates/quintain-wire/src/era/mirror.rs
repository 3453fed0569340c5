//! Tool arguments mirrored into headers (`x-mcp-header`), as of 2026-07-28.
//!
//! A server may annotate arguments whose values a gateway should see. A tool whose annotations break the rules must not
//! be used over HTTP: the header could contradict the body, or inject other headers.

use http::HeaderName;
use serde_json::{Map, Value};

use super::modern::header_value;
use crate::transport::Headers;

const MARK: &str = "x-mcp-header";
/// Larger numbers are not exact in every language.
const SAFE_INTEGER: i64 = (1 << 53) - 1;
/// Maximum depth of schemas; serde_json has the same limit.
const DEPTH: usize = 128;

/// One argument and the header it is mirrored into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mirror {
    path: Vec<String>,
    header: HeaderName,
}

/// The mirrors that a tool's input schema asks for.
///
/// # Errors
/// When an annotation breaks the rules; the text says how.
pub fn mirrors(schema: &Value) -> Result<Vec<Mirror>, String> {
    let mut found = Vec::new();
    collect(schema, &mut Vec::new(), true, &mut found, 0)?;
    for (at, mirror) in found.iter().enumerate() {
        if found[..at].iter().any(|other| other.header == mirror.header) {
            return Err(format!("two arguments are mirrored into `{}`", mirror.header));
        }
    }
    Ok(found)
}

fn collect(
    schema: &Value,
    path: &mut Vec<String>,
    reachable: bool,
    found: &mut Vec<Mirror>,
    depth: usize,
) -> Result<(), String> {
    if depth > DEPTH {
        return Ok(());
    }
    match schema {
        Value::Object(members) => {
            if let Some(mark) = members.get(MARK) {
                if !reachable || path.is_empty() {
                    return Err(format!("`{MARK}` is not on an argument"));
                }
                found.push(Mirror { path: path.clone(), header: header_name(mark, members)? });
            }
            for (keyword, inner) in members {
                if keyword == "properties" && reachable {
                    for (name, property) in inner.as_object().into_iter().flatten() {
                        path.push(name.clone());
                        collect(property, path, true, found, depth + 1)?;
                        path.pop();
                    }
                } else if keyword != MARK {
                    collect(inner, path, false, found, depth + 1)?;
                }
            }
            Ok(())
        }
        Value::Array(items) => {
            items.iter().try_for_each(|item| collect(item, path, false, found, depth + 1))
        }
        _ => Ok(()),
    }
}

fn header_name(mark: &Value, schema: &Map<String, Value>) -> Result<HeaderName, String> {
    let name = mark.as_str().ok_or_else(|| format!("`{MARK}` is not a string"))?;
    if name.is_empty() {
        return Err(format!("`{MARK}` is empty"));
    }
    let kind = schema.get("type").and_then(Value::as_str).unwrap_or_default();
    if !matches!(kind, "string" | "integer" | "boolean") {
        return Err(format!("`{MARK}` is on an argument of type `{kind}`"));
    }
    HeaderName::try_from(format!("mcp-param-{}", name.to_ascii_lowercase()))
        .map_err(|_| format!("`{}` is not a valid header name", name.escape_debug()))
}

/// The headers for a call with these arguments; absent and null values are not mirrored.
pub fn headers(mirrors: &[Mirror], arguments: &Value) -> Headers {
    let mut headers = Vec::with_capacity(mirrors.len());
    for mirror in mirrors {
        let value = mirror.path.iter().try_fold(arguments, |value, name| value.get(name));
        let text = match value {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Bool(yes)) => yes.to_string(),
            Some(Value::Number(number)) => match number.as_i64() {
                Some(number) if (-SAFE_INTEGER..=SAFE_INTEGER).contains(&number) => {
                    number.to_string()
                }
                _ => continue,
            },
            _ => continue,
        };
        headers.push((mirror.header.clone(), header_value(&text)));
    }
    headers
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn marked_arguments_become_headers_and_absent_ones_do_not() {
        let schema = json!({"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "deep": {"type": "object", "properties": {
                "count": {"type": "integer", "x-mcp-header": "Count"}}},
            "gone": {"type": "boolean", "x-mcp-header": "Gone"}}});
        let mirrors = mirrors(&schema).unwrap();
        let headers =
            headers(&mirrors, &json!({"region": "eu", "deep": {"count": -7}, "gone": null}));
        let shown: Vec<String> = headers
            .iter()
            .map(|(name, value)| format!("{name}={}", value.to_str().unwrap()))
            .collect();
        assert_eq!(shown, ["mcp-param-region=eu", "mcp-param-count=-7"]);
    }

    #[test]
    fn marks_that_break_the_rules_are_refused() {
        let property = |schema: Value| json!({"properties": {"a": schema}});
        for schema in [
            property(json!({"type": "string", "x-mcp-header": ""})),
            property(json!({"type": "string", "x-mcp-header": "a b"})),
            property(json!({"type": "string", "x-mcp-header": "a\r\nX: y"})),
            property(json!({"type": "number", "x-mcp-header": "A"})),
            property(json!({"type": "string", "x-mcp-header": 3})),
            property(json!({"type": "array", "items": {"type": "string", "x-mcp-header": "A"}})),
            json!({"anyOf": [{"properties": {"a": {"type": "string", "x-mcp-header": "A"}}}]}),
            json!({"properties": {
                "a": {"type": "string", "x-mcp-header": "Same"},
                "b": {"type": "string", "x-mcp-header": "same"}}}),
        ] {
            assert!(mirrors(&schema).is_err(), "{schema}");
        }
    }
}
