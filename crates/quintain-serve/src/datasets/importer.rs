//! What every format implements.

use super::import_error::ImportError;
use super::sink::Sink;

/// What is known about a format.
#[derive(Debug)]
pub struct FormatMeta {
    /// The name in arguments.
    pub name: &'static str,
    pub description: &'static str,
}

/// Reads one format.
pub(super) trait Importer: Send + Sync {
    fn meta(&self) -> &'static FormatMeta;

    /// How certain it is that a text has this format, from 0 to 100. The first of equals wins.
    fn recognises(&self, text: &str) -> u8;

    /// Reads all records.
    ///
    /// # Errors
    /// If the text as a whole is not of the format.
    fn read(&self, text: &str, sink: &mut Sink<'_>) -> Result<(), ImportError>;
}
