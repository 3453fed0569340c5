//! Collects observations outside the wire and assigns them to attempts.

use std::sync::{Mutex, PoisonError};

use quintain_evidence::evidence::Observation;
use quintain_redteam::attack::Nonce;

use super::canary_files::PlantedFiles;
use super::listener::OpenListener;
use super::shims::{ShimFolder, Shims};

/// Maximum number of stored observations, to limit memory.
const MAX_KEPT: usize = 10_000;

/// All sources of observations.
pub(super) struct Observer {
    pub(super) listener: Option<OpenListener>,
    watched: Mutex<Watched>,
}

struct Watched {
    planted: Option<PlantedFiles>,
    shims: Option<Shims>,
    /// Observations that are not assigned to an attempt yet.
    seen: Vec<Observation>,
}

impl Observer {
    pub(super) fn new(
        planted: Option<PlantedFiles>,
        shims: Option<Shims>,
        listener: Option<OpenListener>,
    ) -> Self {
        let watched = Watched { planted, shims, seen: Vec::new() };
        Self { listener, watched: Mutex::new(watched) }
    }

    /// Collects new observations from all sources.
    pub(super) fn look(&self) {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        let Watched { planted, shims, seen } = &mut *watched;
        seen.extend(planted.iter_mut().flat_map(PlantedFiles::look));
        seen.extend(shims.iter_mut().flat_map(Shims::look));
        seen.extend(self.listener.iter().flat_map(OpenListener::look));
        seen.truncate(MAX_KEPT);
    }

    /// Where to add stand-ins for missing programs.
    pub(super) fn shim_folder(&self) -> Option<ShimFolder> {
        let watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        watched.shims.as_ref().map(|shims| shims.shim_folder().clone())
    }

    /// Takes the observations with this mark.
    pub(super) fn of(&self, nonce: &Nonce) -> Vec<Observation> {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        let (mine, others) =
            std::mem::take(&mut watched.seen).into_iter().partition(|one| carries(one, nonce));
        watched.seen = others;
        mine
    }

    /// Observations that no attempt has claimed.
    pub(super) fn unclaimed(&self) -> Vec<Observation> {
        let watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        watched.seen.clone()
    }

    /// Removes everything that was planted.
    pub(super) fn clear(&self) {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        (watched.planted, watched.shims) = (None, None);
    }

    /// Calls a function with the planted files, if there are any.
    pub(super) fn with_planted<T>(&self, work: impl FnOnce(&mut PlantedFiles) -> T) -> Option<T> {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        watched.planted.as_mut().map(work)
    }
}

pub(super) fn carries(observation: &Observation, nonce: &Nonce) -> bool {
    let nonce = nonce.as_str();
    match observation {
        Observation::File { path, content } => {
            content.contains(nonce) || path.to_string_lossy().contains(nonce)
        }
        Observation::Connection { request, headers } => {
            request.contains(nonce) || headers.iter().any(|line| line.contains(nonce))
        }
        Observation::Program { arguments, .. } => {
            arguments.iter().any(|argument| argument.contains(nonce))
        }
        Observation::Changed { .. } | Observation::Exit { .. } => false,
    }
}
