//! Reports of garak: JSON lines in which the attempts contain what was sent.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::jsonl::values;
use crate::datasets::entry::{Entry, Role};
use crate::datasets::fields;
use crate::datasets::import_error::ImportError;
use crate::datasets::importer::{FormatMeta, Importer};
use crate::datasets::sink::Sink;

pub(super) struct GarakReport;

/// What is kept of an attempt besides its text.
const KEPT: [&str; 5] = ["probe_classname", "probe_params", "goal", "status", "detector_results"];

impl Importer for GarakReport {
    fn meta(&self) -> &'static FormatMeta {
        &FormatMeta {
            name: "garak_report",
            description: "A `report.jsonl` or `hitlog.jsonl` of garak: the prompts of its attempts, each once.",
        }
    }

    fn recognises(&self, text: &str) -> u8 {
        let is_record = |(_, value): (usize, serde_json::Result<Value>)| {
            let value = value.ok()?;
            let is_hit = value.get("probe").is_some() && value.get("detector").is_some();
            Some(is_hit || value.get("entry_type").is_some_and(Value::is_string))
        };
        if values(text).take(3).filter_map(is_record).any(|yes| yes) { 95 } else { 0 }
    }

    fn read(&self, text: &str, sink: &mut Sink<'_>) -> Result<(), ImportError> {
        let mut attempts: Vec<(usize, Map<String, Value>)> = Vec::new();
        // An attempt is written when it is sent and again when it is evaluated.
        let mut known: HashMap<String, usize> = HashMap::new();
        for (line, value) in values(text) {
            let record = match value {
                Ok(Value::Object(record)) => record,
                Ok(_) => {
                    sink.bad(Some(line), "expected an object".to_owned());
                    continue;
                }
                Err(error) => {
                    sink.bad(Some(line), format!("invalid JSON at column {}", error.column()));
                    continue;
                }
            };
            let kind = record.get("entry_type").and_then(Value::as_str);
            let is_attempt = kind.map_or(record.contains_key("prompt"), |kind| kind == "attempt");
            if !is_attempt {
                continue;
            }
            let id = record.get("uuid").and_then(Value::as_str).map(str::to_owned);
            if let Some(at) = id.as_ref().and_then(|id| known.get(id)) {
                attempts[*at] = (line, record);
            } else {
                known.extend(id.map(|id| (id, attempts.len())));
                attempts.push((line, record));
            }
        }
        for (line, record) in attempts {
            match attempt(&record) {
                Some(entry) => sink.entry(Some(line), entry),
                None => sink.bad(Some(line), "the attempt has no prompt".to_owned()),
            }
        }
        Ok(())
    }
}

fn attempt(record: &Map<String, Value>) -> Option<Entry> {
    let prompt = record.get("prompt")?;
    let turns = match prompt {
        Value::Object(object) if object.contains_key("turns") => fields::as_turns(prompt)?,
        _ => Vec::new(),
    };
    let last = turns.iter().rfind(|turn| turn.role == Role::User);
    let text = last.map(|turn| turn.text.clone()).or_else(|| fields::content(prompt))?;
    let mut entry = Entry::new(text);
    let system = turns.iter().find(|turn| turn.role == Role::System);
    entry.system_prompt = system.map(|turn| turn.text.clone());
    let spoken: Vec<_> = turns.into_iter().filter(|turn| turn.role != Role::System).collect();
    if spoken.len() > 1 {
        entry.turns = spoken;
    }
    let text_of = |key: &str| record.get(key).and_then(Value::as_str).map(str::to_owned);
    let probe = text_of("probe_classname").or_else(|| text_of("probe"));
    entry.harm_categories =
        probe.iter().filter_map(|probe| probe.split('.').next()).map(str::to_owned).collect();
    let notes = record.get("notes");
    let triggers = notes.and_then(|notes| notes.get("triggers")).or_else(|| record.get("trigger"));
    entry.success_marks =
        triggers.and_then(|triggers| fields::as_list(triggers, false)).unwrap_or_default();
    entry.metadata.extend(probe.map(|probe| ("probe_classname".to_owned(), Value::String(probe))));
    for key in KEPT {
        if let Some(value) = record.get(key).filter(|value| !value.is_null()) {
            entry.metadata.insert(key.to_owned(), value.clone());
        }
    }
    "garak report".clone_into(&mut entry.source);
    Some(entry)
}
