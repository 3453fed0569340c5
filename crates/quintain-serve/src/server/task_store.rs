//! Calls that run as tasks, in both forms of the protocol. A task belongs to its principal; nobody else learns that it exists.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rmcp::model::{CallToolResult, InputRequests, InputResponses};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::client_host::ClientHost;
use super::running::{RunningCall, Step};
use crate::random::random_id;

/// How long a task is kept if the client does not say, and at most.
const DEFAULT_TTL: Duration = Duration::from_hours(1);
const LONGEST_TTL: Duration = Duration::from_hours(24);
/// Unfinished tasks of one principal.
const MOST_TASKS: usize = 64;
/// How often clients should ask.
pub(super) const POLL_INTERVAL_MS: u64 = 1000;

#[derive(Default)]
pub(super) struct TaskStore(Mutex<HashMap<String, Arc<TaskEntry>>>);

/// One task.
pub(super) struct TaskEntry {
    pub(super) id: String,
    owner: String,
    created: OffsetDateTime,
    since: Instant,
    ttl: Duration,
    state: watch::Sender<(OffsetDateTime, TaskState)>,
    pub(super) cancel: CancellationToken,
    answers: mpsc::Sender<InputResponses>,
    host: Arc<ClientHost>,
}

#[derive(Clone)]
pub(super) enum TaskState {
    Working,
    Input(InputRequests),
    Done(CallToolResult),
    /// The tool ended without a result.
    Failed,
    Cancelled,
}

impl TaskState {
    pub(super) fn is_final(&self) -> bool {
        matches!(self, Self::Done(_) | Self::Failed | Self::Cancelled)
    }
}

impl TaskStore {
    fn tasks(&self) -> MutexGuard<'_, HashMap<String, Arc<TaskEntry>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Continues a call as a task. `None` if the principal has too many; the call is stopped then.
    pub(super) fn start(&self, call: RunningCall, ttl: Option<Duration>) -> Option<Arc<TaskEntry>> {
        let mut tasks = self.tasks();
        tasks.retain(|_, task| task.since.elapsed() < task.ttl || !task.state().1.is_final());
        let unfinished =
            |task: &&Arc<TaskEntry>| task.owner == call.owner && !task.state().1.is_final();
        if tasks.values().filter(unfinished).count() >= MOST_TASKS {
            call.stop();
            return None;
        }
        let (answers, answered) = mpsc::channel(4);
        let now = OffsetDateTime::now_utc();
        let entry = Arc::new(TaskEntry {
            id: format!("task_{}", random_id()),
            owner: call.owner.clone(),
            created: now,
            since: Instant::now(),
            ttl: ttl.unwrap_or(DEFAULT_TTL).min(LONGEST_TTL),
            state: watch::Sender::new((now, TaskState::Working)),
            cancel: CancellationToken::new(),
            answers,
            host: Arc::clone(&call.host),
        });
        tasks.insert(entry.id.clone(), Arc::clone(&entry));
        tokio::spawn(drive(call, Arc::clone(&entry), answered));
        Some(entry)
    }

    pub(super) fn get(&self, id: &str, owner: &str) -> Option<Arc<TaskEntry>> {
        let task = self.tasks().get(id).cloned()?;
        (task.owner == owner && (task.since.elapsed() < task.ttl || !task.state().1.is_final()))
            .then_some(task)
    }

    /// The tasks of a principal, the newest first.
    pub(super) fn list(&self, owner: &str) -> Vec<Arc<TaskEntry>> {
        let mut own: Vec<_> =
            self.tasks().values().filter(|task| task.owner == owner).cloned().collect();
        own.sort_by(|a, b| b.created.cmp(&a.created).then_with(|| a.id.cmp(&b.id)));
        own
    }

    pub(super) fn cancel_all(&self) {
        self.tasks().values().for_each(|task| task.cancel.cancel());
    }
}

impl TaskEntry {
    pub(super) fn state(&self) -> (OffsetDateTime, TaskState) {
        self.state.borrow().clone()
    }

    pub(super) fn created_at(&self) -> String {
        self.created.format(&Rfc3339).unwrap_or_default()
    }

    pub(super) fn ttl_ms(&self) -> u64 {
        u64::try_from(self.ttl.as_millis()).unwrap_or(u64::MAX)
    }

    /// What the tool reported last.
    pub(super) fn message(&self) -> Option<String> {
        self.host.last_message()
    }

    pub(super) async fn finished(&self) -> TaskState {
        let mut state = self.state.subscribe();
        match state.wait_for(|(_, state)| state.is_final()).await {
            Ok(state) => state.1.clone(),
            Err(_) => TaskState::Cancelled,
        }
    }

    /// Adds questions to those that the client has to answer.
    fn ask(&self, new: InputRequests) {
        self.state.send_modify(|(updated, state)| {
            *updated = OffsetDateTime::now_utc();
            match state {
                TaskState::Input(requests) => requests.extend(new),
                _ => *state = TaskState::Input(new),
            }
        });
    }

    /// Answers questions of the task. Whoever reads the task afterwards sees only the questions that are left; answers to
    /// anything else are ignored.
    pub(super) async fn answer(&self, mut answers: InputResponses) {
        self.state.send_if_modified(|(updated, state)| {
            let TaskState::Input(requests) = state else {
                answers.clear();
                return false;
            };
            answers.retain(|key, _| requests.remove(key).is_some());
            if requests.is_empty() {
                *state = TaskState::Working;
            }
            *updated = OffsetDateTime::now_utc();
            !answers.is_empty()
        });
        if !answers.is_empty() {
            let _ = self.answers.send(answers).await;
        }
    }
}

async fn drive(
    mut call: RunningCall,
    task: Arc<TaskEntry>,
    mut answers: mpsc::Receiver<InputResponses>,
) {
    let set = |state| {
        task.state.send_replace((OffsetDateTime::now_utc(), state));
    };
    loop {
        let step = tokio::select! {
            biased;
            Some(answered) = answers.recv() => {
                call.answer(answered);
                continue;
            }
            step = call.step(None, &task.cancel) => step,
        };
        match step {
            Step::Done(result) => return set(TaskState::Done(result)),
            Step::Failed => return set(TaskState::Failed),
            Step::Late => {}
            Step::Cancelled => {
                call.stop();
                return set(TaskState::Cancelled);
            }
            Step::Input(requests) => task.ask(requests),
        }
    }
}
