//! Recognises without a validator that data fit a simple schema. Compiling a validator takes longer than a call, and most
//! schemas of tools are simple.

use std::collections::HashSet;

use serde_json::{Map, Value};

/// Deeper schemas are not simple.
const MAX_DEPTH: usize = 16;
/// Integers up to here are exact as floating-point numbers.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Whether the schema is valid and the data fit it. If not, it may still be so: only a validator knows then.
pub(super) fn certainly_fits(schema: &Value, data: &Value) -> bool {
    is_simple(schema, 0) && fits(schema, data)
}

/// Whether the schema is valid and has only keywords that [`fits`] knows.
fn is_simple(schema: &Value, depth: usize) -> bool {
    let Some(schema) = schema.as_object().filter(|_| depth < MAX_DEPTH) else { return false };
    schema.iter().all(|(keyword, value)| match keyword.as_str() {
        "$schema" => value.as_str().is_some_and(|uri| uri.contains("//json-schema.org/")),
        "type" => matches!(
            value.as_str(),
            Some("object" | "array" | "string" | "number" | "integer" | "boolean" | "null")
        ),
        "title" | "description" | "$comment" => value.is_string(),
        "default" => true,
        "minimum" | "maximum" => value.as_f64().is_some_and(|limit| limit.abs() < EXACT),
        "minLength" | "maxLength" | "minItems" | "maxItems" => value.is_u64(),
        "enum" => value.as_array().is_some_and(|values| !values.is_empty()),
        "required" => value.as_array().is_some_and(|names| {
            let mut seen = HashSet::new();
            names.iter().all(|name| name.as_str().is_some_and(|name| seen.insert(name)))
        }),
        "properties" => value
            .as_object()
            .is_some_and(|entries| entries.values().all(|one| is_simple(one, depth + 1))),
        "additionalProperties" | "items" => value.is_boolean() || is_simple(value, depth + 1),
        _ => false,
    })
}

fn fits(schema: &Value, data: &Value) -> bool {
    let schema = match schema {
        Value::Bool(fits) => return *fits,
        Value::Object(schema) => schema,
        _ => return false,
    };
    let is_type = schema.get("type").and_then(Value::as_str).is_none_or(|name| is_of(name, data));
    let listed = |values: &Vec<Value>| values.contains(data);
    let is_listed = schema.get("enum").and_then(Value::as_array).is_none_or(listed);
    is_type
        && is_listed
        && match data {
            Value::Object(entries) => object_fits(schema, entries),
            Value::Array(items) => {
                within(schema, "minItems", "maxItems", || length(items.len()))
                    && schema
                        .get("items")
                        .is_none_or(|item| items.iter().all(|one| fits(item, one)))
            }
            Value::String(text) => {
                within(schema, "minLength", "maxLength", || length(text.chars().count()))
            }
            Value::Number(number) => within(schema, "minimum", "maximum", || {
                number.as_f64().filter(|number| number.abs() < EXACT)
            }),
            Value::Null | Value::Bool(_) => true,
        }
}

fn object_fits(schema: &Map<String, Value>, entries: &Map<String, Value>) -> bool {
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let mut required = required.filter_map(Value::as_str);
    let properties = schema.get("properties").and_then(Value::as_object);
    let further = schema.get("additionalProperties");
    required.all(|name| entries.contains_key(name))
        && entries.iter().all(|(name, value)| {
            let declared = properties.and_then(|properties| properties.get(name));
            declared.or(further).is_none_or(|schema| fits(schema, value))
        })
}

fn is_of(name: &str, data: &Value) -> bool {
    match name {
        "object" => data.is_object(),
        "array" => data.is_array(),
        "string" => data.is_string(),
        "number" => data.is_number(),
        "integer" => data.is_i64() || data.is_u64(),
        "boolean" => data.is_boolean(),
        "null" => data.is_null(),
        _ => false,
    }
}

/// Whether a quantity is within the limits. What cannot be measured exactly is within none.
fn within(
    schema: &Map<String, Value>,
    least: &str,
    most: &str,
    quantity: impl FnOnce() -> Option<f64>,
) -> bool {
    let limit = |name: &str| schema.get(name).and_then(Value::as_f64);
    match (limit(least), limit(most)) {
        (None, None) => true,
        (least, most) => quantity().is_some_and(|quantity| {
            least.is_none_or(|least| quantity >= least) && most.is_none_or(|most| quantity <= most)
        }),
    }
}

fn length(length: usize) -> Option<f64> {
    u32::try_from(length).ok().map(f64::from)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn simple_schemas_are_recognised() {
        let schema = json!({
            "type": "object", "required": ["a"], "additionalProperties": false,
            "properties": {"a": {"type": "string", "maxLength": 3}, "b": {"type": "integer"}}
        });
        assert!(certainly_fits(&schema, &json!({"a": "äöü", "b": 1})));
        for data in [json!({}), json!({"a": "long"}), json!({"a": "", "c": 1}), json!([])] {
            assert!(!certainly_fits(&schema, &data), "{data}");
        }
        assert!(!certainly_fits(&json!({"$ref": "#"}), &json!({})), "left to the validator");
        assert!(!certainly_fits(&json!({"properties": {"a": {"type": "wat"}}}), &json!({})));
    }

    fn schemas() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(json!({"type": "string", "minLength": 1})),
            Just(json!({"type": "integer", "minimum": 0, "maximum": 5})),
            Just(json!({"enum": ["a", 1, null]})),
            Just(json!({"type": "boolean", "default": true})),
            Just(json!({"type": "number", "multipleOf": 2})),
            Just(json!({})),
        ];
        leaf.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                inner
                    .clone()
                    .prop_map(|item| json!({"type": "array", "items": item, "maxItems": 2})),
                (inner.clone(), inner.clone(), any::<bool>()).prop_map(|(a, b, open)| json!({
                    "type": "object", "properties": {"a": a, "b": b},
                    "required": ["a"], "additionalProperties": open
                })),
                inner.prop_map(|rest| json!({"additionalProperties": rest})),
            ]
        })
    }

    fn data() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(json!("a")),
            Just(json!("")),
            (-2i64..8).prop_map(Value::from),
            Just(json!(1.5)),
            Just(json!(2.0)),
            any::<bool>().prop_map(Value::from),
            Just(Value::Null),
        ];
        leaf.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::btree_map("[abc]", inner, 0..3)
                    .prop_map(|entries| json!(entries)),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_validator_agrees_with_every_yes(schema in schemas(), data in data()) {
            if certainly_fits(&schema, &data) {
                let validator = jsonschema::options().build(&schema).unwrap();
                prop_assert!(validator.is_valid(&data));
            }
        }
    }
}
