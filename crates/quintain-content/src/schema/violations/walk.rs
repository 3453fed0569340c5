//! Finds the places of a schema that could be broken, and values that may break them.

use serde_json::{Map, Value, json};

use super::Rule;
use crate::json_value::pointer_token;

/// Levels of the arguments that are looked at.
const MAX_DEPTH: usize = 6;
/// References and `allOf` that apply to one place.
const MAX_FACETS: usize = 32;
/// Places to break; nobody asks a server so often.
const MAX_CANDIDATES: usize = 2_000;
/// Texts and lists that are made to be too long.
const MAX_LENGTH: u64 = 10_000;
/// A property that no schema mentions.
const UNEXPECTED: &str = "quintain_unexpected";

/// A change of the arguments that should break the schema.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    path: Vec<PathStep>,
    pub(super) rule: Rule,
    change: Change,
}

#[derive(Debug, Clone)]
enum Change {
    Remove,
    /// The first of these that is not allowed.
    Put(Vec<Value>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum PathStep {
    Key(String),
    Index(usize),
}

impl Candidate {
    pub(super) fn pointer(&self) -> String {
        let steps = self.path.iter().map(|step| match step {
            PathStep::Key(key) => format!("/{}", pointer_token(key)),
            PathStep::Index(index) => format!("/{index}"),
        });
        steps.collect()
    }

    /// What could be put there, and the arguments with it.
    pub(super) fn variants(
        &self,
        args: &Value,
    ) -> impl Iterator<Item = (Option<Value>, Value)> + use<'_> {
        let args = args.clone();
        let values = match &self.change {
            Change::Remove => vec![None],
            Change::Put(values) => values.iter().cloned().map(Some).collect(),
        };
        values.into_iter().map(move |value| {
            let mut changed = args.clone();
            change(&mut changed, &self.path, value.clone());
            (value, changed)
        })
    }
}

fn change(args: &mut Value, path: &[PathStep], value: Option<Value>) {
    let Some((step, rest)) = path.split_first() else {
        if let Some(value) = value {
            *args = value;
        }
        return;
    };
    match (step, &mut *args) {
        (PathStep::Key(key), Value::Object(map)) => match (rest, &value) {
            ([], None) => drop(map.shift_remove(key)),
            _ => change(map.entry(key.as_str()).or_insert(Value::Null), rest, value),
        },
        (PathStep::Index(index), Value::Array(items)) => {
            if *index >= items.len() {
                items.resize(*index + 1, Value::Null);
            }
            change(&mut items[*index], rest, value);
        }
        // A list that the arguments do not have yet.
        (PathStep::Index(0), _) => {
            let mut item = Value::Null;
            change(&mut item, rest, value);
            *args = Value::Array(vec![item]);
        }
        _ => {}
    }
}

/// Every place that could be broken, by rule.
pub(super) fn candidates(schema: &Value, args: &Value) -> Vec<Candidate> {
    let mut walk = Walk { root: schema, found: Vec::new(), path: Vec::new() };
    walk.place(schema, Some(args));
    walk.found.sort_by_key(|candidate| candidate.rule);
    walk.found
}

struct Walk<'s> {
    root: &'s Value,
    found: Vec<Candidate>,
    path: Vec<PathStep>,
}

impl<'s> Walk<'s> {
    fn place(&mut self, schema: &'s Value, value: Option<&Value>) {
        if self.path.len() > MAX_DEPTH || self.found.len() > MAX_CANDIDATES {
            return;
        }
        let mut facets = Vec::new();
        self.facets(schema, &mut facets);
        // Arguments are a map by construction: only what is inside can be of the wrong type.
        let typed = |facet: &&Map<String, Value>| {
            ["type", "anyOf", "oneOf"].iter().any(|keyword| facet.contains_key(*keyword))
        };
        if !self.path.is_empty() && facets.iter().any(typed) {
            self.push(Rule::Type, wrong_types(&facets));
        }
        for facet in facets {
            self.facet(facet, value);
        }
    }

    /// The schemas that apply to a place, whatever its value.
    fn facets(&self, schema: &'s Value, facets: &mut Vec<&'s Map<String, Value>>) {
        let Some(map) = schema.as_object().filter(|_| facets.len() < MAX_FACETS) else { return };
        if facets.iter().any(|known| std::ptr::eq(*known, map)) {
            return;
        }
        facets.push(map);
        let reference = map.get("$ref").and_then(Value::as_str);
        let local = reference.and_then(|reference| reference.strip_prefix('#'));
        let referred = local.and_then(|pointer| self.root.pointer(pointer));
        let all = map.get("allOf").and_then(Value::as_array).into_iter().flatten();
        for schema in referred.into_iter().chain(all) {
            self.facets(schema, facets);
        }
    }

    fn facet(&mut self, schema: &'s Map<String, Value>, value: Option<&Value>) {
        if schema.get("enum").is_some_and(Value::is_array) || schema.contains_key("const") {
            self.push(Rule::Enum, vec![json!("no such value"), json!(987_654_321), json!([])]);
        }
        self.numbers(schema);
        self.texts(schema, value);
        self.list(schema, value);
        if let Some(Value::Object(members)) = value {
            self.members(schema, members);
        }
    }

    fn push(&mut self, rule: Rule, values: Vec<Value>) {
        self.found.push(Candidate { path: self.path.clone(), rule, change: Change::Put(values) });
    }

