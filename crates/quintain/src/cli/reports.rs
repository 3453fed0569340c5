//! Reports: files opened before the first event, and what goes to standard output.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use quintain_core::event::Event;
use quintain_engine::masked;
use quintain_report::{Options, Report, Reporter, find, for_path};
use quintain_wire::redact::Redactor;

use super::Desk;
use crate::console::Console;

/// What reports for people are asked for here.
pub(in crate::cli) fn options(desk: &Desk) -> Options {
    Options {
        width: desk.context.width(),
        colour: desk.context.colour_stdout,
        verbose: desk.verbosity > 0,
        exported_at: Some(desk.context.now()),
        ..Options::default()
    }
}

/// How results are shown
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Show {
    /// Write a report, format by suffix: .json .jsonl .yaml .csv .html .md .txt .junit.xml
    /// .sarif; any
    /// number of times
    #[arg(short, long, value_name = "FILE")]
    pub(in crate::cli) output: Vec<PathBuf>,
    /// Print the result as JSON instead of a table
    #[arg(long)]
    pub(in crate::cli) json: bool,
    /// Print no table
    #[arg(long)]
    no_table: bool,
    /// Characters of a cell at most
    #[arg(long, value_name = "N")]
    table_cell_max_length: Option<usize>,
}

impl Show {
    /// Opens all reports; files of the suite count if the command line names none.
    pub(in crate::cli) fn open(&self, suite: &[String], desk: &Desk) -> Result<Feed, String> {
        let mut feed = Feed::new(desk);
        let of_suite: Vec<PathBuf> = suite.iter().map(PathBuf::from).collect();
        let named = if self.output.is_empty() { &of_suite } else { &self.output };
        for path in named {
            feed.file(path, desk)?;
        }
        let shown = if self.json {
            Some("json")
        } else {
            (!self.no_table && !desk.quiet).then_some("console")
        };
        if let Some(reporter) = shown.and_then(find) {
            let mut options = options(desk);
            options.max_cell = self.table_cell_max_length.unwrap_or(options.max_cell);
            feed.stdout(reporter, &options);
        }
        Ok(feed)
    }
}

/// All reports of a run. Nobody else opens reports, and every event loses its secrets here.
pub(in crate::cli) struct Feed {
    reports: Vec<Named>,
    redactor: Redactor,
}

struct Named {
    /// None for standard output.
    path: Option<PathBuf>,
    report: Box<dyn Report>,
    failed: Option<io::Error>,
}

impl Feed {
    pub(in crate::cli) fn new(desk: &Desk) -> Self {
        Self { reports: Vec::new(), redactor: desk.redactor.clone() }
    }

    /// Opens a file for the report that its suffix names.
    pub(in crate::cli) fn file(&mut self, path: &Path, desk: &Desk) -> Result<(), String> {
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
        let full = desk.context.cwd.join(path);
        desk.files.wrote(&full);
        let made = full.parent().map_or(Ok(()), std::fs::create_dir_all);
        let file = made.and_then(|()| File::create(&full));
        let file = file.map_err(|error| format!("cannot write `{}`: {error}", path.display()))?;
        let report = reporter
            .open(Box::new(BufWriter::new(file)), &Options { colour: false, ..options(desk) });
        self.reports.push(Named { path: Some(path.to_owned()), report, failed: None });
        Ok(())
    }

    /// A report on standard output.
    pub(in crate::cli) fn stdout(&mut self, reporter: &dyn Reporter, options: &Options) {
        let report = reporter.open(Box::new(Stdout), options);
        self.reports.push(Named { path: None, report, failed: None });
    }

    pub(in crate::cli) fn event(&mut self, event: Event<'_>) {
        let reports = &mut self.reports;
        masked::event(event, &self.redactor, |event| {
            for named in reports.iter_mut().filter(|named| named.failed.is_none()) {
                named.failed = named.report.event(event).err();
            }
        });
    }

    /// What was written, and what could not be.
    pub(in crate::cli) fn finish(self, console: &Console) -> bool {
        let mut complete = true;
        for Named { path, failed, .. } in self.reports {
            match (path, failed) {
                (Some(path), None) => console.note(&format!("wrote {}", path.display())),
                (Some(path), Some(error)) => {
                    complete = false;
                    console.error(&format!("cannot write `{}`: {error}", path.display()), None);
                }
                (None, Some(error)) => console.lose(error),
                (None, None) => {}
            }
        }
        complete
    }
}

/// Standard output for a report.
struct Stdout;

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        io::stdout().lock().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().lock().flush()
    }
}
