//! `quintain replay`: checks whether findings still reproduce.

use std::collections::BTreeSet;

use quintain_engine::jobs::{ReplayWork, RunOutcome, RunRequest, Work, chosen_target};
use quintain_engine::store::{Run, RunKind, Store, StoreError};
use quintain_evidence::connection::McpTarget;
use quintain_evidence::finding::{Confidence, Finding, Standing};
use quintain_redteam::orders::trial_of;
use quintain_source::visible;
use serde_json::{Map, Value, json};

use super::eval::ResumedRun;
use super::redteam::{DestructiveArgs, failed, named};
use super::target::TargetArgs;
use super::{App, job, runs, store, suite};
use crate::exit::Exit;

/// Minimum length of a fingerprint's prefix; shorter ones match too many findings.
const MIN_DIGITS: usize = 4;
/// Maximum number of findings to list if there is no such finding.
const MAX_LISTED: usize = 10;

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
        let listed = listed(&store, args).await.map_err(fail)?;
        return Err(missing(args, &listed, app));
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
    let tried: Vec<Tried<'_>> = sought.iter().map(|finding| Tried::of(finding, &outcome)).collect();
    print_results(args, &resumed_run.run, &tried, app);
    if outcome.summary.interrupted {
        app.console.err("interrupted; the findings tested so far are reported");
        return Err(Exit::Interrupted);
    }
    let is = |wanted: fn(State) -> bool| tried.iter().any(|one| wanted(one.state));
    Ok(if is(State::is_present) {
        Exit::Failed
    } else if is(|state| state == State::NotAnswered) {
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

/// The ids of the findings of the run that is meant, most severe first.
async fn listed(store: &Store, args: &Args) -> Result<Vec<String>, StoreError> {
    let wanted = args.run.as_deref().unwrap_or("latest");
    let run = match store.find_of(wanted, Some(RunKind::Redteam)).await {
        Ok(run) => run,
        Err(StoreError::NoSuchRun { .. }) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let findings = store.finding_list(&run).await?;
    Ok(findings.iter().map(|one| Finding::id_of(&one.fingerprint)).collect())
}

fn missing(args: &Args, listed: &[String], app: &App) -> Exit {
    let run = args.run.as_deref().unwrap_or("latest");
    let shown = listed.iter().take(MAX_LISTED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = if listed.len() > MAX_LISTED { ", ..." } else { "" };
    let help = if listed.is_empty() {
        format!("`quintain redteam report {run}` shows the findings of that run")
    } else {
        format!("the findings of {run}: {shown}{more} (`quintain redteam report {run}`)")
    };
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
    Vulnerable,
    /// It was confirmed, and did not reproduce every time.
    Flaky,
    /// It was suspected, and still is.
    Suspected,
    Fixed,
    NotAnswered,
}

impl State {
    const ALL: [Self; 5] =
        [Self::Vulnerable, Self::Flaky, Self::Suspected, Self::Fixed, Self::NotAnswered];

    fn is_present(self) -> bool {
        matches!(self, Self::Vulnerable | Self::Flaky | Self::Suspected)
    }

    fn sentence(self) -> &'static str {
        match self {
            Self::NotAnswered => {
                "could not be tested: the place is missing, or the target did not answer its calls"
            }
            state => state.words(),
        }
    }

    /// For the counts at the end.
    fn words(self) -> &'static str {
        match self {
            Self::Vulnerable => "still vulnerable",
            Self::Flaky => "sometimes vulnerable",
            Self::Suspected => "still suspected",
            Self::Fixed => "fixed",
            Self::NotAnswered => "not tested",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Vulnerable => "vulnerable",
            Self::Flaky => "flaky",
            Self::Suspected => "suspected",
            Self::Fixed => "fixed",
            Self::NotAnswered => "not-answered",
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
    fn of(finding: &'a Finding, outcome: &'a RunOutcome) -> Self {
        let report = outcome.summary.redteam.as_ref();
        let findings = report.into_iter().flat_map(|report| &report.findings);
        let mut findings = findings.flat_map(Finding::parts);
        let now = findings.find(|one| one.fingerprint == finding.fingerprint);
        let unlisted = report.is_some_and(|report| report.unreachable.is_some());
        let state = match now {
            Some(now) if now.confidence == Confidence::Confirmed => State::Vulnerable,
            Some(_) if finding.confidence == Confidence::Suspected => State::Suspected,
            Some(_) => State::Flaky,
            None if finding.is_listed() && !unlisted && !outcome.summary.interrupted => {
                State::Fixed
            }
            None if was_tried(finding, &outcome.tried) => State::Fixed,
            None => State::NotAnswered,
        };
        Self { finding, now, state }
    }

    fn json(&self) -> Value {
        json!({
            "finding": self.finding.id, "title": self.finding.title,
            "state": self.state.name(), "now": self.now,
        })
    }
}

fn was_tried(finding: &Finding, tried_places: &BTreeSet<(String, String)>) -> bool {
    tried_places.contains(&trial_of(finding))
}

fn print_results(args: &Args, run: &Run, tried: &[Tried<'_>], app: &App) {
    let count = |state: State| tried.iter().filter(|one| one.state == state).count();
    let is_list = args.all || tried.len() > 1;
    if args.json {
        let all: Vec<Value> = tried.iter().map(Tried::json).collect();
        let only = all.first().filter(|_| !is_list).cloned();
        app.console.json(&only.unwrap_or_else(|| {
            let counts = State::ALL.map(|state| (state.name().to_owned(), count(state).into()));
            json!({"run": run.id, "findings": all, "summary": Map::from_iter(counts)})
        }));
        return;
    }
    for Tried { finding, state, .. } in tried {
        let by_design =
            if Standing::of(finding) == Standing::ByDesign { " (by design)" } else { "" };
        let title = visible(&finding.title);
        app.console.out(&format!("{} {title}: {}{by_design}", finding.id, state.sentence()));
    }
    if is_list {
        // These three are always listed, so that a 0 is visible.
        let always = [State::Vulnerable, State::Fixed, State::NotAnswered];
        let counts = State::ALL.into_iter().filter_map(|state| {
            let number = count(state);
            let is_shown = number > 0 || always.contains(&state);
            is_shown.then(|| format!("{number} {}", state.words()))
        });
        app.console.out(&counts.collect::<Vec<_>>().join(", "));
    }
}
