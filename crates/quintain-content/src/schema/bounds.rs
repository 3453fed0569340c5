//! Refuses schemas that would be expensive to apply before the validator sees them: a few hundred
//! bytes of `$ref`s can ask for more steps than there is time.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::{Fault, Problem};

const MAX_NODES: usize = 50_000;
const MAX_DEPTH: usize = 64;
/// References followed without descending into the arguments; each costs stack.
const MAX_CHAIN: usize = 32;
const MAX_ARGS_DEPTH: usize = 32;
const MAX_PATTERNS: usize = 100;
/// Each of these evaluates its neighbours again.
const MAX_UNEVALUATED: usize = 8;
/// What a schema may grow to if every reference is replaced by what it refers to.
const MAX_WEIGHT: u64 = 100_000;
/// Schema applications that checking one set of arguments may take.
const MAX_STEPS: u64 = 5_000_000;

const TOO_LONG: &str = "the schema would take too long to check";

const LISTS_IN_PLACE: [&str; 3] = ["allOf", "anyOf", "oneOf"];
const MAPS_IN_PLACE: [&str; 2] = ["dependentSchemas", "dependencies"];
const SCHEMAS_IN_PLACE: [&str; 4] = ["not", "if", "then", "else"];

/// What a schema may cost.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    weight: u64,
    paths: u64,
}

/// Measures a schema.
///
/// # Errors
/// Why it must not be compiled.
pub(super) fn measure(schema: &Value) -> Result<Bounds, Problem> {
    let refuse = |message: &str| Err(Problem::new(Fault::Schema, "", message));
    if !schema.is_object() && !schema.is_boolean() {
        return refuse("the schema is neither an object nor a boolean");
    }
    let mut schema_size = SchemaSize::default();
    if !schema_size.count(schema, 0, Position::Schema) {
        return refuse("the schema is too large or too deep to be checked");
    }
    let data_ids = schema_size.data_ids && schema_size.data_refs;
    if schema_size.embedded_ids || data_ids || schema_size.dynamic_refs {
        return refuse("the schema embeds other schemas by `$id` or uses dynamic references");
    }
    if schema_size.patterns > MAX_PATTERNS || schema_size.unevaluated > MAX_UNEVALUATED {
        return refuse("the schema has too many patterns or `unevaluated` keywords");
    }
    let mut estimate = Estimate::new(schema, schema_size.anchors);
    let Some(total) = estimate.total(&schema_size.schemas) else {
        return refuse("the schema refers to itself without end, or by too long a chain");
    };
    if total.weight > MAX_WEIGHT {
        return refuse(TOO_LONG);
    }
    Ok(Bounds { weight: total.weight, paths: total.paths })
}

impl Bounds {
    /// Whether the schema can be applied to data in bearable time.
    ///
    /// # Errors
    /// Why it cannot.
    pub(super) fn admit(self, data: &Value) -> Result<(), Problem> {
        let Some(depth) = depth(data, MAX_ARGS_DEPTH) else {
            let message = format!("nested deeper than {MAX_ARGS_DEPTH} levels; not checked");
            return Err(Problem::new(Fault::Arguments, "", message));
        };
        // Every way through the schema may be taken again at every level of the arguments.
        let levels = u32::try_from(depth).unwrap_or(u32::MAX);
        let steps = self.paths.saturating_pow(levels).saturating_mul(self.weight);
        if steps > MAX_STEPS {
            return Err(Problem::new(Fault::Schema, "", TOO_LONG));
        }
        Ok(())
    }
}

/// The nesting of a value, or nothing if it exceeds the limit.
fn depth(value: &Value, limit: usize) -> Option<usize> {
    let children: Box<dyn Iterator<Item = &Value>> = match value {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(map) => Box::new(map.values()),
        _ => return Some(0),
    };
    let limit = limit.checked_sub(1)?;
    let mut deepest = 0;
    for child in children {
        deepest = deepest.max(depth(child, limit)?);
    }
    Some(deepest + 1)
}

/// One walk over the whole schema.
#[derive(Default)]
struct SchemaSize<'s> {
    nodes: usize,
    patterns: usize,
    unevaluated: usize,
    embedded_ids: bool,
    /// Ids in data count only if a reference leads there.
    data_ids: bool,
    data_refs: bool,
    dynamic_refs: bool,
    anchors: HashMap<&'s str, &'s Value>,
    /// Every object, whether or not it is used as a schema.
    schemas: Vec<&'s Value>,
}

/// How an object of a schema is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Position {
    /// Its keys are keywords.
    Schema,
    /// Its keys are names of properties or definitions.
    Names,
    /// It is data: a default, an example, an allowed value.
    Data,
}

