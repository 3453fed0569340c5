//! `quintain grade`: judges how an application used MCP, by what was recorded.

use std::path::{Path, PathBuf};

use quintain_engine::jobs::{GradeWork, RouterRequest, RunRequest, TraceInput, Work};
use quintain_engine::store::Store;
use quintain_evidence::event::Event;
use quintain_evidence::graded::Level;
use quintain_evidence::result::CaseStatus;

use super::annotate::Annotation;
use super::conclude::conclude;
use super::eval::Progress;
use super::model_args::{self, ModelArgs};
use super::reports::Show;
use super::save_traces::SavedTraces;
use super::suite::{CliError, cli_error};
use super::trace_args::{self, TraceArgs};
use super::{App, job, store};
use crate::exit::Exit;

/// Judge recorded conversations of applications that use MCP
///
/// Reads logs of OpenAI and Anthropic, deepeval test cases, OTLP spans, captures of `quintain record`
/// and results of promptfoo; the format is detected. Checks calls and answers without a language
/// model, and scores them with metrics; `--metrics checks`, the default, runs only the checks.
///
/// Examples:
///   quintain grade conversation.json
///   quintain grade logs/*.jsonl --metrics mcp-use,tool-correctness -o report.html
///   quintain grade --run latest --metrics checks
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Files with traces; `-` reads standard input
    #[arg(value_name = "FILE", required_unless_present = "run")]
    files: Vec<PathBuf>,
    /// Grade the cases of a stored run as well
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    #[command(flatten)]
    read: TraceArgs,
    /// Unwrap calls through a router such as `execute(server, tool, params)`; optionally the name of its tool
    #[arg(long, value_name = "TOOL", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    router: Option<String>,
    /// Permit only these tools: `tool` or `server/tool`, with `*`; repeatable
    #[arg(long, value_name = "PATTERN")]
    allow: Vec<String>,
    /// Forbid these tools; repeatable
    #[arg(long, value_name = "PATTERN")]
    deny: Vec<String>,
    /// Severity from which on a finding fails a trace [default: error]
    #[arg(long, value_name = "SEVERITY")]
    fail_on: Option<FailOn>,
    /// Write the traces as read to a file, `.jsonl` in our format or `.deepeval.jsonl`
    #[arg(long, value_name = "FILE")]
    save_traces: Option<PathBuf>,
    /// Ask at the terminal whether each application did what its user wanted, and add the labels to this
    /// JSONL file, for `quintain meta-eval`
    #[arg(long, value_name = "FILE")]
    annotate: Option<PathBuf>,
    /// Calibration of scores, written by `quintain meta-eval --calibrate FILE`
    #[arg(long, value_name = "FILE")]
    calibration: Option<PathBuf>,
    /// Maximum number of traces that wait for a judge [default: 4]
    #[arg(short = 'j', long, value_name = "N")]
    max_concurrency: Option<usize>,
    #[command(flatten)]
    models: ModelArgs,
    #[command(flatten)]
    show: Show,
    /// Exit code when a trace fails [default: 100]
    #[arg(long, value_name = "CODE")]
    fail_exit_code: Option<u8>,
    /// Do not store this run
    #[arg(long)]
    no_write: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum FailOn {
    Info,
    Warning,
    Error,
    /// Findings never fail a trace
    Never,
}

impl FailOn {
    fn level(self) -> Option<Level> {
        match self {
            Self::Info => Some(Level::Info),
            Self::Warning => Some(Level::Warning),
            Self::Error => Some(Level::Error),
            Self::Never => None,
        }
    }
}

pub(super) async fn run(args: Args, app: &App) -> Exit {
    match grade(&args, app).await {
        Ok(exit) => exit,
        Err(wrong) => {
            wrong.report(app);
            Exit::Usage
        }
    }
}

async fn grade(args: &Args, app: &App) -> Result<Exit, CliError> {
    let stored = !args.no_write;
    let store = if stored || args.run.is_some() {
        match store::open(app).await {
            Ok(store) => Some(store),
            Err(error) => return Ok(super::runs::failed(&error, app)),
        }
    } else {
        None
    };
    let grading = Grading {
        work: args.work(app)?,
        store,
        stored,
        show: &args.show,
        save_traces: args.save_traces.as_deref(),
        annotate: args.annotate.as_deref(),
        models: &args.models,
        fail_exit_code: args.fail_exit_code,
    };
    grading.run(app).await
}

