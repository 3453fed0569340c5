//! The environment that jobs run in, and what preparing each kind of job needs: suites, the store, notices and refusals.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use quintain_evidence::event::RunInfo;
use quintain_source::{Diagnostics, Sources};
use quintain_suite::suite::{Files, Loaded, Purpose, Suite, SuiteFile, load};
use quintain_wire::redact::Redactor;

use super::listener::{RunningJobs, may_read};
use super::request::{RunRequest, Work};
use super::slots::Slots;
use crate::files::allowed;
use crate::policy::Policy;
use crate::secrets::{learn, learn_launch};
use crate::store::{NewRun, Run, RunKind, RunState, Store, StoreError, SuiteText, Writer};
use crate::targets::kinds;
use crate::world::World;

/// The environment that jobs run in. Cheap to clone.
#[derive(Clone)]
pub struct Jobs {
    pub world: World,
    /// Where suites are read from.
    pub files: Arc<dyn Files>,
    /// Where runs are stored. Without a store, nothing is saved.
    pub store: Option<Store>,
    pub(super) live: RunningJobs,
    pub(super) slots: Slots,
    /// Masks the output of this process, which serves one user.
    pub(super) output: Option<Redactor>,
}

/// Something to show the user before a run starts.
pub enum RequestNotice<'a> {
    /// Problems in a suite, which may still be usable.
    Diagnostics(&'a Sources, &'a Diagnostics),
    Warning(String),
    /// Something that the run leaves out, with a hint.
    Error(String, Option<String>),
}

/// Why a request does not become a run.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The diagnostics were already sent as a [`RequestNotice`].
    #[error("the suite has errors")]
    Suite,
    /// The problem was already sent as a [`RequestNotice`].
    #[error("the request is invalid")]
    AlreadyReported,
    #[error("{what}")]
    Usage { what: String, help: Option<String> },
    #[error("{what}")]
    NothingSelected { what: String, help: Option<String> },
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The client cancelled it.
    #[error("interrupted")]
    Cancelled,
}

impl Refusal {
    pub(super) fn usage(what: impl Into<String>, help: impl Into<Option<&'static str>>) -> Self {
        Self::Usage { what: what.into(), help: help.into().map(str::to_owned) }
    }

    pub(super) fn nothing_selected(what: impl Into<String>, help: &str) -> Self {
        Self::NothingSelected { what: what.into(), help: Some(help.to_owned()) }
    }
}

/// A suite without errors.
pub struct LoadedSuite {
    pub suite: Suite,
    /// The texts that spans of the suite point into.
    pub sources: Sources,
    /// The files it was read from.
    pub files: Vec<SuiteFile>,
}

/// What a prepared run of any kind has, and what only its own kind knows.
pub(super) struct Ready<W> {
    pub(super) info: RunInfo,
    pub(super) opened: Option<LoadedSuite>,
    pub(super) world: World,
    pub(super) store: Option<RunStore>,
    pub(super) work: Box<W>,
}

impl<W> Ready<W> {
    pub(super) fn new(
        jobs: &Jobs,
        request: &RunRequest,
        info: RunInfo,
        opened: Option<LoadedSuite>,
        work: W,
    ) -> Self {
        let (world, store) = (jobs.world.clone(), jobs.store_for(request));
        Self { info, opened, world, store, work: Box::new(work) }
    }
}

/// Where a new run is stored, with its kind and owner.
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

/// Refuses to resume a run that a process still executes.
pub(super) fn refuse_running(run: &Run) -> Result<(), Refusal> {
    if !matches!(run.state, RunState::Running | RunState::Queued) {
        return Ok(());
    }
    let help = "wait until it ends, or stop it; `quintain runs list` shows its state";
    Err(Refusal::usage(format!("{} is still running", run.id), help))
}

impl Jobs {
    pub fn new(world: World, files: Arc<dyn Files>, store: Option<Store>) -> Self {
        let (live, slots) = (RunningJobs::default(), Slots::default());
        Self { world, files, store, live, slots, output: None }
    }

