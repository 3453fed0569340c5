//! A small OAuth 2.1 authorisation server for clients of this server. Users prove who they are with a token of
//! `quintain token new`, or at an external issuer if one is configured.

mod authorize;
mod callback;
mod client_redirect;
mod error;
mod metadata;
mod page;
mod provider;
mod records;
mod register;
mod token;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};

pub use provider::Provider;

/// Most bytes of a request to these endpoints.
const MOST_BYTES: usize = 64 * 1024;

/// The endpoints and the documents that describe them.
pub fn routes(provider: Arc<Provider>) -> Router {
    Router::new()
        .route("/mcp/oauth/authorize", get(authorize::show).post(authorize::decide))
        .route("/mcp/oauth/callback", get(callback::callback))
        .route("/mcp/oauth/token", post(token::token))
        .route("/mcp/oauth/register", post(register::register))
        .route("/.well-known/oauth-protected-resource", get(metadata::resource))
        .route("/.well-known/oauth-protected-resource/{*path}", get(metadata::resource))
        .route("/.well-known/oauth-authorization-server", get(metadata::server))
        .route("/.well-known/oauth-authorization-server/{*path}", get(metadata::server))
        .layer(DefaultBodyLimit::max(MOST_BYTES))
        .with_state(provider)
}
