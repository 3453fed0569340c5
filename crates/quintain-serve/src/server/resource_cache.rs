//! Contents of resources for a limited time. Only contents are cached, never errors, and each principal sees only what it
//! read itself.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::resource::Contents;

/// Cached contents of one principal; the oldest make room.
const MOST_ENTRIES: usize = 256;

pub(super) struct ResourceCache {
    ttl: Duration,
    entries: Mutex<HashMap<(String, String), (Instant, Contents)>>,
}

impl ResourceCache {
    pub(super) fn new(ttl: Duration) -> Self {
        Self { ttl, entries: Mutex::default() }
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<(String, String), (Instant, Contents)>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn get(&self, owner: &str, path: &str) -> Option<Contents> {
        let key = (owner.to_owned(), path.to_owned());
        let mut entries = self.entries();
        let (since, contents) = entries.get(&key)?;
        if since.elapsed() < self.ttl {
            return Some(contents.clone());
        }
        entries.remove(&key);
        None
    }

    pub(super) fn put(&self, owner: &str, path: &str, contents: Contents) {
        if self.ttl.is_zero() {
            return;
        }
        let mut entries = self.entries();
        if entries.len() >= MOST_ENTRIES {
            let oldest =
                entries.iter().min_by_key(|(_, (since, _))| *since).map(|(key, _)| key.clone());
            if let Some(oldest) = oldest {
                entries.remove(&oldest);
            }
        }
        entries.insert((owner.to_owned(), path.to_owned()), (Instant::now(), contents));
    }

    /// Forgets everything after something was written. What one principal wrote may be in the lists of an administrator.
    pub(super) fn clear(&self) {
        self.entries().clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(text: &str) -> Contents {
        Contents { mime_type: "text/plain".into(), text: text.into(), version: "1".into() }
    }

    #[test]
    fn a_principal_sees_only_its_own_contents_until_something_is_written() {
        let cache = ResourceCache::new(Duration::from_mins(1));
        cache.put("alice", "datasets/a", contents("secret"));
        assert_eq!(cache.get("alice", "datasets/a"), Some(contents("secret")));
        assert_eq!(cache.get("bob", "datasets/a"), None);
        cache.clear();
        assert_eq!(cache.get("alice", "datasets/a"), None);
    }

    #[test]
    fn a_lifetime_of_zero_caches_nothing() {
        let cache = ResourceCache::new(Duration::ZERO);
        cache.put("alice", "datasets/a", contents("x"));
        assert_eq!(cache.get("alice", "datasets/a"), None);
    }
}
