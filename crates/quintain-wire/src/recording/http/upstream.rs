//! Connections to the server behind the proxy. Every connection of a client has one of its own, so that closing the one
//! closes the other.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{Request, Response};
use http_body_util::combinators::BoxBody;
use hyper::body::Incoming;
use hyper::client::conn::http1::{Builder, SendRequest};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio_rustls::TlsConnector;
use url::{Host, Url};

const CONNECT: Duration = Duration::from_secs(30);
/// Servers close connections that were idle; shorter ones are not closed for that reason.
const IDLE: Duration = Duration::from_millis(500);
/// More than servers accept.
const MAX_HEADERS: usize = 1_000;

pub(in crate::recording) type Body = BoxBody<Bytes, hyper::Error>;

/// Why the server did not respond.
#[derive(Debug, thiserror::Error)]
pub(super) enum UpstreamError {
    #[error("cannot connect to {origin}: {why}")]
    Connect { origin: String, why: String },
    #[error("{origin} closed the connection without a response: {}", crate::net::chain(.why))]
    NoResponse { origin: String, why: hyper::Error },
    #[error("{origin} sent an invalid response: {}", crate::net::chain(.why))]
    Invalid { origin: String, why: hyper::Error },
    #[error("{origin} sent a response with both `Content-Length` and `Transfer-Encoding`")]
    TwoLengths { origin: String },
}

/// The server behind the proxy.
#[derive(Clone)]
pub(super) struct Upstream {
    host: String,
    port: u16,
    tls: Option<(TlsConnector, ServerName<'static>)>,
    origin: String,
}

impl Upstream {
    /// # Errors
    /// When the URL has no host, or TLS cannot be set up.
    pub(super) fn new(url: &Url) -> Result<Self, String> {
        let host = match url.host() {
            Some(Host::Domain(name)) => name.to_owned(),
            Some(Host::Ipv4(address)) => address.to_string(),
            Some(Host::Ipv6(address)) => address.to_string(),
            None => return Err("the URL has no host".to_owned()),
        };
        let port = url.port_or_known_default().ok_or("the URL has no port")?;
        let tls = if url.scheme() == "https" {
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            let config = rustls::ClientConfig::builder_with_provider(provider)
                .with_safe_default_protocol_versions()
                .and_then(rustls_platform_verifier::BuilderVerifierExt::with_platform_verifier);
            let mut config = config.map_err(|error| error.to_string())?.with_no_client_auth();
            config.alpn_protocols = vec![b"http/1.1".to_vec()];
            let name = ServerName::try_from(host.clone()).map_err(|error| error.to_string())?;
            Some((TlsConnector::from(Arc::new(config)), name))
        } else {
            None
        };
        Ok(Self { host, port, tls, origin: url.origin().ascii_serialization() })
    }

    async fn connect(&self) -> Result<Link, UpstreamError> {
        let failed = |why: String| UpstreamError::Connect { origin: self.origin.clone(), why };
        let connected = tokio::time::timeout(CONNECT, TcpStream::connect((&*self.host, self.port)));
        let stream = match connected.await {
            Ok(stream) => stream.map_err(|error| failed(error.to_string()))?,
            Err(_) => return Err(failed(format!("no response within {} s", CONNECT.as_secs()))),
        };
        // Without this, small writes wait for acknowledgements that the other side delays.
        let _ = stream.set_nodelay(true);
        match &self.tls {
            None => Link::open(stream).await,
            Some((connector, name)) => {
                let stream = connector.connect(name.clone(), stream).await;
                Link::open(stream.map_err(|error| failed(error.to_string()))?).await
            }
        }
        .map_err(|error| failed(crate::net::chain(&error)))
    }
}

/// An open connection; closed when dropped.
struct Link {
    sender: SendRequest<Body>,
    task: AbortHandle,
    used: Instant,
}

impl Link {
    async fn open(
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    ) -> hyper::Result<Self> {
        let (sender, connection) = Builder::new()
            .preserve_header_case(true)
            .max_headers(MAX_HEADERS)
            .handshake(TokioIo::new(stream))
            .await?;
        let task = tokio::spawn(async move {
            // Its error is also the error of the request.
            let _ = connection.await;
        });
        Ok(Self { sender, task: task.abort_handle(), used: Instant::now() })
    }

    /// Whether it can take the next request.
    async fn is_open(&mut self) -> bool {
        // The task of the connection notices here that the server closed it.
        tokio::task::yield_now().await;
        !self.sender.is_closed() && self.sender.ready().await.is_ok()
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The connection that belongs to one connection of a client.
pub(super) struct Partner {
    upstream: Upstream,
    link: Option<Link>,
}

impl Partner {
    pub(super) fn new(upstream: Upstream) -> Self {
        Self { upstream, link: None }
    }

    /// Sends a request. One that an idle connection did not take is sent again on a new connection.
    pub(super) async fn send(
        &mut self,
        request: impl Fn() -> Request<Body>,
    ) -> Result<Response<Incoming>, UpstreamError> {
        if let Some(mut link) = self.link.take() {
            let idle = link.used.elapsed() >= IDLE;
            if link.is_open().await {
                match link.sender.try_send_request(request()).await {
                    Ok(response) => return self.keep(link, response),
                    Err(mut error) => {
                        let unsent = error.take_message().is_some();
                        let error = error.into_error();
                        let is_taken = !unsent && (!idle || !is_closed(&error));
                        if is_taken {
                            return Err(self.no_response(error));
                        }
                    }
                }
            }
        }
        let mut link = self.upstream.connect().await?;
        match link.sender.send_request(request()).await {
            Ok(response) => self.keep(link, response),
            Err(error) => Err(self.no_response(error)),
        }
    }

    fn keep(
        &mut self,
        mut link: Link,
        response: Response<Incoming>,
    ) -> Result<Response<Incoming>, UpstreamError> {
        // Nobody knows which of the two says where the response ends, so the connection is closed.
        let has = |name| response.headers().contains_key(name);
        if has(CONTENT_LENGTH) && has(TRANSFER_ENCODING) {
            return Err(UpstreamError::TwoLengths { origin: self.upstream.origin.clone() });
        }
        link.used = Instant::now();
        self.link = Some(link);
        Ok(response)
    }

    fn no_response(&self, why: hyper::Error) -> UpstreamError {
        let origin = self.upstream.origin.clone();
        if why.is_parse() {
            UpstreamError::Invalid { origin, why }
        } else {
            UpstreamError::NoResponse { origin, why }
        }
    }
}

/// Whether the server closed the connection without a word.
fn is_closed(error: &hyper::Error) -> bool {
    let reset = || {
        let source = std::error::Error::source(error);
        let source = source.and_then(|source| source.downcast_ref::<std::io::Error>());
        source.is_some_and(|source| {
            use std::io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
            matches!(source.kind(), BrokenPipe | ConnectionAborted | ConnectionReset)
        })
    };
    error.is_canceled() || error.is_closed() || error.is_incomplete_message() || reset()
}
