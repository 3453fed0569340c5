//! `quintain replay`: checks whether findings still reproduce.

use std::collections::BTreeSet;

use quintain_engine::jobs::{Outcome, ReplayWork, RunRequest, Work, chosen_target};
use quintain_engine::store::{Run, RunKind, Store, StoreError};
use quintain_evidence::connection::McpTarget;
use quintain_evidence::finding::{Confidence, Finding, Standing};
use quintain_redteam::orders::trial_of;
use quintain_source::visible;
use serde_json::{Value, json};

use super::eval::ResumedRun;
use super::redteam::{DestructiveArgs, failed, named};
use super::target::TargetArgs;
use super::{App, job, runs, store, suite};
use crate::exit::Exit;

/// Minimum length of a fingerprint's prefix; shorter ones match too many findings.
const MIN_DIGITS: usize = 4;

/// Check whether a finding still reproduces
///
/// Looks up the finding in the store, and repeats its attack at the same place with new random markers, against the
/// target on the command line, or else the target of its run. Exits with code 100 if the target is still vulnerable,
/// 0 if the finding is fixed, 4 if it could not be tested. `--all` tests every finding of a run: exits with 100 if any
/// still reproduces, 4 if none does and some could not be tested.
///
/// Examples:
///   quintain replay F-b8b8c670
///   quintain replay F-b8b8c670 -- python3 server.py
///   quintain replay --all --run latest~1 -c quintain.yaml
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Id or fingerprint of the finding
    #[arg(value_name = "FINDING", required_unless_present = "all")]
    finding: Option<String>,
    /// Run with the finding: an id, the start of an id, `latest`, `latest~1` [default: the latest
    /// run that has the finding; with --all the latest]
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    /// Test all findings of the run, and print a line for each
    #[arg(long, conflicts_with = "finding")]
    all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    destructive: DestructiveArgs,
    /// Attack a target that is not on this machine; you need permission to attack it
    #[arg(long)]
    allow_remote: bool,
    // Last, because its heading would also cover the options that follow it.
    #[command(flatten)]
    target: TargetArgs,
}

pub(super) async fn run(args: Args, app: &App) -> Exit {
    match attempt(&args, app).await {
        Ok(exit) | Err(exit) => exit,
    }
}

async fn attempt(args: &Args, app: &App) -> Result<Exit, Exit> {
    let fail = |error: StoreError| runs::failed(&error, app);
    let store = store::open(app).await.map_err(fail)?;
    let Some((run, findings)) = sought(&store, args).await.map_err(fail)? else {
        return Err(missing(args, app));
    };
    // A finding about several places is tried at each of them.
    let sought: Vec<Finding> = findings.iter().flat_map(Finding::parts).cloned().collect();
    let resumed_run = ResumedRun::of(store.clone(), run, false).await.map_err(fail)?;
    // Never attack a default suite of the working directory instead of the target of the run.
    let found = if args.target.is_named() {
        args.target
            .request()
            .and_then(|request| Ok((args.target.clone(), request, args.target.files(app)?)))
    } else {
        resumed_run.target(&args.target, chosen_target(&resumed_run.info.options), app)
    };
    let (given, target, files) = found.map_err(|wrong| {
        let what = wrong.report(app);
        if args.json {
            app.console.json(&json!({"error": what}));
        }
        Exit::Usage
    })?;
    let work = ReplayWork {
        suite: suite::texts(&files),
        target,
        findings: sought.clone(),
        partial: args.all,
        destructive: args.destructive.asked(),
        allow_remote: args.allow_remote,
    };
    let work = Work::Replay(Box::new(work));
    let request = RunRequest { stored: false, ..job::request("replay", work, app) };
    let prepared = job::prepare(&job::jobs(app, Some(store)), request, app).await;
    let mut prepared = prepared.map_err(|refusal| {
        let (what, exit) = job::refused(&refusal, app);
        if args.json {
            app.console.json(&json!({"error": what}));
        }
        exit
    })?;
    // The suite's files are named as in the original run, which may have started in another folder.
    let again = named(&given, &prepared, args.target.is_named());
    prepared.set_reproduction_target(again);
    let target = prepared.target().cloned();
    let logged = |pick: fn(&McpTarget) -> Option<bool>| target.as_ref().and_then(pick);
    app.start_logging(
        logged(|target| target.debug).unwrap_or(false),
        logged(|target| target.verbose).unwrap_or(false),
    );
    let outcome = job::follow(prepared, app, |_| {}).await;
    let outcome = outcome.map_err(|error| failed(&error, target.as_ref(), app))?;
    if outcome.summary.interrupted {
        app.console.err("interrupted");
        return Err(Exit::Interrupted);
    }
    let tried: Vec<Tried<'_>> = sought.iter().map(|finding| Tried::of(finding, &outcome)).collect();
    print_results(args, &resumed_run.run, &tried, app);
    let is = |wanted: fn(State) -> bool| tried.iter().any(|one| wanted(one.state));
    Ok(if is(State::works) {
        Exit::Failed
    } else if is(|state| state == State::Untried) {
        Exit::Nothing
    } else {
        Exit::Passed
    })
}

