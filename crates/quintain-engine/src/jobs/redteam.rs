//! Prepares and runs red-team runs and replays of findings.

use std::time::Duration;

use quintain_evidence::event::{Column, RunInfo};
use quintain_evidence::finding::Finding;
use quintain_evidence::probe::Step;
use quintain_evidence::reproduce::{reproduce, reproduced_by};
use quintain_evidence::result::TargetName;
use quintain_redteam::orders::Orders;
use quintain_redteam::suits::Receiver;
use quintain_suite::suite::{Consent, Suite};
use serde_json::{Map, Value};

use super::environment::{
    Jobs, LoadedSuite, Ready, Refusal, RequestNotice, files_of, refuse_running,
    set_working_directory,
};
use super::eval::{base_run_info, texts_of};
use super::handle::{RunError, RunOutcome, Running};
use super::loading::{LoadingFiles, load_for_run};
use super::orders::{orders_of, restore_orders, stored_options};
use super::request::{OrderRequest, RedteamWork, ReplayWork, RunRequest, TargetRequest};
use super::target::{ChosenTarget, adjust, choose_attacked};
use super::target_config::{config, text_config, written};
use crate::masked;
use crate::models::ModelSettings;
use crate::redteam::{AttackedTarget, PreviousTrials, RedteamRun, TextTarget, execute};
use crate::secrets::learn_launch;
use crate::store::{Run, RunFilter, RunKind, Store, SuiteText};
use crate::world::World;

/// The option that stores which target of a suite was chosen.
const TARGET: &str = "target";
/// Stored runs among which `retry` looks for one against the same target.
const MAX_EARLIER: usize = 50;

/// A red-team run that is ready to start.
pub(super) struct PreparedRedteam {
    pub(super) target: ChosenTarget,
    pub(super) orders: Orders,
    pub(super) name: String,
    previous: Option<PreviousTrials>,
    resumed: Option<(Store, Run)>,
    pub(super) reproduction_target: Option<String>,
    /// Texts to store with the run.
    texts: Vec<SuiteText>,
    models: ModelSettings,
}

