//! What a run may know of its surroundings. Only the binary reads them; everything else is told.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use quintain_wire::frame::{Recorder, Recording};
use quintain_wire::limits::Limits;
use quintain_wire::redact::Redactor;

use crate::policy::{Commands, Policy};

/// The surroundings of a run.
#[derive(Clone, Default)]
pub struct World {
    /// What the run may use of all this, and of the machine.
    pub policy: Arc<Policy>,
    /// The environment of this process; targets inherit a short list of it. Read by [`Self::variable`], which asks
    /// the policy.
    pub env: Arc<BTreeMap<String, String>>,
    /// Where relative paths of a request start.
    pub cwd: PathBuf,
    /// `PATH`, by which programs are found though the run may not see it; that of `env` if absent.
    pub search: Option<String>,
    /// Where logins are kept.
    pub state_dir: Option<PathBuf>,
    /// `MCP_REQUEST_TIMEOUT_MS`, if set.
    pub request_timeout: Option<Duration>,
    /// Use a stored login or fail; never anything else.
    pub stored_auth_only: bool,
    /// Knows every secret of the run.
    pub redactor: Redactor,
    /// Takes every frame, if anybody wants them.
    pub recorder: Option<Arc<dyn Recorder>>,
    /// Accept tasks instead of results, as far as the protocol wants that declared.
    pub tasks: bool,
    /// How much of a target's output is held.
    pub limits: Limits,
}

impl World {
    /// The recording that connections of this run write to.
    pub fn recording(&self) -> Recording {
        Recording::new(self.recorder.clone(), self.redactor.clone())
    }

    /// A variable of the environment, if it is set and the run may see it.
    pub fn variable(&self, name: &str) -> Option<&String> {
        self.env.get(name).filter(|_| self.policy.variable(name).is_ok())
    }

    /// Where logins are kept, if the run may use them.
    pub fn logins(&self) -> Option<&PathBuf> {
        self.state_dir.as_ref().filter(|_| self.policy.stored_logins().is_ok())
    }

    pub(crate) fn commands(&self) -> Commands {
        let search = self.search.as_ref().or_else(|| self.env.get("PATH"));
        Commands::new(self.policy.clone(), search)
    }

    /// The same surroundings as a policy shows them: variables that it does not name are gone.
    pub fn under(&self, policy: Arc<Policy>) -> Self {
        let search = self.search.clone().or_else(|| self.env.get("PATH").cloned());
        let env = Arc::new(policy.environment(&self.env));
        Self { policy, env, search, ..self.clone() }
    }
}
