//! The user's file as the program understands it.

mod auth;
mod respond;
mod server;
mod target;

pub use auth::{ApiKeyPlacement, Auth, ClientAuth, Grant, OAuth};
pub use respond::{Elicitation, ElicitationAction, ElicitationReply, Responders, Root, Sampling};
pub use server::{Launch, Runtime, Server, Transport};
pub use target::{McpTarget, ProtocolChoice, Target, TargetKind, Timeouts, ToolFilter};

use quintain_source::Node;

/// Everything that one or several suite files declare.
#[derive(Debug, Clone, Default)]
pub struct Suite {
    pub description: Option<String>,
    pub targets: Vec<Target>,
    /// The documents as read, for the parts that are interpreted later (tests, redteam, ...).
    pub documents: Vec<Node>,
}
