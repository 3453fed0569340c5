//! `quintain redteam run`: one red-team run, from the suite to an exit code.

use std::path::PathBuf;

use quintain_engine::jobs::{
    OrderRequest, Outcome, Prepared, RedteamWork, RunError, Work, chosen_target, reproduced_by,
};
use quintain_engine::redteam::RedteamError;
use quintain_engine::store::{RunEnd, RunKind, RunState};
use quintain_evidence::connection::McpTarget;
use quintain_evidence::finding::{Confidence, Severity};
use quintain_redteam::orders::Orders;
use quintain_source::visible;
use quintain_suite::effects::of_attack;
use quintain_suite::suite::{Suite, Target};
use quintain_wire::transport::stdio::INHERITED;
use serde_json::json;

use super::budget::BudgetArgs;
use super::destructive::DestructiveArgs;
use super::orders::{apply, of_suite};
use crate::cli::dry_run::{AttackEffects, DryRun};
use crate::cli::eval::{Begun, Progress};
use crate::cli::reports::Show;
use crate::cli::suite::{self, Wrong};
use crate::cli::target::{self, TargetArgs};
use crate::cli::{Desk, baseline, job, runs, store};
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
    // Last, because its heading would also cover the options that follow it.
    #[command(flatten)]
    target: TargetArgs,
}

pub(super) async fn run(args: Args, desk: &Desk) -> Exit {
    if args.dry_run {
        return dry_run(&args, desk);
    }
    let begun = match begun(&args, desk).await {
        Ok(begun) => begun,
        Err(exit) => return exit,
    };
    match attempt(&args, begun, desk).await {
        Ok(exit) => exit,
        Err((what, exit)) => {
            if args.show.json {
                desk.console.json(&json!({"error": what}));
            }
            exit
        }
    }
}

async fn attempt(args: &Args, begun: Option<Begun>, desk: &Desk) -> Result<Exit, (String, Exit)> {
    let wrong = |wrong: Wrong| (wrong.report(desk), Exit::Usage);
    let found = match &begun {
        Some(begun) => begun.target(&args.target, chosen_target(&begun.info.options), desk),
        None => args
            .target
            .request()
            .and_then(|request| Ok((args.target.clone(), request, args.target.files(desk)?))),
    };
    let (given, target, files) = found.map_err(wrong)?;
    let store = match (&begun, args.no_write) {
        (Some(begun), _) => Some(begun.store.clone()),
        (None, true) => None,
        (None, false) => store::open_or_warn(desk).await,
    };
    let is_stored = store.is_some();
    let work = RedteamWork {
        suite: suite::texts(&files),
        kept: given.given(desk).text().into_iter().collect(),
        target,
        orders: args.orders(desk).map_err(|exit| (String::new(), exit))?,
        again: None,
        resume: begun.as_ref().map(|begun| begun.run.id.clone()),
    };
    let request = job::request("redteam", Work::Redteam(Box::new(work)), desk);
    let prepared = job::prepare(&job::jobs(desk, store), request, desk).await;
    let mut prepared = prepared.map_err(|refusal| job::refused(&refusal, desk))?;
    let again = named(&given, &prepared, true);
    prepared.again(again);
    let target = prepared.target().cloned();
    let fail_on = prepared.orders().and_then(|orders| orders.fail_on);
    let logged = |pick: fn(&McpTarget) -> Option<bool>| target.as_ref().and_then(pick);
    desk.start_logging(
        logged(|target| target.debug).unwrap_or(false),
        logged(|target| target.verbose).unwrap_or(false),
    );
    let mut feed = args.show.open(None, desk).map_err(wrong)?;
    let mut progress = Progress::new(&desk.console, !args.no_progress_bar && !args.show.json);
    let outcome = job::follow(prepared, desk, |event| {
        progress.event(event, || feed.event(event));
    })
    .await;
    let outcome =
        outcome.map_err(|error| (error.to_string(), failed(&error, target.as_ref(), desk)))?;
    Ok(judged(args, &outcome, feed.finish(&desk.console), is_stored, fail_on, desk))
}

