//! Transports move bytes between us and a target; what the bytes mean is none of their business.

pub mod courier;
pub mod events;
pub mod http;
pub mod lines;
mod outbox;
pub mod sse;
pub mod stdio;

use ::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use tokio::sync::oneshot;

use crate::auth::AuthError;
use crate::destination::NotAllowed;
use crate::message::{Id, Oversized};

/// Headers that go with a message over HTTP.
pub type Headers = Vec<(HeaderName, HeaderValue)>;

/// One message on its way to the target.
#[derive(Debug, Default)]
pub struct Outgoing {
    /// The message without framing.
    pub bytes: Bytes,
    /// The id whose response we wait for, if any.
    pub expects: Option<Id>,
    /// Headers that go with it over HTTP; other transports ignore them.
    pub headers: Headers,
    /// Whether the answer may open a session (`initialize`).
    pub opens_session: bool,
    /// Told once the target has taken the message, or that it has not.
    pub delivered: Option<oneshot::Sender<Result<(), TransportError>>>,
}

/// Moves messages to a target; what comes back goes to the [`Sink`] it was opened with.
pub trait Transport: Send + Sync {
    /// Queues a message and returns at once; failures reach the sink.
    fn send(&self, outgoing: Outgoing);

    /// Nobody waits for `id` any more: release what is held for it.
    fn abandon(&self, _id: &Id) {}

    /// Opens the stream for messages that answer no request, where the transport has one; done
    /// when it is open, refused, or not opened soon.
    fn listen(&self, _headers: Headers) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }

    /// Ends the conversation politely, then firmly.
    fn close(&self, headers: Headers) -> BoxFuture<'_, ()>;

    /// The end of what the target wrote to stderr, if it has one.
    fn stderr(&self) -> Option<String> {
        None
    }

    /// Whether messages travel as HTTP requests, which decides how requests are cancelled and
    /// whether headers mirror the body.
    fn is_http(&self) -> bool {
        false
    }

    /// Sends an HTTP request of any shape, for deliberate faults.
    fn raw_http(&self, _request: RawHttp) -> BoxFuture<'_, Result<RawAnswer, TransportError>> {
        Box::pin(async { Err(TransportError::NotHttp) })
    }
}

/// Receives what a transport reads.
pub trait Sink: Send + Sync {
    /// A whole message arrived.
    fn received(&self, frame: Bytes);

    /// A message exceeded the limit and was skipped; the transport goes on.
    fn oversized(&self, message: Oversized);

    /// The request `id` will not be answered on this transport.
    fn failed(&self, id: &Id, error: TransportError);

    /// Whether somebody still waits for `id`.
    fn awaits(&self, id: &Id) -> bool;

    /// Nothing more will come.
    fn closed(&self, error: TransportError);
}

/// An HTTP request that need not make sense.
#[derive(Debug, Clone)]
pub struct RawHttp {
    /// The method.
    pub method: ::http::Method,
    /// Headers that replace ours of the same name; an empty value removes the header.
    pub headers: HeaderMap,
    /// The body, byte for byte.
    pub body: Bytes,
    /// Whether the target's credentials and session go along.
    pub with_credentials: bool,
}

/// What came back for a [`RawHttp`].
#[derive(Debug, Clone)]
pub struct RawAnswer {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// As much of the body as the limits allow.
    pub body: Bytes,
}

