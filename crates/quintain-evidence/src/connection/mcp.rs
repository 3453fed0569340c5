//! One or several MCP servers, and the protocol settings for them.

use std::time::Duration;

use serde_json::{Map, Value};

use super::{Responders, Server};
use crate::code::Code;

/// One or several MCP servers tested as one.
#[derive(Debug, Clone)]
pub struct McpTarget {
    pub enabled: bool,
    pub servers: Vec<Server>,
    pub filter: ToolFilter,
    /// Merged into the arguments of every call; arguments of the call take precedence.
    pub default_args: Map<String, Value>,
    pub timeouts: Timeouts,
    pub ping_on_connect: bool,
    pub debug: Option<bool>,
    pub verbose: Option<bool>,
    pub protocol: ProtocolChoice,
    pub respond: Responders,
    /// Turns the result of a tool call into the response.
    pub transform_response: Option<Code>,
}

/// Which tools of a target are visible.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolFilter {
    pub only: Option<Vec<String>>,
    pub exclude: Vec<String>,
}

impl ToolFilter {
    /// Exclusion takes precedence over inclusion.
    pub fn allows(&self, tool: &str) -> bool {
        let listed = self.only.as_ref().is_none_or(|only| only.iter().any(|name| name == tool));
        listed && !self.exclude.iter().any(|name| name == tool)
    }
}

/// `None` means: from the environment, or the default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Timeouts {
    pub request: Option<Duration>,
    pub reset_on_progress: bool,
    pub max_total: Option<Duration>,
}

/// Which generation of the protocol to use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ProtocolChoice {
    #[default]
    Auto,
    /// The newest version that begins with `initialize`.
    Legacy,
    /// The stateless protocol.
    Modern,
    /// Only this version.
    Exact(String),
}
