//! Reports: files, which are opened before the first event, and standard output.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use quintain_engine::confined::{ConfinedError, Folder};
use quintain_engine::masked::{self, Emitted, MaskedEvent};
use quintain_evidence::kept_file::OUTSIDE;
use quintain_report::{Options, Report, Reporter, find, for_path, suffixes};
use quintain_source::{Diagnostic, Diagnostics};
use quintain_suite::suite::Output;
use quintain_wire::redact::Redactor;

use super::App;
use super::suite::{self, CliError, LoadedSuite, cli_error};
use super::{output_files, own_file};
use crate::cli::kinds::rule_docs;
use crate::console::Console;

/// Options of reports for people.
pub(in crate::cli) fn options(app: &App) -> Options {
    Options {
        width: app.context.width(),
        colour: app.context.colour_stdout,
        verbose: app.verbosity > 0,
        exported_at: Some(app.context.now()),
        rules: rule_docs(),
        ..Options::default()
    }
}

/// Help text of an option that names files of these formats.
pub(in crate::cli) fn output_help(
    what: &str,
    suffixes: impl IntoIterator<Item = &'static str>,
) -> String {
    let known: Vec<&str> = suffixes.into_iter().collect();
    format!("{what}, format by suffix: {}; repeatable", known.join(" "))
}

/// How results are shown
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Show {
    #[arg(short, long, value_name = "FILE", help = output_help("Write a report", suffixes()))]
    pub(in crate::cli) output: Vec<PathBuf>,
    /// Print the result as JSON instead of a table
    #[arg(long)]
    pub(in crate::cli) json: bool,
    /// Print no table
    #[arg(long)]
    no_table: bool,
    /// Maximum number of characters in a cell
    #[arg(long, value_name = "N")]
    table_cell_max_length: Option<usize>,
}

impl Show {
    /// Whether standard output shows the cases.
    pub(in crate::cli) fn shows_cases(&self, app: &App) -> bool {
        self.json || (!self.no_table && !app.quiet)
    }

    /// Refuses reports without a known format, and outputs that are inputs or each other, before the first file is
    /// overwritten. `more` are the outputs of the command that are not reports.
    pub(in crate::cli) fn check(
        &self,
        suite: Option<&LoadedSuite>,
        more: &[Option<&Path>],
        app: &App,
    ) -> Result<(), CliError> {
        for path in &self.output {
            reporter(path).map_err(|what| cli_error(what, None))?;
        }
        let of_suite = suite.filter(|_| self.output.is_empty());
        let of_suite = of_suite.into_iter().flat_map(|opened| &opened.suite.tests.outputs);
        let of_suite: Vec<PathBuf> = of_suite.map(|output| output.file.full()).collect();
        let named = self.output.iter().map(PathBuf::as_path);
        let more = more.iter().copied().flatten();
        output_files::check(named.chain(of_suite.iter().map(PathBuf::as_path)).chain(more), app)
    }

    /// Opens all reports; those of the suite only if the command line names none.
    pub(in crate::cli) fn open(
        &self,
        suite: Option<&LoadedSuite>,
        app: &App,
    ) -> Result<Feed, CliError> {
        let mut feed = Feed::new(app);
        self.check(suite, &[], app)?;
        for path in &self.output {
            feed.file(path, app)?;
        }
        if let (true, Some(opened)) = (self.output.is_empty(), suite) {
            for output in &opened.suite.tests.outputs {
                feed.suite_file(output, opened, app)?;
            }
        }
        let shown =
            if self.json { Some("json") } else { self.shows_cases(app).then_some("console") };
        if let Some(reporter) = shown.and_then(find) {
            let mut options = options(app);
            options.max_cell = self.table_cell_max_length.unwrap_or(options.max_cell);
            feed.stdout(reporter, &options);
        }
        Ok(feed)
    }
}

