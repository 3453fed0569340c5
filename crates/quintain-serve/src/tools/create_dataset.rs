//! `create_dataset` and `transform_dataset`.

use std::collections::BTreeMap;

use quintain_engine::store::{Entity, EntityKind};
use serde_json::{Value, json};

use super::datasets::{dataset_json, dataset_schema};
use super::definition::{
    Arguments, WRITE, flag, id, number, object, one_of, shape, text, tools, writing,
};
use crate::datasets::{Dataset, Entry, Format, ImportOptions, import};
use crate::platform::orchestrator::dataset_of;
use crate::platform::{Platform, converters};
use crate::principal::{Group, Principal};
use crate::tool::{Call, ErrorCode, Reply, ToolError};

tools! {
    CreateDataset = {
        name: "create_dataset",
        title: "Create a data set",
        description: "Stores entries: given inline, read from text in a format (csv, tsv, json, jsonl, yaml, txt, PyRIT .prompt, garak payloads and reports, promptfoo tests), from a file of the workspace (operator only), or combined from other data sets. `dry_run` shows what would be imported.",
        core: false,
        scope: writing(Group::Datasets),
        hints: WRITE,
        argument_aliases: &[],
        is_long: false,
    }
    input: object(json!({
        "name": id("Unique name"),
        "description": text("What it is for"),
        "category": text("security, safety, fairness, privacy, control, capability, or another word"),
        "source": {"type": "object", "description": "One of `inline`, `text`, `path`, `resource_uri`, `combine`", "properties": {
            "inline": {"type": ["array", "string"], "maxItems": 100_000, "items": {"anyOf": [{"type": "string"}, {"type": "object"}]}, "description": "Entries: texts, or maps with `value`; or the same as `text`"},
            "text": {"type": "string", "description": "The content of a file in `format`"},
            "path": {"type": "string", "description": "A file of the workspace (operator only)"},
            "resource_uri": {"type": "string", "description": "Another data set, such as quintain://datasets/privacy"},
            "combine": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 50, "description": "Ids or names of other data sets"},
        }, "minProperties": 1, "maxProperties": 1, "additionalProperties": false},
        "format": one_of(&["auto", "csv", "tsv", "json", "jsonl", "yaml", "pyrit", "garak_payload", "garak_report", "promptfoo", "txt"], "Format of `text` or `path`"),
        "field_mapping": {"type": "object", "additionalProperties": {"type": "string"}, "description": "Names of fields or columns: theirs to ours"},
        "license": text("An SPDX identifier"),
        "dry_run": flag("Store nothing", false),
    }), &["name", "source"]),
    output: shape(json!({
        "dataset": dataset_schema(),
        "imported": {"type": "integer"},
        "skipped": {"type": "integer"},
        "issues": {"type": "array", "items": {"type": "object"}},
        "dry_run": {"type": "boolean"},
        "preview": {"type": "array", "items": {"type": "object"}},
    }), &["dataset", "imported", "skipped", "issues"]),
    call: create;

    TransformDataset = {
        name: "transform_dataset",
        title: "Transform a data set",
        description: "Applies converters to all entries. `append` adds the new entries to a copy, `replace` keeps only them. The result is a new data set.",
        core: false,
        scope: writing(Group::Datasets),
        hints: WRITE,
        argument_aliases: &[],
        is_long: true,
    }
    input: object(json!({
        "dataset_id": id("Id or name of the data set"),
        "converters": {"type": "array", "minItems": 1, "maxItems": 64, "items": {"anyOf": [{"type": "string"}, {"type": "object"}]}, "description": "Converters, applied one after the other"},
        "mode": one_of(&["replace", "append"], "Default: append"),
        "seed": number(0, u64::from(u32::MAX), 0, "Random seed"),
        "new_name": id("Name of the result; default: derived from the source"),
    }), &["dataset_id", "converters"]),
    output: shape(json!({
        "dataset": dataset_schema(),
        "changed": {"type": "integer"},
    }), &["dataset", "changed"]),
    call: transform;
}

/// What was read, and what not.
struct Read {
    entries: Vec<Entry>,
    skipped: usize,
    issues: Vec<Value>,
    source: String,
}

fn imported(bytes: &[u8], source: &str, arguments: &Arguments) -> Result<Read, ToolError> {
    let format = match arguments.text("format") {
        None | Some("auto") => None,
        Some(name) => Some(Format::named(name).ok_or_else(|| {
            ToolError::new(ErrorCode::UnsupportedCapability, format!("no format `{name}`"))
        })?),
    };
    let mapping = arguments.0.get("field_mapping").and_then(Value::as_object);
    let mapping: BTreeMap<String, String> = mapping
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
        .collect();
    let options = ImportOptions {
        mapping,
        license: arguments.text("license").map(str::to_owned),
        source: Some(source.to_owned()),
        ..ImportOptions::default()
    };
    let read = import(bytes, format, &options)
        .map_err(|error| ToolError::new(ErrorCode::InvalidConfiguration, error.to_string()))?;
    let issues = read.issues.iter().map(|issue| json!(issue)).collect();
    Ok(Read { entries: read.entries, skipped: read.skipped, issues, source: source.to_owned() })
}

