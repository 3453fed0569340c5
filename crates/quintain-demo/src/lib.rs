//! The practice target of Quintain: TechMart, a payments server with an MCP interface.
//!
//! It has two twins with the same tools. The vulnerable twin has real, documented weaknesses
//! (see [`weaknesses`]); the patched twin does the same work correctly. All data is fictional, is stored
//! in a separate directory and is removed when the server stops.

mod auth;
mod config;
pub mod credentials;
mod error;
mod http;
mod identity;
mod logging;
mod prompts;
mod resources;
mod server;
mod session;
mod store;
mod tool_error;
mod tools;
mod weaknesses;

use rmcp::{ServiceExt, service::ServerInitializeError, transport::stdio_pipes};
use tokio::io::{AsyncRead, AsyncWrite};

pub use crate::{
    config::{ApiKeyPlacement, Auth, DemoConfig, Twin},
    error::DemoError,
    http::{Running, serve_http},
    weaknesses::{PlantedPlace, PlantedWeakness, weaknesses},
};

/// Serves MCP on the standard streams until the client closes them.
pub async fn serve_stdio(config: DemoConfig) -> Result<(), DemoError> {
    serve_transport(config, stdio_pipes()).await
}

/// Serves MCP on one byte stream, such as one end of [`tokio::io::duplex`].
pub async fn serve_stream<S>(config: DemoConfig, stream: S) -> Result<(), DemoError>
where
    S: AsyncRead + AsyncWrite + Send + 'static,
{
    serve_transport(config, tokio::io::split(stream)).await
}

async fn serve_transport<R, W>(config: DemoConfig, transport: (R, W)) -> Result<(), DemoError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let demo = session::Demo::open(&config, tools::router(config.twin)).await?;
    let outcome = match demo.session(demo.caller().clone()).serve(transport).await {
        Ok(running) => running.waiting().await.map(drop).map_err(DemoError::from),
        // A client that disconnects before it sends anything is not an error.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(DemoError::Handshake(Box::new(error))),
    };
    demo.store().close().await;
    outcome
}
