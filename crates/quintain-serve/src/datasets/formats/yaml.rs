//! YAML: a list of texts, maps or conversations, or a map that contains one.

use super::documents::{Document, looks_like_json};
use crate::datasets::import_error::ImportError;
use crate::datasets::importer::{FormatMeta, Importer};
use crate::datasets::sink::Sink;

pub(super) struct Yaml;

impl Importer for Yaml {
    fn meta(&self) -> &'static FormatMeta {
        &FormatMeta {
            name: "yaml",
            description: "A YAML list of texts, maps or conversations, or a map with such a list.",
        }
    }

    fn recognises(&self, text: &str) -> u8 {
        if looks_like_json(text) {
            return 10;
        }
        let mut lines =
            text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
        let Some(first) = lines.next() else { return 0 };
        if first == "---" {
            return 80;
        }
        let is_key = |line: &str| {
            let key = line
                .split_once(':')
                .map(|(key, rest)| (key, rest.is_empty() || rest.starts_with(' ')));
            key.is_some_and(|(key, ends)| ends && !key.is_empty() && !key.contains([' ', ',']))
        };
        let item = first.strip_prefix("- ");
        match item {
            Some(item) if is_key(item) => 60,
            Some(_) => 40,
            None if is_key(first) => 50,
            None => 0,
        }
    }

    fn read(&self, text: &str, sink: &mut Sink<'_>) -> Result<(), ImportError> {
        Document::parse(text, self.meta().name, false, sink)?.records(sink);
        Ok(())
    }
}
