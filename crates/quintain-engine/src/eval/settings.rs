//! The choices of one run, from command line, suite and environment.

use std::time::Duration;

use crate::inquiry::AskMode;

/// How a plan is run.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Cases under way at the same time.
    pub concurrency: usize,
    /// Pause after each case; makes them run one after the other.
    pub delay: Option<Duration>,
    /// Limit for each case.
    pub timeout: Option<Duration>,
    /// Limit for the whole run.
    pub max_time: Option<Duration>,
    /// Cases per second at most.
    pub rate: Option<f64>,
    /// Further tries after a transport fault.
    pub retries: u32,
    /// A result with `isError` is an error of the case.
    pub fail_on_tool_error: bool,
    /// Snapshots that differ are written anew.
    pub update_snapshots: bool,
    /// Snapshots that do not exist yet are written.
    pub write_new_snapshots: bool,
    /// What is asked when a recorded run is judged again.
    pub ask: AskMode,
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
        }
    }
}
