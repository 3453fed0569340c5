//! Serves a capture as a mock server, over any transport, whichever it was recorded from.
//!
//! A request is matched by its method and parameters. Repeated requests get their answers in recorded order, and the last
//! answer again after that; what the server sent unasked is sent again at the same place.

mod canonical;
pub mod http;
mod message;
mod player;
mod reader;
mod script;
pub mod stdio;

use std::io::{self, BufRead};
use std::sync::Arc;

use self::script::Script;

/// A capture that can be served.
#[derive(Clone)]
pub struct Recorded {
    script: Arc<Script>,
    path: Option<String>,
}

/// Why a capture cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("{0}")]
    Read(#[from] io::Error),
    #[error("it contains no request of a client")]
    Empty,
}

impl Recorded {
    /// Reads a capture. Also returns what could not be read.
    ///
    /// # Errors
    /// When there is nothing to serve.
    pub fn load(file: impl BufRead) -> Result<(Self, Vec<String>), LoadError> {
        let content = reader::read(file)?;
        let script = Script::new(&content);
        if script.calls.is_empty() {
            return Err(LoadError::Empty);
        }
        let path = content.path.clone();
        Ok((Self { script: Arc::new(script), path }, content.problems))
    }

    /// Number of recorded requests.
    pub fn calls(&self) -> usize {
        self.script.calls.len()
    }

    /// The path of the recorded URL.
    pub fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }
}
