//! `quintain grade`: judges how an application used MCP, by what was recorded.

use std::path::PathBuf;

use quintain_engine::jobs::{
    GradeWork, MetricRequest, RouterRequest, RunRequest, TraceInput, Work,
};
use quintain_evidence::event::Event;
use quintain_evidence::graded::Level;
use quintain_grade::policy::{CallPolicy, FailIf};
use serde_json::Map;

use super::conclude::conclude;
use super::eval::Progress;
use super::reports::Show;
use super::save_traces::SavedTraces;
use super::suite::{CliError, cli_error};
use super::{App, grade_suite, job, store};
use crate::exit::Exit;

/// Judge recorded conversations of applications that use MCP
///
/// Reads logs of OpenAI and Anthropic, deepeval test cases, OTLP spans, captures of `quintain record`
/// and results of promptfoo; the format is detected. Checks calls and answers without a language
/// model, and scores them with metrics.
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
    /// Metrics by name, separated by commas; `checks` alone runs only the checks [default: checks]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    metrics: Vec<String>,
    /// Suite file with `metrics` and `grade`
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Format of the files; detected if not given
    #[arg(long, value_name = "NAME")]
    format: Option<String>,
    /// File with the tools of the servers, for traces that do not record them
    #[arg(long, value_name = "FILE")]
    surface: Option<PathBuf>,
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
    let work = args.work(app)?;
    let stored = !args.no_write;
    let opened = if stored || args.run.is_some() {
        match store::open(app).await {
            Ok(store) => Some(store),
            Err(error) => return Ok(super::runs::failed(&error, app)),
        }
    } else {
        None
    };
    let request = RunRequest { stored, ..job::request("grade", Work::Grade(Box::new(work)), app) };
    let prepared = match job::prepare(&job::jobs(app, opened), request, app).await {
        Ok(prepared) => prepared,
        Err(refusal) => return Ok(job::refused(&refusal, app).1),
    };
    let mut saved = args.save_traces.as_deref().map(|path| SavedTraces::create(path, app));
    if let Some(Err(what)) = &saved {
        return Err(cli_error(what.clone(), None));
    }
    let mut feed = args.show.open(None, app)?;
    app.start_logging(false, false);
    let mut progress = Progress::new(&app.console, true);
    let outcome = job::follow(prepared, app, |event| {
        if let (Event::Case(case), Some(Ok(saved))) = (&**event, &mut saved) {
            saved.add(case);
        }
        progress.event(event, || feed.event(event));
    })
    .await
    .map_err(|error| cli_error(error.to_string(), None))?;
    let mut written = feed.finish(&app.console);
    if let Some(Ok(saved)) = saved {
        written &= saved.finish(&app.console);
    }
    if outcome.summary.total() == 0
        && outcome.unreachable.is_empty()
        && !outcome.summary.interrupted
    {
        app.console.error("the files contain no traces", None);
        return Ok(Exit::Nothing);
    }
    let exit = conclude(&outcome, None, written, args.fail_exit_code, app);
    // Verdicts on the others do not hide that something could not be read.
    let is_incomplete = outcome.summary.errored > 0;
    Ok(if is_incomplete && !outcome.summary.interrupted { Exit::Unreachable } else { exit })
}

impl Args {
    fn work(&self, app: &App) -> Result<GradeWork, CliError> {
        let suite = match &self.config {
            Some(file) => grade_suite::read(file, app)?,
            None => grade_suite::GradeSuite::default(),
        };
        let plain = |name: &String| MetricRequest { name: name.clone(), options: Map::new() };
        let mut metrics = suite.metrics;
        metrics.extend(self.metrics.iter().filter(|name| *name != "checks").map(plain));
        let files = self.files.iter().map(|file| {
            let is_stdin = file.as_os_str() == "-";
            TraceInput::File(if is_stdin { PathBuf::from("/dev/stdin") } else { file.clone() })
        });
        let mut fail_if = suite.fail_if.unwrap_or_default();
        if let Some(fail_on) = self.fail_on {
            fail_if.severity = fail_on.level();
        }
        let router = self.router.as_ref().map(|tool| RouterRequest {
            tool: Some(tool.clone()).filter(|tool| !tool.is_empty()),
            ..RouterRequest::default()
        });
        Ok(GradeWork {
            inputs: files.chain(self.run.clone().map(TraceInput::Run)).collect(),
            format: self.format.clone(),
            router: router.or(suite.router),
            surface: self.surface.clone().or(suite.surface),
            metrics,
            calls: CallPolicy {
                allow: [suite.calls.allow, self.allow.clone()].concat(),
                deny: [suite.calls.deny, self.deny.clone()].concat(),
                ..suite.calls
            },
            fail_if: FailIf { ..fail_if },
        })
    }
}
