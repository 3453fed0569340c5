//! Which properties of a value its schema declares. References and combinations of schemas are looked through.

use std::collections::HashMap;

use quintain_content::json_value::{pointer_key, pointer_token};
use quintain_content::schema::compiled::ignores_siblings_of_ref;
use regex::Regex;
use serde_json::{Map, Value};

/// Levels of a value that are looked at.
const MAX_DEPTH: usize = 32;
/// Schemas that apply to one place. More are not looked through: the place counts as open.
const MAX_FACETS: usize = 200;
/// Objects and lists of one value that are looked at.
const MAX_PLACES: usize = 100_000;
const MAX_ANCHOR_DEPTH: usize = 16;

/// A schema as the declaration of properties.
pub(crate) struct Declared<'s> {
    root: &'s Value,
    ignores_siblings: bool,
    patterns: HashMap<&'s str, Option<Regex>>,
}

/// One schema that applies to a place.
#[derive(Clone, Copy)]
struct Facet<'s> {
    schema: &'s Map<String, Value>,
    /// It is one of several alternatives.
    is_branch: bool,
}

/// All schemas that apply to a place.
struct Facets<'s> {
    all: Vec<Facet<'s>>,
    /// Something allows every property, or cannot be looked through.
    is_open: bool,
}

impl<'s> Declared<'s> {
    pub(crate) fn new(root: &'s Value) -> Self {
        Self { root, ignores_siblings: ignores_siblings_of_ref(root), patterns: HashMap::new() }
    }

    /// JSON pointers to the properties of a value that the schema does not declare and does not forbid.
    pub(crate) fn undeclared(&mut self, value: &Value) -> Vec<String> {
        let mut found = Vec::new();
        let mut open = vec![(String::new(), value, vec![self.root], 0)];
        let mut places = 0;
        while let Some((pointer, value, schemas, depth)) = open.pop() {
            places += 1;
            if depth > MAX_DEPTH || places > MAX_PLACES {
                continue;
            }
            let facets = self.facets(schemas);
            match value {
                Value::Object(members) => {
                    let is_judged = !facets.is_open && facets.declares();
                    for (name, member) in members {
                        let below = format!("{pointer}/{}", pointer_token(name));
                        let schemas = self.of_property(&facets, name);
                        if is_judged && schemas.is_none() && !facets.requires(name) {
                            found.push(below);
                        } else if member.is_object() || member.is_array() {
                            open.push((below, member, schemas.unwrap_or_default(), depth + 1));
                        }
                    }
                }
                Value::Array(items) => {
                    for (index, item) in items.iter().enumerate() {
                        if item.is_object() || item.is_array() {
                            let schemas = facets.of_item(index);
                            open.push((format!("{pointer}/{index}"), item, schemas, depth + 1));
                        }
                    }
                }
                _ => {}
            }
        }
        found.sort_unstable();
        found
    }

