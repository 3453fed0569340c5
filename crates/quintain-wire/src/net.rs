//! The one HTTP client of the crate: no redirects followed, no idle surprises, bounded bodies.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use reqwest::{Client, Response, redirect};

/// Why a body could not be read to its end.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// The body, after decompression, is longer than the caller wants to hold.
    #[error("the body is longer than {limit} bytes")]
    TooLarge {
        /// The cap that was hit.
        limit: usize,
    },
    /// The connection failed in the middle of the body.
    #[error("the body could not be read: {}", chain(.0))]
    Broken(#[from] reqwest::Error),
}

/// A client that never follows a redirect: whether credentials may go along is the caller's decision.
///
/// # Errors
/// When the TLS back end cannot be set up.
pub fn client(connect_timeout: Duration) -> reqwest::Result<Client> {
    install_tls_provider();
    Client::builder()
        .redirect(redirect::Policy::none())
        .connect_timeout(connect_timeout)
        .tcp_nodelay(true)
        .pool_max_idle_per_host(usize::MAX)
        .user_agent(concat!("quintain/", env!("CARGO_PKG_VERSION")))
        .build()
}

/// Reads a body, giving up as soon as it exceeds `limit` bytes.
///
/// # Errors
/// When the body is too large or breaks off.
pub async fn bounded_body(mut response: Response, limit: usize) -> Result<Bytes, BodyError> {
    // Most bodies come in one piece, which is then handed on without a copy.
    let mut first = Bytes::new();
    let mut body = BytesMut::new();
    while let Some(chunk) = response.chunk().await? {
        if first.len() + body.len() + chunk.len() > limit {
            return Err(BodyError::TooLarge { limit });
        }
        if first.is_empty() && body.is_empty() {
            first = chunk;
            continue;
        }
        body.extend_from_slice(&std::mem::take(&mut first));
        body.extend_from_slice(&chunk);
    }
    Ok(if body.is_empty() { first } else { body.freeze() })
}

/// The message of an error followed by those of its causes, since reqwest hides the useful one.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let message = next.to_string();
        if !text.contains(&message) {
            text.push_str(": ");
            text.push_str(&message);
        }
        cause = next.source();
    }
    text
}

fn install_tls_provider() {
    // Fails only if a provider is installed already, which serves us just as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
