//! What ajv refuses although it is a valid schema: unknown keywords and formats, references that
//! lead nowhere.

use std::collections::HashSet;

use serde_json::Value;

use super::formats;
use super::words::ORDER;

/// The keywords that check nothing, or belong to another one; the others are in [`ORDER`].
const OTHER_KEYWORDS: &[&str] = &[
    "$schema",
    "$id",
    "$defs",
    "$vocabulary",
    "$comment",
    "definitions",
    "nullable",
    "formatMinimum",
    "formatMaximum",
    "formatExclusiveMinimum",
    "formatExclusiveMaximum",
    "title",
    "description",
    "default",
    "deprecated",
    "readOnly",
    "writeOnly",
    "examples",
    "contentMediaType",
    "contentEncoding",
    "contentSchema",
];
const DRAFT_7: [&str; 2] =
    ["http://json-schema.org/draft-07/schema#", "http://json-schema.org/draft-07/schema"];
/// Schemas below a keyword: one, a list of them, or a map of them.
const ONE: &[&str] = &[
    "not",
    "if",
    "then",
    "else",
    "items",
    "additionalItems",
    "contains",
    "propertyNames",
    "additionalProperties",
];
const MANY: &[&str] =
    &["anyOf", "oneOf", "allOf", "items", "dependencies", "properties", "patternProperties"];
/// The validator has bounds of its own; this only keeps the walk from running over.
const MAX_DEPTH: usize = 64;

/// Whether it can be a schema at all.
pub(super) fn check_kind(schema: &Value) -> Result<(), String> {
    match schema {
        Value::Bool(_) | Value::Array(_) => Ok(()),
        Value::Object(map) => match map.get("$schema") {
            None => Ok(()),
            Some(Value::String(meta)) if DRAFT_7.contains(&meta.as_str()) => Ok(()),
            Some(Value::String(meta)) => Err(format!("no schema with key or ref \"{meta}\"")),
            Some(_) => Err("$schema must be a string".to_owned()),
        },
        _ => Err("schema must be object or boolean".to_owned()),
    }
}

fn is_keyword(key: &str) -> bool {
    ORDER.contains(&key) || OTHER_KEYWORDS.contains(&key)
}

pub(super) fn check_keywords(schema: &Value) -> Result<(), String> {
    Walk { root: schema, seen: HashSet::new() }.schema(schema, "#", 0)
}

struct Walk<'s> {
    root: &'s Value,
    /// Schemas that were referred to already.
    seen: HashSet<&'s str>,
}

