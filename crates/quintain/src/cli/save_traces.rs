//! Writes the traces of a run to a file, in our format or in deepeval's.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use quintain_evidence::result::{CaseResult, CaseStatus};
use quintain_grade::readers::stored_run;
use quintain_grade::writers::{self, Writer};

use super::suite::{CliError, cli_error};
use super::{App, output_files};
use crate::console::Console;

/// The file, and what went wrong with it.
pub(super) struct SavedTraces {
    path: PathBuf,
    writer: &'static dyn Writer,
    out: BufWriter<File>,
    failed: Option<io::Error>,
}

impl SavedTraces {
    /// Creates the file, or says why it cannot.
    pub(super) fn create(path: &Path, app: &App) -> Result<Self, CliError> {
        let name = path.to_string_lossy();
        let format = if name.ends_with(".deepeval.jsonl") { "deepeval" } else { "native" };
        let writer =
            writers::by_name(format).ok_or_else(|| cli_error("there is no such format", None))?;
        let file = output_files::create(path, app)?;
        Ok(Self { path: path.to_owned(), writer, out: BufWriter::new(file), failed: None })
    }

    pub(super) fn add(&mut self, case: &CaseResult) {
        // The exchanges of a case make a conversation; a record that could not be read has neither.
        let trace = match &case.evidence.trace {
            Some(trace) => Cow::Borrowed(&**trace),
            None if case.status == CaseStatus::Errored && case.evidence.exchanges.is_empty() => {
                return;
            }
            None => Cow::Owned(stored_run::trace_of(case)),
        };
        if self.failed.is_none() {
            self.failed = self.writer.write(&trace, &mut self.out).err();
        }
    }

    /// Whether everything was written.
    pub(super) fn finish(mut self, console: &Console) -> bool {
        let failed = self.failed.take().or_else(|| self.out.flush().err());
        if let Some(error) = failed {
            console.error(&format!("cannot write `{}`: {error}", self.path.display()), None);
            return false;
        }
        console.note(&format!("wrote {}", self.path.display()));
        true
    }
}
