//! Errors that prevent the practice target from starting or running. Failures of a tool call are
//! responses, see `tool_error`.

use std::path::PathBuf;

/// The server could not start or had to stop.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DemoError {
    #[error("no user `{0}` in the demo data")]
    UnknownUser(String),
    #[error("cannot prepare the data directory {path}")]
    DataDirectory { path: PathBuf, source: std::io::Error },
    #[error("cannot create a temporary directory")]
    TemporaryDirectory(#[source] std::io::Error),
    #[error("cannot prepare the database")]
    Database(#[from] sqlx::Error),
    #[error("the client did not open an MCP session")]
    Handshake(#[source] Box<rmcp::service::ServerInitializeError>),
    #[error("the server task failed")]
    Task(#[from] tokio::task::JoinError),
    #[error("cannot listen on {address}")]
    Bind { address: std::net::SocketAddr, source: std::io::Error },
}
