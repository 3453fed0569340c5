//! The events that a job emits, and how a client ends a job.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::Poll;

use futures_util::task::AtomicWaker;
use quintain_evidence::event::RunEvent;
use quintain_wire::redact::Redactor;
use tokio::sync::{broadcast, mpsc, watch};

use crate::masked::{self, Emitted};
use crate::store::{EventLog, Writer};

/// Number of unread events of the client at which the job pauses.
const BACKLOG: usize = 16;

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

/// Counts the events that the client has not read yet.
#[derive(Default)]
pub(super) struct Backlog {
    unread: AtomicUsize,
    is_ignored: AtomicBool,
    job: AtomicWaker,
}

impl Backlog {
    fn add(&self) {
        self.unread.fetch_add(1, Ordering::AcqRel);
    }

    /// The client read an event.
    pub(super) fn remove(&self) {
        self.unread.fetch_sub(1, Ordering::AcqRel);
        self.job.wake();
    }

    /// The client will read no further event.
    pub(super) fn ignore(&self) {
        self.is_ignored.store(true, Ordering::Release);
        self.job.wake();
    }

    fn is_full(&self) -> bool {
        !self.is_ignored.load(Ordering::Acquire) && self.unread.load(Ordering::Acquire) >= BACKLOG
    }
}

/// Pauses the work of a job while its client lags behind, so that unread events do not fill the memory. The thread of
/// the job stays free: connections are read, and the job can be cancelled. After `stopping`, nothing is paused.
pub(super) async fn paced<T>(
    work: impl Future<Output = T>,
    backlog: &Backlog,
    stopping: impl Future<Output = ()>,
) -> T {
    let (mut work, mut stopping) = (pin!(work), pin!(stopping));
    let mut is_stopping = false;
    poll_fn(move |context| {
        is_stopping = is_stopping || stopping.as_mut().poll(context).is_ready();
        if !is_stopping && backlog.is_full() {
            backlog.job.register(context.waker());
            // The client may have read in between.
            if backlog.is_full() {
                return Poll::Pending;
            }
        }
        work.as_mut().poll(context)
    })
    .await
}

/// Sends events to the client.
pub(super) struct ClientQueue {
    pub(super) events: mpsc::UnboundedSender<RunEvent>,
    pub(super) backlog: Arc<Backlog>,
}

/// Where the events of a job are stored, once it has a run in the store.
pub(super) type Stored = Arc<OnceLock<EventLog>>;

/// Numbers events, masks secrets in them, stores them and hands them on.
pub(super) struct Emitter {
    run: Arc<str>,
    sequence: u64,
    redactor: Redactor,
    client: ClientQueue,
    listeners: broadcast::Sender<RunEvent>,
    stored: Stored,
}

impl Emitter {
    pub(super) fn new(
        run: &str,
        redactor: Redactor,
        client: ClientQueue,
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

    /// The job continues after the client disconnects.
    pub(super) fn emit(&mut self, emitted: impl Into<Emitted>) {
        self.sequence += 1;
        let event = masked::emitted(emitted, &self.redactor).into_inner();
        let event = RunEvent { run: self.run.clone(), sequence: self.sequence, event };
        if let Some(log) = self.stored.get()
            && let Err(error) = log.push(&event, &self.redactor)
        {
            tracing::warn!(%error, "an event is not stored");
        }
        let _ = self.listeners.send(event.clone());
        // Counted first: the client may read the event at once.
        self.client.backlog.add();
        if self.client.events.send(event).is_err() {
            self.client.backlog.ignore();
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
        let (client, mut events) = mpsc::unbounded_channel();
        let client = ClientQueue { events: client, backlog: Arc::default() };
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
