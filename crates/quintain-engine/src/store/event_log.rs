//! The events of a run on their way into the store, where a listener that comes late finds them. A case is stored
//! once: its event is only a number that refers to its row. The last event, `Finished`, follows from the summary.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use quintain_evidence::event::{Event, RunEvent};
use quintain_wire::redact::Redactor;
use serde::{Deserialize, Serialize};
use tokio::sync::{Notify, watch};

use super::StoreError;
use super::pack::Packed;

/// Events of one run that wait for the next transaction. Cheap to clone.
#[derive(Clone)]
pub struct EventLog(Arc<Shared>);

struct Shared {
    pending: Mutex<Pending>,
    /// Asks the writer for a transaction.
    flush: Notify,
    closed: watch::Sender<bool>,
}

struct Pending {
    entries: Vec<Entry>,
    /// Cases that have no row, by ordinal.
    without_row: HashSet<usize>,
}

enum Entry {
    Case { sequence: u64, ordinal: usize },
    Other { sequence: u64, content: Packed },
}

/// A row of the table: one event, or consecutive events of cases as pairs of sequence number and ordinal.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum StoredEvents {
    Cases(Vec<(u64, usize)>),
    One(Box<Event>),
}

impl EventLog {
    pub(super) fn new() -> Self {
        let pending = Pending { entries: Vec::new(), without_row: HashSet::new() };
        let closed = watch::Sender::new(false);
        Self(Arc::new(Shared { pending: Mutex::new(pending), flush: Notify::new(), closed }))
    }

    /// Takes an event whose case, if it has one, was handed to the writer before.
    pub fn push(&self, event: &RunEvent, redactor: &Redactor) -> Result<(), StoreError> {
        let sequence = event.sequence;
        let mut pending = self.lock();
        let whole = match &event.event {
            Event::Finished(_) => return Ok(()),
            Event::Case(case) if !pending.without_row.contains(&case.ordinal) => {
                pending.entries.push(Entry::Case { sequence, ordinal: case.ordinal });
                return Ok(());
            }
            whole => StoredEvents::One(Box::new(whole.clone())),
        };
        let content = Packed::json(&redactor.masked(&whole)?)?;
        pending.entries.push(Entry::Other { sequence, content });
        drop(pending);
        self.flush();
        Ok(())
    }

    /// Stores what is pending soon.
    pub fn flush(&self) {
        self.0.flush.notify_one();
    }

    /// Ends when nothing of the run is written any more.
    pub async fn closed(&self) {
        // The sender is in `self`.
        let _ = self.0.closed.subscribe().wait_for(|closed| *closed).await;
    }

    pub fn is_closed(&self) -> bool {
        *self.0.closed.borrow()
    }

    /// The event of this case is stored whole.
    pub(super) fn without_row(&self, ordinal: usize) {
        self.lock().without_row.insert(ordinal);
    }

    pub(super) async fn flush_requested(&self) {
        self.0.flush.notified().await;
    }

    pub(super) fn close(&self) {
        self.0.closed.send_replace(true);
    }

    /// Rows for what is pending, each with the sequence number of its last event.
    pub(super) fn take(&self) -> Vec<(i64, Packed)> {
        let entries = std::mem::take(&mut self.lock().entries);
        let (mut rows, mut cases) = (Vec::new(), Vec::new());
        for entry in entries {
            match entry {
                Entry::Case { sequence, ordinal } => cases.push((sequence, ordinal)),
                Entry::Other { sequence, content } => {
                    rows.extend(row(std::mem::take(&mut cases)));
                    rows.push((number(sequence), content));
                }
            }
        }
        rows.extend(row(cases));
        rows
    }

    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.0.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn row(cases: Vec<(u64, usize)>) -> Option<(i64, Packed)> {
    let (last, _) = *cases.last()?;
    // Numbers contain no secrets, and always have a JSON form.
    let content = serde_json::to_value(StoredEvents::Cases(cases)).ok()?;
    Some((number(last), Packed::stored(&content)))
}

fn number(sequence: u64) -> i64 {
    i64::try_from(sequence).unwrap_or(i64::MAX)
}