impl<'s> Walk<'s> {
    fn schema(&mut self, schema: &'s Value, path: &str, depth: usize) -> Result<(), String> {
        let Some(map) = schema.as_object() else { return Ok(()) };
        if depth > MAX_DEPTH {
            return Ok(());
        }
        if let Some(unknown) = map.keys().find(|key| !is_keyword(key)) {
            return Err(format!("strict mode: unknown keyword: \"{unknown}\""));
        }
        let has = |key: &str| map.contains_key(key);
        if has("if") && !has("then") && !has("else") {
            return Err("strict mode: \"if\" without \"then\" and \"else\" is ignored".to_owned());
        }
        if let Some(lonely) = ["then", "else"].iter().find(|key| has(key) && !has("if")) {
            return Err(format!("strict mode: \"{lonely}\" without \"if\" is ignored"));
        }
        if has("additionalItems") && !has("items") {
            let why = "\"additionalItems\" is ignored when \"items\" is not an array of schemas";
            return Err(format!("strict mode: {why}"));
        }
        if has("nullable") && !has("type") {
            return Err("\"nullable\" cannot be used without \"type\"".to_owned());
        }
        if let Some(reference) = map.get("$ref").and_then(Value::as_str) {
            self.reference(reference, depth)?;
        }
        if let Some(format) = map.get("format").and_then(Value::as_str)
            && !formats::is_known(format)
        {
            return Err(format!(
                "unknown format \"{format}\" ignored in schema at path \"{path}\""
            ));
        }
        for key in ONE {
            if let Some(below) = map.get(*key) {
                self.schema(below, &format!("{path}/{key}"), depth + 1)?;
            }
        }
        for key in MANY {
            let at = |name: &str| format!("{path}/{key}/{name}");
            match map.get(*key) {
                Some(Value::Array(all)) => {
                    for (index, below) in all.iter().enumerate() {
                        self.schema(below, &at(&index.to_string()), depth + 1)?;
                    }
                }
                Some(Value::Object(all)) if *key != "items" => {
                    for (name, below) in all {
                        self.schema(below, &at(name), depth + 1)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn reference(&mut self, reference: &'s str, depth: usize) -> Result<(), String> {
        if DRAFT_7.contains(&reference) || !self.seen.insert(reference) {
            return Ok(());
        }
        let target = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
        let Some(target) = target else {
            // An anchor or an encoded pointer is left to the validator.
            let local = reference.starts_with('#') && !reference.starts_with("#/");
            if local || reference.contains('%') {
                return Ok(());
            }
            return Err(format!("can't resolve reference {reference} from id #"));
        };
        self.schema(target, reference, depth + 1)
    }
}

/// The same schema with `nullable: true` said in the way that JSON Schema has for it.
pub(super) fn without_nullable(schema: &Value) -> Value {
    match schema {
        Value::Array(items) => items.iter().map(without_nullable).collect(),
        Value::Object(map) => {
            let mut copy: serde_json::Map<_, _> =
                map.iter().map(|(key, value)| (key.clone(), without_nullable(value))).collect();
            if map.get("nullable") == Some(&Value::Bool(true)) {
                match copy.get_mut("type") {
                    Some(Value::Array(kinds)) => kinds.push("null".into()),
                    Some(kind @ Value::String(_)) => {
                        *kind = Value::Array(vec![kind.take(), "null".into()]);
                    }
                    _ => {}
                }
            }
            Value::Object(copy)
        }
        scalar => scalar.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::schema::promptfoo::{Complaint, Schema};

    fn refusal(schema: &serde_json::Value) -> Option<String> {
        Schema::new(schema).err()
    }

    fn check(
        schema: &serde_json::Value,
        data: &serde_json::Value,
    ) -> Result<Vec<Complaint>, String> {
        Schema::new(schema)?.check(data)
    }

    #[test]
    fn what_the_strict_mode_refuses() {
        for (schema, why) in [
            (json!({"foo": 1}), "strict mode: unknown keyword: \"foo\""),
            (json!({"properties": {"a": {"x": 1}}}), "strict mode: unknown keyword: \"x\""),
            (json!({"format": "wat"}), "unknown format \"wat\" ignored in schema at path \"#\""),
            (
                json!({"$ref": "#/definitions/a"}),
                "can't resolve reference #/definitions/a from id #",
            ),
            (json!({"$schema": "urn:x"}), "no schema with key or ref \"urn:x\""),
            (json!({"required": "a"}), "schema is invalid: data/required must be array"),
            (json!([1]), "schema is invalid: data must be object,boolean"),
            (json!("a"), "schema must be object or boolean"),
        ] {
            assert_eq!(refusal(&schema).as_deref(), Some(why), "{schema}");
        }
    }

    #[test]
    fn names_of_properties_are_no_keywords() {
        let schema = json!({"properties": {"foo": {}}, "definitions": {"a": {"x": 1}}});
        assert_eq!(refusal(&schema), None);
    }

    #[test]
    fn nullable_allows_null() {
        let schema = json!({"type": "string", "nullable": true});
        assert_eq!(check(&schema, &json!(null)), Ok(vec![]));
        assert_eq!(check(&schema, &json!(1)).unwrap().len(), 1);
    }

    #[test]
    fn references_in_a_circle_end() {
        let schema = json!({"properties": {"a": {"$ref": "#"}}, "type": "object"});
        assert_eq!(check(&schema, &json!({"a": {"a": {}}})), Ok(vec![]));
    }
}
