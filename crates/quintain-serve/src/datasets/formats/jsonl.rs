//! JSON lines: one text, object or conversation per line.

use serde_json::Value;

use crate::datasets::entry::Entry;
use crate::datasets::fields;
use crate::datasets::import_error::ImportError;
use crate::datasets::importer::{FormatMeta, Importer};
use crate::datasets::sink::Sink;

pub(super) struct Jsonl;

impl Importer for Jsonl {
    fn meta(&self) -> &'static FormatMeta {
        &FormatMeta {
            name: "jsonl",
            description: "One JSON value per line. Empty lines and lines that start with `#` or `//` are skipped.",
        }
    }

    fn recognises(&self, text: &str) -> u8 {
        let mut values = values(text).map(|(_, value)| value);
        match (values.next(), values.next()) {
            (Some(Ok(Value::Object(_) | Value::String(_) | Value::Array(_))), Some(Ok(_))) => 85,
            (Some(Ok(Value::Object(_) | Value::String(_))), Some(Err(_)) | None) => 60,
            (Some(Err(_)), Some(Ok(Value::Object(_)))) => 40,
            _ => 0,
        }
    }

    fn read(&self, text: &str, sink: &mut Sink<'_>) -> Result<(), ImportError> {
        for (line, value) in values(text) {
            let line = Some(line);
            match value {
                Ok(Value::Object(record)) => sink.record(line, record),
                Ok(Value::String(text)) => sink.entry(line, Entry::new(text)),
                Ok(array @ Value::Array(_)) => match fields::as_turns(&array) {
                    Some(turns) if !turns.is_empty() => {
                        let mut entry = Entry::new(
                            turns.last().map(|turn| turn.text.clone()).unwrap_or_default(),
                        );
                        entry.turns = turns;
                        sink.entry(line, entry);
                    }
                    _ => sink.bad(line, "expected a list of messages".to_owned()),
                },
                Ok(_) => {
                    sink.bad(line, "expected an object, a text or a list of messages".to_owned());
                }
                Err(error) => sink.bad(line, format!("invalid JSON at column {}", error.column())),
            }
        }
        Ok(())
    }
}

/// The values of a text with their lines.
pub(super) fn values(text: &str) -> impl Iterator<Item = (usize, serde_json::Result<Value>)> {
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
    let lines = lines
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#') && !line.starts_with("//"));
    lines.map(|(at, line)| (at, serde_json::from_str(line)))
}
