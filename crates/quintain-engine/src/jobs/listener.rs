//! Further listeners of a run under way in this process: they get the events from the moment they listen.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use quintain_evidence::event::RunEvent;
use tokio::sync::broadcast;

use super::prepare::Jobs;

/// The runs that are under way in this process.
#[derive(Clone, Default)]
pub(super) struct Live(Arc<Mutex<HashMap<String, broadcast::Sender<RunEvent>>>>);

impl Live {
    pub(super) fn add(&self, run: &str, events: broadcast::Sender<RunEvent>) {
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Jobs that ended have no emitter any more, so nobody but this map holds their channel.
        runs.retain(|_, events| events.receiver_count() > 0 || events.strong_count() > 1);
        runs.insert(run.to_owned(), events);
    }

    fn get(&self, run: &str) -> Option<broadcast::Receiver<RunEvent>> {
        let runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        runs.get(run).map(broadcast::Sender::subscribe)
    }
}

/// One more listener of a run.
pub struct Listener {
    live: Option<broadcast::Receiver<RunEvent>>,
}

impl Jobs {
    /// Listens to a run under way.
    pub fn listen(&self, run: &str) -> Listener {
        Listener { live: self.live.get(run) }
    }
}

impl Listener {
    /// The next event; none when the run has ended.
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
