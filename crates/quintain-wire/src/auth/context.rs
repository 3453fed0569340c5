//! What every method of authentication needs.

use std::path::PathBuf;
use std::time::Duration;

use super::Clock;
use crate::destination::Destinations;
use crate::redact::Redactor;

/// What all methods of authentication need.
#[derive(Clone, Debug)]
pub struct AuthContext {
    /// Learns every secret and every token.
    pub redactor: Redactor,
    /// Time limit of one exchange with an authorization server, and of one discovery.
    pub timeout: Duration,
    /// Folder of stored logins; nothing is stored without it.
    pub state_dir: Option<PathBuf>,
    /// The clock.
    pub clock: Clock,
    /// Allows plain http to hosts other than this machine.
    pub allow_plain_http: bool,
    /// Allowed destinations of requests.
    pub destinations: Destinations,
}

impl AuthContext {
    /// A context that stores nothing, with a time limit of 30 s.
    pub fn new(redactor: Redactor) -> Self {
        Self {
            redactor,
            timeout: Duration::from_secs(30),
            state_dir: None,
            clock: Clock::default(),
            allow_plain_http: false,
            destinations: Destinations::everywhere(),
        }
    }
}
