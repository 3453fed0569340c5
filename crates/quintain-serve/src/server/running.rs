//! A tool call under way. It runs on its own, so that a modern client can leave to ask its user and come back, and so that
//! a call can continue as a task.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rmcp::model::{CallToolResult, InputRequests, InputResponses};
use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use super::client_host::{ClientHost, InputNeeded};
use crate::random::random_id;

/// How often a client that asked for progress hears of a call.
const HEARTBEAT: Duration = Duration::from_millis(1500);
/// How long a cancelled tool may take to store what it has.
const LONGEST_FAREWELL: Duration = Duration::from_secs(10);
/// How long a call waits for an answer of the user.
const LONGEST_QUESTION: Duration = Duration::from_mins(15);
/// Calls of one principal that may wait for an answer.
const MOST_PARKED: usize = 32;

/// A call under way.
pub(super) struct RunningCall {
    pub(super) owner: String,
    pub(super) tool: &'static str,
    pub(super) arguments: Map<String, Value>,
    pub(super) host: Arc<ClientHost>,
    work: JoinHandle<CallToolResult>,
    inputs: mpsc::Receiver<InputNeeded>,
    unanswered: BTreeMap<String, InputNeeded>,
    asked: u32,
}

/// How far a call came.
pub(super) enum Step {
    Done(CallToolResult),
    /// The tool ended without a result, which is a fault of the server.
    Failed,
    /// The client must answer another question before the call can continue.
    Input(InputRequests),
    Cancelled,
    /// The time limit was reached; the call still runs.
    Late,
}

impl RunningCall {
    pub(super) fn new(
        owner: &str,
        tool: &'static str,
        arguments: Map<String, Value>,
        host: Arc<ClientHost>,
        inputs: mpsc::Receiver<InputNeeded>,
        work: JoinHandle<CallToolResult>,
    ) -> Self {
        let owner = owner.to_owned();
        Self { owner, tool, arguments, host, work, inputs, unanswered: BTreeMap::new(), asked: 0 }
    }

    /// Waits for the next step. `limit` is the time after which the caller wants to know.
    pub(super) async fn step(
        &mut self,
        limit: Option<Duration>,
        cancel: &CancellationToken,
    ) -> Step {
        let late = async {
            match limit {
                Some(limit) => tokio::time::sleep(limit).await,
                None => std::future::pending().await,
            }
        };
        let mut late = std::pin::pin!(late);
        let mut beats =
            tokio::time::interval_at(tokio::time::Instant::now() + HEARTBEAT, HEARTBEAT);
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                done = &mut self.work => return match done {
                    Ok(result) => Step::Done(result),
                    Err(error) => {
                        tracing::error!(%error, tool = self.tool, "a tool call failed");
                        Step::Failed
                    }
                },
                Some(needed) = self.inputs.recv() => {
                    self.asked += 1;
                    let key = format!("question_{}", self.asked);
                    let request = needed.request.clone();
                    self.unanswered.insert(key.clone(), needed);
                    return Step::Input(BTreeMap::from([(key, request)]));
                }
                () = cancel.cancelled() => return Step::Cancelled,
                () = self.host.cancel.cancelled() => return Step::Cancelled,
                () = &mut late => return Step::Late,
                _ = beats.tick() => self.host.heartbeat().await,
            }
        }
    }

    /// The questions that the client has not answered.
    pub(super) fn unanswered(&self) -> InputRequests {
        let asked = self.unanswered.iter();
        asked.map(|(key, needed)| (key.clone(), needed.request.clone())).collect()
    }

    /// Gives the answers of the user to the tool.
    pub(super) fn answer(&mut self, answers: InputResponses) {
        for (key, answer) in answers {
            if let Some(waiting) = self.unanswered.remove(&key) {
                let _ = waiting.answer.send(answer);
            }
        }
    }

    /// Stops the tool. It may store what it has; nobody waits for that.
    pub(super) fn stop(self) {
        self.host.cancel.cancel();
        let Self { mut work, .. } = self;
        tokio::spawn(async move {
            if tokio::time::timeout(LONGEST_FAREWELL, &mut work).await.is_err() {
                work.abort();
            }
        });
    }
}

/// Calls that wait for an answer of the user, by the state that the client returns with it.
#[derive(Default)]
pub(super) struct Parked(Mutex<HashMap<String, (Instant, RunningCall)>>);

impl Parked {
    fn calls(&self) -> MutexGuard<'_, HashMap<String, (Instant, RunningCall)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a call; returns its state, or nothing if the principal has too many.
    pub(super) fn keep(&self, call: RunningCall) -> Option<String> {
        let mut calls = self.calls();
        let stale = |since: &Instant| since.elapsed() > LONGEST_QUESTION;
        let old: Vec<String> = calls
            .iter()
            .filter(|(_, (since, _))| stale(since))
            .map(|(key, _)| key.clone())
            .collect();
        old.into_iter().filter_map(|key| calls.remove(&key)).for_each(|(_, call)| call.stop());
        if calls.values().filter(|(_, other)| other.owner == call.owner).count() >= MOST_PARKED {
            call.stop();
            return None;
        }
        let state = random_id();
        calls.insert(state.clone(), (Instant::now(), call));
        Some(state)
    }

    /// Takes a call out, if the state belongs to the principal.
    pub(super) fn take(&self, state: &str, owner: &str) -> Option<RunningCall> {
        let mut calls = self.calls();
        let is_own = calls.get(state).is_some_and(|(_, call)| call.owner == owner);
        if is_own { calls.remove(state).map(|(_, call)| call) } else { None }
    }

    pub(super) fn cancel_all(&self) {
        self.calls().drain().for_each(|(_, (_, call))| call.host.cancel.cancel());
    }
}
