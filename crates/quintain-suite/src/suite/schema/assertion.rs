//! `assert`: the types of the registry, each with the options that it reads.

use std::collections::BTreeSet;
use std::path::Path;

use quintain_content::schema::build::{any, choice, code, list, number, properties, refer, scalar};
use quintain_source::{Diagnostics, Fields, Node, Severity, SourceFile, Sources, read};
use serde_json::{Map, Value, json};

use crate::assertions;
use crate::check::{Assertion, Spec, View};
use crate::suite::NoFiles;

/// Options that several types have; what they mean in particular is in the docs of the type.
const OPTIONS: [(&str, &str); 22] = [
    ("value", "What to compare with; text and lists may contain templates, or `file://PATH`"),
    ("path", "Where to look, as JSONPath"),
    ("equals", "What the value must be"),
    ("contains", "What the value must contain"),
    ("matches", "A regular expression that the value must match"),
    ("exists", "Whether there must be such a value"),
    ("every", "All values must do, not only one"),
    ("gt", "Greater than"),
    ("gte", "At least"),
    ("lt", "Less than"),
    ("lte", "At most"),
    ("between", "The least and the greatest"),
    ("tolerance", "How far off a number may be"),
    ("count", "How many: a number, or `min` and `max`"),
    ("schema", "A JSON schema"),
    ("mode", "How to compare"),
    ("only", "Nothing else is allowed"),
    ("mimeType", "The media type"),
    ("tool", "The tool that is meant"),
    ("tools", "The tools that are meant"),
    ("args", "The arguments that are meant"),
    ("ignore", "What to leave out of the comparison"),
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
        "description": "One thing that must come back",
        "type": "object",
        "properties": common,
        "anyOf": [{"required": ["type"]}, {"required": ["$ref"]}],
        "allOf": rules,
    });
    schema["properties"]["type"] = json!({
        "description": "What is demanded; `not-` turns it round",
        "anyOf": kinds,
    });
    schema
}

/// What entries of this type may say besides the keys of all.
fn rule(kinds: &[String], common: &[String], own: Value, required: &[&str]) -> Value {
    let own_names = own.as_object().into_iter().flat_map(Map::keys);
    let names: Vec<_> = common.iter().chain(own_names).collect();
    json!({
        "if": {"properties": {"type": {"enum": kinds}}, "required": ["type"]},
        "then": {"properties": own, "propertyNames": {"enum": names}, "required": required},
    })
}

/// The keys of all assertions.
fn common() -> Map<String, Value> {
    let entries = [
        ("type", any("")),
        ("weight", number("How much it counts; 0 makes it a metric that cannot fail the test")),
        ("metric", scalar("The name under which the score is reported")),
        ("threshold", any("From which score on it passes")),
        ("transform", code("Applied to the output before this assertion only.")),
        ("view", choice("Which side of the answer to look at", &View::WORDS)),
        ("config", any("Options for scripts")),
        ("provider", any("The model that judges")),
        ("rubricPrompt", any("What the model that judges is told")),
        ("contextTransform", any("Makes the context for the model that judges")),
    ];
    properties(entries, &["type"])
}

/// The names under which a type can be written.
fn written(assertion: &dyn Assertion) -> Vec<String> {
    let meta = assertion.meta();
    let names = std::iter::once(&meta.id).chain(meta.aliases);
    let both = names.flat_map(|name| [(*name).to_owned(), format!("not-{name}")]);
    // A type of that name is another one.
    both.filter(|name| assertions::find(name).is_none_or(|found| std::ptr::eq(found.meta(), meta)))
        .collect()
}

fn option(name: &str) -> Value {
    any(OPTIONS.iter().find(|(known, _)| *known == name).map_or("", |(_, meaning)| meaning))
}

/// The options that a type asks for while its own examples are compiled.
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
        dx: &mut dx,
        script: None,
    };
    assertion.compile(&mut spec);
    spec.fields.known().to_vec()
}
