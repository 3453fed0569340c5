//! Payload files of garak: a JSON object with a name, types and a list of texts.

use serde_json::{Value, json};

use super::documents::{Document, looks_like_json};
use crate::datasets::entry::Entry;
use crate::datasets::import_error::ImportError;
use crate::datasets::importer::{FormatMeta, Importer};
use crate::datasets::sink::Sink;

pub(super) struct GarakPayload;

impl Importer for GarakPayload {
    fn meta(&self) -> &'static FormatMeta {
        &FormatMeta {
            name: "garak_payload",
            description: "A payload file of garak: `garak_payload_name`, `payload_types` and `payloads`.",
        }
    }

    fn recognises(&self, text: &str) -> u8 {
        let is_payload = text.contains("\"garak_payload_name\"") && text.contains("\"payloads\"");
        if looks_like_json(text) && is_payload { 95 } else { 0 }
    }

    fn read(&self, text: &str, sink: &mut Sink<'_>) -> Result<(), ImportError> {
        let format = self.meta().name;
        let document = Document::parse(text, format, true, sink)?;
        let Some(payloads) = document.root.get("payloads").and_then(|list| list.as_seq()) else {
            let reason = "`payloads` is not a list".to_owned();
            return Err(ImportError::Syntax { format, line: None, reason });
        };
        let text_of =
            |key: &str| document.root.get(key).and_then(|node| node.as_str()).map(str::to_owned);
        let types =
            document.root.get("payload_types").and_then(|list| list.as_seq()).unwrap_or_default();
        let types: Vec<String> =
            types.iter().filter_map(|word| word.as_str().map(str::to_owned)).collect();
        for payload in payloads {
            let line = document.line(payload);
            let Some(value) = payload.as_str() else {
                sink.bad(line, format!("a payload is {}, not text", payload.describe()));
                continue;
            };
            let mut entry = Entry::new(value);
            entry.harm_categories.clone_from(&types);
            entry.harm_categories.extend(text_of("intent"));
            for key in ["garak_payload_name", "detector_name", "lang"] {
                if let Some(text) = text_of(key) {
                    entry.metadata.insert(key.to_owned(), Value::String(text));
                }
            }
            if let Some(config) = document.root.get("detector_config") {
                entry.metadata.insert("detector_config".to_owned(), json!(config.to_json()));
            }
            entry.license = text_of("license").unwrap_or(entry.license);
            sink.entry(line, entry);
        }
        Ok(())
    }
}
