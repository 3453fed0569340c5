//! The events that a job emits, and how a client ends a job.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use quintain_evidence::event::RunEvent;
use quintain_wire::redact::Redactor;
use tokio::sync::{broadcast, mpsc, watch};

use crate::masked::{self, Emitted};
use crate::store::{EventLog, Writer};

/// Capacity of the client's event queue. The job waits while the queue is full.
pub(super) const QUEUE_CAPACITY: usize = 16;
/// How long the job sleeps before it retries a full queue.
const RETRY_DELAY: Duration = Duration::from_micros(200);

/// What a job is asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopLevel {
    Run,
    /// Start nothing new and report what is finished.
    Stop,
    /// Drop everything.
    Abort,
}

/// Ends a job.
#[derive(Debug, Clone)]
pub struct Cancel(Arc<watch::Sender<StopLevel>>);

impl Cancel {
    pub(super) fn new() -> (Self, watch::Receiver<StopLevel>) {
        let (sender, receiver) = watch::channel(StopLevel::Run);
        (Self(Arc::new(sender)), receiver)
    }

    /// Ends the job with a valid partial result.
    pub fn stop(&self) {
        self.raise(StopLevel::Stop);
    }

    /// Drops all work of the job, including child processes.
    pub fn abort(&self) {
        self.raise(StopLevel::Abort);
    }

    fn raise(&self, level: StopLevel) {
        self.0.send_if_modified(|now| {
            let higher = level > *now;
            *now = level.max(*now);
            higher
        });
    }
}

/// Where the events of a job are stored, once it has a run in the store.
pub(super) type Stored = Arc<OnceLock<EventLog>>;

/// Numbers events, masks secrets in them, stores them and hands them on.
pub(super) struct Emitter {
    run: Arc<str>,
    sequence: u64,
    redactor: Redactor,
    client: mpsc::Sender<RunEvent>,
    listeners: broadcast::Sender<RunEvent>,
    stored: Stored,
}

impl Emitter {
    pub(super) fn new(
        run: &str,
        redactor: Redactor,
        client: mpsc::Sender<RunEvent>,
        listeners: broadcast::Sender<RunEvent>,
        stored: Stored,
    ) -> Self {
        Self { run: run.into(), sequence: 0, redactor, client, listeners, stored }
    }

    /// Stores the events from now on.
    pub(super) fn store_in(&self, writer: Option<&Writer>) {
        if let Some(writer) = writer {
            let _ = self.stored.set(writer.event_log());
        }
    }

    /// Waits while the client's queue is full. The job continues after the client disconnects.
    pub(super) fn emit(&mut self, emitted: impl Into<Emitted>) {
        self.sequence += 1;
        let event = masked::emitted(emitted, &self.redactor).into_inner();
        let mut event = RunEvent { run: self.run.clone(), sequence: self.sequence, event };
        if let Some(log) = self.stored.get()
            && let Err(error) = log.push(&event, &self.redactor)
        {
            tracing::warn!(%error, "an event is not stored");
        }
        let _ = self.listeners.send(event.clone());
        while let Err(refused) = self.client.try_send(event) {
            match refused {
                mpsc::error::TrySendError::Full(back) => {
                    event = back;
                    std::thread::sleep(RETRY_DELAY);
                }
                mpsc::error::TrySendError::Closed(_) => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::event::{Event, Phase};
    use secrecy::SecretString;

    use super::*;

    #[test]
    fn a_job_is_only_ever_asked_to_end_sooner() {
        let (cancel, level) = Cancel::new();
        cancel.abort();
        cancel.stop();
        assert_eq!(*level.borrow(), StopLevel::Abort);
    }

    #[tokio::test]
    async fn events_are_numbered_masked_and_survive_serialisation() {
        let redactor = Redactor::default();
        redactor.learn(&SecretString::from("s3cret-value"));
        let (client, mut events) = mpsc::channel(QUEUE_CAPACITY);
        let mut emitter =
            Emitter::new("eval-x", redactor, client, broadcast::channel(4).0, Stored::default());
        emitter.emit(Event::Phase(Phase::Survey));
        emitter.emit(Event::Warning("s3cret-value is in here".to_owned()));
        drop(emitter);
        let first = events.recv().await.expect("an event");
        assert_eq!((&*first.run, first.sequence), ("eval-x", 1));
        let second = events.recv().await.expect("an event");
        assert_eq!(second.sequence, 2);
        let text = serde_json::to_string(&second).expect("JSON");
        assert!(!text.contains("s3cret-value"), "{text}");
        assert_eq!(serde_json::from_str::<RunEvent>(&text).expect("an event"), second);
    }
}
