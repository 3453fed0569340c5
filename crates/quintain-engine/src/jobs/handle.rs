//! A running job: its events, its cancellation and its outcome. Every job has a separate thread and runtime, so that
//! CPU-bound work in one job does not block another.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use quintain_evidence::event::RunEvent;
use quintain_evidence::tally::Summary;
use tokio::sync::{broadcast, mpsc, oneshot, watch};

use super::events::{Backlog, Cancel, ClientQueue, Emitter, StopLevel, Stored, paced};
use super::listener::EventSource;
use super::slots::Slot;
use crate::eval::Stop;
use crate::models::RejectedModel;
use crate::redteam::RedteamError;

/// Run futures are large, and suites may nest deeply.
pub(super) const STACK_BYTES: usize = 16 << 20;
/// How long `RunHandle::drop` waits for the job to end.
const DROP_TIMEOUT: Duration = Duration::from_secs(2);
/// How long an aborted job may take to mark its run as failed.
const ABANDON: Duration = Duration::from_millis(500);
/// Events that a listener may be behind before it reads them from the store.
const LISTENER_BUFFER: usize = 1_024;

/// The result of a run.
#[derive(Debug, Default)]
pub struct RunOutcome {
    pub summary: Summary,
    /// Targets that could not be reached, and why.
    pub unreachable: Vec<String>,
    /// Models whose endpoints refuse them.
    pub rejected: Vec<RejectedModel>,
    /// The time limit ended the run.
    pub time_limit_reached: bool,
    /// Why the store could not save the run.
    pub store_error: Option<String>,
    /// Attack and place of every trial of this job.
    pub tried: BTreeSet<(String, String)>,
    /// Planted files that could not be removed, and why.
    pub not_removed: Vec<(PathBuf, String)>,
}

/// Why a job ended without an outcome.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Redteam(#[from] RedteamError),
    #[error("cannot start a thread for the run: {0}")]
    Thread(std::io::Error),
    #[error("the run was aborted")]
    Aborted,
}

/// What a running job uses to emit events and to notice a stop request.
pub(super) struct Running {
    pub(super) emitter: Emitter,
    pub(super) stop: Stop,
    pub(super) slot: Slot,
}

/// A running job.
pub struct RunHandle {
    pub id: String,
    events: mpsc::UnboundedReceiver<RunEvent>,
    cancel: Cancel,
    outcome: oneshot::Receiver<Result<RunOutcome, RunError>>,
    thread: Option<JoinHandle<()>>,
    listeners: broadcast::WeakSender<RunEvent>,
    stored: Stored,
    backlog: Arc<Backlog>,
}

impl RunHandle {
    /// Starts a job in a new thread.
    pub(super) fn start<F>(
        id: String,
        redactor: quintain_wire::redact::Redactor,
        slot: Slot,
        work: impl FnOnce(Running) -> F + Send + 'static,
    ) -> Result<Self, RunError>
    where
        F: Future<Output = Result<RunOutcome, RunError>>,
    {
        let (client, events) = mpsc::unbounded_channel();
        let (tail, _) = broadcast::channel(LISTENER_BUFFER);
        let (cancel, level) = Cancel::new();
        let (send, outcome) = oneshot::channel();
        let stored = Stored::default();
        let (listeners, backlog) = (tail.downgrade(), Arc::<Backlog>::default());
        let queue = ClientQueue { events: client, backlog: backlog.clone() };
        let emitter = Emitter::new(&id, redactor, queue, tail, stored.clone());
        let (pace, log) = (backlog.clone(), stored.clone());
        let body = move || {
            let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => runtime,
                Err(error) => {
                    let _ = send.send(Err(RunError::Thread(error)));
                    return;
                }
            };
            let result = runtime.block_on(async {
                let running = Running { emitter, stop: stop_of(level.clone()), slot };
                tokio::select! {
                    biased;
                    () = reaches(level.clone(), StopLevel::Abort) => {}
                    result = paced(work(running), &pace, reaches(level, StopLevel::Stop)) => return result,
                }
                // The work is dropped, and its writer marks the run as failed.
                if let Some(log) = log.get() {
                    let _ = tokio::time::timeout(ABANDON, log.closed()).await;
                }
                Err(RunError::Aborted)
            });
            // A blocking task, such as a user's script, must not delay the outcome.
            runtime.shutdown_background();
            let _ = send.send(result);
        };
        let thread = std::thread::Builder::new().name("run".to_owned()).stack_size(STACK_BYTES);
        let thread = thread.spawn(body).map_err(RunError::Thread)?;
        let thread = Some(thread);
        Ok(Self { id, events, cancel, outcome, thread, listeners, stored, backlog })
    }

    /// The next event, or `None` when the job has ended.
    pub async fn next(&mut self) -> Option<RunEvent> {
        let event = self.events.recv().await;
        if event.is_some() {
            self.backlog.remove();
        }
        event
    }

    /// A handle that another task can use to end the job.
    pub fn cancel(&self) -> Cancel {
        self.cancel.clone()
    }

    /// The way to the events for further listeners.
    pub(super) fn live(&self, owner: String) -> EventSource {
        EventSource { owner, events: self.listeners.clone(), stored: self.stored.clone() }
    }

    /// Waits for the outcome. Unread events are dropped.
    ///
    /// # Errors
    /// When the run could not start, failed or was aborted.
    ///
    /// # Panics
    /// If the job panicked: resumes its panic.
    pub async fn outcome(mut self) -> Result<RunOutcome, RunError> {
        self.events.close();
        self.backlog.ignore();
        while self.events.recv().await.is_some() {}
        if let Ok(result) = (&mut self.outcome).await {
            return result;
        }
        match self.thread.take().map(JoinHandle::join) {
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            _ => Err(RunError::Aborted),
        }
    }
}

impl Drop for RunHandle {
    /// Aborts the job and its child processes, so that they do not outlive the client.
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        self.cancel.abort();
        let until = std::time::Instant::now() + DROP_TIMEOUT;
        while !thread.is_finished() && std::time::Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// True once the job is asked to end.
fn stop_of(mut level: watch::Receiver<StopLevel>) -> Stop {
    let (send, stop) = watch::channel(false);
    tokio::spawn(async move {
        if level.wait_for(|level| *level >= StopLevel::Stop).await.is_ok() {
            let _ = send.send(true);
        }
        // Receivers fail if the sender is dropped.
        send.closed().await;
    });
    stop
}

async fn reaches(mut level: watch::Receiver<StopLevel>, wanted: StopLevel) {
    if level.wait_for(|level| *level >= wanted).await.is_err() {
        std::future::pending::<()>().await;
    }
}
