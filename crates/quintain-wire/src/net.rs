//! The only HTTP client of all crates: it follows no redirects, limits the size of bodies, and sends requests only
//! to allowed destinations.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use reqwest::dns::Resolve;
use reqwest::{ClientBuilder, Request, RequestBuilder, Response, redirect};
use url::{Host, Url};

use crate::destination::{Destinations, NotAllowed};
use crate::resolver::CheckedResolver;
use crate::zone::is_local;

/// Why a body could not be read completely.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// The body, after decompression, exceeds the limit.
    #[error("the body is longer than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// The connection failed in the middle of the body.
    #[error("the body could not be read: {}", chain(.0))]
    Broken(#[from] reqwest::Error),
}

/// Why a request has no response.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// The destination is not allowed; nothing was sent.
    #[error(transparent)]
    NotAllowed(#[from] NotAllowed),
    /// The connection failed.
    #[error("{}", chain(.0))]
    Failed(reqwest::Error),
}

impl From<reqwest::Error> for SendError {
    fn from(error: reqwest::Error) -> Self {
        // Queries and user names can contain credentials.
        Self::Failed(error.without_url())
    }
}

/// A client that never follows a redirect: the caller decides whether credentials may be sent there. Every request
/// is checked, so a caller that follows redirects is checked at each of them.
#[derive(Debug, Clone)]
pub struct Client {
    inner: reqwest::Client,
    destinations: Destinations,
    /// Checks what names lead to; absent if nothing is refused.
    resolver: Option<Arc<CheckedResolver>>,
}

impl Client {
    /// A client for `to` that reaches only the given destinations.
    ///
    /// # Errors
    /// When TLS cannot be set up.
    pub fn new(
        connect_timeout: Duration,
        to: &Url,
        destinations: &Destinations,
    ) -> reqwest::Result<Self> {
        Self::build(builder(connect_timeout, to), destinations, None)
    }

    /// A client that finds addresses by a resolver of its own, if there is one.
    pub(crate) fn build(
        mut builder: ClientBuilder,
        destinations: &Destinations,
        resolver: Option<Arc<dyn Resolve>>,
    ) -> reqwest::Result<Self> {
        let destinations = destinations.clone();
        let checked = destinations
            .is_restricted()
            .then(|| Arc::new(CheckedResolver::new(destinations.clone(), resolver.clone())));
        if let Some(checked) = &checked {
            builder = builder.dns_resolver(checked.clone());
        } else if let Some(resolver) = resolver {
            builder = builder.dns_resolver(resolver);
        }
        Ok(Self { inner: builder.build()?, destinations, resolver: checked })
    }

    /// A request to complete and pass to [`Self::send`].
    pub fn request(&self, method: http::Method, url: Url) -> RequestBuilder {
        self.inner.request(method, url)
    }

    /// Sends a request of [`Self::request`].
    ///
    /// # Errors
    /// When the destination is not allowed, or does not respond.
    pub async fn send(&self, request: RequestBuilder) -> Result<Response, SendError> {
        self.execute(request.build()?).await
    }

    /// Sends a request.
    ///
    /// # Errors
    /// When the destination is not allowed, or does not respond.
    pub async fn execute(&self, request: Request) -> Result<Response, SendError> {
        self.destinations.check(request.url())?;
        if let (Some(resolver), Some(name)) = (&self.resolver, request.url().domain()) {
            resolver.checks(name);
        }
        Ok(self.inner.execute(request).await?)
    }
}

/// The common settings of all clients.
pub(crate) fn builder(connect_timeout: Duration, to: &Url) -> ClientBuilder {
    install_tls_provider();
    let mut builder = reqwest::Client::builder();
    if is_loopback(to) {
        // A proxy from the environment is for other hosts, and may not reach this machine.
        builder = builder.no_proxy();
    }
    builder
        .redirect(redirect::Policy::none())
        .connect_timeout(connect_timeout)
        .tcp_nodelay(true)
        .pool_max_idle_per_host(usize::MAX)
        .user_agent(concat!("quintain/", env!("CARGO_PKG_VERSION")))
}

/// Reads a body of at most `limit` bytes.
///
/// # Errors
/// When the body is too large or incomplete.
pub async fn bounded_body(mut response: Response, limit: usize) -> Result<Bytes, BodyError> {
    // Most bodies come in one piece, which is returned without a copy.
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

/// Messages of errors that only wrap a cause.
const WRAPPERS: [&str; 7] = [
    "error sending request",
    "client error (",
    "tcp connect error",
    "dns error",
    "error resolving DNS",
    "error decoding response body",
    "error reading a body from connection",
];

/// The message of an error followed by those of its causes, because reqwest hides the useful one; messages that only
/// wrap a cause are left out.
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
        Some(Host::Domain(name)) => is_local(name),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

fn install_tls_provider() {
    // Fails only if a provider is installed already, which works as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
