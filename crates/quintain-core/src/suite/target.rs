//! A target: what is under test. Only MCP servers are understood so far, others are kept by id.

use std::time::Duration;

use quintain_source::{Node, Span};
use serde_json::{Map, Value};

use super::{Responders, Server};

#[derive(Debug, Clone)]
pub struct Target {
    /// As written: `mcp`, `mcp:payments`, `openai:gpt-5`, ...
    pub id: String,
    pub label: Option<String>,
    pub kind: TargetKind,
    pub span: Span,
}

impl Target {
    /// What reports and `--target` call it.
    pub fn name(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.id)
    }

    pub fn as_mcp(&self) -> Option<&McpTarget> {
        if let TargetKind::Mcp(target) = &self.kind { Some(target) } else { None }
    }
}

#[derive(Debug, Clone)]
pub enum TargetKind {
    Mcp(Box<McpTarget>),
    /// A provider that something else may understand.
    Other {
        id: String,
    },
}

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
    /// `transformResponse` as written; not interpreted here.
    pub transform_response: Option<Node>,
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