/// Why a transport cannot do its work.
#[derive(Debug, Clone, thiserror::Error)]
pub enum TransportError {
    /// The command could not be started.
    #[error("cannot start `{command}`: {why}")]
    Spawn {
        /// The command as given.
        command: String,
        /// The system's reason.
        why: String,
    },
    /// The process ended.
    #[error("the target exited ({status}){}", last_lines(.stderr))]
    Exited {
        /// Exit status in words.
        status: String,
        /// The end of its stderr.
        stderr: String,
    },
    /// The target closed its output.
    #[error("the target closed its output{}", last_lines(.stderr))]
    OutputClosed {
        /// The end of its stderr.
        stderr: String,
    },
    /// A line, event or body exceeded the cap.
    #[error("the target sent a message longer than {}", size(*.limit))]
    TooLarge {
        /// The cap.
        limit: usize,
    },
    /// A line or event was so long that skipping it was given up, and with it the connection.
    #[error("the target sent a message longer than {}, which closed the connection", size(*.limit))]
    Endless {
        /// The cap on what is skipped.
        limit: usize,
    },
    /// The target does not read what we send.
    #[error("the target does not read its input: {queued} bytes are waiting")]
    NotReading {
        /// Bytes queued.
        queued: usize,
    },
    /// Reading or writing failed.
    #[error("the connection broke: {0}")]
    Broken(String),
    /// No connection could be made.
    #[error("cannot reach {url}: {why}")]
    Unreachable {
        /// Where.
        url: String,
        /// The cause, innermost last.
        why: String,
    },
    /// The policy does not let us go there; nothing was sent.
    #[error(transparent)]
    NotAllowed(NotAllowed),
    /// An HTTP status that is an error.
    #[error("{url} answered {status}{}", excerpt(.body))]
    Status {
        /// Where.
        url: String,
        /// The status.
        status: StatusCode,
        /// The body, possibly cut.
        body: Bytes,
    },
    /// A redirect we do not follow.
    #[error("{url} redirects to {to}, another origin: give that URL if you trust it")]
    Redirected {
        /// Who redirects.
        url: String,
        /// Where to.
        to: String,
    },
    /// A redirect chain without an end.
    #[error("{url} redirects in circles")]
    RedirectLoop {
        /// Where it began.
        url: String,
    },
    /// A successful answer that is neither JSON nor an event stream.
    #[error("{url} answered with `{content_type}` where JSON or an event stream is due{}", excerpt(.body))]
    NotMcp {
        /// Where.
        url: String,
        /// What it claims to be.
        content_type: String,
        /// The start of it.
        body: Bytes,
    },
    /// The body or stream that should carry the response ended without it.
    #[error("the answer ended without a response{}", why_of(.why))]
    StreamEnded {
        /// More, where there is more to say.
        why: String,
    },
    /// The server forgot our session.
    #[error("the server no longer knows the session")]
    SessionLost,
    /// The SSE `endpoint` event points elsewhere.
    #[error("the SSE stream names a message endpoint on another origin: {endpoint}")]
    ForeignEndpoint {
        /// The endpoint.
        endpoint: String,
    },
    /// No `endpoint` event came.
    #[error("{url} is no HTTP+SSE server: {why}")]
    NoEndpoint {
        /// Where.
        url: String,
        /// What came instead.
        why: String,
    },
    /// The target took too long outside of a call.
    #[error("no answer within {} ms", .after.as_millis())]
    TimedOut {
        /// How long we waited.
        after: std::time::Duration,
    },
    /// Credentials could not be had or were refused.
    #[error("{0}")]
    Auth(Box<AuthError>),
    /// The target was connected to again and again without ever answering.
    #[error("the target was lost {tries} times in a row and is given up")]
    GivenUp {
        /// How often.
        tries: u32,
    },
    /// We closed the connection.
    #[error("the connection is closed")]
    Closed,
    /// A raw HTTP request to a target that is not spoken to over HTTP.
    #[error("the target is not spoken to over HTTP")]
    NotHttp,
}

impl From<AuthError> for TransportError {
    fn from(error: AuthError) -> Self {
        Self::Auth(Box::new(error))
    }
}

impl TransportError {
    /// The HTTP status behind the error, if there is one.
    pub fn status(&self) -> Option<StatusCode> {
        match self {
            Self::Status { status, .. } => Some(*status),
            _ => None,
        }
    }
}

fn why_of(why: &str) -> String {
    if why.is_empty() { String::new() } else { format!(": {why}") }
}

/// A number of bytes as people say it.
pub(crate) fn size(bytes: usize) -> String {
    match bytes {
        _ if bytes >= 1 << 20 && bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ => format!("{bytes} bytes"),
    }
}

fn last_lines(stderr: &str) -> String {
    let stderr = stderr.trim_end();
    if stderr.is_empty() {
        return String::new();
    }
    let lines: Vec<&str> = stderr.lines().rev().take(20).collect();
    let mut text = String::from("\n  the end of its stderr:");
    for line in lines.iter().rev() {
        text.push_str("\n    ");
        text.push_str(line);
    }
    text
}

fn excerpt(body: &Bytes) -> String {
    const SHOWN: usize = 300;
    let text = String::from_utf8_lossy(&body[..body.len().min(SHOWN)]);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.as_str() {
        "" => String::new(),
        text if body.len() > SHOWN => format!(": {text}..."),
        text => format!(": {text}"),
    }
}
