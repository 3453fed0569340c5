//! Consents that ended because one of their tokens was misused. The list outlives a restart: access tokens do, too.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use super::private_file;

/// Consents that are remembered.
const MOST: usize = 10_000;
/// Longer than any access token of a consent is valid.
const LIFE_SECONDS: u64 = 24 * 3600;

pub(super) struct EndedFamilies {
    path: PathBuf,
    /// When each one ended, in seconds since 1970.
    ended: Mutex<HashMap<String, u64>>,
}

impl EndedFamilies {
    /// Reads the list. One that cannot be read counts as empty, with a warning in the log.
    pub(super) fn open(folder: &Path) -> Self {
        let path = folder.join("ended.json");
        let read = match std::fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| error.to_string()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(HashMap::new()),
            Err(error) => Err(error.to_string()),
        };
        let ended = read.unwrap_or_else(|error| {
            tracing::error!(error, "cannot read the consents that ended");
            HashMap::new()
        });
        Self { path, ended: Mutex::new(ended) }
    }

    fn families(&self) -> MutexGuard<'_, HashMap<String, u64>> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add(&self, family: &str) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let mut ended = self.families();
        ended.retain(|_, at| at.saturating_add(LIFE_SECONDS) > now);
        if ended.len() >= MOST {
            let oldest = ended.iter().min_by_key(|(_, at)| **at).map(|(family, _)| family.clone());
            oldest.and_then(|family| ended.remove(&family));
        }
        ended.insert(family.to_owned(), now);
        let written = serde_json::to_vec(&*ended).map_err(std::io::Error::other);
        if let Err(error) = written.and_then(|text| private_file::write(&self.path, &text)) {
            tracing::error!(%error, "cannot store that a consent ended");
        }
    }

    pub(super) fn contains(&self, family: &str) -> bool {
        self.families().contains_key(family)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ended_consent_stays_ended_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        EndedFamilies::open(folder.path()).add("a");
        let again = EndedFamilies::open(folder.path());
        assert!(again.contains("a") && !again.contains("b"));
    }
}
