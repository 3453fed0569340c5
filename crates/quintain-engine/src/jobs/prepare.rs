//! From a request to a job that can be started: suites are read, targets chosen, cases planned. What is wrong is said
//! before anything runs.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use quintain_evidence::event::RunInfo;
use quintain_source::{Diagnostics, Sources};
use quintain_suite::suite::{Files, Loaded, Purpose, Suite, SuiteFile, load};
use quintain_wire::redact::Redactor;

use super::handle::{RunError, RunHandle};
use super::listener::Live;
use super::request::{RunRequest, Work};
use super::slots::Slots;
use super::{eval, redteam};
use crate::files::allowed;
use crate::policy::Policy;
use crate::secrets::{learn, learn_launch};
use crate::store::{NewRun, Run, RunKind, RunState, Store, StoreError, SuiteText, Writer};
use crate::world::World;

/// Where jobs run: the surroundings that they are given. Cheap to clone.
#[derive(Clone)]
pub struct Jobs {
    pub world: World,
    /// What suites are read from.
    pub files: Arc<dyn Files>,
    /// Where runs are kept; without one, nothing is.
    pub store: Option<Store>,
    pub(super) live: Live,
    pub(super) slots: Slots,
}

/// Something that a client should know of before a run starts.
pub enum Notice<'a> {
    /// What is wrong with a suite; it may still be usable.
    Diagnostics(&'a Sources, &'a Diagnostics),
    Warning(String),
    /// Something that is left out.
    Error(String, Option<String>),
}

/// Why there is no run.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The diagnostics were handed out as a [`Notice`].
    #[error("the suite has errors")]
    Suite,
    /// What is wrong was handed out as a [`Notice`].
    #[error("the request cannot be met")]
    Said,
    #[error("{what}")]
    Usage { what: String, help: Option<String> },
    #[error("{what}")]
    Nothing { what: String, help: Option<String> },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Refusal {
    pub(super) fn usage(what: impl Into<String>, help: impl Into<Option<&'static str>>) -> Self {
        Self::Usage { what: what.into(), help: help.into().map(str::to_owned) }
    }

    pub(super) fn nothing(what: impl Into<String>, help: &str) -> Self {
        Self::Nothing { what: what.into(), help: Some(help.to_owned()) }
    }
}

/// A suite without errors.
pub struct Opened {
    pub suite: Suite,
    /// The texts that places of the suite point into.
    pub sources: Sources,
    /// The files it was read from.
    pub files: Vec<SuiteFile>,
}

/// A run that can be started.
pub struct Prepared {
    pub(super) id: String,
    pub(super) info: RunInfo,
    pub(super) opened: Option<Opened>,
    pub(super) world: World,
    pub(super) store: Option<RunStore>,
    pub(super) kind: Kind,
    pub(super) live: Live,
    pub(super) slots: Slots,
}

/// Where a new run is stored, and as what.
pub(super) struct RunStore {
    store: Store,
    kind: RunKind,
    owner: String,
}

impl RunStore {
    pub(super) fn start(
        &self,
        info: &RunInfo,
        suite: &[SuiteText],
        redactor: &Redactor,
        queued: bool,
    ) -> Writer {
        let Self { store, kind, owner } = self;
        store.start(NewRun { kind: *kind, owner, info, suite, queued }, redactor)
    }
}

/// Refuses to resume a run that a process still works on.
pub(super) fn refuse_running(run: &Run) -> Result<(), Refusal> {
    if !matches!(run.state, RunState::Running | RunState::Queued) {
        return Ok(());
    }
    let help = "wait until it ends, or stop it; `quintain runs list` shows its state";
    Err(Refusal::usage(format!("{} is still running", run.id), help))
}

pub(super) enum Kind {
    Eval(Box<eval::Ready>),
    Redteam(Box<redteam::Ready>),
}

impl Jobs {
    pub fn new(world: World, files: Arc<dyn Files>, store: Option<Store>) -> Self {
        Self { world, files, store, live: Live::default(), slots: Slots::default() }
    }

    /// The same under a policy: suites are read with the files and variables that it names.
    #[must_use]
    pub fn under(&self, policy: Arc<Policy>) -> Self {
        let world = self.world.under(policy);
        let files = allowed(&world, self.files.clone());
        Self { world, files, ..self.clone() }
    }

    /// Reads and plans what a request asks for.
    ///
    /// # Errors
    /// When there is nothing that could be started.
    pub async fn prepare(
        &self,
        request: RunRequest,
        notify: &mut dyn FnMut(Notice<'_>),
    ) -> Result<Prepared, Refusal> {
        let RunRequest { work, .. } = &request;
        // A policy that these surroundings are under already cannot be widened by a request.
        let policy = if *self.world.policy == Policy::everything() {
            Arc::new(request.policy.clone())
        } else {
            self.world.policy.clone()
        };
        let jobs = self.under(policy);
        match work {
            Work::Eval(work) => eval::prepare(&jobs, &request, work, notify).await,
            Work::Rejudge(work) => eval::prepare_again(&jobs, &request, work, notify).await,
            Work::Redteam(work) => redteam::prepare(&jobs, &request, work, notify).await,
            Work::Replay(work) => redteam::prepare_replay(&jobs, &request, work, notify),
        }
    }

    /// Prepares a request and starts it.
    ///
    /// # Errors
    /// When it cannot be prepared or started.
    pub async fn submit(
        &self,
        request: RunRequest,
        notify: &mut dyn FnMut(Notice<'_>),
    ) -> Result<RunHandle, SubmitError> {
        Ok(self.prepare(request, notify).await?.start()?)
    }

    /// The store that a request is kept in.
    pub(super) fn store_for(&self, request: &RunRequest) -> Option<RunStore> {
        let store = self.store.clone().filter(|_| request.stored)?;
        let kind = match &request.work {
            Work::Eval(_) => RunKind::Eval,
            Work::Rejudge(_) => RunKind::Rejudge,
            Work::Redteam(_) => RunKind::Redteam,
            Work::Replay(_) => RunKind::Replay,
        };
        Some(RunStore { store, kind, owner: request.owner.clone() })
    }

    /// The store, for a request that needs one.
    pub(super) fn needed_store(&self) -> Result<&Store, Refusal> {
        self.store.as_ref().ok_or_else(|| Refusal::usage("there is no store of runs", None))
    }
}

/// Why a request came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum SubmitError {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Run(#[from] RunError),
}

impl Prepared {
    /// What is known of the run.
    pub fn info(&self) -> &RunInfo {
        &self.info
    }

