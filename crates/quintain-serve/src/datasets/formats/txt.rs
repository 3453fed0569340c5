//! Plain text: one entry per line.

use crate::datasets::entry::Entry;
use crate::datasets::import_error::ImportError;
use crate::datasets::importer::{FormatMeta, Importer};
use crate::datasets::sink::Sink;

pub(super) struct Txt;

impl Importer for Txt {
    fn meta(&self) -> &'static FormatMeta {
        &FormatMeta {
            name: "txt",
            description: "Plain text, one entry per line. Empty lines and lines that start with `# ` are skipped.",
        }
    }

    fn recognises(&self, _: &str) -> u8 {
        1
    }

    fn read(&self, text: &str, sink: &mut Sink<'_>) -> Result<(), ImportError> {
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            if !line.is_empty() && line != "#" && !line.starts_with("# ") {
                sink.entry(Some(at + 1), Entry::new(line));
            }
        }
        Ok(())
    }
}
