//! One run of a suite, from its files to an exit code.

use std::collections::BTreeMap;

use quintain_content::secret::of_named;
use quintain_engine::jobs::{Choices, EvalWork, Resume, RunRequest, Work};
use quintain_engine::secrets::learn;
use quintain_engine::store::{Store, StoreError};
use quintain_evidence::connection::McpTarget;
use quintain_evidence::event::Event;
use quintain_source::{BadLine, read_env_file};
use quintain_suite::suite::SuiteFile;
use serde_json::json;

use super::args::Args;
use super::progress::Progress;
use super::resumed_run::ResumedRun;
use super::watch::programs;
use crate::cli::conclude::conclude;
use crate::cli::suite::{self, CliError};
use crate::cli::target::Given;
use crate::cli::{App, job, store};
use crate::exit::Exit;

pub(super) async fn once(args: &Args, app: &App) -> Exit {
    match attempt(args, app).await {
        Ok(exit) => exit,
        Err(stopped) => {
            if args.show.json {
                app.console.json(&json!({"error": stopped.what}));
            }
            stopped.exit
        }
    }
}

/// Why there was no run. The error was printed already.
struct Stopped {
    what: String,
    exit: Exit,
}

fn stop(app: &App, what: impl Into<String>, help: Option<&str>, exit: Exit) -> Stopped {
    let what = what.into();
    app.console.error(&what, help);
    Stopped { what, exit }
}

async fn attempt(args: &Args, app: &App) -> Result<Exit, Stopped> {
    let usage = |what: String| stop(app, what, None, Exit::Usage);
    let wrong = |wrong: CliError| Stopped { what: wrong.report(app), exit: Exit::Usage };
    let variables =
        env_files(args, app).map_err(|(what, help)| stop(app, what, help, Exit::Usage))?;
    let resumed_run = resumed_run(args, app).await?;
    let (files, folder) = match &resumed_run {
        Some(resumed_run) => resumed_run.unmasked(app).map_err(wrong)?,
        None => (fresh(args, app).map_err(wrong)?, None),
    };
    let store = open_store(args, app, resumed_run.as_ref()).await;
    let work = EvalWork {
        suite: suite::texts(&files),
        extra_texts: Given::nothing(app).text().into_iter().collect(),
        variables,
        choices: args.choices(),
        overrides: args.overrides(),
        resume: resumed_run.as_ref().map(|resumed_run| Resume {
            run: resumed_run.run.id.clone(),
            retry_errors: resumed_run.retry_errors,
        }),
        models: args.models.settings(app).map_err(wrong)?,
        folder,
    };
    let request = RunRequest {
        stored: !args.no_write,
        description: args.description.clone(),
        tags: Args::pairs("--tag", &args.tags).map_err(usage)?.into_iter().collect(),
        ..job::request("eval", Work::Eval(Box::new(work)), app)
    };
    let prepared = job::prepare(&job::jobs(app, store), request, app).await;
    let prepared = prepared.map_err(|refusal| {
        let (what, exit) = job::refused(&refusal, app);
        Stopped { what, exit }
    })?;
    let opened = prepared.suite();
    if let Some(opened) = opened {
        for program in programs(&opened.suite, &app.context.cwd) {
            app.files.looked_at(&program);
        }
    }
    args.show.check(opened, &[args.models.judge_record.as_deref()], app).map_err(wrong)?;
    let mut feed = args.show.open(opened, app).map_err(wrong)?;
    let mut judge_record = args.models.record(app).map_err(wrong)?;
    let debug = |pick: fn(&McpTarget) -> Option<bool>| {
        let targets = opened.into_iter().flat_map(|opened| &opened.suite.targets);
        targets.filter_map(|target| target.as_mcp()).filter_map(pick).any(|wanted| wanted)
    };
    app.start_logging(debug(|target| target.debug), debug(|target| target.verbose));
    let id = prepared.info().id.clone();
    let mut progress = Progress::new(&app.console, !args.no_progress_bar);
    let outcome = job::follow(prepared, app, |event| {
        // The phases of a suite are too short to show.
        if let Some(record) = &mut judge_record {
            record.event(event);
        }
        if !matches!(**event, Event::Phase(_)) {
            progress.event(event, || feed.event(event));
        }
    })
    .await;
    let outcome = outcome.map_err(|error| usage(error.to_string()))?;
    let mut written = feed.finish(&app.console);
    if let Some(record) = judge_record {
        written &= record.finish(&app.console);
    }
    let kept = (!args.no_write).then_some(id.as_str());
    Ok(conclude(&outcome, kept, written, args.fail_exit_code, app))
}

/// The run to resume, if any.
async fn resumed_run(args: &Args, app: &App) -> Result<Option<ResumedRun>, Stopped> {
    let (wanted, retry_errors) = match (&args.resume, &args.retry_errors) {
        (Some(run), _) => (run, false),
        (None, Some(run)) => (run, true),
        (None, None) => return Ok(None),
    };
    let found = async {
        let store = store::open(app).await?;
        ResumedRun::find(store, wanted, retry_errors).await
    };
    let failed = |error: StoreError| stop(app, error.to_string(), store::help(&error), Exit::Usage);
    found.await.map(Some).map_err(failed)
}

/// The suite files that the command line names.
pub(super) fn fresh(args: &Args, app: &App) -> Result<Vec<SuiteFile>, CliError> {
    let files = suite::find(&args.config, app);
    if files.is_empty() {
        let help = "write quintain.yaml, name a file with `-c FILE`, or start with `quintain init`";
        return Err(suite::cli_error("no suite found", Some(help.to_owned())));
    }
    let vars = Args::pairs(suite::VARS, &args.vars).map_err(|what| suite::cli_error(what, None))?;
    suite::read(&files, vars, app)
}

/// Opens the store. A run continues without it, because its reports are still useful.
async fn open_store(args: &Args, app: &App, resumed_run: Option<&ResumedRun>) -> Option<Store> {
    if let Some(resumed_run) = resumed_run {
        return Some(resumed_run.store.clone());
    }
    if args.no_write && Choices::of_options(&args.choices()).failing().is_none() {
        return None;
    }
    store::open_or_warn(app).await
}

/// Reads the environment variables of `--env-file`.
pub(super) fn env_files(
    args: &Args,
    app: &App,
) -> Result<BTreeMap<String, String>, (String, Option<&'static str>)> {
    let mut env = BTreeMap::new();
    for file in &args.env_file {
        let text = app
            .files
            .text(&app.context.cwd.join(file))
            .map_err(|error| (format!("cannot read `{}`: {error}", file.display()), None))?;
        let entries = read_env_file(&text).map_err(|BadLine(line)| {
            let what = format!("line {line} of `{}` is not valid", file.display());
            (what, Some(BadLine::HELP))
        })?;
        for (name, value) in entries {
            learn(&of_named(&name, &value), &app.redactor);
            env.insert(name, value);
        }
    }
    Ok(env)
}
