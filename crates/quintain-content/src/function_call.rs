//! Whether calls in the answer of a model fit the functions that the model was offered. Reasons are
//! those of promptfoo.

use serde_json::Value;

use crate::json_text;
use crate::schema::promptfoo::{Complaint, Schema};
use crate::text::js;

/// A call in the format of OpenAI, `{name, arguments}` or within `function_call`.
///
/// # Errors
/// Why it is none, or does not fit.
pub fn check_openai(output: &Value, functions: &[Value]) -> Result<(), String> {
    let call = output.get("function_call").unwrap_or(output);
    let (Some(name), Some(arguments)) = (text(call, "name"), text(call, "arguments")) else {
        let shown = js::stringify(call);
        return Err(format!("OpenAI did not return a valid-looking function call: {shown}"));
    };
    let arguments = json_text::parse(arguments).map_err(|error| error.to_string())?;
    let function = functions.iter().find(|function| text(function, "name") == Some(name));
    let Some(schema) = function.and_then(|function| truthy(function, "parameters")) else {
        return Err(absent(name));
    };
    let faults = Schema::new(schema)?.check(&arguments)?;
    if faults.is_empty() {
        return Ok(());
    }
    Err(format!("Call to \"{name}\" does not match schema: {}", shown(&faults)))
}

/// Calls in the format of Google: `{toolCall: {functionCalls}}`, or a list with `functionCall`.
///
/// # Errors
/// Why there are none, or which one does not fit.
pub fn check_google(output: &Value, tools: &[Value]) -> Result<(), String> {
    let parsed = match output {
        Value::String(text) => json_text::parse(text).ok(),
        other => Some(other.clone()),
    };
    let calls: Option<Vec<Value>> = parsed.and_then(|parsed| match parsed.get("toolCall") {
        Some(call) => call.get("functionCalls")?.as_array().cloned(),
        None => Some(
            parsed
                .as_array()?
                .iter()
                .filter_map(|item| item.get("functionCall"))
                .cloned()
                .collect(),
        ),
    });
    let Some(calls) = calls else {
        let shown = js::stringify(output);
        return Err(format!("Google did not return a valid-looking function call: {shown}"));
    };
    let declared = tools.iter().find_map(|tool| tool.get("functionDeclarations")?.as_array());
    calls.iter().try_for_each(|call| check_google_call(call, declared.map_or(&[], Vec::as_slice)))
}

fn check_google_call(call: &Value, declared: &[Value]) -> Result<(), String> {
    let name = call.get("name").map(js::string).unwrap_or_default();
    let arguments = match call.get("args") {
        Some(Value::String(text)) => json_text::parse(text).map_err(|error| error.to_string())?,
        Some(value @ (Value::Object(_) | Value::Array(_))) => value.clone(),
        _ => return Err("Cannot convert undefined or null to object".to_owned()),
    };
    let function = declared.iter().find(|function| text(function, "name") == Some(&name));
    let Some(function) = function else { return Err(absent(&name)) };
    let misfit = |schema: &str| {
        format!("Call to \"{name}\":\n{}\ndoes not match schema:\n{schema}", js::stringify(call))
    };
    let empty = arguments.as_object().is_some_and(serde_json::Map::is_empty);
    match truthy(function, "parameters") {
        Some(parameters) if !empty => {
            let schema = Schema::new(&lower_types(parameters)).map_err(|why| {
                format!(
                    "Tool schema doesn't compile with ajv: Error: {why}. If this is a valid tool \
                     schema you may need to reformulate your assertion without \
                     is-valid-function-call."
                )
            })?;
            let faults = schema.check(&arguments)?;
            if faults.is_empty() { Ok(()) } else { Err(misfit(&shown(&faults))) }
        }
        None if empty => Ok(()),
        _ => Err(misfit(&js::stringify(function))),
    }
}

/// Google writes types in capitals.
fn lower_types(schema: &Value) -> Value {
    let lower = |value: &Value| match value {
        Value::String(kind) if kind.bytes().all(|byte| byte.is_ascii_uppercase()) => {
            Value::String(kind.to_lowercase())
        }
        other => lower_types(other),
    };
    match schema {
        Value::Array(items) => items.iter().map(lower_types).collect(),
        Value::Object(entries) => {
            let entries = entries.iter().map(|(key, value)| {
                let value = match value {
                    Value::Array(kinds) if key == "type" => kinds.iter().map(lower).collect(),
                    value if key == "type" => lower(value),
                    value => lower_types(value),
                };
                (key.clone(), value)
            });
            Value::Object(entries.collect())
        }
        other => other.clone(),
    }
}

fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key).and_then(Value::as_str)
}

fn truthy<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    value.get(key).filter(|value| !js::is_falsy(value))
}

fn absent(name: &str) -> String {
    format!("Called \"{name}\", but there is no function with that name")
}

fn shown(faults: &[Complaint]) -> String {
    serde_json::to_value(faults).map(|faults| js::stringify(&faults)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn calls_of_openai_have_to_fit() {
        let functions = [json!({
            "name": "weather",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
        })];
        let told = |output: Value| check_openai(&output, &functions).err().unwrap_or_default();
        let call = |name: &str, arguments: &str| json!({"name": name, "arguments": arguments});
        assert_eq!(told(call("weather", "{\"city\": \"Rome\"}")), "");
        assert_eq!(told(json!({"function_call": call("weather", "{\"city\": \"Rome\"}")})), "");
        assert_eq!(
            told(call("weather", "{}")),
            "Call to \"weather\" does not match schema: [{\"instancePath\":\"\",\"schemaPath\":\
             \"#/required\",\"keyword\":\"required\",\"params\":{\"missingProperty\":\"city\"},\
             \"message\":\"must have required property 'city'\"}]"
        );
        assert_eq!(told(call("x", "{}")), "Called \"x\", but there is no function with that name");
        assert_eq!(
            told(json!({"a": 1.0})),
            "OpenAI did not return a valid-looking function call: {\"a\":1}"
        );
        assert!(!told(call("weather", "{broken")).is_empty());
    }

    #[test]
    fn calls_of_google_have_to_fit() {
        let tools = [json!({"functionDeclarations": [
            {"name": "now"},
            {"name": "weather", "parameters": {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}}}
        ]})];
        let told = |output: Value| check_google(&output, &tools).err().unwrap_or_default();
        assert_eq!(
            told(json!([{"functionCall": {"name": "weather", "args": {"city": "Rome"}}}])),
            ""
        );
        assert_eq!(
            told(json!({"toolCall": {"functionCalls": [{"name": "now", "args": "{}"}]}})),
            ""
        );
        assert!(
            told(json!([{"functionCall": {"name": "weather", "args": {"city": 5}}}]))
                .contains("\ndoes not match schema:\n[{")
        );
        assert!(told(json!("x")).starts_with("Google did not return"));
    }
}
