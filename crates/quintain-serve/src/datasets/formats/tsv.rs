//! Tab-separated values with a header.

use super::tables;
use crate::datasets::import_error::ImportError;
use crate::datasets::importer::{FormatMeta, Importer};
use crate::datasets::sink::Sink;

pub(super) struct Tsv;

const DELIMITER: char = '\t';

impl Importer for Tsv {
    fn meta(&self) -> &'static FormatMeta {
        &FormatMeta {
            name: "tsv",
            description: "Tab-separated values. The first row names the fields; lines that start with `#` above it are skipped.",
        }
    }

    fn recognises(&self, text: &str) -> u8 {
        tables::recognises(text, DELIMITER)
    }

    fn read(&self, text: &str, sink: &mut Sink<'_>) -> Result<(), ImportError> {
        tables::read(text, DELIMITER, self.meta().name, sink)
    }
}
