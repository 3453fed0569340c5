//! Runs the user's JavaScript in process, with limits on time and memory. The caller provides texts and values:
//! this crate reads no file, opens no connection and knows nothing about the protocol.

mod clock;
mod convert;
mod engine;
mod error;
mod exports;
mod failure;
mod host;
mod inline;
mod pattern;
mod pool;
mod script;
mod source;
mod translate;

use std::collections::BTreeMap;
use std::time::Duration;

pub use error::ScriptError;
pub use pattern::Pattern;
pub use script::Script;

/// Limits of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub time: Duration,
    /// Bytes of the engine's heap.
    pub memory: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { time: Duration::from_secs(5), memory: 128 << 20 }
    }
}

/// What the code can see besides its arguments.
#[derive(Debug, Clone, Default)]
pub struct Host {
    pub limits: Limits,
    /// `process.env`.
    pub env: BTreeMap<String, String>,
}
