//! What all requests share.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use crate::auth::{Verifier, oauth::Provider};
use crate::rate::RateLimiter;
use crate::server::Server;
use crate::settings::Settings;

/// Sessions whose principal is remembered.
const MOST_SESSIONS: usize = 100_000;

pub(super) struct HttpState {
    pub(super) server: Arc<Server>,
    pub(super) verifier: Arc<Verifier>,
    pub(super) provider: Arc<Provider>,
    pub(super) limiter: RateLimiter,
    pub(super) address: SocketAddr,
    /// Whose session it is, by its id.
    sessions: Mutex<HashMap<String, String>>,
}

impl HttpState {
    pub(super) fn new(
        server: Arc<Server>,
        verifier: Arc<Verifier>,
        provider: Arc<Provider>,
        address: SocketAddr,
    ) -> Self {
        let limiter = RateLimiter::new(server.settings().rate_limit);
        Self { server, verifier, provider, limiter, address, sessions: Mutex::default() }
    }

    pub(super) fn settings(&self) -> &Settings {
        self.server.settings()
    }

    /// Binds a session to its principal.
    pub(super) fn bind(&self, session: &str, owner: &str) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if sessions.len() < MOST_SESSIONS {
            sessions.insert(session.to_owned(), owner.to_owned());
        }
    }

    pub(super) fn forget(&self, session: &str) {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).remove(session);
    }

    /// Whether a session belongs to this principal. An unknown session belongs to nobody.
    pub(super) fn is_bound(&self, session: &str, owner: &str) -> bool {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.get(session).is_some_and(|bound| bound == owner)
    }
}
