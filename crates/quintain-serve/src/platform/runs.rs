//! Runs that this process executes for its principals: starting, progress, stopping. What is not under way any more is in
//! the store.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use quintain_engine::Sampler;
use quintain_engine::jobs::{
    Cancel, Refusal, RequestNotice, RunHandle, RunOutcome, RunRequest, Work,
};
use quintain_engine::store::{Run, RunFilter, RunState};
use quintain_evidence::event::{Event, RunEvent};
use quintain_evidence::result::CaseStatus;
use quintain_source::Renderer;
use quintain_wire::redact::Redactor;
use secrecy::SecretString;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::generator::Generator;
use super::{Platform, id};
use crate::error::{ErrorCode, ToolError};
use crate::host::{Host, Progress};
use crate::principal::Principal;

/// How often a waiting call reports progress.
const TICK: Duration = Duration::from_millis(1_500);

/// How far a run is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunProgress {
    pub done: usize,
    pub total: Option<usize>,
    pub hits: usize,
    pub errors: usize,
    pub phase: Option<&'static str>,
    pub is_ended: bool,
    /// Why it ended without a result.
    pub failure: Option<String>,
}

impl RunProgress {
    pub fn as_json(&self) -> Value {
        json!({"done": self.done, "total": self.total, "hits": self.hits, "errors": self.errors, "phase": self.phase})
    }

    fn add(&mut self, event: &RunEvent) {
        match &event.event {
            Event::Started(info) => self.total = Some(info.planned).filter(|planned| *planned > 0),
            Event::Phase(phase) => self.phase = Some(phase.word()),
            Event::Case(case) => {
                self.done += 1;
                self.hits += usize::from(case.status == CaseStatus::Failed);
                self.errors += usize::from(case.status == CaseStatus::Errored);
            }
            Event::Finding(_) | Event::Warning(_) | Event::Finished(_) => {}
        }
    }
}

/// The runs that this process executes.
#[derive(Default)]
pub struct ActiveRuns {
    runs: Mutex<HashMap<String, Active>>,
    is_closing: AtomicBool,
}

struct Active {
    owner: String,
    cancel: Cancel,
    progress: watch::Receiver<RunProgress>,
}