pub(super) async fn prepare(
    jobs: &Jobs,
    request: &RunRequest,
    work: &RedteamWork,
    notify: &mut (dyn FnMut(RequestNotice<'_>) + Send),
) -> Result<Ready<PreparedRedteam>, Refusal> {
    let (target, opened) = target(jobs, &work.suite, &work.target, notify).await?;
    let redactor = &jobs.world.redactor;
    let receiver = receiver_of(&target);
    let models = opened
        .as_ref()
        .map_or_else(|| work.models.clone(), |opened| work.models.clone().or_suite(&opened.suite));
    let judge = models.judge.as_ref();
    let mut orders = orders_of(opened.as_ref(), receiver, &*jobs.files, redactor, judge, notify)?;
    orders.prompts.time_limit = time_limit(&work.target);
    work.orders.apply(&mut orders, notify)?;
    // The command line overrides the suite.
    if work.models.judge.is_some() {
        orders.judge.clone_from(&models.judge);
    }
    let recorded = models.recorded();
    recorded.map_err(|error| Refusal::usage(error.to_string(), None))?;
    let mut info = None;
    let (mut previous, mut resumed) = (None, None);
    if let Some(wanted) = &work.resume {
        let (store, run) = jobs.stored_run(wanted, request).await?;
        refuse_running(&run)?;
        let stored = store.info(&run).await?;
        restore_orders(&mut orders, &stored.options);
        info = Some(stored);
        previous = Some(PreviousTrials::read(store.clone(), run.clone()).await?);
        resumed = Some((store.clone(), run));
    }
    let opened_suite = opened.as_ref().map(|opened| &opened.suite);
    if orders.wants_retry() {
        let earlier = earlier_findings(jobs, &name_of(&target, opened_suite)).await?;
        orders.retry(earlier.as_deref());
    }
    orders.written = opened.as_ref().map(|opened| written(&target, opened)).unwrap_or_default();
    let name = name_of(&target, opened_suite);
    orders.reproduction_target.clone_from(&work.reproduction_target);
    let info = info.unwrap_or_else(|| {
        let mut info = new_run_info(request, &name, &orders);
        info.config = match &target {
            ChosenTarget::Mcp(target) => config(&name, target, &orders, redactor),
            ChosenTarget::Text(at) => text_config(opened.as_ref(), *at, redactor),
        };
        let chosen = work.target.name.clone();
        info.options.extend(chosen.map(|name| (TARGET.to_owned(), name.into())));
        info
    });
    let mut texts = opened.as_ref().map(texts_of).unwrap_or_default();
    texts.extend(work.extra_texts.iter().cloned());
    let ready = PreparedRedteam {
        target,
        orders,
        name,
        previous,
        resumed,
        reproduction_target: work.reproduction_target.clone(),
        texts,
        models,
    };
    let world = World { stored_auth_only: work.target.stored_auth_only, ..uncached(jobs) };
    Ok(Ready { world, ..Ready::new(jobs, request, info, opened, ready) })
}

/// A hit counts only if it reproduces, so a model under attack is really asked again.
fn uncached(jobs: &Jobs) -> World {
    World { model_cache: None, ..jobs.world.clone() }
}

pub(super) async fn prepare_replay(
    jobs: &Jobs,
    request: &RunRequest,
    work: &ReplayWork,
    notify: &mut (dyn FnMut(RequestNotice<'_>) + Send),
) -> Result<Ready<PreparedRedteam>, Refusal> {
    let (target, opened) = target(jobs, &work.suite, &work.target, notify).await?;
    // A suite may define the attack and the identities.
    let sought: Vec<_> = work.findings.iter().collect();
    let receiver = receiver_of(&target);
    let redactor = &jobs.world.redactor;
    let models = ModelSettings::default();
    let models = match &opened {
        Some(opened) => models.or_suite(&opened.suite),
        None => models,
    };
    let judge = models.judge.as_ref();
    let orders = orders_of(opened.as_ref(), receiver, &*jobs.files, redactor, judge, notify)?;
    let (mut orders, unknown) = orders.only_for(&sought);
    for finding in &unknown {
        let what = format!("{} cannot run: there is no attack `{}`", finding.id, finding.rule);
        let help = "if a suite defines it, name the suite with -c".to_owned();
        notify(RequestNotice::Error(what, Some(help)));
    }
    if !work.partial && !unknown.is_empty() {
        return Err(Refusal::AlreadyReported);
    }
    OrderRequest { destructive: work.destructive, ..OrderRequest::default() }
        .allow(&mut orders, notify);
    orders.allow_remote = work.allow_remote;
    orders.prompts.time_limit = time_limit(&work.target);
    let name = work.findings.first().map(|finding| finding.target.clone()).unwrap_or_default();
    let info = new_run_info(request, &name, &orders);
    let ready = PreparedRedteam {
        target,
        orders,
        name,
        previous: None,
        resumed: None,
        reproduction_target: None,
        texts: Vec::new(),
        models,
    };
    let world = World { stored_auth_only: work.target.stored_auth_only, ..uncached(jobs) };
    Ok(Ready { world, ..Ready::new(jobs, request, info, opened, ready) })
}

/// How long a target that takes text may think about a message; 0 is no limit, as for MCP servers.
fn time_limit(wanted: &TargetRequest) -> Option<Duration> {
    wanted.timeout_ms.filter(|millis| *millis > 0).map(Duration::from_millis)
}

/// The target, and the suite that defines it, if any.
async fn target(
    jobs: &Jobs,
    suite: &[SuiteText],
    wanted: &TargetRequest,
    notify: &mut (dyn FnMut(RequestNotice<'_>) + Send),
) -> Result<(ChosenTarget, Option<LoadedSuite>), Refusal> {
    let redactor = &jobs.world.redactor;
    let opened = if suite.is_empty() {
        None
    } else {
        let (files, disk) = (files_of(suite), LoadingFiles::called(jobs));
        let consent = Consent::of_the_user();
        Some(load_for_run(jobs, consent, files, &jobs.world.env, disk, notify).await?)
    };
    let mut chosen = choose_attacked(wanted, opened.as_ref().map(|opened| &opened.suite))?;
    let ChosenTarget::Mcp(target) = &mut chosen else { return Ok((chosen, opened)) };
    set_working_directory(std::iter::once(&mut **target), wanted.folder.as_ref())?;
    let adjusted = adjust(wanted, target);
    for server in &target.servers {
        learn_launch(&server.launch, redactor);
    }
    adjusted.map_err(|what| Refusal::usage(what, None))?;
    Ok((chosen, opened))
}

/// The findings of the latest stored run against a target; none if there is no such run.
async fn earlier_findings(jobs: &Jobs, target: &str) -> Result<Option<Vec<Finding>>, Refusal> {
    let Some(store) = &jobs.store else { return Ok(None) };
    let filter = RunFilter {
        kind: Some(RunKind::Redteam),
        limit: Some(MAX_EARLIER),
        ..RunFilter::default()
    };
    for run in store.runs(&filter).await? {
        let info = store.info(&run).await?;
        if info.columns.iter().any(|column| column.target.id == target) {
            return Ok(Some(store.findings(&run).await?.reported));
        }
    }
    Ok(None)
}

fn receiver_of(target: &ChosenTarget) -> Receiver {
    match target {
        ChosenTarget::Mcp(_) => Receiver::Arguments,
        ChosenTarget::Text(_) => Receiver::Model,
    }
}

/// The name of the target in reports.
fn name_of(target: &ChosenTarget, suite: Option<&Suite>) -> String {
    match target {
        ChosenTarget::Mcp(target) => {
            target.servers.first().map_or("mcp", |server| server.name.as_str()).to_owned()
        }
        ChosenTarget::Text(at) => {
            let target = suite.and_then(|suite| suite.targets.get(*at));
            target.map_or("target", |target| target.name()).to_owned()
        }
    }
}

/// Which target of its suite a run attacked.
pub fn chosen_target(options: &Map<String, Value>) -> Option<&str> {
    options.get(TARGET)?.as_str()
}

fn new_run_info(request: &RunRequest, name: &str, orders: &Orders) -> RunInfo {
    RunInfo {
        description: orders.purpose.clone(),
        columns: vec![Column {
            target: TargetName { id: name.to_owned(), label: None },
            prompt_idx: 0,
            raw: "{{prompt}}".to_owned(),
            label: "{{prompt}}".to_owned(),
        }],
        options: stored_options(orders),
        ..base_run_info(request)
    }
}

pub(super) async fn run(
    ready: Ready<PreparedRedteam>,
    mut running: Running,
) -> Result<RunOutcome, RunError> {
    let Ready { info, world, store, work, opened } = ready;
    let launch = || work.target.as_mcp().map(reproduced_by).unwrap_or_default();
    let reproduction_target = work.reproduction_target.clone().unwrap_or_else(launch);
    let reproduced = |step: &Step| Some(reproduce(step, &reproduction_target));
    let suite = opened.as_ref().map(|opened| &opened.suite);
    let target = match (&work.target, suite) {
        (ChosenTarget::Mcp(target), _) => AttackedTarget::Mcp(target),
        (ChosenTarget::Text(at), Some(suite)) => {
            AttackedTarget::Text(TextTarget { target: &suite.targets[*at], suite })
        }
        // A target that takes text is always one of a suite.
        (ChosenTarget::Text(_), None) => return Ok(RunOutcome::default()),
    };
    let redteam_run = RedteamRun {
        consent: Some(Consent::of_the_user()),
        target,
        name: &work.name,
        world: &world,
        orders: &work.orders,
        reproduce: &reproduced,
        previous: work.previous.as_ref(),
        models: &work.models,
    };
    let redactor = &world.redactor;
    let info = masked::run(&info, redactor).into_owned();
    // The run is stored from its first phase on, so that it can be resumed if the process dies.
    let writer = match (&work.resumed, &store) {
        (Some((store, run)), _) => Some(store.resume(run, redactor)),
        (None, Some(store)) => {
            Some(store.start(&info, &work.texts, redactor, running.slot.is_queued()))
        }
        (None, None) => None,
    };
    let emitter = &mut running.emitter;
    emitter.store_in(writer.as_ref());
    running.slot.wait_for_turn(&mut running.stop, writer.as_ref()).await;
    let listen = &mut |event| emitter.emit(event);
    let outcome = Box::pin(execute(&redteam_run, info, running.stop, writer, listen)).await?;
    Ok(RunOutcome {
        summary: outcome.summary,
        store_error: outcome.store_error,
        tried: outcome.trials_run,
        not_removed: outcome.not_removed,
        ..RunOutcome::default()
    })
}