/// A grading with everything that is shown and written meanwhile.
pub(super) struct Grading<'a> {
    pub(super) work: GradeWork,
    pub(super) store: Option<Store>,
    /// Whether to store the run.
    pub(super) stored: bool,
    pub(super) show: &'a Show,
    pub(super) save_traces: Option<&'a Path>,
    pub(super) annotate: Option<&'a Path>,
    pub(super) models: &'a ModelArgs,
    pub(super) fail_exit_code: Option<u8>,
}

impl Grading<'_> {
    pub(super) async fn run(self, app: &App) -> Result<Exit, CliError> {
        trace_args::record_inputs(&self.work.inputs, app);
        let request = RunRequest {
            stored: self.stored,
            ..job::request("grade", Work::Grade(Box::new(self.work)), app)
        };
        let prepared = match job::prepare(&job::jobs(app, self.store), request, app).await {
            Ok(prepared) => prepared,
            Err(refusal) => return Ok(job::refused(&refusal, app).1),
        };
        let usage = |what: String| cli_error(what, None);
        let more = [self.save_traces, self.annotate, self.models.judge_record.as_deref()];
        self.show.check(None, &more, app)?;
        let mut saved = self.save_traces.map(|path| SavedTraces::create(path, app)).transpose()?;
        let labels = self.annotate.map(|path| Annotation::open(path, app)).transpose();
        let mut labels = labels.map_err(usage)?;
        let mut judge_record = self.models.record(app)?;
        let mut feed = self.show.open(None, app)?;
        app.start_logging(false, false);
        // A bar would be drawn over the questions.
        let mut progress = Progress::new(&app.console, labels.is_none());
        let outcome = job::follow_slowly(prepared, app, async |event| {
            if let Some(record) = &mut judge_record {
                record.event(event);
            }
            if let Event::Case(case) = &**event {
                // A record that cannot be read must not go unseen.
                let unreadable = case
                    .error
                    .as_ref()
                    .filter(|_| case.status == CaseStatus::Errored && !self.show.shows_cases(app));
                if let Some(error) = unreadable {
                    app.console.error(error, None);
                }
                if let Some(saved) = &mut saved {
                    saved.add(case);
                }
                if let Some(labels) = &mut labels {
                    labels.ask(case, app).await;
                }
            }
            progress.event(event, || feed.event(event));
        })
        .await
        .map_err(|error| usage(error.to_string()))?;
        let mut written = feed.finish(&app.console);
        written &= saved.is_none_or(|saved| saved.finish(&app.console));
        written &= labels.is_none_or(|labels| labels.finish(&app.console));
        written &= judge_record.is_none_or(|record| record.finish(&app.console));
        if outcome.summary.total() == 0
            && outcome.unreachable.is_empty()
            && !outcome.summary.interrupted
        {
            app.console.error("the files contain no traces", None);
            return Ok(Exit::Nothing);
        }
        let exit = conclude(&outcome, None, written, self.fail_exit_code, app);
        // Verdicts on the others do not hide that something could not be read.
        let is_incomplete = outcome.summary.errored > 0;
        Ok(if is_incomplete && !outcome.summary.interrupted { Exit::Unreachable } else { exit })
    }
}

impl Args {
    fn work(&self, app: &App) -> Result<GradeWork, CliError> {
        let files = self.files.iter().map(|file| trace_args::input(file));
        let inputs = files.chain(self.run.clone().map(TraceInput::Run)).collect();
        // The checks always run; by this name alone, nothing else does.
        let names = self.read.metrics.iter().filter(|name| *name != "checks");
        let mut work = self.read.work(inputs, names, app)?;
        if let Some(fail_on) = self.fail_on {
            work.fail_if.severity = fail_on.level();
        }
        if let Some(tool) = &self.router {
            let tool = Some(tool.clone()).filter(|tool| !tool.is_empty());
            work.router = Some(RouterRequest { tool, ..RouterRequest::default() });
        }
        work.calls.allow.extend_from_slice(&self.allow);
        work.calls.deny.extend_from_slice(&self.deny);
        work.concurrency = self.max_concurrency;
        let calibration = self.calibration.as_deref().map(|file| model_args::read(file, app));
        work.calibration = calibration.transpose()?;
        work.models = self.models.settings(app)?.or(work.models);
        Ok(work)
    }
}
