//! The words in which the JSON Schema of suites is written. Every room describes its own part with them.

use serde_json::{Map, Value, json};

/// A part of a suite that another room reads: its schema and what that refers to.
pub struct Part {
    pub schema: Value,
    pub definitions: Vec<(&'static str, Value)>,
}

const REFERENCE: &str = "Takes another part of this file: `#/assertionTemplates/NAME`";

/// Texts; a bare number or boolean is text, too.
const SCALAR: [&str; 3] = ["string", "number", "boolean"];

/// `schema` with a description, unless that is empty.
fn described(description: &str, mut schema: Value) -> Value {
    if let (false, Some(schema)) = (description.is_empty(), schema.as_object_mut()) {
        schema.shift_insert(0, "description".into(), description.into());
    }
    schema
}

pub fn any(description: &str) -> Value {
    described(description, json!({}))
}

pub fn text(description: &str) -> Value {
    described(description, json!({"type": "string"}))
}

pub fn scalar(description: &str) -> Value {
    described(description, json!({"type": SCALAR}))
}

/// Texts; a single one is a list of one.
pub fn scalars(description: &str) -> Value {
    let types = SCALAR.iter().chain(&["array"]).collect::<Vec<_>>();
    described(description, json!({"type": types, "items": {"type": SCALAR}}))
}

pub fn flag(description: &str) -> Value {
    described(description, json!({"type": "boolean"}))
}

pub fn number(description: &str) -> Value {
    described(description, json!({"type": "number"}))
}

pub fn millis(description: &str) -> Value {
    described(description, json!({"type": "number", "minimum": 0}))
}

pub fn count(description: &str) -> Value {
    described(description, json!({"type": "integer", "minimum": 1}))
}

/// Inline JavaScript or a file with code.
pub fn code(description: &str) -> Value {
    let description = format!("{description} JavaScript, or `file://PATH[:FUNCTION]`");
    scalar(description.trim_start())
}

/// An address, unless a template decides.
pub fn url(description: &str) -> Value {
    described(description, json!({"type": "string", "pattern": r"^https?://\S+$|\{\{"}))
}

pub fn words<'w>(description: &str, words: impl IntoIterator<Item = &'w str>) -> Value {
    let words: Vec<_> = words.into_iter().collect();
    described(description, json!({"enum": words}))
}

/// The words of a table that a key is read by.
pub fn choice<T>(description: &str, table: &[(&'static str, T)]) -> Value {
    words(description, table.iter().map(|(word, _)| *word))
}

pub fn list(description: &str, of: Value) -> Value {
    described(description, json!({"type": "array", "items": of}))
}

/// A map with any keys.
pub fn map(description: &str) -> Value {
    described(description, json!({"type": "object"}))
}

pub fn map_of(description: &str, of: Value) -> Value {
    described(description, json!({"type": "object", "additionalProperties": nullable(of)}))
}

pub fn refer(name: &str) -> Value {
    json!({"$ref": format!("#/$defs/{name}")})
}

pub fn either(description: &str, shapes: impl IntoIterator<Item = Value>) -> Value {
    described(description, json!({"anyOf": shapes.into_iter().collect::<Vec<_>>()}))
}

/// A map with these keys and no others. Those that are required must be there, unless the map takes
/// what it says from elsewhere.
pub fn keys(
    description: &str,
    entries: impl IntoIterator<Item = (&'static str, Value)>,
    required: &[&str],
) -> Value {
    let mut schema = json!({
        "type": "object",
        "properties": properties(entries, required),
        "additionalProperties": false,
    });
    if !required.is_empty() {
        schema["if"] = json!({"not": {"required": ["$ref"]}});
        schema["then"] = json!({"required": required});
    }
    described(description, schema)
}

/// A key without a value counts as absent, hence null is fine wherever nothing is.
pub fn properties(
    entries: impl IntoIterator<Item = (&'static str, Value)>,
    required: &[&str],
) -> Map<String, Value> {
    let mut properties = Map::new();
    for (name, schema) in entries {
        let schema = if required.contains(&name) { schema } else { nullable(schema) };
        properties.insert(name.to_owned(), schema);
    }
    properties.insert("$ref".to_owned(), text(REFERENCE));
    properties
}

/// Demands that one of the keys is there, under the same condition as [`keys`].
pub fn with_one_of(mut schema: Value, names: &[&str]) -> Value {
    let names = names.iter().chain(&["$ref"]);
    schema["anyOf"] = names.map(|name| json!({"required": [name]})).collect();
    schema
}

fn nullable(mut schema: Value) -> Value {
    if let Some(words) = schema.get_mut("enum").and_then(Value::as_array_mut) {
        words.push(Value::Null);
        return schema;
    }
    if let Some(types) = schema.get_mut("type") {
        *types = match types.take() {
            Value::Array(mut types) => {
                types.push("null".into());
                Value::Array(types)
            }
            only => json!([only, "null"]),
        };
        return schema;
    }
    let nothing = json!({"type": "null"});
    if let Some(shapes) = schema.get_mut("anyOf").and_then(Value::as_array_mut) {
        shapes.push(nothing);
        return schema;
    }
    if schema.get("$ref").is_some() { json!({"anyOf": [schema, nothing]}) } else { schema }
}