    /// The suite that it runs, if there is one.
    pub fn suite(&self) -> Option<&Opened> {
        self.opened.as_ref()
    }

    /// The target of a red-team run.
    pub fn target(&self) -> Option<&quintain_evidence::connection::McpTarget> {
        match &self.kind {
            Kind::Redteam(ready) => Some(&ready.target),
            Kind::Eval(_) => None,
        }
    }

    /// The same, to be changed before the start: the practice target is where it is served.
    pub fn target_mut(&mut self) -> Option<&mut quintain_evidence::connection::McpTarget> {
        match &mut self.kind {
            Kind::Redteam(ready) => Some(&mut ready.target),
            Kind::Eval(_) => None,
        }
    }

    /// What reports call the target of a red-team run.
    pub fn name(&mut self, name: &str) {
        if let Kind::Redteam(ready) = &mut self.kind {
            name.clone_into(&mut ready.name);
            self.info.columns.iter_mut().for_each(|column| name.clone_into(&mut column.target.id));
        }
    }

    /// How a command line names the target of a red-team run again.
    pub fn again(&mut self, words: String) {
        if let Kind::Redteam(ready) = &mut self.kind {
            ready.orders.again = Some(words.clone());
            ready.again = Some(words);
        }
    }

    /// The orders of a red-team run.
    pub fn orders(&self) -> Option<&quintain_redteam::orders::Orders> {
        match &self.kind {
            Kind::Redteam(ready) => Some(&ready.orders),
            Kind::Eval(_) => None,
        }
    }

    /// Starts the run in a thread of its own.
    ///
    /// # Errors
    /// When there can be no such thread.
    pub fn start(self) -> Result<RunHandle, RunError> {
        let Self { id, info, opened, world, store, kind, live, slots } = self;
        let redactor = world.redactor.clone();
        let handle = RunHandle::start(id, redactor, slots.reserve(), move |running| async move {
            match kind {
                Kind::Eval(ready) => ready.run(info, opened, &world, store, running).await,
                Kind::Redteam(ready) => ready.run(info, &world, store, running).await,
            }
        })?;
        live.add(&handle.id, handle.live());
        Ok(handle)
    }
}

/// Checks texts as one suite. Its secrets are learned before anything is said about it.
pub fn load_suite(
    files: Vec<SuiteFile>,
    env: &BTreeMap<String, String>,
    disk: Arc<dyn Files>,
    purpose: Purpose<'_>,
    redactor: &Redactor,
    notify: &mut dyn FnMut(Notice<'_>),
) -> Option<Opened> {
    let Loaded { suite, diagnostics, sources, secrets } = load(files.clone(), env, disk, purpose);
    learn(&secrets, redactor);
    if !diagnostics.is_empty() {
        notify(Notice::Diagnostics(&sources, &diagnostics));
    }
    let suite = suite?;
    let targets = suite.targets.iter().filter_map(|target| target.as_mcp());
    for server in targets.flat_map(|target| &target.servers) {
        learn_launch(&server.launch, redactor);
    }
    Some(Opened { suite, sources, files })
}

/// Texts of a request as files of a suite.
pub(super) fn files_of(texts: &[SuiteText]) -> Vec<SuiteFile> {
    let file = |text: &SuiteText| SuiteFile {
        name: text.name.clone(),
        text: text.text.clone(),
        base_dir: text.base_dir.clone(),
    };
    texts.iter().map(file).collect()
}

/// Servers that name no folder run in this one.
pub(super) fn place<'a>(
    targets: impl Iterator<Item = &'a mut quintain_evidence::connection::McpTarget>,
    folder: Option<&PathBuf>,
) -> Result<(), Refusal> {
    use quintain_evidence::connection::Launch;
    let Some(folder) = folder else { return Ok(()) };
    for server in targets.flat_map(|target| &mut target.servers) {
        if let Launch::Command { cwd: cwd @ None, .. } | Launch::Path { cwd: cwd @ None, .. } =
            &mut server.launch
        {
            if !folder.is_dir() {
                let what = format!(
                    "the run was started in `{}`, which does not exist any more",
                    folder.display()
                );
                let help = "name the target again: `-- COMMAND ARG...` or `-c FILE`";
                return Err(Refusal::usage(what, help));
            }
            *cwd = Some(folder.clone());
        }
    }
    Ok(())
}
