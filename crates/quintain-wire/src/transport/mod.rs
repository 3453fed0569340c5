//! Transports move bytes between us and a target, and do not interpret them.

pub mod courier;
pub mod events;
pub mod http;
pub mod lines;
mod outbox;
pub mod sse;
pub mod stdio;

use ::http::{HeaderName, HeaderValue, StatusCode};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use tokio::sync::oneshot;

use crate::auth::AuthError;
use crate::destination::NotAllowed;
use crate::message::{Id, Oversized};

/// HTTP headers of a message.
pub type Headers = Vec<(HeaderName, HeaderValue)>;

/// One message to the target.
#[derive(Debug, Default)]
pub struct Outgoing {
    /// The message without framing.
    pub bytes: Bytes,
    /// The id whose response the caller waits for, if any.
    pub expects: Option<Id>,
    /// HTTP headers; other transports ignore them.
    pub headers: Headers,
    /// Whether the response may open a session (`initialize`).
    pub opens_session: bool,
    /// Notified when the target has received the message, or of the error.
    pub delivered: Option<oneshot::Sender<Result<(), TransportError>>>,
}

/// Sends messages to a target; passes incoming messages to the [`Sink`] that it was opened with.
pub trait Transport: Send + Sync {
    /// Queues a message and returns at once; reports failures to the sink.
    fn send(&self, outgoing: Outgoing);

    /// Releases everything that belongs to `id`, because no caller waits for it any more.
    fn abandon(&self, _id: &Id) {}

    /// Opens the stream for messages that are not responses, if the transport has one. Returns when it is open, refused,
    /// or takes too long.
    fn listen(&self, _headers: Headers) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }

    /// Ends the connection: first asks the target, then forces it.
    fn close(&self, headers: Headers) -> BoxFuture<'_, ()>;

    /// Whether messages are HTTP requests, which decides how requests are cancelled and whether headers mirror the
    /// body.
    fn is_http(&self) -> bool {
        false
    }
}

/// Receives the messages of a transport.
pub trait Sink: Send + Sync {
    /// A whole message arrived.
    fn received(&self, frame: Bytes);

    /// A message exceeded the limit and was skipped; the transport continues.
    fn oversized(&self, message: Oversized);

    /// The request `id` will get no response on this transport.
    fn failed(&self, id: &Id, error: TransportError);

    /// Whether a caller waits for `id`.
    fn awaits(&self, id: &Id) -> bool;

    /// The transport has ended.
    fn closed(&self, error: TransportError);
}

/// Why a transport failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum TransportError {
    /// The command could not be started.
    #[error("cannot start `{command}`: {why}")]
    Spawn {
        /// The command.
        command: String,
        /// The reason of the operating system.
        why: String,
    },
    /// The process ended.
    #[error("the target exited ({status}){}", last_lines(.stderr))]
    Exited {
        /// The exit status as text.
        status: String,
        /// The last lines of stderr.
        stderr: String,
    },
    /// The target closed its output.
    #[error("the target closed its output{}", last_lines(.stderr))]
    OutputClosed {
        /// The last lines of stderr.
        stderr: String,
    },
    /// A line, event or body exceeded the limit.
    #[error("the target sent a message longer than {}", size(*.limit))]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// A line or event exceeded the limit for skipping, which ends the connection.
    #[error("the target sent a message longer than {}, which closed the connection", size(*.limit))]
    Endless {
        /// The limit for skipping.
        limit: usize,
    },
    /// The target does not read its input.
    #[error("the target does not read its input: {queued} bytes are waiting")]
    NotReading {
        /// Bytes queued.
        queued: usize,
    },
    /// Reading or writing failed.
    #[error("the connection broke: {0}")]
    Broken(String),
    /// The connection could not be opened.
    #[error("cannot reach {url}: {why}")]
    Unreachable {
        /// The URL.
        url: String,
        /// The cause, innermost last.
        why: String,
    },
    /// The policy does not allow the destination; nothing was sent.
    #[error(transparent)]
    NotAllowed(NotAllowed),
    /// An HTTP status that is an error.
    #[error("{url} answered {status}{}", excerpt(.body))]
    Status {
        /// The URL.
        url: String,
        /// The status.
        status: StatusCode,
        /// The body, possibly truncated.
        body: Bytes,
    },
    /// A redirect to another origin, which is not followed.
    #[error("{url} redirects to {to}, another origin: use that URL if you trust it")]
    Redirected {
        /// The requested URL.
        url: String,
        /// The target of the redirect.
        to: String,
    },
    /// Too many redirects.
    #[error("{url} redirects in a loop")]
    RedirectLoop {
        /// The requested URL.
        url: String,
    },
    /// A successful response that is neither JSON nor an event stream.
    #[error("{url} answered with `{content_type}` instead of JSON or an event stream{}", excerpt(.body))]
    NotMcp {
        /// The URL.
        url: String,
        /// The content type.
        content_type: String,
        /// The start of the body.
        body: Bytes,
    },
    /// The body or stream ended without the expected response.
    #[error("the HTTP response ended without a JSON-RPC response{}", why_of(.why))]
    StreamEnded {
        /// The cause, if it is known.
        why: String,
    },
    /// The server dropped our session.
    #[error("the server no longer knows the session")]
    SessionLost,
    /// The SSE `endpoint` event names another origin.
    #[error("the SSE stream names a message endpoint on another origin: {endpoint}")]
    ForeignEndpoint {
        /// The endpoint.
        endpoint: String,
    },
    /// The stream sent no `endpoint` event.
    #[error("{url} is not an HTTP+SSE server: {why}")]
    NoEndpoint {
        /// The URL.
        url: String,
        /// What was received instead.
        why: String,
    },
    /// The target took too long outside of a call.
    #[error("no response within {} ms", .after.as_millis())]
    TimedOut {
        /// How long we waited.
        after: std::time::Duration,
    },
    /// Credentials could not be obtained, or were refused.
    #[error("{0}")]
    Auth(Box<AuthError>),
    /// The connection was lost several times in a row without a response.
    #[error("the connection to the target was lost {tries} times in a row; giving up")]
    GivenUp {
        /// Number of attempts.
        tries: u32,
    },
    /// We closed the connection.
    #[error("the connection is closed")]
    Closed,
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

/// A number of bytes for people.
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
    let mut text = String::from("\n  last lines of stderr:");
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