/// The findings to test, and the run that found them.
async fn sought(store: &Store, args: &Args) -> Result<Option<(Run, Vec<Finding>)>, StoreError> {
    let of_kind = async |wanted| store.find_of(wanted, Some(RunKind::Redteam)).await;
    let wanted = args.finding.as_deref().unwrap_or_default();
    let wanted = wanted.strip_prefix("F-").unwrap_or(wanted);
    if args.all {
        let run = of_kind(args.run.as_deref().unwrap_or("latest")).await?;
        let found = store.findings(&run).await?.reported;
        return Ok((!found.is_empty()).then_some((run, found)));
    }
    let run = match &args.run {
        Some(run) => Some(of_kind(run).await?),
        None if wanted.len() < MIN_DIGITS => None,
        None => store.latest_run_with_finding(wanted).await?,
    };
    let Some(run) = run.filter(|_| wanted.len() >= MIN_DIGITS) else { return Ok(None) };
    let found = store.finding(&run, wanted).await?;
    Ok(found.map(|finding| (run, vec![finding])))
}

fn missing(args: &Args, app: &App) -> Exit {
    let run = args.run.as_deref().unwrap_or("latest");
    let help = format!("`quintain redteam report {run}` shows the findings of that run");
    let what = match (&args.finding, &args.run) {
        (Some(finding), Some(run)) => format!("{run} has no finding `{finding}`"),
        (Some(finding), None) => format!("no finding `{finding}`"),
        (None, _) => format!("{run} has no findings"),
    };
    if args.json {
        app.console.json(&json!({"error": what}));
    }
    app.console.error(&what, Some(&help));
    Exit::Nothing
}

/// Result of testing a finding again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Works,
    /// It was confirmed, and did not reproduce every time.
    NowAndThen,
    /// It was suspected, and still is.
    Suspected,
    Gone,
    Untried,
}

impl State {
    fn works(self) -> bool {
        matches!(self, Self::Works | Self::NowAndThen | Self::Suspected)
    }

    fn word(self) -> &'static str {
        match self {
            Self::Works => "still vulnerable",
            Self::NowAndThen => "sometimes vulnerable",
            Self::Suspected => "is still suspected",
            Self::Gone => "fixed",
            Self::Untried => {
                "could not be tested: the place is missing, or the target did not answer its calls"
            }
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Works => "works",
            Self::NowAndThen => "now-and-then",
            Self::Suspected => "suspected",
            Self::Gone => "gone",
            Self::Untried => "untried",
        }
    }
}

/// A finding, and the result of testing it again.
struct Tried<'a> {
    finding: &'a Finding,
    now: Option<&'a Finding>,
    state: State,
}

impl<'a> Tried<'a> {
    fn of(finding: &'a Finding, outcome: &'a Outcome) -> Self {
        let report = outcome.summary.redteam.as_ref();
        let findings = report.into_iter().flat_map(|report| &report.findings);
        let mut findings = findings.flat_map(Finding::parts);
        let now = findings.find(|one| one.fingerprint == finding.fingerprint);
        let unlisted = report.is_some_and(|report| report.unreachable.is_some());
        let state = match now {
            Some(now) if now.confidence == Confidence::Confirmed => State::Works,
            Some(_) if finding.confidence == Confidence::Suspected => State::Suspected,
            Some(_) => State::NowAndThen,
            None if finding.is_listed() && !unlisted => State::Gone,
            None if was_tried(finding, &outcome.tried) => State::Gone,
            None => State::Untried,
        };
        Self { finding, now, state }
    }

    fn json(&self) -> Value {
        json!({
            "finding": self.finding.id, "title": self.finding.title,
            "works": self.state == State::Works, "state": self.state.name(), "now": self.now,
        })
    }
}

fn was_tried(finding: &Finding, tried_places: &BTreeSet<(String, String)>) -> bool {
    tried_places.contains(&trial_of(finding))
}

fn print_results(args: &Args, run: &Run, tried: &[Tried<'_>], app: &App) {
    let count = |wanted: fn(State) -> bool| tried.iter().filter(|one| wanted(one.state)).count();
    let is_list = args.all || tried.len() > 1;
    let works = count(State::works);
    let gone = count(|state| state == State::Gone);
    let untried = count(|state| state == State::Untried);
    if args.json {
        let all: Vec<Value> = tried.iter().map(Tried::json).collect();
        app.console.json(&match all.first().filter(|_| !is_list) {
            Some(only) => only.clone(),
            None => json!({
                "run": run.id, "findings": all,
                "summary": {"works": works, "gone": gone, "untried": untried},
            }),
        });
        return;
    }
    for Tried { finding, state, .. } in tried {
        let by_design =
            if Standing::of(finding) == Standing::ByDesign { " (by design)" } else { "" };
        let title = visible(&finding.title);
        app.console.out(&format!("{} {title}: {}{by_design}", finding.id, state.word()));
    }
    if is_list {
        app.console.out(&format!("{works} still vulnerable, {gone} fixed, {untried} not tested"));
    }
}
