//! What a run attacks: MCP servers, or a target that takes text.

use quintain_evidence::connection::McpTarget;
use quintain_redteam::suits::Receiver;
use quintain_suite::suite::{Suite, Target};

/// What a run attacks.
#[derive(Debug, Clone, Copy)]
pub enum AttackedTarget<'a> {
    Mcp(&'a McpTarget),
    Text(TextTarget<'a>),
}

/// A target that takes text, and the suite with its prompts.
#[derive(Clone, Copy)]
pub struct TextTarget<'a> {
    pub target: &'a Target,
    pub suite: &'a Suite,
}

impl std::fmt::Debug for TextTarget<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.target.name())
    }
}

impl<'a> AttackedTarget<'a> {
    pub fn receiver(self) -> Receiver {
        match self {
            Self::Mcp(_) => Receiver::Arguments,
            Self::Text(_) => Receiver::Model,
        }
    }

    pub fn as_mcp(self) -> Option<&'a McpTarget> {
        match self {
            Self::Mcp(target) => Some(target),
            Self::Text(_) => None,
        }
    }

    pub fn as_text(self) -> Option<TextTarget<'a>> {
        match self {
            Self::Mcp(_) => None,
            Self::Text(target) => Some(target),
        }
    }

    /// Whether findings have to name their server.
    pub(super) fn has_several_servers(self) -> bool {
        self.as_mcp().is_some_and(|target| target.servers.len() > 1)
    }
}
