//! One or several MCP servers, and how to speak to them.

use std::time::Duration;

use serde_json::{Map, Value};

use super::{Responders, Server};
use crate::code::Code;

/// One or several MCP servers that are tested as one.
#[derive(Debug, Clone)]
pub struct McpTarget {
    pub enabled: bool,
    pub servers: Vec<Server>,
    pub filter: ToolFilter,
    /// Merged under the arguments of every call; the call wins.
    pub default_args: Map<String, Value>,
    pub timeouts: Timeouts,
    pub ping_on_connect: bool,
    pub debug: Option<bool>,
    pub verbose: Option<bool>,
    pub protocol: ProtocolChoice,
    pub respond: Responders,
    /// Makes the answer of a tool call out of its result.
    pub transform_response: Option<Code>,
}

/// Which tools a target is known to have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolFilter {
    pub only: Option<Vec<String>>,
    pub exclude: Vec<String>,
}

impl ToolFilter {
    /// Exclusion wins over inclusion.
    pub fn allows(&self, tool: &str) -> bool {
        let listed = self.only.as_ref().is_none_or(|only| only.iter().any(|name| name == tool));
        listed && !self.exclude.iter().any(|name| name == tool)
    }
}

/// `None` leaves it to the environment or to the default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Timeouts {
    pub request: Option<Duration>,
    pub reset_on_progress: bool,
    pub max_total: Option<Duration>,
}

/// Which generation of the protocol to speak.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ProtocolChoice {
    #[default]
    Auto,
    /// The newest version that starts with `initialize`.
    Legacy,
    /// The stateless protocol.
    Modern,
    /// This version and no other.
    Exact(String),
}
