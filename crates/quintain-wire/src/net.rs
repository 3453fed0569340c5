//! The one HTTP client of all rooms: no redirects followed, no idle surprises, bounded bodies, and no request to
//! where it may not go.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use reqwest::{ClientBuilder, Request, RequestBuilder, Response, redirect};
use url::{Host, Url};

use crate::destination::{Destinations, NotAllowed};

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

/// Why a request has no answer.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// It may not go there, and nothing was sent.
    #[error(transparent)]
    NotAllowed(#[from] NotAllowed),
    /// The connection failed.
    #[error("{}", chain(.0))]
    Failed(reqwest::Error),
}

impl From<reqwest::Error> for SendError {
    fn from(error: reqwest::Error) -> Self {
        // Queries and user names can hold credentials.
        Self::Failed(error.without_url())
    }
}

/// A client that never follows a redirect: whether credentials may go along is the caller's decision. Every
/// request is checked, so whoever follows a redirect is checked for each hop.
#[derive(Debug, Clone)]
pub struct Client {
    inner: reqwest::Client,
    destinations: Destinations,
}

impl Client {
    /// A client for `to` that reaches only the given destinations.
    ///
    /// # Errors
    /// When the TLS back end cannot be set up.
    pub fn new(
        connect_timeout: Duration,
        to: &Url,
        destinations: &Destinations,
    ) -> reqwest::Result<Self> {
        Self::build(builder(connect_timeout, to), destinations)
    }

    pub(crate) fn build(
        builder: ClientBuilder,
        destinations: &Destinations,
    ) -> reqwest::Result<Self> {
        Ok(Self { inner: builder.build()?, destinations: destinations.clone() })
    }

    /// A request to be completed and handed to [`Self::send`].
    pub fn request(&self, method: http::Method, url: Url) -> RequestBuilder {
        self.inner.request(method, url)
    }

    /// Sends what [`Self::request`] began.
    ///
    /// # Errors
    /// When it may not go there, or gets no answer.
    pub async fn send(&self, request: RequestBuilder) -> Result<Response, SendError> {
        self.execute(request.build()?).await
    }

    /// Sends a request.
    ///
    /// # Errors
    /// When it may not go there, or gets no answer.
    pub async fn execute(&self, request: Request) -> Result<Response, SendError> {
        self.destinations.check(request.url())?;
        Ok(self.inner.execute(request).await?)
    }
}

/// What every client is built of.
pub(crate) fn builder(connect_timeout: Duration, to: &Url) -> ClientBuilder {
    install_tls_provider();
    let mut builder = reqwest::Client::builder();
    if is_loopback(to) {
        // A proxy of the environment is for the world outside, and may not reach this machine.
        builder = builder.no_proxy();
    }
    builder
        .redirect(redirect::Policy::none())
        .connect_timeout(connect_timeout)
        .tcp_nodelay(true)
        .pool_max_idle_per_host(usize::MAX)
        .user_agent(concat!("quintain/", env!("CARGO_PKG_VERSION")))
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

/// Messages of errors that only say that something below them failed.
const WRAPPERS: [&str; 7] = [
    "error sending request",
    "client error (",
    "tcp connect error",
    "dns error",
    "error resolving DNS",
    "error decoding response body",
    "error reading a body from connection",
];

/// The message of an error followed by those of its causes, since reqwest hides the useful one;
/// what only wraps a cause is left out.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = String::new();
    let mut next = Some(error);
    while let Some(error) = next {
        next = error.source();
        let message = error.to_string();
        let wraps = next.is_some() && WRAPPERS.iter().any(|words| message.starts_with(words));
        if !wraps && !text.contains(&message) {
            if !text.is_empty() {
                text.push_str(": ");
            }
            text.push_str(&message);
        }
    }
    text
}

/// Whether a URL names this machine.
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

fn install_tls_provider() {
    // Fails only if a provider is installed already, which serves us just as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
