//! `assert`: the assertion types, each with its options.

use std::collections::BTreeSet;
use std::path::Path;

use quintain_content::schema::build::{any, choice, code, list, number, properties, refer, scalar};
use quintain_source::{Diagnostics, Fields, Node, Severity, SourceFile, Sources, read};
use serde_json::{Map, Value, json};

use crate::assertions;
use crate::check::{Assertion, Spec, View};
use crate::suite::NoFiles;

/// Options that several types share; the docs of each type have the details.
const OPTIONS: [(&str, &str); 23] = [
    ("value", "The expected value; text and lists may contain templates or `file://PATH`"),
    ("path", "A JSONPath of the output"),
    ("equals", "The value must equal this"),
    ("contains", "The value must contain this"),
    ("matches", "A regular expression that the value must match"),
    ("exists", "Whether the path must select a value"),
    ("every", "All values must meet the conditions, not only one"),
    ("gt", "Greater than"),
    ("gte", "At least"),
    ("lt", "Less than"),
    ("lte", "At most"),
    ("between", "The lowest and the highest allowed number"),
    ("tolerance", "The allowed difference"),
    ("count", "The expected number: a number, or `min` and `max`"),
    ("schema", "A JSON Schema"),
    ("mode", "How to compare"),
    ("only", "Nothing else is allowed"),
    ("mimeType", "The media type"),
    ("tool", "The name of the tool"),
    ("tools", "The names of the tools"),
    ("args", "The arguments of the call"),
    ("ignore", "What to leave out of the comparison"),
    ("judge", "How carefully to judge: `samples`, `levels`, `abstain`"),
];

pub(super) fn assertion() -> Value {
    let common = common();
    let names: Vec<_> = common.keys().cloned().collect();
    let mut kinds = vec![json!({
        "enum": ["assert-set"], "description": "Assertions that count as one",
    })];
    let set = json!({"assert": list("The assertions of the set", refer("assertion"))});
    let mut rules = vec![rule(&["assert-set".to_owned()], &names, set, &["assert"])];
    for assertion in assertions::all() {
        let meta = assertion.meta();
        let written = written(*assertion);
        kinds.push(json!({"enum": written, "description": meta.summary}));
        let own = options(*assertion).into_iter().filter(|name| !common.contains_key(*name));
        let own: Map<_, _> = own.map(|name| (name.to_owned(), option(name))).collect();
        rules.push(rule(&written, &names, Value::Object(own), &[]));
    }
    let mut schema = json!({
        "description": "An assertion about the response",
        "type": "object",
        "properties": common,
        "anyOf": [{"required": ["type"]}, {"required": ["$ref"]}],
        "allOf": rules,
    });
    schema["properties"]["type"] = json!({
        "description": "The assertion type; the prefix `not-` negates it",
        "anyOf": kinds,
    });
    schema
}

/// The rule for the keys that entries of these types have in addition to the common ones.
fn rule(kinds: &[String], common: &[String], own: Value, required: &[&str]) -> Value {
    let own_names = own.as_object().into_iter().flat_map(Map::keys);
    let names: Vec<_> = common.iter().chain(own_names).collect();
    json!({
        "if": {"properties": {"type": {"enum": kinds}}, "required": ["type"]},
        "then": {"properties": own, "propertyNames": {"enum": names}, "required": required},
    })
}

/// The keys that all assertions share.
fn common() -> Map<String, Value> {
    let entries = [
        ("type", any("")),
        ("weight", number("Weight in the score; an assertion of weight 0 cannot fail the test")),
        ("metric", scalar("The name under which the score is reported")),
        ("threshold", any("The lowest score that passes")),
        ("transform", code("Applied to the output before this assertion only.")),
        ("view", choice("The part of the response to judge", &View::WORDS)),
        ("config", any("Options for scripts")),
        ("provider", any("The model that judges")),
        ("rubricPrompt", any("The prompt for the model that judges")),
        ("contextTransform", any("Extracts the context for the model that judges")),
    ];
    properties(entries, &["type"])
}

/// The names and aliases of a type, with and without `not-`.
fn written(assertion: &dyn Assertion) -> Vec<String> {
    let meta = assertion.meta();
    let names = std::iter::once(&meta.id).chain(meta.aliases);
    let both = names.flat_map(|name| [(*name).to_owned(), format!("not-{name}")]);
    // A name that another type has belongs to that type.
    both.filter(|name| assertions::find(name).is_none_or(|found| std::ptr::eq(found.meta(), meta)))
        .collect()
}

fn option(name: &str) -> Value {
    any(OPTIONS.iter().find(|(known, _)| *known == name).map_or("", |(_, meaning)| meaning))
}

/// The options that a type reads when its own example is compiled.
fn options(assertion: &dyn Assertion) -> BTreeSet<&'static str> {
    let meta = assertion.meta();
    let mut sources = Sources::new();
    let mut asked = BTreeSet::new();
    for block in meta.docs.split("```yaml\n").skip(1) {
        let text = block.split("```").next().unwrap_or_default();
        let id = sources.add(SourceFile::new(meta.id, text));
        let tree = read(&sources, id, &mut Diagnostics::new());
        let entries = tree.as_ref().and_then(Node::as_seq).unwrap_or_default();
        entries.iter().for_each(|entry| asked.extend(asked_by(assertion, entry)));
    }
    asked
}

fn asked_by(assertion: &dyn Assertion, node: &Node) -> Vec<&'static str> {
    let kind = node.get("type").and_then(Node::raw).unwrap_or_default();
    let (negated, kind) = match kind.strip_prefix("not-") {
        Some(base) if assertions::find(kind).is_none() => (true, base),
        _ => (false, kind),
    };
    let mut dx = Diagnostics::new();
    let fields = Fields::of(node, "an assertion", &mut dx);
    let Some(fields) = fields.filter(|_| assertion.meta().answers_to(kind)) else {
        return Vec::new();
    };
    let mut spec = Spec {
        fields,
        node,
        kind,
        negated,
        base_dir: Path::new(""),
        files: &NoFiles,
        strictness: Severity::Error,
        is_literal: false,
        dx: &mut dx,
        script: None,
    };
    assertion.compile(&mut spec);
    spec.fields.known().to_vec()
}
