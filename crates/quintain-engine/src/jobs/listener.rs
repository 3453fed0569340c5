//! Additional listeners of a run in this process. They get the events from the moment they subscribe.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use quintain_evidence::event::RunEvent;
use tokio::sync::broadcast;

use super::prepare::Jobs;

/// The current runs of this process.
#[derive(Clone, Default)]
pub(super) struct Live(Arc<Mutex<HashMap<String, broadcast::Sender<RunEvent>>>>);

impl Live {
    pub(super) fn add(&self, run: &str, events: broadcast::Sender<RunEvent>) {
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // An ended job has dropped its emitter, so this map has the only sender left.
        runs.retain(|_, events| events.receiver_count() > 0 || events.strong_count() > 1);
        runs.insert(run.to_owned(), events);
    }

    fn get(&self, run: &str) -> Option<broadcast::Receiver<RunEvent>> {
        let runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        runs.get(run).map(broadcast::Sender::subscribe)
    }
}

/// An additional listener of a run.
pub struct Listener {
    live: Option<broadcast::Receiver<RunEvent>>,
}

impl Jobs {
    /// Listens to a current run of this process.
    pub fn listen(&self, run: &str) -> Listener {
        Listener { live: self.live.get(run) }
    }
}

impl Listener {
    /// The next event, or `None` when the run has ended.
    pub async fn next(&mut self) -> Option<RunEvent> {
        loop {
            match self.live.as_mut()?.recv().await {
                Ok(event) => return Some(event),
                Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }
}
