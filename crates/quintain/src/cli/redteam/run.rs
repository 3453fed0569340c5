//! `quintain redteam run`: one red-team run, from the suite to an exit code.

use std::path::PathBuf;

use quintain_engine::jobs::{
    ChosenTarget, OrderRequest, PreparedRun, RedteamWork, RunError, RunOutcome, Work,
    chosen_target, reproduced_by,
};
use quintain_engine::read_model;
use quintain_engine::redteam::{AttackedTarget, RedteamError};
use quintain_engine::store::{RunEnd, RunKind, RunState};
use quintain_evidence::connection::McpTarget;
use quintain_evidence::finding::{Confidence, Severity};
use quintain_redteam::orders::Orders;
use quintain_redteam::suits::Receiver;
use quintain_source::visible;
use quintain_suite::effects::{Models, of_attack};
use quintain_suite::suite::{Suite, Target};
use quintain_wire::transport::stdio::INHERITED;
use serde_json::{Value, json};

use super::budget::BudgetArgs;
use super::destructive::DestructiveArgs;
use super::orders::{apply, of_suite_for};
use crate::cli::dry_run::{AttackEffects, DryRun};
use crate::cli::eval::{Progress, ResumedRun};
use crate::cli::model_args::ModelArgs;
use crate::cli::reports::Show;
use crate::cli::suite::{self, CliError};
use crate::cli::target::{self, TargetArgs};
use crate::cli::{App, baseline, job, store};
use crate::exit::Exit;

/// Attack a target: survey, learn, attack, confirm, report
///
/// Attacks only the target that you name, with benign payloads. A target that is not on this machine needs
/// --allow-remote; tools that may destroy something or change settings need --include-destructive.
///
/// Examples:
///   quintain redteam run -- python3 server.py
///   quintain redteam run --plugins sql-injection,path-traversal --url http://127.0.0.1:3000/mcp
///   quintain redteam run -c quintain.yaml -o findings.json --fail-on medium
///   quintain redteam run --resume
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Attacks and collections, separated by commas [default: those of the suite, else all]
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    plugins: Vec<String>,
    /// Maximum number of places for each attack
    #[arg(long, value_name = "N")]
    num_tests: Option<usize>,
    #[command(flatten)]
    budget: BudgetArgs,
    /// Random seed of strategies; markers and canaries differ in every run
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Trials in parallel [default: 4]
    #[arg(short = 'j', long, value_name = "N")]
    jobs: Option<usize>,
    #[command(flatten)]
    destructive: DestructiveArgs,
    /// Attack a target that is not on this machine; you need permission to attack it
    #[arg(long)]
    allow_remote: bool,
    /// Exit with code 100 if a confirmed finding is at least this severe: info, low, medium, high, critical
    /// [default: that of the suite, else low]
    #[arg(long, value_name = "SEVERITY", value_parser = ["info", "low", "medium", "high", "critical"])]
    fail_on: Option<String>,
    /// Exit code for findings instead of 100
    #[arg(long, value_name = "CODE")]
    fail_exit_code: Option<u8>,
    /// Accepted findings: a YAML or JSON list of `fingerprint`, `reason`, `expires`
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Resume an interrupted run [default: the latest] with its seed, attacks and target
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "latest",
        conflicts_with_all = ["plugins", "num_tests", "seed", "no_write"])]
    resume: Option<String>,
    /// Do not store this run
    #[arg(long)]
    no_write: bool,
    /// Show what would be started and contacted, and attack nothing
    #[arg(long, conflicts_with = "resume")]
    dry_run: bool,
    /// Show no progress
    #[arg(long)]
    no_progress_bar: bool,
    #[command(flatten)]
    show: Show,
    #[command(flatten)]
    models: ModelArgs,
    // Last, because its heading would also cover the options that follow it.
    #[command(flatten)]
    target: TargetArgs,
}

pub(super) async fn run(args: Args, app: &App) -> Exit {
    if args.dry_run {
        return dry_run(&args, app);
    }
    let resumed_run = match resumed_run(&args, app).await {
        Ok(resumed_run) => resumed_run,
        Err(exit) => return exit,
    };
    match attempt(&args, resumed_run, app).await {
        Ok(exit) => exit,
        Err((what, exit)) => {
            if args.show.json {
                app.console.json(&json!({"error": what}));
            }
            exit
        }
    }
}

