//! Announces that resources changed, to the connections that subscribed to them. Whoever changes something announces it;
//! nobody waits for a slow connection.

use tokio::sync::broadcast;

/// Changes that a slow connection may be behind before it misses some.
const CAPACITY: usize = 1024;

/// A resource that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Update {
    /// Whose resource it is.
    pub owner: String,
    /// Its path without the scheme.
    pub path: String,
}

/// The announcements.
#[derive(Debug, Clone)]
pub struct Updates(broadcast::Sender<Update>);

impl Default for Updates {
    fn default() -> Self {
        Self(broadcast::channel(CAPACITY).0)
    }
}

impl Updates {
    pub fn announce(&self, owner: &str, path: &str) {
        // Without a subscriber, nobody misses it.
        let _ = self.0.send(Update { owner: owner.to_owned(), path: path.to_owned() });
    }

    pub fn listen(&self) -> broadcast::Receiver<Update> {
        self.0.subscribe()
    }
}
