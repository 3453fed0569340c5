//! One run of a suite, from its files to an exit code.

use std::collections::BTreeMap;
use std::sync::Arc;

use quintain_content::secret::of_named;
use quintain_engine::run::{Earlier, Job, Settings, execute, stored_sameness};
use quintain_engine::secrets::learn;
use quintain_engine::store::{Store, StoreError};
use quintain_engine::{World, masked};
use quintain_evidence::event::RunInfo;
use quintain_source::{BadLine, read_env_file};
use quintain_suite::plan::{Among, Plan, plan};
use quintain_suite::suite::{Consent, Purpose};
use serde_json::{Value, json};

use super::args::Args;
use super::begun::Begun;
use super::choices::{self, Choices};
use super::progress::Progress;
use super::watch::programs;
use crate::cli::conclude::conclude;
use crate::cli::suite::{self, Opened, Wrong};
use crate::cli::target::Given;
use crate::cli::{Desk, runs, store};
use crate::exit::Exit;

pub(super) async fn once(args: &Args, desk: &Desk) -> Exit {
    match attempt(args, desk).await {
        Ok(exit) => exit,
        Err(stopped) => {
            if args.show.json {
                desk.console.json(&json!({"error": stopped.what}));
            }
            stopped.exit
        }
    }
}

/// Why there was no run. It has been said already.
struct Stopped {
    what: String,
    exit: Exit,
}

fn stop(desk: &Desk, what: impl Into<String>, help: Option<&str>, exit: Exit) -> Stopped {
    let what = what.into();
    desk.console.error(&what, help);
    Stopped { what, exit }
}

async fn attempt(args: &Args, desk: &Desk) -> Result<Exit, Stopped> {
    let usage = |what: String| stop(desk, what, None, Exit::Usage);
    let env =
        environment(args, desk).map_err(|(what, help)| stop(desk, what, help, Exit::Usage))?;
    let consent = Consent::of_the_user();
    let begun = begun(args, desk).await?;
    let opened = match &begun {
        Some(begun) => begun.suite(consent, &env, desk),
        None => fresh(args, &env, Purpose::Run(consent), desk),
    };
    let opened = opened.map_err(|wrong| Stopped { what: wrong.report(desk), exit: Exit::Usage })?;
    if args.watch {
        for program in programs(&opened.suite, &desk.context.cwd) {
            desk.files.looked_at(&program);
        }
    }
    if opened.suite.targets.is_empty() {
        let help = "name what is under test: `targets: [{id: mcp, config: {server: ...}}]`";
        return Err(stop(desk, "the suite has no target", Some(help), Exit::Usage));
    }
    let choices = match &begun {
        Some(begun) => begun.choices(),
        None => Choices::of(args).or(&opened.suite.tests.command_line),
    };
    let given = Args::pairs("--tag", &args.tags).map_err(usage)?;
    let tags = opened.suite.tests.tags.iter().map(|(name, value)| match value {
        Value::String(text) => (name.clone(), text.clone()),
        other => (name.clone(), other.to_string()),
    });
    let tags: BTreeMap<String, String> = tags.chain(given).collect();
    let mut selection = choices.filters.selection().map_err(|error| usage(error.to_string()))?;
    let store = open_store(args, desk, begun.as_ref()).await;
    if let Some((run, statuses)) = choices.filters.failing() {
        let ended = choices::ended(run, statuses, &desk.context.cwd, store.as_ref()).await;
        let redactor = desk.redactor.clone();
        selection.among = Some(Among {
            tests: ended.map_err(usage)?,
            stored: Box::new(move |description, vars| {
                stored_sameness(description, vars, &redactor)
            }),
        });
    }
    let options = &opened.suite.tests.options;
    let settings = args.settings(options, &env);
    let plan = plan(&opened.suite, &selection, choices.repeat.or(options.repeat).unwrap_or(1));
    if plan.seats.is_empty() {
        let help = "no test, prompt or target is left after the filters";
        return Err(stop(desk, "nothing is selected", Some(help), Exit::Nothing));
    }
    let info = match &begun {
        Some(begun) => RunInfo { planned: plan.seats.len(), ..begun.info.clone() },
        None => info(args, desk, &opened, &plan, &settings, &choices, tags),
    };
    let wrong = |wrong: Wrong| Stopped { what: wrong.report(desk), exit: Exit::Usage };
    let mut feed = args.show.open(Some(&opened), desk).map_err(wrong)?;
    let world = World {
        env: Arc::new(env),
        state_dir: desk.context.state_dir(),
        request_timeout: desk.context.request_timeout(),
        redactor: desk.redactor.clone(),
        ..World::default()
    };
    let debug = |pick: fn(&quintain_evidence::connection::McpTarget) -> Option<bool>| {
        let targets = opened.suite.targets.iter().filter_map(|target| target.as_mcp());
        targets.filter_map(pick).any(|wanted| wanted)
    };
    desk.start_logging(debug(|target| target.debug), debug(|target| target.verbose));
    let failed = |error: StoreError| stop(desk, error.to_string(), None, Exit::Usage);
    let (writer, earlier) = match (begun, &store) {
        (Some(begun), _) => {
            let writer = begun.store.resume(&begun.run, &desk.redactor);
            let Begun { store, run, retry_errors, .. } = begun;
            let earlier = Earlier::of(store, run, &plan, retry_errors).await.map_err(failed)?;
            (Some(writer), Some(earlier))
        }
        (None, Some(store)) => {
            let texts = suite::texts(&opened.files, &Given::nothing(desk));
            (Some(store.start(&info, &texts, &desk.redactor)), None)
        }
        (None, None) => (None, None),
    };
    let job = Job {
        consent,
        suite: &opened.suite,
        plan: &plan,
        sources: &opened.sources,
        world: &world,
        settings: &settings,
        info: &info,
        earlier: earlier.as_ref(),
        recording: None,
    };
    let mut progress = Progress::new(&desk.console, !args.no_progress_bar);
    let outcome = execute(&job, desk.stop.clone(), writer, &mut |event| {
        progress.event(&event, || feed.event(&event));
    })
    .await;
    let written = feed.finish(&desk.console);
    let kept = (!args.no_write).then_some(info.id.as_str());
    Ok(conclude(&outcome, kept, written, args.fail_exit_code, desk))
}

