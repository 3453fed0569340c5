//! How to connect to servers: command or URL, credentials, and the client features offered to them.

mod auth;
mod mcp;
mod respond;
mod secrets;
mod server;

pub use auth::{ApiKeyPlacement, Auth, ClientAuth, Grant, IdentityProvider, OAuth, SigningKey};
pub use mcp::{McpTarget, ProtocolChoice, Timeouts, ToolFilter};
pub use respond::{Elicitation, ElicitationAction, ElicitationReply, Responders, Root, Sampling};
pub use secrets::{of_auth, of_launch, of_pairs};
pub use server::{Launch, Runtime, Server, Transport};