    /// The same for a process that serves one user: its console and its log, which this redactor masks, know the
    /// secrets of all jobs. Without it, a secret is known only to the job that learned it.
    #[must_use]
    pub fn with_output(self, output: Redactor) -> Self {
        Self { output: Some(output), ..self }
    }

    /// The environment of one job: under the policy of the request, with a redactor of its own that starts with what
    /// the client knows.
    pub(super) fn of_one_job(&self, policy: Arc<Policy>) -> Self {
        let known = &self.world.redactor;
        let redactor = match &self.output {
            Some(output) => known.fork_reporting_to(output),
            None => known.fork(),
        };
        let mut jobs = self.under(policy);
        jobs.world.redactor = redactor;
        jobs
    }

    /// The same jobs under a policy: suites can read only the files and variables that it allows.
    #[must_use]
    pub fn under(&self, policy: Arc<Policy>) -> Self {
        let world = self.world.under(policy);
        let files = allowed(&world, self.files.clone());
        Self { world, files, ..self.clone() }
    }

    /// Where to store the run, if the request asks for that.
    pub(super) fn store_for(&self, request: &RunRequest) -> Option<RunStore> {
        let store = self.store.clone().filter(|_| request.stored)?;
        let kind = match &request.work {
            Work::Eval(_) => RunKind::Eval,
            Work::Rejudge(_) => RunKind::Rejudge,
            Work::Redteam(_) => RunKind::Redteam,
            Work::Replay(_) => RunKind::Replay,
            Work::Grade(_) => RunKind::Grade,
        };
        Some(RunStore { store, kind, owner: request.owner.clone() })
    }

    /// A stored run that a request names. Runs of another owner do not exist for it; the command line may use all.
    pub(super) async fn stored_run(
        &self,
        wanted: &str,
        request: &RunRequest,
    ) -> Result<(&Store, Run), Refusal> {
        let store = self.needed_store()?;
        let run = store.find(wanted).await?;
        if !may_read(&request.owner, &run.owner) {
            return Err(StoreError::NoSuchRun { wanted: wanted.to_owned() }.into());
        }
        Ok((store, run))
    }

    /// The store, for a request that needs one.
    pub(super) fn needed_store(&self) -> Result<&Store, Refusal> {
        self.store.as_ref().ok_or_else(|| Refusal::usage("no run store is configured", None))
    }
}

/// Reads texts as one suite without running its scripts. Learns its secrets before it sends diagnostics.
pub fn load_suite(
    files: Vec<SuiteFile>,
    env: &BTreeMap<String, String>,
    disk: Arc<dyn Files>,
    purpose: Purpose<'_>,
    redactor: &Redactor,
    notify: &mut (dyn FnMut(RequestNotice<'_>) + Send),
) -> Option<LoadedSuite> {
    let loaded = load(files.clone(), env, disk, purpose, &kinds());
    usable(loaded, files, redactor, notify)
}

/// The suite, if it has no errors. Learns its secrets and sends its diagnostics.
pub(super) fn usable(
    loaded: Loaded,
    files: Vec<SuiteFile>,
    redactor: &Redactor,
    notify: &mut (dyn FnMut(RequestNotice<'_>) + Send),
) -> Option<LoadedSuite> {
    let Loaded { suite, diagnostics, sources, secrets } = loaded;
    learn(&secrets, redactor);
    if !diagnostics.is_empty() {
        notify(RequestNotice::Diagnostics(&sources, &diagnostics));
    }
    let suite = suite?;
    let targets = suite.targets.iter().filter_map(|target| target.as_mcp());
    for server in targets.flat_map(|target| &target.servers) {
        learn_launch(&server.launch, redactor);
    }
    Some(LoadedSuite { suite, sources, files })
}

/// Converts the texts of a request to suite files.
pub(super) fn files_of(texts: &[SuiteText]) -> Vec<SuiteFile> {
    let file = |text: &SuiteText| SuiteFile {
        name: text.name.clone(),
        text: text.text.clone(),
        base_dir: text.base_dir.clone(),
    };
    texts.iter().map(file).collect()
}

/// Sets the working directory of servers that name none.
pub(super) fn set_working_directory<'a>(
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
                    "the run was started in `{}`, which no longer exists",
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
