//! Converts the JSON arguments of a call to the typed arguments of a tool.
//!
//! The schemas of this server are flat objects, so these few keywords are sufficient.

use rmcp::{handler::server::tool::schema_for_input, model::JsonObject, schemars::JsonSchema};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::ToolError;
use crate::config::Twin;

pub(super) fn parse<T>(twin: Twin, mut arguments: JsonObject) -> Result<T, ToolError>
where
    T: DeserializeOwned + JsonSchema + 'static,
{
    let schema = schema_for_input::<T>().map_err(|error| ToolError::invalid("", &error))?;
    match twin {
        // PLANTED (schema-bypass): arguments that do not match the schema are made to match.
        Twin::Vulnerable => coerce(&schema, &mut arguments),
        Twin::Patched => {
            let problems = violations(&schema, &arguments);
            if !problems.is_empty() {
                return Err(ToolError::Invalid(problems));
            }
        }
    }
    serde_json::from_value(Value::Object(arguments))
        .map_err(|error| ToolError::invalid("", &error.to_string()))
}

fn properties(schema: &JsonObject) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

fn required(schema: &JsonObject) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// Whether `property` admits the JSON type `name`; an optional argument admits several.
fn admits(property: &Value, name: &str) -> bool {
    match &property["type"] {
        Value::String(only) => only == name,
        Value::Array(several) => several.iter().any(|one| one == name),
        _ => false,
    }
}

fn violations(schema: &JsonObject, arguments: &JsonObject) -> Vec<Value> {
    let mut problems = Vec::new();
    let mut report = |argument: &str, problem: String| {
        problems.push(json!({ "argument": argument, "problem": problem }));
    };
    for name in required(schema).filter(|name| !arguments.contains_key(*name)) {
        report(name, "is required".into());
    }
    for (name, value) in arguments {
        match properties(schema).find(|(known, _)| *known == name) {
            None => report(name, "is not an argument of this tool".into()),
            Some((_, property)) => {
                if let Some(problem) = violation(property, value) {
                    report(name, problem);
                }
            }
        }
    }
    problems
}

fn violation(property: &Value, value: &Value) -> Option<String> {
    let fits = match value {
        Value::Null => admits(property, "null"),
        Value::Bool(_) => admits(property, "boolean"),
        Value::String(_) => admits(property, "string"),
        Value::Number(number) => {
            admits(property, "number") || (admits(property, "integer") && !number.is_f64())
        }
        Value::Array(_) => admits(property, "array"),
        Value::Object(_) => admits(property, "object"),
    };
    if !fits {
        return Some("has the wrong type".into());
    }
    if let Some(allowed) = property["enum"].as_array()
        && !value.is_null()
        && !allowed.contains(value)
    {
        return Some(format!("must be one of {}", Value::from(allowed.clone())));
    }
    if let Some(number) = value.as_f64() {
        if property["minimum"].as_f64().is_some_and(|minimum| number < minimum) {
            return Some(format!("must be at least {}", property["minimum"]));
        }
        if property["maximum"].as_f64().is_some_and(|maximum| number > maximum) {
            return Some(format!("must be at most {}", property["maximum"]));
        }
    }
    if let Some(text) = value.as_str() {
        let length = text.chars().count() as u64;
        if property["minLength"].as_u64().is_some_and(|minimum| length < minimum) {
            return Some(format!("must have at least {} characters", property["minLength"]));
        }
        if property["maxLength"].as_u64().is_some_and(|maximum| length > maximum) {
            return Some(format!("must have at most {} characters", property["maxLength"]));
        }
    }
    None
}

fn coerce(schema: &JsonObject, arguments: &mut JsonObject) {
    arguments.retain(|name, _| properties(schema).any(|(known, _)| known == name));
    for (name, property) in properties(schema) {
        let value = arguments.get(name).cloned();
        let is_required = required(schema).any(|one| one == name);
        let coerced = match value {
            None | Some(Value::Null) if !is_required => continue,
            value if admits(property, "string") => match value {
                Some(Value::String(text)) => Value::String(text),
                None | Some(Value::Null) => Value::String(String::new()),
                Some(other) => Value::String(other.to_string()),
            },
            value if admits(property, "integer") => {
                json!(as_number(value.as_ref()).max(0.0) as u64)
            }
            value if admits(property, "number") => json!(as_number(value.as_ref())),
            value => json!(value == Some(Value::Bool(true)) || as_number(value.as_ref()) != 0.0),
        };
        arguments.insert(name.clone(), coerced);
    }
}

fn as_number(value: Option<&Value>) -> f64 {
    match value {
        Some(Value::Number(number)) => number.as_f64().unwrap_or_default(),
        Some(Value::String(text)) => text.trim().parse().unwrap_or_default(),
        Some(Value::Bool(true)) => 1.0,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use rmcp::schemars;
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Args {
        #[schemars(range(min = 1, max = 9))]
        amount: f64,
        #[schemars(length(max = 3))]
        name: Option<String>,
    }

    fn parse_on(twin: Twin, arguments: Value) -> Result<Args, ToolError> {
        parse(twin, rmcp::model::object(arguments))
    }

    #[test]
    fn a_valid_call_passes_on_both_twins() {
        for twin in [Twin::Vulnerable, Twin::Patched] {
            let args = parse_on(twin, json!({ "amount": 3, "name": "abc" })).unwrap();
            assert!((args.amount - 3.0).abs() < f64::EPSILON);
            assert_eq!(args.name.as_deref(), Some("abc"));
        }
    }

    #[test]
    fn only_the_vulnerable_twin_bends_arguments() {
        for arguments in [
            json!({}),
            json!({ "amount": "3" }),
            json!({ "amount": 99 }),
            json!({ "amount": 3, "extra": true }),
            json!({ "amount": 3, "name": "abcd" }),
            json!({ "amount": 3, "name": 7 }),
        ] {
            assert!(parse_on(Twin::Vulnerable, arguments.clone()).is_ok(), "{arguments}");
            assert!(
                matches!(parse_on(Twin::Patched, arguments.clone()), Err(ToolError::Invalid(_))),
                "{arguments}"
            );
        }
    }
}
