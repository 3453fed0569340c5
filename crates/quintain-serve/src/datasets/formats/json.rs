//! JSON: an array of texts, objects or conversations, or an object that contains one.

use serde::de::IgnoredAny;

use super::documents::{Document, looks_like_json};
use crate::datasets::import_error::ImportError;
use crate::datasets::importer::{FormatMeta, Importer};
use crate::datasets::sink::Sink;

pub(super) struct Json;

impl Importer for Json {
    fn meta(&self) -> &'static FormatMeta {
        &FormatMeta {
            name: "json",
            description: "A JSON array of texts, objects or conversations, or an object with such an array.",
        }
    }

    fn recognises(&self, text: &str) -> u8 {
        if !looks_like_json(text) {
            return 0;
        }
        if serde_json::from_str::<IgnoredAny>(text).is_ok() { 80 } else { 30 }
    }

    fn read(&self, text: &str, sink: &mut Sink<'_>) -> Result<(), ImportError> {
        Document::parse(text, self.meta().name, true, sink)?.records(sink);
        Ok(())
    }
}