    fn numbers(&mut self, schema: &Map<String, Value>) {
        for (keyword, by) in [("minimum", -1), ("maximum", 1)] {
            if let Some(bound) = schema.get(keyword).and_then(|bound| beyond(bound, by)) {
                self.push(Rule::Range, vec![bound]);
            }
        }
        for keyword in ["exclusiveMinimum", "exclusiveMaximum"] {
            if let Some(bound) = schema.get(keyword).filter(|bound| bound.is_number()) {
                self.push(Rule::Range, vec![bound.clone()]);
            }
        }
        if let Some(multiple) = schema.get("multipleOf") {
            let next = beyond(multiple, 1);
            let half = multiple.as_f64().map(|multiple| json!(multiple / 2.0));
            self.push(Rule::Multiple, next.into_iter().chain(half).collect());
        }
        if schema.get("type").and_then(Value::as_str) == Some("integer") {
            self.push(Rule::Type, vec![json!(1.5)]);
        }
    }

    fn texts(&mut self, schema: &Map<String, Value>, value: Option<&Value>) {
        let given = value.and_then(Value::as_str).filter(|text| !text.is_empty()).unwrap_or("a");
        let text = |length: u64| {
            let length = usize::try_from(length).unwrap_or(0);
            Value::String(given.chars().cycle().take(length).collect())
        };
        let short = limit(schema, "minLength").filter(|least| *least > 0);
        if let Some(least) = short {
            self.push(Rule::Length, vec![text(least - 1)]);
        }
        if let Some(most) = limit(schema, "maxLength") {
            self.push(Rule::Length, vec![text(most + 1)]);
        }
        if schema.get("pattern").is_some_and(Value::is_string) {
            let odd = ["!", "", "no match", "0", "a", "~ ~"];
            self.push(Rule::Pattern, odd.map(Value::from).into());
        }
        if let Some(format) = schema.get("format").and_then(Value::as_str) {
            let format: String = format.chars().take(40).collect();
            self.push(Rule::Format, vec![json!(format!("not a {format}")), json!("%%%")]);
        }
    }

    fn list(&mut self, schema: &'s Map<String, Value>, value: Option<&Value>) {
        let items = value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        if let Some(least) = limit(schema, "minItems").filter(|least| *least > 0) {
            let least = usize::try_from(least).unwrap_or(0);
            self.push(Rule::Length, vec![items.iter().take(least - 1).cloned().collect()]);
        }
        if let (Some(first), Some(most)) = (items.first(), limit(schema, "maxItems")) {
            let many = usize::try_from(most).unwrap_or(0) + 1;
            self.push(Rule::Length, vec![std::iter::repeat_n(first.clone(), many).collect()]);
        }
        if let (Some(first), Some(true)) =
            (items.first(), schema.get("uniqueItems").and_then(Value::as_bool))
        {
            self.push(Rule::Length, vec![json!([first, first])]);
        }
        let firsts = schema.get("prefixItems").and_then(Value::as_array).into_iter().flatten();
        for (index, schema) in firsts.enumerate().take(items.len()) {
            self.below(PathStep::Index(index), schema, items.get(index));
        }
        if let Some(schema) = schema.get("items") {
            // What has no element yet gets one, if it may be a list at all.
            self.below(PathStep::Index(0), schema, items.first());
        }
    }

    fn members(&mut self, schema: &'s Map<String, Value>, members: &Map<String, Value>) {
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        for name in required.filter_map(Value::as_str).filter(|name| members.contains_key(*name)) {
            let mut path = self.path.clone();
            path.push(PathStep::Key(name.to_owned()));
            self.found.push(Candidate { path, rule: Rule::Required, change: Change::Remove });
        }
        let closed = ["additionalProperties", "unevaluatedProperties"]
            .iter()
            .any(|keyword| schema.get(*keyword) == Some(&Value::Bool(false)));
        if closed {
            let mut path = self.path.clone();
            path.push(PathStep::Key(UNEXPECTED.to_owned()));
            let change = Change::Put(vec![json!(true)]);
            self.found.push(Candidate { path, rule: Rule::Additional, change });
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, schema) in properties.into_iter().flatten() {
            self.below(PathStep::Key(name.clone()), schema, members.get(name));
        }
    }

    fn below(&mut self, step: PathStep, schema: &'s Value, value: Option<&Value>) {
        self.path.push(step);
        self.place(schema, value);
        self.path.pop();
    }
}

/// Values that are seldom of the right type, those that no server converts first.
fn wrong_types(facets: &[&Map<String, Value>]) -> Vec<Value> {
    let is_text =
        |facet: &&Map<String, Value>| facet.get("type").and_then(Value::as_str) == Some("string");
    let text = facets.iter().any(is_text);
    let mut values = vec![json!({"unexpected": true}), json!(12.5), json!(true), json!([])];
    let at = if text { values.len() } else { 0 };
    values.insert(at, json!("not of this type"));
    values
}

/// One step over a bound.
fn beyond(bound: &Value, by: i32) -> Option<Value> {
    match bound.as_i64() {
        Some(bound) => bound.checked_add(by.into()).map(Value::from),
        None => bound.as_f64().map(|bound| Value::from(bound + f64::from(by))),
    }
}

/// A length that a schema demands, if something of that length can be sent.
fn limit(schema: &Map<String, Value>, keyword: &str) -> Option<u64> {
    schema.get(keyword)?.as_u64().filter(|length| *length <= MAX_LENGTH)
}