impl ActiveRuns {
    fn with<T>(&self, of: impl FnOnce(&mut HashMap<String, Active>) -> T) -> T {
        of(&mut self.runs.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The progress of a run of an owner, if this process executes it or did so recently.
    pub fn progress(&self, owner: &str, run: &str) -> Option<watch::Receiver<RunProgress>> {
        self.with(|runs| Some(runs.get(run).filter(|run| run.owner == owner)?.progress.clone()))
    }

    /// Ends a run with a valid partial result. False if this process does not execute it.
    pub fn stop(&self, owner: &str, run: &str, now: bool) -> bool {
        self.with(|runs| {
            let Some(run) = runs.get(run).filter(|run| run.owner == owner) else { return false };
            if run.progress.borrow().is_ended {
                return false;
            }
            if now {
                run.cancel.abort();
            } else {
                run.cancel.stop();
            }
            true
        })
    }

    /// Number of runs of an owner that have not ended.
    pub fn count(&self, owner: Option<&str>) -> usize {
        self.with(|runs| {
            let of_owner = |run: &&Active| {
                owner.is_none_or(|owner| run.owner == owner) && !run.progress.borrow().is_ended
            };
            runs.values().filter(of_owner).count()
        })
    }

    /// Ends all runs so that they can be resumed: the server ends.
    pub fn stop_all(&self) {
        self.is_closing.store(true, Ordering::Relaxed);
        self.with(|runs| runs.values().for_each(|run| run.cancel.stop()));
    }

    /// Whether the server ends.
    pub fn is_closing(&self) -> bool {
        self.is_closing.load(Ordering::Relaxed)
    }

    /// Waits until all runs have stored what they have.
    pub async fn finished(&self, limit: Duration) {
        let all: Vec<_> = self.with(|runs| runs.values().map(|run| run.progress.clone()).collect());
        let ended = all.into_iter().map(|mut progress| async move {
            let _ = progress.wait_for(|progress| progress.is_ended).await;
        });
        let _ = tokio::time::timeout(limit, futures_util::future::join_all(ended)).await;
    }
}

/// What a job needs besides its work.
#[derive(Default)]
pub struct NewJob {
    pub stored: bool,
    pub tags: BTreeMap<String, String>,
    pub description: Option<String>,
}

impl Platform {
    /// A request of a principal, under its policy.
    pub fn request(
        &self,
        principal: &Principal,
        generators: &[&Generator],
        work: Work,
        job: NewJob,
    ) -> RunRequest {
        let created = id::now();
        let policy = match work {
            Work::Redteam(_) | Work::Replay(_) => self.policy_of_attack(principal, generators),
            _ => self.policy(principal, generators),
        };
        RunRequest {
            id: id::new_id("run"),
            created,
            version: self.allowances.version.clone(),
            owner: principal.owner.clone(),
            policy,
            stored: job.stored,
            description: job.description,
            tags: job.tags,
            work,
        }
    }

    /// Prepares and starts a job. The credentials of the generators are masked in everything that leaves it.
    async fn submit(
        &self,
        request: RunRequest,
        generators: &[&Generator],
        sampler: Option<Arc<dyn Sampler>>,
    ) -> Result<RunHandle, ToolError> {
        let asks_client = generators.iter().any(|one| one.provider_type() == "client_sampling");
        if asks_client && sampler.is_none() {
            let what = "the client offers no sampling, which `client_sampling` needs";
            return Err(ToolError::new(ErrorCode::UnsupportedCapability, what)
                .with_hint("use a generator with another provider_type"));
        }
        let mut jobs = self.jobs.clone();
        jobs.world.sampler = sampler;
        jobs.world.redactor = self.redactor(&request.owner, generators).await?;
        let mut notices = Vec::new();
        let mut notify = |notice: RequestNotice<'_>| notices.push(told(&notice));
        let prepared = jobs.prepare(request, &mut notify).await;
        let prepared = prepared.map_err(|refusal| refused(&refusal, &notices))?;
        prepared.start().map_err(|error| ToolError::new(ErrorCode::Internal, error.to_string()))
    }

    /// Masks the credentials of generators.
    pub async fn redactor(
        &self,
        owner: &str,
        generators: &[&Generator],
    ) -> Result<Redactor, ToolError> {
        let redactor = self.jobs.world.redactor.fork();
        for generator in generators {
            for secret in self.credentials.get(owner, &generator.id).await?.into_values() {
                let parts = quintain_content::secret::of_value(&secret);
                let parts = if secret.contains("://") {
                    parts
                } else {
                    [parts, vec![quintain_content::secret::Secret::new(secret.clone())]].concat()
                };
                for part in parts {
                    match &part.shown {
                        Some(shown) => redactor.learn_as(&part.value, shown),
                        None => redactor.learn(&part.value),
                    }
                }
                if !secret.contains("://") {
                    redactor.learn(&SecretString::from(secret));
                }
            }
        }
        Ok(redactor)
    }

    /// Runs a short job to its end. The client's cancellation and the time limit stop it.
    pub async fn run(
        &self,
        request: RunRequest,
        generators: &[&Generator],
        limit: Duration,
        host: &dyn Host,
        mut each: impl FnMut(&Event) + Send,
    ) -> Result<RunOutcome, ToolError> {
        let mut handle = self.submit(request, generators, host.sampler()).await?;
        let cancel = handle.cancel();
        let mut progress = RunProgress::default();
        let deadline = tokio::time::sleep(limit);
        tokio::pin!(deadline);
        let mut ticks = tokio::time::interval(TICK);
        let mut why = None;
        loop {
            tokio::select! {
                event = handle.next() => {
                    let Some(event) = event else { break };
                    progress.add(&event);
                    each(&event.event);
                }
                () = &mut deadline, if why.is_none() => {
                    why = Some(ToolError::new(ErrorCode::Timeout, format!("not finished after {} s", limit.as_secs())));
                    cancel.abort();
                }
                () = host.cancelled(), if why.is_none() => {
                    why = Some(ToolError::new(ErrorCode::Cancelled, "cancelled by the client"));
                    cancel.abort();
                }
                _ = ticks.tick() => host.progress(shown(&progress)).await,
            }
        }
        let outcome = handle.outcome().await;
        match why {
            Some(why) => Err(why),
            None => outcome.map_err(|error| run_failed(&error.to_string())),
        }
    }

    /// Starts a job that continues after the call, and returns the id of its run.
    pub async fn start(
        &self,
        principal: &Principal,
        request: RunRequest,
        generators: &[&Generator],
        sampler: Option<Arc<dyn Sampler>>,
    ) -> Result<String, ToolError> {
        self.check_runs(principal).await?;
        let limit = Duration::from_secs(self.quota(principal).seconds_per_run);
        let mut handle = self.submit(request, generators, sampler).await?;
        let (sender, progress) = watch::channel(RunProgress::default());
        let (run, cancel) = (handle.id.clone(), handle.cancel());
        let active = Active { owner: principal.owner.clone(), cancel: cancel.clone(), progress };
        self.active.with(|runs| {
            // Ended runs are in the store.
            runs.retain(|_, run| !run.progress.borrow().is_ended);
            runs.insert(run.clone(), active)
        });
        tokio::spawn(async move {
            let deadline = tokio::time::sleep(limit);
            tokio::pin!(deadline);
            let mut is_late = false;
            loop {
                tokio::select! {
                    event = handle.next() => {
                        let Some(event) = event else { break };
                        sender.send_modify(|progress| progress.add(&event));
                    }
                    () = &mut deadline, if !is_late => {
                        is_late = true;
                        cancel.stop();
                    }
                }
            }
            let failure = handle.outcome().await.err().map(|error| error.to_string());
            sender.send_modify(|progress| {
                progress.is_ended = true;
                progress.failure = failure;
            });
        });
        Ok(run)
    }

    /// Waits until a run ends or the time limit is reached, and reports progress to the client.
    pub async fn wait(&self, owner: &str, run: &str, limit: Duration, host: &dyn Host) {
        let Some(mut progress) = self.active.progress(owner, run) else { return };
        let deadline = tokio::time::sleep(limit);
        tokio::pin!(deadline);
        let mut ticks = tokio::time::interval(TICK);
        loop {
            if progress.borrow().is_ended {
                return;
            }
            tokio::select! {
                changed = progress.changed() => if changed.is_err() { return },
                () = &mut deadline => return,
                () = host.cancelled() => return,
                _ = ticks.tick() => {
                    let now = progress.borrow().clone();
                    host.progress(shown(&now)).await;
                }
            }
        }
    }

    /// A run of a principal. Runs of another principal do not exist for it.
    pub async fn stored_run(&self, principal: &Principal, wanted: &str) -> Result<Run, ToolError> {
        let missing = || ToolError::new(ErrorCode::NotFound, format!("there is no run `{wanted}`"));
        let run = self.store.find(wanted).await.map_err(|_| missing())?;
        // A prefix could match a run of another owner.
        if run.owner == principal.owner && run.id == wanted { Ok(run) } else { Err(missing()) }
    }

    /// The runs of a principal with a tag, newest first.
    pub async fn runs_tagged(
        &self,
        principal: &Principal,
        tag: &str,
        value: &str,
    ) -> Result<Vec<Run>, ToolError> {
        let filter = RunFilter {
            owner: Some(principal.owner.clone()),
            tag: Some((tag.to_owned(), Some(value.to_owned()))),
            ..RunFilter::default()
        };
        Ok(self.store.runs(&filter).await?)
    }

    async fn check_runs(&self, principal: &Principal) -> Result<(), ToolError> {
        let quota = self.quota(principal);
        let exceeded = |what: String, hint: &str| {
            Err(ToolError::new(ErrorCode::BudgetExceeded, what).with_hint(hint))
        };
        if self.active.count(Some(&principal.owner)) >= quota.concurrent_runs {
            let what = format!("{} of your runs are under way", quota.concurrent_runs);
            return exceeded(what, "wait until one ends, or stop one");
        }
        let filter = RunFilter {
            owner: Some(principal.owner.clone()),
            limit: Some(quota.stored_runs),
            ..RunFilter::default()
        };
        if self.store.runs(&filter).await?.len() >= quota.stored_runs {
            let what = format!("{} of your runs are stored", quota.stored_runs);
            return exceeded(what, "delete orchestrators that you no longer need");
        }
        Ok(())
    }
}

/// Whether a process executes a run.
pub fn is_under_way(run: &Run) -> bool {
    matches!(run.state, RunState::Running | RunState::Queued)
}

fn shown(progress: &RunProgress) -> Progress {
    let total = progress.total.map(|total| total as f64);
    let phase = progress.phase.unwrap_or("starting");
    let message = match progress.total {
        Some(total) => format!("{phase}: {} of {total}, {} hits", progress.done, progress.hits),
        None => format!("{phase}: {} done, {} hits", progress.done, progress.hits),
    };
    Progress { done: progress.done as f64, total, message }
}

/// A notice in words.
pub(super) fn told(notice: &RequestNotice<'_>) -> String {
    match notice {
        RequestNotice::Diagnostics(sources, diagnostics) => {
            Renderer::plain().render_all(sources, diagnostics)
        }
        RequestNotice::Warning(text) => text.clone(),
        RequestNotice::Error(what, help) => match help {
            Some(help) => format!("{what} ({help})"),
            None => what.clone(),
        },
    }
}

/// Why a request is no run, for the caller.
pub(super) fn refused(refusal: &Refusal, notices: &[String]) -> ToolError {
    let notices = notices.join("\n");
    match refusal {
        Refusal::Usage { what, help } | Refusal::NothingSelected { what, help } => {
            let error = ToolError::new(ErrorCode::InvalidConfiguration, what.clone());
            match help {
                Some(help) => error.with_hint(help.clone()),
                None => error,
            }
        }
        Refusal::Cancelled => ToolError::new(ErrorCode::Cancelled, "cancelled"),
        Refusal::Suite | Refusal::AlreadyReported => {
            let what = if notices.is_empty() { refusal.to_string() } else { notices };
            let code = if what.contains("policy of this run") {
                ErrorCode::NotAllowed
            } else {
                ErrorCode::InvalidConfiguration
            };
            ToolError::new(code, what)
        }
        Refusal::Store(_) => ToolError::new(ErrorCode::Internal, "the store failed"),
    }
}

/// A run that ended without an outcome.
fn run_failed(why: &str) -> ToolError {
    let code = if why.contains("policy of this run") {
        ErrorCode::NotAllowed
    } else {
        ErrorCode::TargetUnreachable
    };
    ToolError::new(code, why.to_owned())
}