/// The run to go on with, if one is named.
async fn begun(args: &Args, desk: &Desk) -> Result<Option<Begun>, Stopped> {
    let (wanted, retry_errors) = match (&args.resume, &args.retry_errors) {
        (Some(run), _) => (run, false),
        (None, Some(run)) => (run, true),
        (None, None) => return Ok(None),
    };
    let found = async {
        let store = store::open(desk).await?;
        Begun::find(store, wanted, retry_errors).await
    };
    let failed = |error: StoreError| stop(desk, error.to_string(), runs::help(&error), Exit::Usage);
    found.await.map(Some).map_err(failed)
}

pub(super) fn fresh(
    args: &Args,
    env: &BTreeMap<String, String>,
    purpose: Purpose<'_>,
    desk: &Desk,
) -> Result<Opened, Wrong> {
    let files = suite::find(&args.config, desk);
    if files.is_empty() {
        let help = "write quintain.yaml, name a file with `-c FILE`, or start with `quintain init`";
        return Err(suite::say("there is no suite here", Some(help.to_owned())));
    }
    let vars = Args::pairs(suite::VARS, &args.vars).map_err(|what| suite::say(what, None))?;
    suite::open(&files, vars, env, purpose, desk)
}

/// Where the run is kept. A run that cannot be kept is still worth its reports.
async fn open_store(args: &Args, desk: &Desk, begun: Option<&Begun>) -> Option<Store> {
    if let Some(begun) = begun {
        return Some(begun.store.clone());
    }
    if args.no_write && args.filters.failing().is_none() {
        return None;
    }
    store::open_or_warn(desk).await
}

/// The environment of the process under that of the files the user names.
pub(super) fn environment(
    args: &Args,
    desk: &Desk,
) -> Result<BTreeMap<String, String>, (String, Option<&'static str>)> {
    let mut env = desk.context.env.clone();
    for file in &args.env_file {
        let text = desk
            .files
            .text(&desk.context.cwd.join(file))
            .map_err(|error| (format!("cannot read `{}`: {error}", file.display()), None))?;
        let entries = read_env_file(&text).map_err(|BadLine(line)| {
            let what = format!("line {line} of `{}` cannot be read", file.display());
            (what, Some(BadLine::HELP))
        })?;
        for (name, value) in entries {
            learn(&of_named(&name, &value), &desk.redactor);
            env.insert(name, value);
        }
    }
    Ok(env)
}

fn info(
    args: &Args,
    desk: &Desk,
    opened: &Opened,
    plan: &Plan,
    settings: &Settings,
    choices: &Choices,
    tags: BTreeMap<String, String>,
) -> RunInfo {
    let created = desk.context.now();
    let mut options = choices.to_options();
    options.insert("maxConcurrency".into(), settings.concurrency.into());
    if let Some(delay) = settings.delay {
        options.insert("delay".into(), (delay.as_millis() as u64).into());
    }
    let info = RunInfo {
        id: format!("eval-{}-{created}", desk.context.letters(3)),
        created,
        description: args.description.clone().or_else(|| opened.suite.description.clone()),
        config: opened.suite.config(),
        columns: plan.columns.clone(),
        planned: plan.seats.len(),
        options,
        tags,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    masked::run(&info, &desk.redactor).into_owned()
}