    fn facets(&self, schemas: Vec<&'s Value>) -> Facets<'s> {
        let mut facets = Facets { all: Vec::new(), is_open: false };
        let mut open: Vec<(&Value, bool)> = schemas.into_iter().map(|one| (one, false)).collect();
        while let Some((schema, is_branch)) = open.pop() {
            let Some(map) = schema.as_object() else {
                facets.is_open |= is_branch && *schema == Value::Bool(true);
                continue;
            };
            if facets.all.iter().any(|known| std::ptr::eq(known.schema, map)) {
                continue;
            }
            if facets.all.len() == MAX_FACETS {
                facets.is_open = true;
                break;
            }
            let reference = map.get("$ref").and_then(Value::as_str);
            if let Some(reference) = reference {
                match self.resolve(reference) {
                    Some(schema) => open.push((schema, is_branch)),
                    None => facets.is_open = true,
                }
                if self.ignores_siblings {
                    continue;
                }
            }
            facets.is_open |=
                ["$dynamicRef", "$recursiveRef"].iter().any(|key| map.contains_key(*key));
            facets.all.push(Facet { schema: map, is_branch });
            let list = |key: &str| map.get(key).and_then(Value::as_array).into_iter().flatten();
            open.extend(list("allOf").map(|one| (one, is_branch)));
            open.extend(list("anyOf").chain(list("oneOf")).map(|one| (one, true)));
            let conditions = ["if", "then", "else"].iter().filter_map(|key| map.get(*key));
            let dependent = ["dependentSchemas", "dependencies"].iter();
            let dependent = dependent.filter_map(|key| map.get(*key)?.as_object());
            let dependent = dependent.flat_map(|map| map.values().filter(|one| one.is_object()));
            // What depends on a condition declares its properties, but does not open the object.
            open.extend(
                conditions.chain(dependent).filter(|one| one.is_object()).map(|one| (one, false)),
            );
        }
        facets
    }

    /// The schemas of a property; none if nothing declares it.
    fn of_property(&mut self, facets: &Facets<'s>, name: &str) -> Option<Vec<&'s Value>> {
        let mut found = Vec::new();
        for facet in &facets.all {
            let properties = facet.schema.get("properties").and_then(Value::as_object);
            found.extend(properties.and_then(|properties| properties.get(name)));
            let patterns = facet.schema.get("patternProperties").and_then(Value::as_object);
            for (pattern, schema) in patterns.into_iter().flatten() {
                let compiled =
                    self.patterns.entry(pattern).or_insert_with(|| Regex::new(pattern).ok());
                // A pattern that cannot be read may match.
                if compiled.as_ref().is_none_or(|regex| regex.is_match(name)) {
                    found.push(schema);
                }
            }
        }
        if found.is_empty() {
            let others =
                facets.all.iter().filter_map(|facet| facet.schema.get("additionalProperties"));
            found.extend(others.filter(|schema| schema.is_object()));
        }
        (!found.is_empty()).then_some(found)
    }

    /// What a local reference leads to.
    fn resolve(&self, reference: &str) -> Option<&'s Value> {
        let (base, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let id = self.root.get("$id").or_else(|| self.root.get("id")).and_then(Value::as_str);
        if !base.is_empty() && id.map(|id| id.trim_end_matches('#')) != Some(base) {
            return None;
        }
        if fragment.is_empty() {
            return Some(self.root);
        }
        if fragment.starts_with('/') {
            return pointed(self.root, fragment);
        }
        anchored(self.root, fragment, MAX_ANCHOR_DEPTH)
    }
}

/// The value at a pointer that is part of a URI.
fn pointed<'s>(root: &'s Value, fragment: &str) -> Option<&'s Value> {
    fragment.split('/').skip(1).try_fold(root, |value, token| {
        let key = pointer_key(&token.replace("%24", "$").replace("%25", "%").replace("%7E", "~"));
        match value {
            Value::Object(map) => map.get(&key),
            Value::Array(items) => items.get(key.parse::<usize>().ok()?),
            _ => None,
        }
    })
}

fn anchored<'s>(schema: &'s Value, name: &str, depth: usize) -> Option<&'s Value> {
    let depth = depth.checked_sub(1)?;
    let map = schema.as_object()?;
    if map.get("$anchor").and_then(Value::as_str) == Some(name) {
        return Some(schema);
    }
    map.values().find_map(|below| anchored(below, name, depth))
}

impl<'s> Facets<'s> {
    /// Whether the object declares its properties, so that others are undeclared. What it forbids is the matter of the
    /// schema.
    fn declares(&self) -> bool {
        let is = |facet: &Facet<'_>, allowed: fn(&Value) -> bool| {
            let keys = ["additionalProperties", "unevaluatedProperties"];
            keys.iter().filter_map(|key| facet.schema.get(*key)).any(allowed)
        };
        let names = |facet: &Facet<'_>| {
            let keys = ["properties", "patternProperties"];
            keys.iter().any(|key| facet.schema.get(*key).is_some_and(Value::is_object))
        };
        let is_any = self.all.iter().any(|facet| {
            // `additionalProperties` is false, true or a schema: forbidden or open.
            is(facet, |_| true)
                || (facet.is_branch && !names(facet) && is_bare_object(facet.schema))
        });
        !is_any && self.all.iter().any(names)
    }

    /// Whether a schema demands a property; then it is known, even if nothing describes it.
    fn requires(&self, name: &str) -> bool {
        let has = |list: &Value| {
            list.as_array().is_some_and(|names| names.iter().any(|one| one.as_str() == Some(name)))
        };
        self.all.iter().any(|facet| {
            let dependent = ["dependentRequired", "dependencies"];
            let mut dependent =
                dependent.iter().filter_map(|key| facet.schema.get(*key)?.as_object());
            facet.schema.get("required").is_some_and(has)
                || dependent.any(|lists| lists.values().any(has))
        })
    }

    fn of_item(&self, index: usize) -> Vec<&'s Value> {
        let mut found = Vec::new();
        for facet in &self.all {
            let first = facet.schema.get("prefixItems").and_then(Value::as_array);
            let legacy = facet.schema.get("items").and_then(Value::as_array);
            match first.or(legacy).and_then(|firsts| firsts.get(index)) {
                Some(schema) => found.push(schema),
                None if legacy.is_some() => found.extend(facet.schema.get("additionalItems")),
                None => found.extend(facet.schema.get("items")),
            }
        }
        found
    }
}