async fn attempt(
    args: &Args,
    resumed_run: Option<ResumedRun>,
    app: &App,
) -> Result<Exit, (String, Exit)> {
    let wrong = |wrong: CliError| (wrong.report(app), Exit::Usage);
    let found = match &resumed_run {
        Some(resumed_run) => {
            resumed_run.target(&args.target, chosen_target(&resumed_run.info.options), app)
        }
        None => args
            .target
            .request()
            .and_then(|request| Ok((args.target.clone(), request, args.target.files(app)?))),
    };
    let (given, target, files) = found.map_err(wrong)?;
    let store = match (&resumed_run, args.no_write) {
        (Some(resumed_run), _) => Some(resumed_run.store.clone()),
        (None, true) => None,
        (None, false) => store::open_or_warn(app).await,
    };
    let is_stored = store.is_some();
    let work = RedteamWork {
        suite: suite::texts(&files),
        extra_texts: given.given(app).text().into_iter().collect(),
        target,
        orders: args.orders(app).map_err(|exit| (String::new(), exit))?,
        reproduction_target: None,
        resume: resumed_run.as_ref().map(|resumed_run| resumed_run.run.id.clone()),
        models: args.models.settings(app).map_err(wrong)?,
    };
    let request = job::request("redteam", Work::Redteam(Box::new(work)), app);
    let prepared = job::prepare(&job::jobs(app, store), request, app).await;
    let mut prepared = prepared.map_err(|refusal| job::refused(&refusal, app))?;
    let again = named(&given, &prepared, true);
    prepared.set_reproduction_target(again);
    let target = prepared.target().cloned();
    let fail_on = prepared.orders().and_then(|orders| orders.fail_on);
    let logged = |pick: fn(&McpTarget) -> Option<bool>| target.as_ref().and_then(pick);
    app.start_logging(
        logged(|target| target.debug).unwrap_or(false),
        logged(|target| target.verbose).unwrap_or(false),
    );
    args.show.check(None, &[args.models.judge_record.as_deref()], app).map_err(wrong)?;
    let mut feed = args.show.open(None, app).map_err(wrong)?;
    let mut judge_record = args.models.record(app).map_err(wrong)?;
    let mut progress = Progress::new(&app.console, !args.no_progress_bar && !args.show.json);
    let outcome = job::follow(prepared, app, |event| {
        if let Some(record) = &mut judge_record {
            record.event(event);
        }
        progress.event(event, || feed.event(event));
    })
    .await;
    let outcome =
        outcome.map_err(|error| (error.to_string(), failed(&error, target.as_ref(), app)))?;
    let mut written = feed.finish(&app.console);
    written &= judge_record.is_none_or(|record| record.finish(&app.console));
    Ok(judged(args, &outcome, written, is_stored, fail_on, app))
}

