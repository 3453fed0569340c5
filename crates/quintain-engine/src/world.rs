//! What a run may know of its surroundings. Only the binary reads them; everything else is told.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use quintain_wire::frame::{Recorder, Recording};
use quintain_wire::limits::Limits;
use quintain_wire::redact::Redactor;

/// The surroundings of a run.
#[derive(Clone, Default)]
pub struct World {
    /// The environment of this process; targets inherit a short list of it.
    pub env: Arc<BTreeMap<String, String>>,
    /// Where relative paths of a request start.
    pub cwd: PathBuf,
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
}
