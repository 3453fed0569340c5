//! The settings of a run, from command line, suite and environment.

use std::time::Duration;

use crate::inquiry::AskMode;
use crate::models::ModelSettings;

/// How to run a plan.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// Maximum number of concurrent cases.
    pub concurrency: usize,
    /// Pause after each case. Cases then run one after the other.
    pub delay: Option<Duration>,
    /// Time limit for each case.
    pub timeout: Option<Duration>,
    /// Time limit for the whole run.
    pub max_time: Option<Duration>,
    /// Maximum number of cases per second.
    pub rate: Option<f64>,
    /// Number of retries after a transport failure.
    pub retries: u32,
    /// Treat a result with `isError` as an error of the case.
    pub fail_on_tool_error: bool,
    /// Overwrite snapshots that differ.
    pub update_snapshots: bool,
    /// Write snapshots that do not exist yet.
    pub write_new_snapshots: bool,
    /// Which questions to ask when a stored run is judged again.
    pub ask: AskMode,
    /// The models that answer questions which name none.
    pub models: ModelSettings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            concurrency: 4,
            delay: None,
            timeout: None,
            max_time: None,
            rate: None,
            retries: 0,
            fail_on_tool_error: false,
            update_snapshots: false,
            write_new_snapshots: true,
            ask: AskMode::default(),
            models: ModelSettings::default(),
        }
    }
}
