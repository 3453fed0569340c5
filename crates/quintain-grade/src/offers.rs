//! Descriptions of tools, resources and prompts as applications write them, into the form of MCP: definitions of
//! OpenAI and Anthropic, and the attribute names of Python clients.

use quintain_evidence::surface::{Prompt, Resource, ResourceTemplate, Tool};
use serde_json::{Map, Value};

/// Names of Python attributes and of other definitions, with those of MCP.
const RENAMED: &[(&str, &str)] = &[
    ("input_schema", "inputSchema"),
    ("output_schema", "outputSchema"),
    ("mime_type", "mimeType"),
    ("uri_template", "uriTemplate"),
];
const HINTS: &[(&str, &str)] = &[
    ("read_only_hint", "readOnlyHint"),
    ("destructive_hint", "destructiveHint"),
    ("idempotent_hint", "idempotentHint"),
    ("open_world_hint", "openWorldHint"),
];

/// A tool from any definition with a name; none for built-in tools of a model, which have no name of their own.
pub(crate) fn tool(value: Value) -> Option<Tool> {
    let mut value = match value {
        // A list of names.
        Value::String(name) => return Some(Tool(serde_json::json!({ "name": name }))),
        other => other,
    };
    if let Some(function @ Value::Object(_)) = value.get_mut("function").map(Value::take) {
        value = function;
    }
    rename(&mut value, &[("parameters", "inputSchema")]);
    let value = item(value);
    value.get("name")?.as_str()?;
    Some(Tool(value))
}

/// The tools of a list.
pub(crate) fn tools(values: Vec<Value>) -> Vec<Tool> {
    values.into_iter().filter_map(tool).collect()
}

pub(crate) fn resources(values: Vec<Value>) -> Vec<Resource> {
    values.into_iter().map(|value| Resource(item(value))).collect()
}

pub(crate) fn templates(values: Vec<Value>) -> Vec<ResourceTemplate> {
    values.into_iter().map(|value| ResourceTemplate(item(value))).collect()
}

pub(crate) fn prompts(values: Vec<Value>) -> Vec<Prompt> {
    values.into_iter().map(|value| Prompt(item(value))).collect()
}

fn item(mut value: Value) -> Value {
    rename(&mut value, RENAMED);
    if let Some(annotations) = value.get_mut("annotations") {
        rename(annotations, HINTS);
    }
    if let Some(members) = value.as_object_mut() {
        members.retain(|_, member| !member.is_null());
    }
    value
}

fn rename(value: &mut Value, names: &[(&str, &str)]) {
    let Some(members) = value.as_object_mut() else { return };
    if !names.iter().any(|(old, new)| members.contains_key(*old) && !members.contains_key(*new)) {
        return;
    }
    let renamed: Map<String, Value> = std::mem::take(members)
        .into_iter()
        .map(|(key, member)| {
            let new = names.iter().find(|(old, _)| *old == key).map(|(_, new)| *new);
            (new.map_or(key, str::to_owned), member)
        })
        .collect();
    *members = renamed;
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_definition_becomes_a_tool() {
        let schema = json!({"type": "object"});
        for definition in [
            json!({"name": "add", "inputSchema": schema}),
            json!({"name": "add", "input_schema": schema, "annotations": null}),
            json!({"type": "function", "function": {"name": "add", "parameters": schema}}),
            json!({"name": "add", "parameters": schema}),
        ] {
            let found = tool(definition.clone()).unwrap();
            assert_eq!(found.name(), Some("add"), "{definition}");
            assert_eq!(found.input_schema(), Some(&schema), "{definition}");
        }
        assert_eq!(tool(json!({"type": "web_search"})), None);
        assert_eq!(tool(json!(7)), None);
        let hinted = json!({"name": "a", "annotations": {"read_only_hint": true}});
        assert_eq!(tool(hinted).unwrap().hint("readOnlyHint"), Some(true));
    }
}