impl Position {
    fn below(self, key: &str) -> Self {
        match (self, key) {
            (Self::Data, _)
            | (Self::Schema, "const" | "default" | "enum" | "example" | "examples") => Self::Data,
            (
                Self::Schema,
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
            ) => Self::Names,
            (Self::Names | Self::Schema, _) => Self::Schema,
        }
    }
}

/// Whether a reference may lead into data.
fn leads_to_data(reference: &str) -> bool {
    let reference = percent_decoded(reference);
    reference.split('/').any(|part| Position::Schema.below(part) == Position::Data)
}

impl<'s> SchemaSize<'s> {
    fn count(&mut self, value: &'s Value, depth: usize, position: Position) -> bool {
        self.nodes += 1;
        if self.nodes > MAX_NODES || depth > MAX_DEPTH {
            return false;
        }
        match value {
            Value::Array(items) => items.iter().all(|item| self.count(item, depth + 1, position)),
            Value::Object(map) => {
                self.schemas.push(value);
                for (key, child) in map {
                    match key.as_str() {
                        "pattern" => self.patterns += 1,
                        "patternProperties" => {
                            self.patterns += child.as_object().map_or(0, serde_json::Map::len);
                        }
                        "unevaluatedProperties" | "unevaluatedItems" => self.unevaluated += 1,
                        "$dynamicRef" | "$recursiveRef" => self.dynamic_refs |= child.is_string(),
                        "$id" | "id" if child.is_string() && depth > 0 => match position {
                            Position::Schema => self.embedded_ids = true,
                            Position::Names => {}
                            Position::Data => self.data_ids = true,
                        },
                        "$ref" => self.data_refs |= child.as_str().is_some_and(leads_to_data),
                        "$anchor" => {
                            if let Some(name) = child.as_str() {
                                self.anchors.insert(name, value);
                            }
                        }
                        _ => {}
                    }
                }
                map.iter().all(|(key, child)| self.count(child, depth + 1, position.below(key)))
            }
            _ => true,
        }
    }
}

/// What applying a schema to one place of the arguments costs.
#[derive(Clone, Copy)]
struct Cost {
    /// Schemas that are applied there.
    weight: u64,
    /// Ways that lead to deeper places.
    paths: u64,
    /// References and combinators on the longest way.
    height: usize,
}

struct Estimate<'s> {
    root: &'s Value,
    anchors: HashMap<&'s str, &'s Value>,
    known: HashMap<*const Value, Cost>,
    open: HashSet<*const Value>,
}

impl<'s> Estimate<'s> {
    fn new(root: &'s Value, anchors: HashMap<&'s str, &'s Value>) -> Self {
        Self { root, anchors, known: HashMap::new(), open: HashSet::new() }
    }

