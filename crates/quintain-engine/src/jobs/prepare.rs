//! Turns a request into a job that can start: reads suites, chooses targets, plans cases. Reports errors before
//! anything runs.

use std::sync::Arc;

use quintain_evidence::connection::McpTarget;
use quintain_evidence::event::RunInfo;

use super::environment::{Jobs, LoadedSuite, Ready, Refusal, RequestNotice};
use super::eval::{self, PreparedEval};
use super::grade::{self, PreparedGrade};
use super::handle::{RunError, RunHandle};
use super::listener::{EventListener, RunningJobs};
use super::redteam::{self, PreparedRedteam};
use super::request::{RunRequest, Work};
use super::slots::Slots;

/// A run that can be started.
pub struct PreparedRun {
    kind: Kind,
    owner: String,
    live: RunningJobs,
    slots: Slots,
}

enum Kind {
    Eval(Ready<PreparedEval>),
    Redteam(Ready<PreparedRedteam>),
    Grade(Ready<PreparedGrade>),
}

impl Jobs {
    /// Reads and plans what a request asks for. Dropping the future cancels it, and ends the scripts of the suite.
    ///
    /// # Errors
    /// When the request is invalid or selects nothing.
    pub async fn prepare(
        &self,
        request: RunRequest,
        notify: &mut (dyn FnMut(RequestNotice<'_>) + Send),
    ) -> Result<PreparedRun, Refusal> {
        let RunRequest { work, .. } = &request;
        // A request can narrow a policy that already applies here, and cannot widen it.
        let policy = self.world.policy.narrowed_by(&request.policy);
        let jobs = self.of_one_job(Arc::new(policy));
        let kind = match work {
            Work::Eval(work) => Kind::Eval(eval::prepare(&jobs, &request, work, notify).await?),
            Work::Rejudge(work) => {
                Kind::Eval(eval::prepare_rejudge(&jobs, &request, work, notify).await?)
            }
            Work::Redteam(work) => {
                Kind::Redteam(redteam::prepare(&jobs, &request, work, notify).await?)
            }
            Work::Replay(work) => {
                Kind::Redteam(redteam::prepare_replay(&jobs, &request, work, notify).await?)
            }
            Work::Grade(work) => Kind::Grade(grade::prepare(&jobs, &request, work, notify).await?),
        };
        Ok(PreparedRun { kind, owner: request.owner, live: jobs.live, slots: jobs.slots })
    }

    /// Prepares a request and starts it.
    ///
    /// # Errors
    /// When it cannot be prepared or started.
    pub async fn submit(
        &self,
        request: RunRequest,
        notify: &mut (dyn FnMut(RequestNotice<'_>) + Send),
    ) -> Result<RunHandle, SubmitError> {
        Ok(self.prepare(request, notify).await?.start()?)
    }

    /// Listens to a run from the event after `after` on; from the first one with 0. Runs of another owner do not exist
    /// for a listener; the command line may listen to all.
    pub fn listen(&self, run: &str, after: u64, owner: &str) -> EventListener {
        EventListener::new(run, after, owner, self.store.clone(), &self.live)
    }

    /// The same with at most `limit` jobs that run concurrently.
    #[must_use]
    pub fn with_limit(self, limit: usize) -> Self {
        Self { slots: Slots::limited(limit), ..self }
    }
}

/// Why a request could not be prepared or started.
#[derive(Debug, thiserror::Error)]
pub enum SubmitError {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Run(#[from] RunError),
}

impl PreparedRun {
    /// The run's information.
    pub fn info(&self) -> &RunInfo {
        match &self.kind {
            Kind::Eval(ready) => &ready.info,
            Kind::Redteam(ready) => &ready.info,
            Kind::Grade(ready) => &ready.info,
        }
    }

    /// The suite of the run, if it has one.
    pub fn suite(&self) -> Option<&LoadedSuite> {
        match &self.kind {
            Kind::Eval(ready) => ready.opened.as_ref(),
            Kind::Redteam(ready) => ready.opened.as_ref(),
            Kind::Grade(ready) => ready.opened.as_ref(),
        }
    }

    fn redteam(&self) -> Option<&PreparedRedteam> {
        match &self.kind {
            Kind::Redteam(ready) => Some(&ready.work),
            Kind::Eval(_) | Kind::Grade(_) => None,
        }
    }

    /// The MCP servers that a red-team run attacks.
    pub fn target(&self) -> Option<&McpTarget> {
        self.redteam()?.target.as_mcp()
    }

    /// The orders of a red-team run.
    pub fn orders(&self) -> Option<&quintain_redteam::orders::Orders> {
        self.redteam().map(|work| &work.orders)
    }

    /// Mutable access before the start: the practice target gets its address late.
    pub fn target_mut(&mut self) -> Option<&mut McpTarget> {
        match &mut self.kind {
            Kind::Redteam(ready) => ready.work.target.as_mcp_mut(),
            Kind::Eval(_) | Kind::Grade(_) => None,
        }
    }

    /// Sets the name that reports use for the target of a red-team run.
    pub fn name(&mut self, name: &str) {
        if let Kind::Redteam(ready) = &mut self.kind {
            name.clone_into(&mut ready.work.name);
            let columns = ready.info.columns.iter_mut();
            columns.for_each(|column| name.clone_into(&mut column.target.id));
        }
    }

    /// Sets the command-line words that reproduction commands use to name the target of a red-team run.
    pub fn set_reproduction_target(&mut self, words: String) {
        if let Kind::Redteam(ready) = &mut self.kind {
            ready.work.orders.reproduction_target = Some(words.clone());
            ready.work.reproduction_target = Some(words);
        }
    }

    /// Starts the run in a new thread.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn start(self) -> Result<RunHandle, RunError> {
        let (id, redactor) = match &self.kind {
            Kind::Eval(ready) => (ready.info.id.clone(), ready.world.redactor.clone()),
            Kind::Redteam(ready) => (ready.info.id.clone(), ready.world.redactor.clone()),
            Kind::Grade(ready) => (ready.info.id.clone(), ready.world.redactor.clone()),
        };
        let Self { kind, owner, live, slots } = self;
        let handle = RunHandle::start(id, redactor, slots.reserve(), move |running| async move {
            match kind {
                Kind::Eval(ready) => Box::pin(eval::run(ready, running)).await,
                Kind::Redteam(ready) => redteam::run(ready, running).await,
                Kind::Grade(ready) => grade::run(ready, running).await,
            }
        })?;
        live.add(&handle.id, handle.live(owner));
        Ok(handle)
    }
}
