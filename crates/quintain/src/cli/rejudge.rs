//! `quintain rejudge`: judges the responses of an earlier run again, without calls to its target.

use std::path::PathBuf;

use quintain_engine::inquiry::AskMode;
use quintain_engine::jobs::{GradeWork, RejudgeWork, RunRequest, TraceInput, Work};
use quintain_engine::metrics::SuiteMetrics;
use quintain_engine::models::ModelSettings;
use quintain_engine::store::RunKind;
use quintain_evidence::event::Event;

use super::conclude::conclude;
use super::eval::{Progress, ResumedRun};
use super::grade::Grading;
use super::grade_suite::{self, GradeSuite};
use super::model_args::ModelArgs;
use super::reports::Show;
use super::suite::{self, CliError, cli_error};
use super::{App, job, runs, store};
use crate::exit::Exit;

/// Judge the responses of an earlier run again
///
/// Uses the assertions of the suite as it was, or of other files named with -c, to try an edited
/// suite on stored responses. Sends nothing to a target. Asks interpreters, web services and models
/// only what they did not answer in that run. The traces of a graded run are graded again, with its
/// metrics or those of -c. The result is a new run.
///
/// Examples:
///   quintain rejudge latest
///   quintain rejudge latest --offline
///   quintain rejudge eval-abc -c stricter.yaml -o report.html
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Run to judge
    #[arg(value_name = "RUN", default_value = "latest")]
    run: String,
    /// Suite file with the assertions; repeatable
    #[arg(short, long, value_name = "FILE", num_args = 1..)]
    config: Vec<PathBuf>,
    #[command(flatten)]
    show: Show,
    /// Ask nothing: a question that the run has no answer to is an error
    #[arg(long, conflicts_with_all = ["ask_again", "update_snapshots"])]
    offline: bool,
    /// Ask interpreters, web services and models everything again
    #[arg(long)]
    ask_again: bool,
    /// Overwrite snapshots that differ
    #[arg(short, long)]
    update_snapshots: bool,
    #[command(flatten)]
    models: ModelArgs,
    /// Exit code when a test fails [default: 100]
    #[arg(long, value_name = "CODE")]
    fail_exit_code: Option<u8>,
    /// Do not store this run
    #[arg(long)]
    no_write: bool,
}

pub(super) async fn run(args: Args, app: &App) -> Exit {
    let found = async {
        let store = store::open(app).await?;
        ResumedRun::find(store, &args.run, false).await
    };
    let resumed_run = match found.await {
        Ok(resumed_run) => resumed_run,
        Err(error) => return runs::failed(&error, app),
    };
    match again(&args, resumed_run, app).await {
        Ok(exit) => exit,
        Err(wrong) => {
            wrong.report(app);
            Exit::Usage
        }
    }
}

async fn again(args: &Args, resumed_run: ResumedRun, app: &App) -> Result<Exit, CliError> {
    if resumed_run.run.kind == RunKind::Grade {
        return grade_again(args, resumed_run, app).await;
    }
    let files = match &args.config[..] {
        [] => resumed_run.files(app)?,
        files => suite::read(files, Vec::new(), app)?,
    };
    let work = RejudgeWork {
        run: resumed_run.run.id.clone(),
        suite: suite::texts(&files),
        extra_texts: resumed_run.given.text().into_iter().collect(),
        update_snapshots: args.update_snapshots,
        ask: args.ask(),
        models: args.models.settings(app)?,
    };
    let request = RunRequest {
        stored: !args.no_write,
        ..job::request("rejudge", Work::Rejudge(Box::new(work)), app)
    };
    let prepared = job::prepare(&job::jobs(app, Some(resumed_run.store)), request, app).await;
    let prepared = match prepared {
        Ok(prepared) => prepared,
        Err(refusal) => return Ok(job::refused(&refusal, app).1),
    };
    args.show.check(prepared.suite(), &[args.models.judge_record.as_deref()], app)?;
    let mut feed = args.show.open(prepared.suite(), app)?;
    let mut judge_record = args.models.record(app)?;
    app.start_logging(false, false);
    let mut progress = Progress::new(&app.console, true);
    let outcome = job::follow(prepared, app, |event| {
        if let Some(record) = &mut judge_record {
            record.event(event);
        }
        // The phases of a suite are too short to show.
        if !matches!(**event, Event::Phase(_)) {
            progress.event(event, || feed.event(event));
        }
    })
    .await
    .map_err(|error| cli_error(error.to_string(), None))?;
    let mut written = feed.finish(&app.console);
    if let Some(record) = judge_record {
        written &= record.finish(&app.console);
    }
    Ok(conclude(&outcome, None, written, args.fail_exit_code, app))
}

impl Args {
    fn ask(&self) -> AskMode {
        match (self.offline, self.ask_again) {
            (true, _) => AskMode::Nothing,
            (false, true) => AskMode::Again,
            (false, false) => AskMode::Missing,
        }
    }
}

/// Grades the stored traces again, with the metrics and the policy of the run or of the files.
async fn grade_again(args: &Args, run: ResumedRun, app: &App) -> Result<Exit, CliError> {
    let mut work = GradeWork::of_options(&run.info.options);
    if !args.config.is_empty() {
        let GradeSuite { suite, judge } = grade_suite::read(&args.config, app)?;
        let SuiteMetrics { metrics, calls, fail_if, .. } = suite;
        work = GradeWork {
            metrics,
            calls,
            fail_if: fail_if.unwrap_or_default(),
            models: ModelSettings { judge, ..work.models },
            ..GradeWork::default()
        };
    }
    work.inputs = vec![TraceInput::Run(run.run.id)];
    work.ask = args.ask();
    work.models = args.models.settings(app)?.or(work.models);
    let grading = Grading {
        work,
        store: Some(run.store),
        stored: !args.no_write,
        models: &args.models,
        show: &args.show,
        save_traces: None,
        annotate: None,
        fail_exit_code: args.fail_exit_code,
    };
    grading.run(app).await
}
