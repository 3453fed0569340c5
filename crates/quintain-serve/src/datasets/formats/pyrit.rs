//! Seed files and jailbreak templates of PyRIT (`.prompt`): YAML with a header and seeds, or one value with parameters.

use std::collections::BTreeMap;

use quintain_source::Node;
use serde_json::{Map, Value};

use super::documents::{Document, has_yaml_key, looks_like_json};
use crate::datasets::entry::{Entry, Turn};
use crate::datasets::fields;
use crate::datasets::import_error::ImportError;
use crate::datasets::importer::{FormatMeta, Importer};
use crate::datasets::sink::Sink;

pub(super) struct Pyrit;

/// Fields of the header that every seed inherits.
const INHERITED: [&str; 4] = ["harm_categories", "source", "data_type", "license"];
/// Fields of the header that are kept as metadata.
const DESCRIBING: [&str; 7] =
    ["dataset_name", "name", "authors", "groups", "seed_type", "parameters", "is_jinja_template"];

impl Importer for Pyrit {
    fn meta(&self) -> &'static FormatMeta {
        &FormatMeta {
            name: "pyrit",
            description: "A `.prompt` file of PyRIT: `seeds` with a header, or a template with `parameters`. Seeds of one `prompt_group_alias` become a conversation.",
        }
    }

    fn recognises(&self, text: &str) -> u8 {
        let has = |key| has_yaml_key(text, key);
        let is_seeds = has("seeds") || has("prompts") && has("dataset_name");
        let is_template = has("value") && (has("parameters") || has("data_type"));
        if !looks_like_json(text) && (is_seeds || is_template) { 90 } else { 0 }
    }

    fn read(&self, text: &str, sink: &mut Sink<'_>) -> Result<(), ImportError> {
        let format = self.meta().name;
        let document = Document::parse(text, format, false, sink)?;
        let root = &document.root;
        let mut header = root.to_json_map();
        let seeds = root.get("seeds").or_else(|| root.get("prompts")).and_then(Node::as_seq);
        let Some(seeds) = seeds else {
            if root.get("value").is_none() {
                let reason = "there is neither `seeds` nor `value`".to_owned();
                return Err(ImportError::Syntax { format, line: None, reason });
            }
            let value = header.remove("value").unwrap_or_default();
            let record = Map::from_iter([("value".to_owned(), value)]);
            add(record, &header, document.line(root), sink);
            return Ok(());
        };
        let mut groups: BTreeMap<String, Vec<&Node>> = BTreeMap::new();
        for seed in seeds {
            match seed.get("prompt_group_alias").and_then(Node::raw) {
                Some(alias) => groups.entry(alias.to_owned()).or_default().push(seed),
                None if seed.as_map().is_some() => {
                    add(seed.to_json_map(), &header, document.line(seed), sink);
                }
                None => match seed.raw() {
                    Some(value) => {
                        let record =
                            Map::from_iter([("value".to_owned(), Value::String(value.to_owned()))]);
                        add(record, &header, document.line(seed), sink);
                    }
                    None => sink.bad(document.line(seed), "the seed is not text".to_owned()),
                },
            }
        }
        for (alias, mut seeds) in groups {
            seeds.sort_by_key(|seed| seed.get("sequence").and_then(Node::as_i64).unwrap_or(0));
            let mut record = Map::new();
            record.insert("prompt_group_alias".to_owned(), Value::String(alias));
            let line = seeds.first().and_then(|seed| document.line(seed));
            let is_objective =
                |seed: &&Node| seed.get("seed_type").and_then(Node::as_str) == Some("objective");
            if let Some(value) =
                seeds.iter().copied().find(is_objective).and_then(|seed| seed.get("value"))
            {
                record.insert("value".to_owned(), value.to_json());
            }
            seeds.retain(|seed| !is_objective(seed));
            let turns: Value = seeds.iter().map(|seed| seed.to_json()).collect();
            if !seeds.is_empty() {
                record.insert("turns".to_owned(), turns);
            }
            add(record, &header, line, sink);
        }
        Ok(())
    }
}

fn add(
    mut record: Map<String, Value>,
    header: &Map<String, Value>,
    line: Option<usize>,
    sink: &mut Sink<'_>,
) {
    for field in INHERITED {
        if let Some(value) = header.get(field) {
            record.entry(field).or_insert_with(|| value.clone());
        }
    }
    // A source may be a list in newer files.
    if let Some(sources @ Value::Array(_)) = record.get("source") {
        let joined = fields::as_list(sources, false).unwrap_or_default().join(", ");
        record.insert("source".to_owned(), Value::String(joined));
    }
    for field in DESCRIBING {
        if let Some(value) = header.get(field) {
            record.entry(field).or_insert_with(|| value.clone());
        }
    }
    let mut statements = false;
    let seen = &mut statements;
    sink.record_with(line, record, |entry| *seen = literal(entry));
    if statements {
        sink.remark(line, "template statements are kept as text".to_owned());
    }
}

/// Removes the marks that protect literal text from templates. Returns whether other statements remain.
fn literal(entry: &mut Entry) -> bool {
    let plain = |text: &str| text.replace("{% raw %}", "").replace("{% endraw %}", "");
    entry.value = plain(&entry.value);
    for Turn { text, .. } in &mut entry.turns {
        *text = plain(text);
    }
    entry.value.contains("{%") || entry.turns.iter().any(|turn| turn.text.contains("{%"))
}