/// Turns the result of a run into an exit code.
fn judged(
    args: &Args,
    outcome: &RunOutcome,
    written: bool,
    is_stored: bool,
    fail_on: Option<Severity>,
    app: &App,
) -> Exit {
    if let Some(why) = &outcome.store_error {
        app.console.error(&format!("the run could not be stored: {why}"), None);
    }
    for (path, why) in &outcome.not_removed {
        let path = visible(&path.to_string_lossy()).into_owned();
        app.console.warn(&format!("cannot remove {path}, which this run planted: {why}"));
    }
    let Some(report) = &outcome.summary.redteam else { return Exit::Nothing };
    report.unused.iter().for_each(|unused| app.console.warn(&unused.to_string()));
    if outcome.summary.interrupted {
        let help = if is_stored { "; resume with `quintain redteam run --resume`" } else { "" };
        app.console.err(&format!("interrupted; findings so far are reported{help}"));
        return Exit::Interrupted;
    }
    if !written || outcome.store_error.is_some() {
        return Exit::Usage;
    }
    let limit = args.fail_on.as_deref().and_then(Severity::find);
    let limit = limit.or(fail_on).unwrap_or(Severity::Low);
    let counts = |finding: &&quintain_evidence::finding::Finding| {
        finding.confidence == Confidence::Confirmed
            && finding.severity >= limit
            && finding.note.is_none()
    };
    if report.findings.iter().any(|finding| counts(&finding)) {
        return args.fail_exit_code.map_or(Exit::Failed, Exit::FailedWith);
    }
    if let Some(why) = &report.unreachable {
        let help = match (report.takes_text, is_stored) {
            (true, true) => "check the target, then resume with `quintain redteam run --resume`",
            (true, false) => "check the target, then start the run again",
            (false, _) => "check the target with `quintain inspect`, then start the run again",
        };
        app.console.error(&format!("the run is incomplete: {why}"), Some(help));
        return Exit::Unreachable;
    }
    if let (true, Some(why)) = (report.tools.is_empty() && report.calls == 0, &report.cut_short) {
        app.console.error(&format!("the target did not respond in time: {why}"), None);
        return Exit::Unreachable;
    }
    if let Some(why) = report.cut_short.as_ref().filter(|_| outcome.tried.is_empty()) {
        let help = if why.contains("--budget-calls") {
            "increase --budget-calls"
        } else {
            "increase --budget-seconds, or find out why the target does not respond"
        };
        app.console.error(&format!("nothing was attacked: {why}"), Some(help));
        return Exit::Unreachable;
    }
    let left: usize = report.attacks.iter().map(|attack| attack.left_out).sum();
    if let (true, Some(why)) = (left > 0, &report.cut_short) {
        let trials = if left == 1 { "1 trial" } else { &format!("{left} trials") };
        let help = if is_stored {
            "resume with `quintain redteam run --resume`, or start a new run with a higher limit"
        } else {
            "start a new run with a higher limit"
        };
        app.console.error(&format!("the run is incomplete, {trials} left: {why}"), Some(help));
        return Exit::Unreachable;
    }
    if report.attacks.iter().all(|attack| attack.trials == 0) {
        app.console.err("nothing could be attacked");
        return Exit::Nothing;
    }
    Exit::Passed
}

/// Shows what the attack would start and contact. Only reads the suite.
fn dry_run(args: &Args, app: &App) -> Exit {
    let (target, opened) = match args.target.read_attacked(app, args.show.json) {
        Ok(read) => read,
        Err(exit) => return exit,
    };
    let servers = target.as_mcp();
    let receiver = if servers.is_some() { Receiver::Arguments } else { Receiver::Model };
    let orders = of_suite_for(receiver, opened.as_ref(), app).and_then(|mut orders| {
        apply(&args.orders(app)?, &mut orders, app)?;
        Ok(orders)
    });
    let orders = match orders {
        Ok(orders) => orders,
        Err(exit) => return exit,
    };
    let name = args.target.chosen().or_else(|| {
        let targets = &opened.as_ref()?.suite.targets;
        match &target {
            ChosenTarget::Mcp(_) => {
                let mcp = |target: &&Target| target.as_mcp().is_some();
                Some(targets.iter().find(mcp)?.name())
            }
            ChosenTarget::Text(at) => Some(targets.get(*at)?.name()),
        }
    });
    let name = name.unwrap_or("mcp");
    let none = Suite::default();
    let suite = opened.as_ref().map_or(&none, |opened| &opened.suite);
    let folder = opened.as_ref().and_then(|opened| opened.files.first());
    let folder = folder.map_or_else(|| app.context.cwd.clone(), |file| file.base_dir.clone());
    let judge = match args.models.settings(app) {
        Ok(settings) => settings.judge,
        Err(wrong) => {
            wrong.report(app);
            return Exit::Usage;
        }
    };
    let read = |model: &Value| read_model(model, folder.clone(), app.files.clone());
    let models = Models { judge, read: &read };
    let effects = of_attack(name, servers, suite, &orders.carried(), &models, INHERITED);
    let files = opened.iter().flat_map(|opened| &opened.files).map(|file| file.name.as_str());
    let files: Vec<&str> = files.collect();
    let name = if files.is_empty() { "this attack".to_owned() } else { files.join(", ") };
    let (outputs, no_write, json) = (&args.show.output[..], args.no_write, args.show.json);
    let attack = servers.map(|servers| attack_effects(servers, &orders, app));
    DryRun { name, effects, outputs, no_write, json, attack }.show(app);
    Exit::Passed
}