/// Turns the result of a run into an exit code.
fn judged(
    args: &Args,
    outcome: &Outcome,
    written: bool,
    is_stored: bool,
    fail_on: Option<Severity>,
    desk: &Desk,
) -> Exit {
    if let Some(why) = &outcome.unsaved {
        desk.console.error(&format!("the run could not be stored: {why}"), None);
    }
    for (path, why) in &outcome.left {
        let path = visible(&path.to_string_lossy()).into_owned();
        desk.console.warn(&format!("cannot remove {path}, which this run planted: {why}"));
    }
    let Some(report) = &outcome.summary.redteam else { return Exit::Nothing };
    report.unused.iter().for_each(|unused| desk.console.warn(&unused.to_string()));
    if outcome.summary.interrupted {
        let help = if is_stored { "; resume with `quintain redteam run --resume`" } else { "" };
        desk.console.err(&format!("interrupted; findings so far are reported{help}"));
        return Exit::Interrupted;
    }
    if !written {
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
    if let (true, Some(why)) = (report.tools.is_empty() && report.calls == 0, &report.cut_short) {
        desk.console.error(&format!("the target did not respond in time: {why}"), None);
        return Exit::Unreachable;
    }
    if let Some(why) = report.cut_short.as_ref().filter(|_| outcome.tried.is_empty()) {
        let help = "increase --budget-seconds, or find out why the target does not respond";
        desk.console.error(&format!("nothing was attacked: {why}"), Some(help));
        return Exit::Unreachable;
    }
    if report.attacks.iter().all(|attack| attack.bouts == 0) {
        desk.console.err("nothing could be attacked");
        return Exit::Nothing;
    }
    Exit::Passed
}

/// Shows what the attack would start and contact. Only reads the suite.
fn dry_run(args: &Args, desk: &Desk) -> Exit {
    let (target, opened) = match args.target.read(desk, args.show.json) {
        Ok(read) => read,
        Err(exit) => return exit,
    };
    let orders = of_suite(opened.as_ref(), desk).and_then(|mut orders| {
        apply(&args.orders(desk)?, &mut orders, desk)?;
        Ok(orders)
    });
    let orders = match orders {
        Ok(orders) => orders,
        Err(exit) => return exit,
    };
    let name = args.target.chosen().or_else(|| {
        let mcp = |target: &&Target| target.as_mcp().is_some();
        Some(opened.as_ref()?.suite.targets.iter().find(mcp)?.name())
    });
    let name = name.unwrap_or("mcp");
    let none = Suite::default();
    let suite = opened.as_ref().map_or(&none, |opened| &opened.suite);
    let effects = of_attack(name, &target, suite, &orders.carried(), INHERITED);
    let files = opened.iter().flat_map(|opened| &opened.files).map(|file| file.name.as_str());
    let files: Vec<&str> = files.collect();
    let name = if files.is_empty() { "this attack".to_owned() } else { files.join(", ") };
    let (outputs, no_write, json) = (&args.show.output[..], args.no_write, args.show.json);
    let attack = Some(attack_effects(&target, &orders));
    DryRun { name, effects, outputs, no_write, json, attack }.show(desk);
    Exit::Passed
}

/// What a red-team run does on this machine besides starting the target.
fn attack_effects(target: &McpTarget, orders: &Orders) -> AttackEffects {
    let (host, port) = orders.listener.clone().unwrap_or(("127.0.0.1".to_owned(), 0));
    let port = if port == 0 { "any free port".to_owned() } else { format!("port {port}") };
    AttackEffects {
        planted: quintain_engine::redteam::declared_roots(target),
        listens: format!("{host}, {port}"),
        destructive: orders.destructive,
        needs_allow_remote: quintain_engine::redteam::is_remote(target) && !orders.allow_remote,
    }
}

/// The run to resume, if any.
async fn begun(args: &Args, desk: &Desk) -> Result<Option<Begun>, Exit> {
    let Some(wanted) = &args.resume else { return Ok(None) };
    let found = async {
        let store = store::open(desk).await?;
        let run = store.find_of(wanted, Some(RunKind::Redteam)).await?;
        Begun::of(store, run, false).await
    };
    let begun = found.await.map_err(|error| {
        desk.console.error(&error.to_string(), runs::help(&error));
        Exit::Usage
    })?;
    let mistake = if begun.run.kind != RunKind::Redteam {
        Some(("is not a red-team run", "`quintain runs list` lists all runs"))
    } else if begun.run.state == RunState::Ended(RunEnd::Finished) {
        Some(("is finished and cannot be resumed", "start a new run without --resume"))
    } else {
        None
    };
    if let Some((what, help)) = mistake {
        desk.console.error(&format!("{} {what}", begun.run.id), Some(help));
        return Err(Exit::Usage);
    }
    Ok(Some(begun))
}

pub(in crate::cli) fn failed(error: &RunError, target: Option<&McpTarget>, desk: &Desk) -> Exit {
    let RunError::Redteam(error) = error else {
        desk.console.error(&error.to_string(), None);
        return Exit::Unreachable;
    };
    failed_attack(error, target, desk)
}

pub(super) fn failed_attack(error: &RedteamError, target: Option<&McpTarget>, desk: &Desk) -> Exit {
    match error {
        RedteamError::Remote => {
            let help = "attack it with --allow-remote; you need permission to attack it";
            desk.console.error(&error.to_string(), Some(help));
            Exit::Usage
        }
        RedteamError::Open(open) => {
            let advice = target.and_then(|target| target::advice(open, target));
            desk.console.error(&open.to_string(), advice.as_deref());
            target::exit_of(open)
        }
        RedteamError::Listener { .. } => {
            desk.console.error(&error.to_string(), None);
            Exit::Usage
        }
        RedteamError::Ground(_) => {
            desk.console.error(&error.to_string(), None);
            Exit::Unreachable
        }
        RedteamError::Store(store) => {
            desk.console.error(&store.to_string(), runs::help(store));
            Exit::Usage
        }
    }
}

/// The words of a command line that name the target of a run: as this command line does, or by its launch.
pub(in crate::cli) fn named(given: &TargetArgs, prepared: &Prepared, with_suite: bool) -> String {
    let launch = prepared.target().map(reproduced_by);
    given.again(prepared.suite().filter(|_| with_suite), launch)
}

impl Args {
    /// The options that override the suite.
    fn orders(&self, desk: &Desk) -> Result<OrderRequest, Exit> {
        let (suppressions, today) = match &self.baseline {
            Some(file) => (baseline::read(file, desk)?, baseline::today(desk)),
            None => (Vec::new(), String::new()),
        };
        Ok(OrderRequest {
            plugins: self.plugins.clone(),
            num_tests: self.num_tests,
            budget_calls: self.budget.calls(),
            budget_seconds: self.budget.seconds(),
            seed: self.seed,
            concurrency: self.jobs,
            destructive: self.destructive.asked(),
            allow_remote: self.allow_remote,
            suppressions,
            today,
        })
    }
}
