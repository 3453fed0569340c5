//! The reports of a run: files opened before it starts, and the table on standard output.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use quintain_core::event::Event;
use quintain_report::{Options, Report, for_path};

use crate::console::Console;

/// All reports of a run.
pub(super) struct Feed {
    reports: Vec<Named>,
}

struct Named {
    /// None for standard output.
    path: Option<PathBuf>,
    report: Box<dyn Report>,
    failed: Option<io::Error>,
}

impl Feed {
    pub(super) fn new() -> Self {
        Self { reports: Vec::new() }
    }

    /// Opens a file for the report that its suffix names.
    pub(super) fn file(
        &mut self,
        path: &Path,
        cwd: &Path,
        options: &Options,
    ) -> Result<(), String> {
        let Some(reporter) = for_path(path) else {
            let known: Vec<&str> = quintain_report::all()
                .iter()
                .flat_map(|reporter| reporter.suffixes())
                .copied()
                .collect();
            return Err(format!(
                "cannot tell the format of `{}`; use one of {}",
                path.display(),
                known.join(" ")
            ));
        };
        let full = cwd.join(path);
        let made = full.parent().map_or(Ok(()), std::fs::create_dir_all);
        let file = made.and_then(|()| File::create(&full));
        let file = file.map_err(|error| format!("cannot write `{}`: {error}", path.display()))?;
        let report = reporter.open(Box::new(BufWriter::new(file)), options);
        self.reports.push(Named { path: Some(path.to_owned()), report, failed: None });
        Ok(())
    }

    /// A report on standard output.
    pub(super) fn stdout(&mut self, report: Box<dyn Report>) {
        self.reports.push(Named { path: None, report, failed: None });
    }

    pub(super) fn event(&mut self, event: Event<'_>) {
        for named in self.reports.iter_mut().filter(|named| named.failed.is_none()) {
            named.failed = named.report.event(event).err();
        }
    }

    /// What was written, and what could not be.
    pub(super) fn finish(self, console: &Console) -> bool {
        let mut complete = true;
        for Named { path, failed, .. } in self.reports {
            match (path, failed) {
                (Some(path), None) => console.note(&format!("wrote {}", path.display())),
                (Some(path), Some(error)) => {
                    complete = false;
                    console.error(&format!("cannot write `{}`: {error}", path.display()), None);
                }
                // A reader that went away is no error.
                (None, _) => {}
            }
        }
        complete
    }
}

/// Standard output for a report, secrets masked.
pub(super) struct Stdout;

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        io::stdout().lock().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().lock().flush()
    }
}