/// All reports of a run. The only place that opens reports; it accepts only masked events.
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
    pub(in crate::cli) fn new(app: &App) -> Self {
        Self { reports: Vec::new(), redactor: app.redactor.clone() }
    }

    /// Opens a file that the user names, in any folder.
    pub(in crate::cli) fn file(&mut self, path: &Path, app: &App) -> Result<(), CliError> {
        let reporter = reporter(path).map_err(|what| cli_error(what, None))?;
        app.files.wrote(&app.context.cwd.join(path));
        let file = output_files::create(path, app)?;
        self.add(path, reporter, file, app);
        Ok(())
    }

    /// Opens a file that this program names, below the working directory.
    pub(in crate::cli) fn own_file(&mut self, path: &Path, app: &App) -> Result<(), String> {
        let reporter = reporter(path)?;
        app.files.wrote(&app.context.cwd.join(path));
        let file = own_file::create(&app.context.cwd, path)?;
        self.add(path, reporter, file, app);
        Ok(())
    }

    /// Opens a file that a suite names, if it is in the folder of the suite.
    fn suite_file(
        &mut self,
        output: &Output,
        opened: &LoadedSuite,
        app: &App,
    ) -> Result<(), CliError> {
        let Output { file: kept, span } = output;
        let reporter = reporter(&kept.path).map_err(|what| cli_error(what, None))?;
        app.files.wrote(&kept.full());
        let fresh = || {
            if !kept.is_inside() {
                let (path, folder) = (kept.path.clone(), kept.folder.clone());
                return Err(ConfinedError::Outside { path, folder });
            }
            own_file::create_below(&Folder::open(&kept.folder)?, &kept.path)
        };
        let why = match fresh() {
            Ok(file) => {
                let full = kept.full();
                let shown = full.strip_prefix(&app.context.cwd).unwrap_or(&full);
                self.add(shown, reporter, file, app);
                return Ok(());
            }
            Err(ConfinedError::Io { path, source }) => {
                return Err(cli_error(
                    format!("cannot write `{}`: {source}", path.display()),
                    None,
                ));
            }
            Err(why) => why,
        };
        let title = "this report cannot be written";
        let mut diagnostics = Diagnostics::new();
        let help = "a suite writes only to its own folder; name other files with `-o FILE`";
        diagnostics.push(Diagnostic::error(OUTSIDE, title).at(*span, why.to_string()).help(help));
        suite::show(&opened.sources, &diagnostics, app);
        Err(CliError::AlreadyReported)
    }

    fn add(&mut self, shown: &Path, reporter: &dyn Reporter, file: File, app: &App) {
        let report = reporter
            .open(Box::new(BufWriter::new(file)), &Options { colour: false, ..options(app) });
        self.reports.push(Named { path: Some(shown.to_owned()), report, failed: None });
    }

    /// A report on standard output.
    pub(in crate::cli) fn stdout(&mut self, reporter: &dyn Reporter, options: &Options) {
        let report = reporter.open(Box::new(Stdout), options);
        self.reports.push(Named { path: None, report, failed: None });
    }

    pub(in crate::cli) fn event(&mut self, event: &MaskedEvent) {
        for named in self.reports.iter_mut().filter(|named| named.failed.is_none()) {
            named.failed = named.report.event(event).err();
        }
    }

    /// Masks an event that does not come from a job. A stored one was masked, but more secrets may be known now.
    pub(in crate::cli) fn unmasked(&mut self, event: impl Into<Emitted>) {
        let event = masked::emitted(event, &self.redactor);
        self.event(&event);
    }

    /// Prints which files were written and which could not be.
    pub(in crate::cli) fn finish(self, console: &Console) -> bool {
        self.close(console, |path| console.note(&format!("wrote {}", path.display())))
    }

    /// Prints only which files could not be written.
    pub(in crate::cli) fn finish_quietly(self, console: &Console) -> bool {
        self.close(console, |_| {})
    }

    fn close(self, console: &Console, written: impl Fn(&Path)) -> bool {
        let mut complete = true;
        for Named { path, failed, .. } in self.reports {
            match (path, failed) {
                (Some(path), None) => written(&path),
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

/// The reporter for the suffix of a file.
fn reporter(path: &Path) -> Result<&'static dyn Reporter, String> {
    for_path(path).ok_or_else(|| {
        let known = quintain_report::all().iter().flat_map(|reporter| reporter.suffixes());
        let known: Vec<&str> = known.copied().collect();
        let (shown, known) = (path.display(), known.join(" "));
        format!("unknown format of `{shown}`; use one of {known}")
    })
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
