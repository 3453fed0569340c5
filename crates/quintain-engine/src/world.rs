//! The environment of a run. Only the binary reads it from the system; everything else gets it as a [`World`].

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use quintain_wire::frame::{MemoryRecorder, Recording};
use quintain_wire::limits::Limits;
use quintain_wire::redact::Redactor;
use serde_json::Value;

use crate::policy::{Commands, Policy};

/// The model of a connected client (`sampling/createMessage`).
pub trait Sampler: Send + Sync {
    /// Sends the parameters of a request, and returns its result or why there is none.
    fn sample(&self, params: Value) -> BoxFuture<'_, Result<Value, String>>;
}

/// The environment of a run.
#[derive(Clone, Default)]
pub struct World {
    /// What the run may use of this environment and of the machine.
    pub policy: Arc<Policy>,
    /// Environment variables of this process. Targets inherit only a short list. Use [`Self::variable`] to read one: it
    /// checks the policy.
    pub env: Arc<BTreeMap<String, String>>,
    /// Base directory for relative paths of a request.
    pub cwd: PathBuf,
    /// `PATH` for finding programs, even if the run may not see the variable. Default: that of `env`.
    pub search: Option<String>,
    /// Where logins are stored.
    pub state_dir: Option<PathBuf>,
    /// Where responses of models are cached; none to ask them every time.
    pub model_cache: Option<PathBuf>,
    /// `MCP_REQUEST_TIMEOUT_MS`, if set.
    pub request_timeout: Option<Duration>,
    /// Use only stored logins, and fail without one.
    pub stored_auth_only: bool,
    /// Knows every secret of the run.
    pub redactor: Redactor,
    /// Records every frame, if set.
    pub recorder: Option<Arc<MemoryRecorder>>,
    /// Declare the capability to receive tasks instead of results.
    pub tasks: bool,
    /// Asks the model of the client that is connected to this process, if it offers one.
    pub sampler: Option<Arc<dyn Sampler>>,
    /// Size limits of a target's output.
    pub limits: Limits,
}

impl World {
    /// The recording that the connections of this run write to.
    pub fn recording(&self) -> Recording {
        Recording::new(self.recorder.clone(), self.redactor.clone())
    }

    /// A variable of the environment, if it is set and the run may see it.
    pub fn variable(&self, name: &str) -> Option<&String> {
        self.env.get(name).filter(|_| self.policy.variable(name).is_ok())
    }

    /// Where logins are stored, if the run may use them.
    pub fn logins(&self) -> Option<&PathBuf> {
        self.state_dir.as_ref().filter(|_| self.policy.stored_logins().is_ok())
    }

    pub(crate) fn commands(&self) -> Commands {
        let search = self.search.as_ref().or_else(|| self.env.get("PATH"));
        Commands::new(self.policy.clone(), search)
    }

    /// The same environment under a policy, without the variables that it does not allow.
    pub fn under(&self, policy: Arc<Policy>) -> Self {
        let search = self.search.clone().or_else(|| self.env.get("PATH").cloned());
        let env = Arc::new(policy.environment(&self.env));
        Self { policy, env, search, ..self.clone() }
    }
}
