//! Which tools an answer calls, in the formats of several makers of models.

mod blocks;

use std::collections::BTreeSet;

use serde_json::Value;

use crate::json_text;

/// JSON texts within JSON texts.
const MAX_DEPTH: usize = 16;

/// The names of the tools. Text is read as JSON, or searched for JSON that has lines of its own.
///
/// # Errors
/// If the text is too confusing to be searched.
pub fn called(output: &Value) -> Result<BTreeSet<String>, String> {
    let mut names = BTreeSet::new();
    collect(output, &mut names, MAX_DEPTH)?;
    Ok(names)
}

fn collect(output: &Value, names: &mut BTreeSet<String>, depth: usize) -> Result<(), String> {
    match output {
        Value::String(text) if depth > 0 => {
            if let Ok(parsed) = json_text::parse(text) {
                return collect(&parsed, names, depth - 1);
            }
            let blocks = blocks::find(text)?;
            blocks.iter().try_for_each(|block| collect(block, names, depth - 1))
        }
        Value::Array(items) => {
            names.extend(items.iter().filter_map(of_block));
            Ok(())
        }
        Value::Object(_) => {
            of_object(output, names);
            Ok(())
        }
        _ => Ok(()),
    }
}

fn name(value: &Value) -> Option<String> {
    value.get("name").and_then(Value::as_str).map(str::to_owned)
}

fn of_object(object: &Value, names: &mut BTreeSet<String>) {
    if let Some(Value::Array(calls)) = object.get("tool_calls") {
        for call in calls {
            names.extend(call.get("function").and_then(name));
            names.extend(name(call));
        }
    } else if (object["type"] == "tool_use" || object["type"] == "function_call")
        && let Some(name) = name(object)
    {
        names.insert(name);
    } else if let Some(call @ (Value::Object(_) | Value::Array(_))) = object.get("functionCall") {
        names.extend(name(call));
    } else if let Some(Value::Array(calls)) =
        object.get("toolCall").and_then(|call| call.get("functionCalls"))
    {
        names.extend(calls.iter().filter_map(name));
    }
}

/// One element of a list of content blocks or calls.
fn of_block(block: &Value) -> Option<String> {
    let is_data = |value: &&Value| value.is_object() || value.is_array();
    if block["type"] == "tool_use"
        && let Some(name) = name(block)
    {
        return Some(name);
    }
    if let Some(call) = block.get("functionCall").filter(is_data) {
        return name(call);
    }
    if let Some(function) = block.get("function").filter(is_data) {
        return name(function);
    }
    name(block)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn names(output: Value) -> String {
        called(&output).unwrap().into_iter().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn every_format_is_understood() {
        for (output, expected) in [
            (json!({"tool_calls": [{"function": {"name": "a"}}, {"name": "b"}, 5]}), "a b"),
            (json!({"type": "tool_use", "name": "a"}), "a"),
            (json!({"type": "function_call", "name": "a"}), "a"),
            (json!({"functionCall": {"name": "a"}}), "a"),
            (json!({"toolCall": {"functionCalls": [{"name": "a"}, {"name": "b"}]}}), "a b"),
            (json!([{"type": "text"}, {"functionCall": {"name": "b"}}, {"name": "c"}]), "b c"),
            (json!({"name": "a"}), ""),
            (json!("\"{\\\"type\\\": \\\"tool_use\\\", \\\"name\\\": \\\"a\\\"}\""), "a"),
            (json!("nothing"), ""),
            (json!(null), ""),
        ] {
            assert_eq!(names(output.clone()), expected, "{output}");
        }
    }

    #[test]
    fn calls_are_found_in_prose() {
        let call = r#"{"type": "tool_use", "name": "a"}"#;
        let other = call.replace("\"a\"", "\"b\"");
        assert_eq!(names(json!(format!("I will call:\n{call}\nnow"))), "a");
        assert_eq!(names(json!(format!("{call}\n{other}"))), "a b");
        assert_eq!(names(json!(format!("I will call {call}"))), "");
        assert_eq!(names(json!(format!("```json\n{call}\n```"))), "");
        assert_eq!(names(json!("Go:\n{\n  \"type\": \"tool_use\",\n  \"name\": \"a\"\n}")), "a");
        assert_eq!(names(json!(format!("{{ broken\n{call}\n}}"))), "a");
        assert_eq!(names(json!(format!("}} ]\n{call}\n{{"))), "a");
    }

    #[test]
    fn hostile_text_takes_bearable_time() {
        let hostile = called(&json!("{".repeat(100_000)));
        assert_eq!(hostile.unwrap_err(), "Tool Call F1 exceeded its delimiter limit (65536)");
        let nested = format!("{}!{}", "{\n".repeat(50_000), "}\n".repeat(50_000));
        assert!(called(&json!(nested)).is_err());
    }
}
