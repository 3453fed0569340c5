//! Further listeners of a run: they get the stored events first and then those of the run under way, whether it runs in
//! this process or in another one that shares the store. Every event comes once and in order.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use quintain_evidence::event::{Event, RunEvent};
use tokio::sync::broadcast;

use super::events::Stored;
use crate::store::{LOCAL_OWNER, Run, RunState, Store, StoreError};

/// How long a listener waits before it looks into the store again.
const POLL: Duration = Duration::from_millis(200);
/// The same while it waits for events that are about to be written.
const SOON: Duration = Duration::from_millis(5);

/// Whether an owner may read a run of another one: only the command line may read all.
pub(super) fn may_read(reader: &str, owner: &str) -> bool {
    reader == LOCAL_OWNER || reader == owner
}

/// The current runs of this process.
#[derive(Clone, Default)]
pub(super) struct RunningJobs(Arc<Mutex<HashMap<String, EventSource>>>);

/// A run under way in this process.
#[derive(Clone)]
pub(super) struct EventSource {
    pub(super) owner: String,
    /// The job has the only strong one.
    pub(super) events: broadcast::WeakSender<RunEvent>,
    pub(super) stored: Stored,
}

impl RunningJobs {
    pub(super) fn add(&self, id: &str, run: EventSource) {
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        runs.retain(|_, run| run.events.strong_count() > 0);
        runs.insert(id.to_owned(), run);
    }

    fn get(&self, id: &str, owner: &str) -> Option<(broadcast::Receiver<RunEvent>, Stored)> {
        let runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let run = runs.get(id).filter(|run| may_read(owner, &run.owner))?;
        Some((run.events.upgrade()?.subscribe(), run.stored.clone()))
    }
}

/// An additional listener of a run.
pub struct EventListener {
    id: String,
    /// The user who listens.
    owner: String,
    store: Option<Store>,
    live: Option<broadcast::Receiver<RunEvent>>,
    stored: Stored,
    /// Read from the store and not yet handed out.
    read: VecDeque<RunEvent>,
    /// Taken from the run under way, while earlier events are still missing.
    early: Option<RunEvent>,
    /// The sequence number of the last event that was handed out.
    last: u64,
    ended: bool,
}

impl EventListener {
    pub(super) fn new(
        run: &str,
        after: u64,
        owner: &str,
        store: Option<Store>,
        running: &RunningJobs,
    ) -> Self {
        let live = running.get(run, owner);
        let (live, stored) =
            live.map_or_else(Default::default, |(live, stored)| (Some(live), stored));
        Self {
            id: run.to_owned(),
            owner: owner.to_owned(),
            store,
            live,
            stored,
            read: VecDeque::new(),
            early: None,
            last: after,
            ended: false,
        }
    }

    /// The next event; none when the run has ended, or when it is not known at all.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn next(&mut self) -> Result<Option<RunEvent>, StoreError> {
        loop {
            if self.ended {
                return Ok(None);
            }
            if let Some(event) = self.read.pop_front() {
                return Ok(Some(self.handed_out(event)));
            }
            match self.early.take() {
                Some(event) if event.sequence <= self.last => continue,
                Some(event) if event.sequence == self.last + 1 => {
                    return Ok(Some(self.handed_out(event)));
                }
                early => self.early = early,
            }
            // A job that is not stored has no other source of events.
            let is_stored = self.live.is_none() || self.stored.get().is_some();
            if is_stored && self.read_store().await? {
                continue;
            }
            if let Some(event) = self.early.take() {
                if is_stored && self.request_missing(&event).await {
                    self.early = Some(event);
                    continue;
                }
                // What is missing was never stored.
                return Ok(Some(self.handed_out(event)));
            }
            if let Some(live) = &mut self.live {
                match live.recv().await {
                    Ok(event) => self.early = Some(event),
                    Err(broadcast::error::RecvError::Lagged(_)) => {}
                    Err(broadcast::error::RecvError::Closed) => self.live = None,
                }
                continue;
            }
            if !self.wait_for_writer().await? {
                return Ok(None);
            }
        }
    }

    fn handed_out(&mut self, event: RunEvent) -> RunEvent {
        self.last = event.sequence;
        self.ended = matches!(event.event, Event::Finished(_));
        event
    }

    /// The run in the store, if it exists for the owner.
    async fn stored_run(&self) -> Result<Option<(&Store, Run)>, StoreError> {
        let Some(store) = &self.store else { return Ok(None) };
        match store.find(&self.id).await {
            Ok(run) => Ok(may_read(&self.owner, &run.owner).then_some((store, run))),
            Err(StoreError::NoSuchRun { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether the store has further events.
    async fn read_store(&mut self) -> Result<bool, StoreError> {
        let Some((store, run)) = self.stored_run().await? else { return Ok(false) };
        let events = store.events(&run, self.last).await?;
        self.read.extend(events);
        Ok(!self.read.is_empty())
    }

    /// Asks for the events between the last one and this one. False if they will not come.
    async fn request_missing(&self, early: &RunEvent) -> bool {
        let Some(log) = self.stored.get() else { return false };
        // `Finished` is not stored as an event, and comes after everything is.
        if matches!(early.event, Event::Finished(_)) || log.is_closed() {
            return false;
        }
        log.flush();
        tokio::time::sleep(SOON).await;
        true
    }

    /// Waits for a process that works on the run. False if none does and there is nothing more to hand out.
    async fn wait_for_writer(&mut self) -> Result<bool, StoreError> {
        let Some((_, run)) = self.stored_run().await? else { return Ok(false) };
        if matches!(run.state, RunState::Running | RunState::Queued) {
            tokio::time::sleep(POLL).await;
            return Ok(true);
        }
        // The last transaction of the run may be later than what was read.
        if self.read_store().await? {
            return Ok(true);
        }
        let Some(store) = &self.store else { return Ok(false) };
        let last = store.last_event(&run, self.last + 1).await?;
        let is_there = last.is_some();
        self.read.extend(last);
        Ok(is_there)
    }
}