    fn total(&mut self, schemas: &[&'s Value]) -> Option<Cost> {
        let mut total = Cost { weight: 1, paths: 1, height: 0 };
        for schema in schemas {
            let cost = self.cost(schema, 0)?;
            total.weight = total.weight.saturating_add(cost.weight);
            total.paths = total.paths.max(cost.paths);
        }
        Some(total)
    }

    /// Nothing if the schema leads back to itself without descending, or by too long a chain.
    fn cost(&mut self, schema: &'s Value, chain: usize) -> Option<Cost> {
        let address = std::ptr::from_ref(schema);
        if let Some(cost) = self.known.get(&address) {
            return (chain + cost.height <= MAX_CHAIN).then_some(*cost);
        }
        if chain > MAX_CHAIN || !self.open.insert(address) {
            return None;
        }
        let mut sum = Cost { weight: 1, paths: descents(schema), height: 0 };
        for child in self.in_place(schema) {
            let cost = self.cost(child, chain + 1)?;
            sum.weight = sum.weight.saturating_add(cost.weight);
            sum.paths = sum.paths.saturating_add(cost.paths);
            sum.height = sum.height.max(cost.height + 1);
        }
        self.open.remove(&address);
        self.known.insert(address, sum);
        Some(sum)
    }

    /// The schemas that are applied to the same place of the arguments.
    fn in_place(&self, schema: &'s Value) -> Vec<&'s Value> {
        let Some(map) = schema.as_object() else { return Vec::new() };
        let mut found: Vec<&Value> = Vec::new();
        found.extend(SCHEMAS_IN_PLACE.iter().filter_map(|key| map.get(*key)));
        let lists = LISTS_IN_PLACE.iter().filter_map(|key| map.get(*key)?.as_array());
        found.extend(lists.flatten());
        let maps = MAPS_IN_PLACE.iter().filter_map(|key| map.get(*key)?.as_object());
        found.extend(maps.flat_map(|entries| entries.values()));
        found.extend(map.get("$ref").and_then(Value::as_str).and_then(|r| self.resolve(r)));
        found
    }

    /// Local references; the validator refuses all others, since it cannot fetch them.
    fn resolve(&self, reference: &str) -> Option<&'s Value> {
        let (base, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        // A reference may repeat the `$id` of the root in more ways than are worth comparing.
        if !base.is_empty() && self.root.get("$id").or(self.root.get("id")).is_none() {
            return None;
        }
        let fragment = percent_decoded(fragment);
        if fragment.is_empty() || fragment.starts_with('/') {
            return self.root.pointer(&fragment);
        }
        self.anchors.get(fragment.as_str()).copied()
    }
}

/// How many subschemas may be applied to one and the same child of the arguments.
fn descents(schema: &Value) -> u64 {
    let Some(map) = schema.as_object() else { return 0 };
    let has = |keys: &[&str]| u64::from(keys.iter().any(|key| map.contains_key(*key)));
    let patterns = map.get("patternProperties").and_then(Value::as_object);
    let patterns = patterns.map_or(0, serde_json::Map::len);
    let to_values = has(&["properties", "additionalProperties"]).saturating_add(patterns as u64);
    let to_items = has(&["items", "prefixItems", "additionalItems"]) + has(&["contains"]);
    to_values.max(to_items) + has(&["unevaluatedProperties", "unevaluatedItems"])
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let hex = (*first == b'%').then(|| tail.get(..2)).flatten();
        let code = hex.and_then(|hex| std::str::from_utf8(hex).ok());
        if let Some(code) = code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            bytes.push(code);
            rest = &tail[2..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn message(schema: &Value, args: &Value) -> Option<String> {
        let admitted = measure(schema).and_then(|bounds| bounds.admit(args));
        admitted.err().map(|problem| problem.message)
    }

    /// `a0` is referred to twice by `a1`, which is referred to twice by `a2`, and so on.
    fn doubling(levels: usize) -> Value {
        let mut defs = serde_json::Map::new();
        defs.insert("a0".into(), json!({"type": "object"}));
        for level in 1..=levels {
            let below = json!({"$ref": format!("#/$defs/a{}", level - 1)});
            defs.insert(format!("a{level}"), json!({"allOf": [below, below]}));
        }
        json!({"$defs": defs, "$ref": format!("#/$defs/a{levels}")})
    }

    #[test]
    fn a_doubling_chain_is_refused_and_a_short_one_is_not() {
        assert_eq!(message(&doubling(10), &json!({})), None);
        assert!(message(&doubling(20), &json!({})).is_some());
    }

    #[test]
    fn references_that_never_descend_are_refused() {
        for schema in [
            json!({"$ref": "#"}),
            json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}),
            json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/%24defs/a"}}, "$ref": "#/$defs/a"}),
            json!({"$anchor": "me", "allOf": [{"$ref": "#me"}]}),
        ] {
            assert!(message(&schema, &json!({})).is_some(), "{schema}");
        }
    }

    #[test]
    fn ways_that_multiply_with_every_level_are_refused() {
        let patterns = (0..50).map(|n| (format!("a{{0,{n}}}"), json!({"$ref": "#"})));
        let schema = json!({"patternProperties": patterns.collect::<serde_json::Map<_, _>>()});
        let args = (0..8).fold(json!({}), |inner, _| json!({"a": inner}));
        assert!(message(&schema, &args).is_some());
        assert_eq!(message(&schema, &json!({"a": 1})), None);
        let twice = json!({"properties": {"a": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}});
        let args = (0..30).fold(json!({}), |inner, _| json!({"a": inner}));
        assert!(message(&twice, &args).is_some());
    }

    #[test]
    fn an_honest_recursive_schema_is_accepted() {
        let tree = json!({"properties": {
            "value": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#"}}
        }});
        let args = json!({"value": "a", "children": [{"children": [{"value": "b"}]}]});
        assert_eq!(message(&tree, &args), None);
    }

    #[test]
    fn ids_in_data_are_not_embedded_schemas() {
        let schema = json!({"properties": {"user": {
            "default": {"id": "u1"}, "examples": [{"$id": "x"}], "properties": {"id": {"type": "string"}}
        }}});
        assert_eq!(message(&schema, &json!({})), None);
        let embedded = json!({"properties": {"default": {"$id": "http://h/x"}}});
        assert!(message(&embedded, &json!({})).is_some());
        let referred = json!({"default": {"$id": "http://h/x"}, "$ref": "#/default"});
        assert!(message(&referred, &json!({})).is_some());
    }

    #[test]
    fn depth_and_size_are_bounded() {
        let nested = |levels: usize| (0..levels).fold(json!({}), |inner, _| json!({"not": inner}));
        assert!(message(&nested(200), &json!({})).is_some());
        let args = (0..100).fold(json!({}), |inner, _| json!({"a": inner}));
        assert!(message(&json!({}), &args).is_some());
        let wide: Value = (0..60_000).map(|n| json!(n)).collect();
        assert!(message(&json!({"enum": wide}), &json!({})).is_some());
    }
}