/// What a red-team run does on this machine besides starting the target.
fn attack_effects(target: &McpTarget, orders: &Orders, app: &App) -> AttackEffects {
    let (host, port) = orders.listener.clone().unwrap_or(("127.0.0.1".to_owned(), 0));
    let port = if port == 0 { "any free port".to_owned() } else { format!("port {port}") };
    AttackEffects {
        attacks: orders.plugins.iter().map(|plugin| plugin.attack.meta().id.to_owned()).collect(),
        budget_calls: orders.budget_calls,
        planted: quintain_engine::redteam::declared_roots(target, &app.context.cwd),
        listens: format!("{host}, {port}"),
        destructive: orders.destructive,
        needs_allow_remote: quintain_engine::redteam::is_remote(AttackedTarget::Mcp(target))
            && !orders.allow_remote,
    }
}

/// The run to resume, if any.
async fn resumed_run(args: &Args, app: &App) -> Result<Option<ResumedRun>, Exit> {
    let Some(wanted) = &args.resume else { return Ok(None) };
    let found = async {
        let store = store::open(app).await?;
        let run = store.find_of(wanted, Some(RunKind::Redteam)).await?;
        ResumedRun::of(store, run, false).await
    };
    let resumed_run = found.await.map_err(|error| {
        app.console.error(&error.to_string(), store::help(&error));
        Exit::Usage
    })?;
    let mistake = if resumed_run.run.kind != RunKind::Redteam {
        Some(("is not a red-team run", "`quintain runs list` lists all runs"))
    } else if resumed_run.run.state == RunState::Ended(RunEnd::Finished) {
        Some(("is finished and cannot be resumed", "start a new run without --resume"))
    } else {
        None
    };
    if let Some((what, help)) = mistake {
        app.console.error(&format!("{} {what}", resumed_run.run.id), Some(help));
        return Err(Exit::Usage);
    }
    Ok(Some(resumed_run))
}

pub(in crate::cli) fn failed(error: &RunError, target: Option<&McpTarget>, app: &App) -> Exit {
    let RunError::Redteam(error) = error else {
        app.console.error(&error.to_string(), None);
        return Exit::Unreachable;
    };
    failed_attack(error, target, app)
}

pub(super) fn failed_attack(error: &RedteamError, target: Option<&McpTarget>, app: &App) -> Exit {
    match error {
        RedteamError::Remote => {
            let help = "attack it with --allow-remote; you need permission to attack it";
            app.console.error(&error.to_string(), Some(help));
            Exit::Usage
        }
        RedteamError::Open(open) => {
            let advice = target.and_then(|target| target::advice(open, target));
            app.console.error(&open.to_string(), advice.as_deref());
            target::exit_of(open)
        }
        RedteamError::Listener { .. } => {
            app.console.error(&error.to_string(), None);
            Exit::Usage
        }
        RedteamError::CanaryFiles(_) => {
            app.console.error(&error.to_string(), None);
            Exit::Unreachable
        }
        RedteamError::Store(store) => {
            app.console.error(&store.to_string(), store::help(store));
            Exit::Usage
        }
    }
}

/// The words of a command line that name the target of a run: as this command line does, or by its launch.
pub(in crate::cli) fn named(
    given: &TargetArgs,
    prepared: &PreparedRun,
    with_suite: bool,
) -> String {
    let launch = prepared.target().map(reproduced_by);
    given.again(prepared.suite().filter(|_| with_suite), launch)
}

impl Args {
    /// The options that override the suite.
    fn orders(&self, app: &App) -> Result<OrderRequest, Exit> {
        let (suppressions, today) = match &self.baseline {
            Some(file) => (baseline::read(file, app)?, baseline::today(app)),
            None => (Vec::new(), String::new()),
        };
        Ok(OrderRequest {
            plugins: self.plugins.clone(),
            num_tests: self.num_tests,
            budget_calls: self.budget.calls(),
            budget_seconds: self.budget.seconds(),
            budget_tokens: self.budget.tokens(),
            budget_cost: self.budget.cost(),
            seed: self.seed,
            concurrency: self.jobs,
            destructive: self.destructive.asked(),
            allow_remote: self.allow_remote,
            suppressions,
            today,
        })
    }
}
