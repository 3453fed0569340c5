//! The built-in data sets. One YAML file in `builtin/` each: a header, defaults of its entries, entries.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use quintain_source::{Diagnostics, Node, SourceFile, Sources, read};
use serde_json::{Map, Value};

use super::entry::{Dataset, Entry};
use super::fields;

/// The text of each file, in the order of lists.
static FILES: &[&str] = &[
    include_str!("builtin/jailbreak_scenarios.yaml"),
    include_str!("builtin/security_prompts.yaml"),
    include_str!("builtin/prompt_injection.yaml"),
    include_str!("builtin/indirect_injection.yaml"),
    include_str!("builtin/system_prompt_extraction.yaml"),
    include_str!("builtin/bias.yaml"),
    include_str!("builtin/privacy.yaml"),
    include_str!("builtin/harmful_stand_ins.yaml"),
    include_str!("builtin/tool_call_attacks.yaml"),
    include_str!("builtin/multi_turn_escalation.yaml"),
    include_str!("builtin/encoding_obfuscation.yaml"),
    include_str!("builtin/data_exfiltration.yaml"),
    include_str!("builtin/excessive_agency.yaml"),
    include_str!("builtin/harmless_controls.yaml"),
    include_str!("builtin/capability_reasoning.yaml"),
    include_str!("builtin/capability_knowledge.yaml"),
];

static BUILTIN: LazyLock<Vec<Dataset>> =
    LazyLock::new(|| FILES.iter().filter_map(|text| parse(text).ok()).collect());

/// The licence of everything that is built in.
const LICENSE: &str = "Apache-2.0";

/// Every built-in data set.
pub fn builtin() -> &'static [Dataset] {
    &BUILTIN
}

/// The built-in data set of an id.
pub fn find(id: &str) -> Option<&'static Dataset> {
    builtin().iter().find(|dataset| dataset.id == id)
}

fn parse(text: &str) -> Result<Dataset, String> {
    let mut sources = Sources::new();
    let file = sources.add(SourceFile::new("builtin.yaml", text));
    let mut diagnostics = Diagnostics::new();
    let root = read(&sources, file, &mut diagnostics);
    if let Some(diagnostic) = diagnostics.iter().next() {
        let place = diagnostic.span().and_then(|span| sources.describe(span)).unwrap_or_default();
        return Err(format!("{place}: {}", diagnostic.text()));
    }
    let root = root.ok_or("the file is empty")?;
    let word = |key: &str| {
        let text = root.get(key).and_then(Node::as_str).map(str::to_owned);
        text.ok_or_else(|| format!("`{key}` is missing"))
    };
    let id = word("id")?;
    let defaults = root.get("defaults").map(Node::to_json_map).unwrap_or_default();
    let items = root.get("entries").and_then(Node::as_seq).ok_or("`entries` is missing")?;
    let entries = items.iter().enumerate().map(|(at, item)| {
        entry(&id, at, item, &defaults).map_err(|message| {
            let place = sources.describe(item.span).unwrap_or_default();
            format!("{place}: {message}")
        })
    });
    let entries = entries.collect::<Result<Vec<_>, _>>()?;
    Ok(Dataset {
        name: word("name")?,
        description: word("description")?,
        category: word("category")?,
        license: LICENSE.to_owned(),
        source: "builtin".to_owned(),
        id,
        entries,
    })
}

fn entry(
    dataset: &str,
    at: usize,
    item: &Node,
    defaults: &Map<String, Value>,
) -> Result<Entry, String> {
    let mut record = defaults.clone();
    record.extend(item.to_json_map());
    let (mut entry, remarks) = fields::entry(record, &BTreeMap::new())?;
    if let Some(remark) = remarks.first() {
        return Err(remark.clone());
    }
    // What the instructions keep secret is the canary of the entry.
    if let (Some(prompt), Some(canary)) = (&mut entry.system_prompt, &entry.canary) {
        *prompt = prompt.replace("{canary}", canary);
    }
    entry.id = format!("{dataset}-{:03}", at + 1);
    "builtin".clone_into(&mut entry.source);
    LICENSE.clone_into(&mut entry.license);
    Ok(entry)
}

#[cfg(test)]
mod tests;