/// An alternative that is an object with any properties, or anything.
fn is_bare_object(schema: &Map<String, Value>) -> bool {
    const LOOKED_THROUGH: [&str; 5] = ["$ref", "allOf", "anyOf", "oneOf", "required"];
    let is_object = match schema.get("type") {
        Some(Value::String(one)) => one == "object",
        Some(Value::Array(several)) => several.iter().any(|one| one == "object"),
        _ => schema.is_empty(),
    };
    is_object && !LOOKED_THROUGH.iter().any(|key| schema.contains_key(*key))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn undeclared(schema: Value, value: Value) -> Vec<String> {
        Declared::new(&schema).undeclared(&value)
    }

    #[test]
    fn properties_that_nothing_declares_are_found() {
        let schema = json!({"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {}}}, "c": {"type": "array", "items": {"properties": {"d": {}}}}}});
        let value = json!({"a": {"b": 1, "x/y": 2}, "c": [{"d": 1}, {"e": 1}], "z": {"any": 1}});
        assert_eq!(undeclared(schema, value), ["/a/x~1y", "/c/1/e", "/z"]);
        assert_eq!(undeclared(json!({"properties": {}}), json!({"a": 1})), ["/a"]);
        let schema = json!({"properties": {"a": {}}, "required": ["a", "b"]});
        assert_eq!(undeclared(schema, json!({"a": 1, "b": 2, "c": 3})), ["/c"]);
    }

    #[test]
    fn open_and_closed_objects_are_not_judged() {
        for schema in [
            json!({}),
            json!(true),
            json!({"type": "object"}),
            json!({"properties": {"a": {}}, "additionalProperties": true}),
            json!({"properties": {"a": {}}, "additionalProperties": {"type": "string"}}),
            json!({"properties": {"a": {}}, "additionalProperties": false}),
            json!({"properties": {"a": {}}, "unevaluatedProperties": false}),
            json!({"anyOf": [{"properties": {"a": {}}}, {"type": "object"}]}),
            json!({"oneOf": [{"properties": {"a": {}}}, {}]}),
            json!({"properties": {"a": {}}, "$ref": "http://example.com/x"}),
            json!({"allOf": [{"properties": {"a": {}}}, {"additionalProperties": true}]}),
        ] {
            assert_eq!(undeclared(schema.clone(), json!({"z": 1})), [""; 0], "{schema}");
        }
    }

    #[test]
    fn combinations_are_looked_through() {
        let schema = json!({
            "$defs": {"base": {"$anchor": "base", "properties": {"ref": {}}}},
            "properties": {"own": {}},
            "patternProperties": {"^x-": {"properties": {"in": {}}}},
            "allOf": [{"$ref": "#/$defs/base"}, {"properties": {"all": {}}}],
            "anyOf": [{"required": ["own"]}, {"properties": {"any": {}}}],
            "oneOf": [{"properties": {"one": {}}}],
            "if": {"properties": {"own": {"const": 1}}}, "then": {"properties": {"then": {}}},
            "else": {"properties": {"else": {}}},
            "dependentSchemas": {"own": {"properties": {"dep": {}}}}
        });
        let known = json!({"own": 1, "ref": 1, "all": 1, "any": 1, "one": 1, "then": 1, "else": 1, "dep": 1, "x-a": {"in": 1}});
        assert_eq!(undeclared(schema.clone(), known), [""; 0]);
        assert_eq!(
            undeclared(schema, json!({"other": 1, "x-a": {"out": 1}})),
            ["/other", "/x-a/out"]
        );
        let anchor =
            json!({"$defs": {"b": {"$anchor": "b", "properties": {"a": {}}}}, "$ref": "#b"});
        assert_eq!(undeclared(anchor, json!({"a": 1, "b": 1})), ["/b"]);
    }

    #[test]
    fn siblings_of_references_count_from_2019_on() {
        let schema = |draft: &str| json!({"$schema": draft, "definitions": {"a": {"properties": {"a": {}}}}, "$ref": "#/definitions/a", "properties": {"b": {}}});
        let value = json!({"a": 1, "b": 1});
        assert_eq!(
            undeclared(schema("http://json-schema.org/draft-07/schema#"), value.clone()),
            ["/b"]
        );
        assert_eq!(
            undeclared(schema("https://json-schema.org/draft/2020-12/schema"), value),
            [""; 0]
        );
    }

    #[test]
    fn hostile_schemas_and_values_are_bounded() {
        let loops = json!({"properties": {"a": {"$ref": "#"}}, "allOf": [{"$ref": "#"}]});
        let deep = (0..60).fold(json!({}), |inner, _| json!({"a": inner}));
        assert_eq!(undeclared(loops, deep), [""; 0]);
        let branches: Vec<Value> =
            (0..1000).map(|n| json!({"properties": {n.to_string(): {}}})).collect();
        assert_eq!(undeclared(json!({"anyOf": branches}), json!({"x": 1})), [""; 0]);
    }
}
