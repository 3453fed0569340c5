//! The formats that can be imported: one file in `formats/` each, registered in [`FORMATS`].

use super::formats::FORMATS;
use super::import_error::ImportError;
pub use super::importer::FormatMeta;
use super::importer::Importer;
use super::sink::Sink;

/// A format that can be imported.
#[derive(Clone, Copy)]
pub struct Format(&'static dyn Importer);

impl Format {
    /// Every format, in the order of lists.
    pub fn all() -> impl Iterator<Item = Self> {
        FORMATS.iter().map(|importer| Self(*importer))
    }

    /// The format of a name: `csv`, `garak_report` ...
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|format| format.name() == name)
    }

    /// The most likely format of a text. Lines of plain text are the last resort.
    pub fn sniff(text: &str) -> Self {
        let text = text.trim_start_matches('\u{feff}');
        let mut best = (0, Self(FORMATS[0]));
        for format in Self::all() {
            let certainty = format.0.recognises(text);
            if certainty > best.0 {
                best = (certainty, format);
            }
        }
        best.1
    }

    pub fn meta(self) -> &'static FormatMeta {
        self.0.meta()
    }

    pub fn name(self) -> &'static str {
        self.meta().name
    }

    pub(super) fn read(self, text: &str, sink: &mut Sink<'_>) -> Result<(), ImportError> {
        self.0.read(text, sink)
    }
}

impl std::fmt::Debug for Format {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Format({})", self.name())
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}
