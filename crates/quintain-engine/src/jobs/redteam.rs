//! Prepares and runs red-team runs and replays of findings.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use quintain_content::detect;
use quintain_evidence::connection::{McpTarget, Server};
use quintain_evidence::event::{Column, RunInfo};
use quintain_evidence::finding::Finding;
use quintain_evidence::probe::Step;
pub use quintain_evidence::reproduce::{quoted, reproduce, reproduced_by};
use quintain_evidence::result::{SourcePlace, TargetName};
use quintain_redteam::orders::{Destructive, Orders, Reading};
use quintain_redteam::regression::{written_identity, written_target};
use quintain_redteam::suits::Receiver;
use quintain_source::{Diagnostics, Node, Severity, SourceFile, Sources, Span};
use quintain_suite::demands::DemandReader;
use quintain_suite::suite::{Consent, Files, Suite};
use quintain_wire::redact::{Masked, Redactor};
use serde_json::{Map, Value, json};

use super::environment::{
    Jobs, LoadedSuite, Notice, Ready, Refusal, files_of, refuse_running, set_working_directory,
};
use super::eval::{base_run_info, texts_of};
use super::handle::{RunError, RunOutcome, Running};
use super::loading::{LoadingFiles, load_for_run};
use super::request::{OrderRequest, RedteamWork, ReplayWork, RunRequest, TargetRequest};
use super::target::{ChosenTarget, adjust, choose_attacked};
use crate::masked;
use crate::models::ModelSettings;
use crate::redteam::{AttackedTarget, PreviousTrials, RedteamRun, TextTarget, execute};
use crate::secrets::{learn, learn_launch};
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
    notify: &mut (dyn FnMut(Notice<'_>) + Send),
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
    notify: &mut (dyn FnMut(Notice<'_>) + Send),
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
        notify(Notice::Error(what, Some(help)));
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
    notify: &mut (dyn FnMut(Notice<'_>) + Send),
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

/// The configuration to store with a run against a target that takes text: its entry in the suite, as written.
pub fn text_config(opened: Option<&LoadedSuite>, at: usize, redactor: &Redactor) -> Value {
    let Some(opened) = opened else { return Value::Null };
    let mut listed: Vec<Value> = Vec::new();
    for file in &opened.files {
        let (mut sources, mut dx) = (Sources::new(), Diagnostics::new());
        let id = sources.add(SourceFile::new(&file.name, &*file.text));
        let Some(node) = quintain_source::read(&sources, id, &mut dx) else { continue };
        let targets = ["targets", "providers"].iter().find_map(|key| node.get(key));
        let Some(targets) = targets else { continue };
        let targets = targets.as_seq().unwrap_or(std::slice::from_ref(targets));
        listed.extend(targets.iter().map(Node::to_json));
    }
    let is_whole = listed.len() == opened.suite.targets.len();
    let entry = listed.into_iter().nth(at).filter(|_| is_whole);
    let entry = entry.or_else(|| {
        let target = opened.suite.targets.get(at)?;
        Some(json!({"id": target.id, "label": target.name()}))
    });
    let entry = entry.unwrap_or_default();
    let entry = redactor.masked(&entry).map(Masked::into_owned).unwrap_or_default();
    json!({"targets": [entry]})
}

/// The red-team orders of a suite. Without a suite: every attack. `judge` decides if `redteam` names no judge.
///
/// # Errors
/// When they are invalid. The problem was already sent as a [`Notice`].
pub fn orders_of(
    opened: Option<&LoadedSuite>,
    receiver: Receiver,
    files: &dyn Files,
    redactor: &Redactor,
    judge: Option<&Value>,
    notify: &mut (dyn FnMut(Notice<'_>) + Send),
) -> Result<Orders, Refusal> {
    let mut dx = Diagnostics::new();
    let tests = opened.map(|opened| &opened.suite.tests);
    let is_promptfoo_file = opened.is_some_and(|opened| {
        opened.files.iter().any(|file| file.name.contains("promptfooconfig"))
    });
    let reading = Reading {
        base_dir: tests.map_or(Path::new(""), |tests| &tests.redteam_dir),
        strictness: if is_promptfoo_file { Severity::Warning } else { Severity::Error },
        receiver,
        judge,
        demands: &DemandReader { files },
    };
    let orders = Orders::read(tests.and_then(|tests| tests.redteam.as_ref()), &reading, &mut dx);
    learn(&orders.secrets(), redactor);
    if let (false, Some(opened)) = (dx.is_empty(), opened) {
        notify(Notice::Diagnostics(&opened.sources, &dx));
    }
    if dx.has_errors() { Err(Refusal::Suite) } else { Ok(orders) }
}

impl OrderRequest {
    /// Overrides the orders of the suite with those of the request.
    ///
    /// # Errors
    /// When it names attacks that do not exist.
    pub fn apply(
        &self,
        orders: &mut Orders,
        notify: &mut (dyn FnMut(Notice<'_>) + Send),
    ) -> Result<(), Refusal> {
        if !self.plugins.is_empty() {
            orders.plugins.clear();
            orders.not_run.clear();
            let mut unknown = None;
            for name in &self.plugins {
                let Err(meant) = orders.add(name.trim(), None, None) else { continue };
                let help = match meant {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => "`quintain redteam plugins` shows all of them".to_owned(),
                };
                let what = format!("there is no attack `{}`", name.trim());
                notify(Notice::Error(what.clone(), Some(help)));
                unknown = Some(what);
            }
            if unknown.is_some() {
                return Err(Refusal::AlreadyReported);
            }
        }
        if self.num_tests.is_some() {
            orders.plugins.iter_mut().for_each(|plugin| plugin.num_tests = self.num_tests);
        }
        orders.budget_calls = self.budget_calls.or(orders.budget_calls);
        let seconds = self.budget_seconds.map(Duration::from_secs);
        orders.budget_time = seconds.or(orders.budget_time);
        orders.budget_tokens = self.budget_tokens.or(orders.budget_tokens);
        orders.budget_cost = self.budget_cost.or(orders.budget_cost);
        orders.seed = self.seed.unwrap_or(orders.seed);
        orders.concurrency = self.concurrency.unwrap_or(orders.concurrency);
        self.allow(orders, notify);
        orders.allow_remote = self.allow_remote;
        if !self.today.is_empty() {
            orders.suppressions.clone_from(&self.suppressions);
            orders.today.clone_from(&self.today);
        }
        Ok(())
    }

    /// A suite may be untrusted. It can allow destructive calls on objects of the run, not on real objects.
    fn allow(&self, orders: &mut Orders, notify: &mut (dyn FnMut(Notice<'_>) + Send)) {
        if orders.destructive == Destructive::All && self.destructive != Destructive::All {
            notify(Notice::Warning(
                "`destructive: all` in a suite counts as `own`; use --include-destructive=all to allow every call"
                    .to_owned(),
            ));
        }
        orders.destructive = orders.destructive.min(Destructive::Own).max(self.destructive);
    }
}

/// Where the suite defines the servers of the target.
fn written(target: &ChosenTarget, opened: &LoadedSuite) -> BTreeMap<String, SourcePlace> {
    let place = |(name, span): (&str, Span)| {
        let file = opened.sources.get(span.file)?;
        let at = file.position(span.start);
        let place = SourcePlace { file: file.name().to_owned(), line: at.line, column: at.column };
        Some((name.to_owned(), place))
    };
    match target {
        ChosenTarget::Mcp(target) => {
            let servers = target.servers.iter().map(|server: &Server| (&*server.name, server.span));
            servers.filter_map(place).collect()
        }
        ChosenTarget::Text(at) => {
            let target = opened.suite.targets.get(*at).map(|target| (target.name(), target.span));
            target.into_iter().filter_map(place).collect()
        }
    }
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

/// The choices of a run as the options that are stored with it.
fn stored_options(orders: &Orders) -> Map<String, Value> {
    let plugins: Vec<Value> = orders
        .plugins
        .iter()
        .map(|plugin| json!({"id": plugin.attack.meta().id, "numTests": plugin.num_tests}))
        .collect();
    Map::from_iter([
        ("seed".to_owned(), orders.seed.into()),
        ("maxConcurrency".to_owned(), orders.concurrency.into()),
        ("includeDestructive".to_owned(), orders.destructive.to_string().into()),
        ("allowRemote".to_owned(), orders.allow_remote.into()),
        ("plugins".to_owned(), plugins.into()),
    ])
}

/// Which target of its suite a run attacked.
pub fn chosen_target(options: &Map<String, Value>) -> Option<&str> {
    options.get(TARGET)?.as_str()
}

/// What a stored run was allowed to destroy. Earlier versions stored a boolean.
fn destructive(options: &Map<String, Value>) -> Destructive {
    let kept = options.get("includeDestructive");
    match kept.and_then(Value::as_bool) {
        Some(true) => Destructive::Own,
        _ => kept.and_then(Value::as_str).and_then(Destructive::find).unwrap_or_default(),
    }
}

/// Restores the orders of a resumed run: the same attacks at the same places with the same random seed.
fn restore_orders(orders: &mut Orders, options: &Map<String, Value>) {
    let is_set = |name: &str| options.get(name).and_then(Value::as_bool).unwrap_or(false);
    orders.seed = options.get("seed").and_then(Value::as_u64).unwrap_or(orders.seed);
    orders.destructive = orders.destructive.max(destructive(options));
    orders.allow_remote |= is_set("allowRemote");
    let Some(chosen) = options.get("plugins").and_then(Value::as_array) else { return };
    let number = |plugin: &Value| plugin["numTests"].as_u64().and_then(|n| usize::try_from(n).ok());
    let is = |plugin: &Value, id: &str| plugin["id"].as_str() == Some(id);
    orders.plugins.retain(|one| chosen.iter().any(|plugin| is(plugin, one.attack.meta().id)));
    for one in &mut orders.plugins {
        let kept = chosen.iter().find(|plugin| is(plugin, one.attack.meta().id));
        one.num_tests = kept.and_then(number);
    }
    // Attacks that the request added to the suite.
    for plugin in chosen {
        let id = plugin["id"].as_str().unwrap_or_default();
        if !orders.plugins.iter().any(|one| one.attack.meta().id == id) {
            let _ = orders.add(id, number(plugin), None);
        }
    }
}

/// The configuration to store with a run: its targets in suite format, one per identity.
pub fn config(name: &str, target: &McpTarget, orders: &Orders, redactor: &Redactor) -> Value {
    let is_secret = |text: &str| is_secret(text, redactor);
    let mut targets = Vec::new();
    match &orders.identities[..] {
        [] => targets.push(written_target(name, target, &is_secret)),
        identities => {
            for (at, identity) in identities.iter().enumerate() {
                let label =
                    if at == 0 { name.to_owned() } else { target_label(name, &identity.name) };
                targets.push(written_identity(&label, target, identity, &is_secret));
            }
        }
    }
    json!({"targets": targets})
}

/// The label of the target for another identity.
pub fn target_label(name: &str, identity: &str) -> String {
    format!("{name} as {identity}")
}

/// Whether a text contains a known secret or looks like one.
fn is_secret(text: &str, redactor: &Redactor) -> bool {
    let detectors: Vec<_> = detect::all()
        .iter()
        .copied()
        .filter(|detector| detector.family() == detect::Family::Secret)
        .collect();
    redactor.text(text) != text
        || detect::scan(text, &detectors)
            .iter()
            .any(|hit| hit.confidence >= detect::Confidence::Medium)
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