async fn read(
    platform: &Platform,
    principal: &Principal,
    arguments: &Arguments,
) -> Result<Read, ToolError> {
    let source = arguments.0.get("source").cloned().unwrap_or_default();
    if let Some(items) = source["inline"].as_array() {
        let records: Vec<Value> = items
            .iter()
            .map(|item| if item.is_string() { json!({"value": item}) } else { item.clone() })
            .collect();
        let lines: Vec<String> = records.iter().map(Value::to_string).collect();
        let arguments = &Arguments({
            let mut map = arguments.0.clone();
            map.insert("format".to_owned(), json!("jsonl"));
            map
        });
        return imported(lines.join("\n").as_bytes(), "inline", arguments);
    }
    if let Some(text) = source["text"].as_str().or(source["inline"].as_str()) {
        return imported(text.as_bytes(), "text", arguments);
    }
    if let Some(path) = source["path"].as_str() {
        if !principal.operator {
            let what = "only the operator of this server may name files";
            return Err(ToolError::new(ErrorCode::NotAllowed, what)
                .with_hint("send the content as `source.text`"));
        }
        let workspace = &platform.allowances.workspace;
        let only = quintain_engine::Policy {
            files: quintain_engine::Access::Only(vec![workspace.clone()]),
            hidden: platform.allowances.hidden.clone(),
            ..quintain_engine::Policy::nothing()
        };
        let refused = |_| {
            let what = format!("`{path}` is not in the workspace");
            ToolError::new(ErrorCode::NotAllowed, what)
        };
        let found = only.file(&workspace.join(path)).map_err(refused)?;
        let bytes = platform.jobs.files.read(&found).map_err(|error| {
            ToolError::new(ErrorCode::NotFound, format!("`{path}` cannot be read: {error}"))
        })?;
        return imported(&bytes, path, arguments);
    }
    let names: Vec<String> = if let Some(uri) = source["resource_uri"].as_str() {
        let path = uri.split_once("://").map_or(uri, |(_, path)| path);
        vec![path.strip_prefix("datasets/").unwrap_or(path).to_owned()]
    } else {
        let names = source["combine"].as_array().into_iter().flatten();
        names.filter_map(|one| Some(one.as_str()?.to_owned())).collect()
    };
    let mut entries: Vec<Entry> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    let mut skipped = 0;
    for name in &names {
        for entry in platform.dataset(principal, name).await?.entries {
            if seen.insert(entry.hash()) {
                entries.push(entry);
            } else {
                skipped += 1;
            }
        }
    }
    Ok(Read { entries, skipped, issues: Vec::new(), source: names.join(", ") })
}

/// Stores a data set.
pub(super) async fn store(
    platform: &Platform,
    principal: &Principal,
    dataset: &Dataset,
) -> Result<Entity, ToolError> {
    let body = serde_json::to_value(dataset).unwrap_or_default();
    let kind = EntityKind::Dataset;
    if crate::datasets::find(&dataset.name).is_some() {
        let what = format!("a built-in data set is named `{}`", dataset.name);
        return Err(ToolError::new(ErrorCode::Conflict, what));
    }
    platform.add_entity(principal, kind, Some(&dataset.name), &body).await
}

async fn create(call: Call<'_>) -> Result<Reply, ToolError> {
    let Call { platform, principal, arguments, .. } = call;
    let arguments = Arguments(arguments);
    let Read { entries, skipped, issues, source } = read(platform, principal, &arguments).await?;
    let word = |key: &str, default: &str| arguments.text(key).unwrap_or(default).to_owned();
    let mut dataset = Dataset {
        id: String::new(),
        name: word("name", ""),
        description: word("description", ""),
        category: word("category", "security"),
        license: word("license", "unknown"),
        source,
        entries,
    };
    for (at, entry) in dataset.entries.iter_mut().enumerate() {
        if entry.id.is_empty() {
            entry.id = format!("{}", at + 1);
        }
    }
    let count = dataset.entries.len();
    if count == 0 {
        return Err(ToolError::new(
            ErrorCode::InvalidConfiguration,
            "there are no entries to import",
        ));
    }
    let is_dry = arguments.flag("dry_run", false);
    if !is_dry {
        dataset = dataset_of(store(platform, principal, &dataset).await?)?;
    }
    let mut structured = json!({"dataset": dataset_json(&dataset), "imported": count, "skipped": skipped, "issues": issues, "dry_run": is_dry});
    if is_dry {
        structured["preview"] = json!(&dataset.entries[..count.min(5)]);
    }
    Ok(Reply::new(structured, format!("{count} entries, {skipped} skipped")))
}

async fn transform(call: Call<'_>) -> Result<Reply, ToolError> {
    let Call { platform, principal, arguments, .. } = call;
    let arguments = Arguments(arguments);
    let mut dataset = platform.dataset(principal, arguments.required("dataset_id")).await?;
    let tactics = converters::read(&arguments.list("converters"))?;
    let seed = arguments.number("seed", 0);
    let names: Vec<&str> = tactics.iter().map(quintain_redteam::strategies::Tactic::id).collect();
    let mut made = Vec::new();
    for entry in &dataset.entries {
        let Some(value) = converters::apply(&entry.value, &tactics, seed)?.pop() else { continue };
        if value == entry.value {
            continue;
        }
        let mut copy = entry.clone();
        copy.id = format!("{}-{}", entry.id, names.join("-"));
        copy.value = value;
        copy.metadata.insert("converters".to_owned(), json!(names));
        made.push(copy);
    }
    let changed = made.len();
    if arguments.text("mode") == Some("replace") {
        dataset.entries = made;
    } else {
        dataset.entries.extend(made);
    }
    let name = format!("{} {}", dataset.name, names.join(" "));
    dataset.name = arguments.text("new_name").map_or(name, str::to_owned);
    dataset.source = format!("transformed from {}", dataset.id);
    let dataset = dataset_of(store(platform, principal, &dataset).await?)?;
    let text = format!("{changed} entries changed; {} has {}", dataset.id, dataset.entries.len());
    Ok(Reply::new(json!({"dataset": dataset_json(&dataset), "changed": changed}), text))
}
