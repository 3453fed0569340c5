//! Opens a session at an address: chooses the transport and the era, and explains why if neither works.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout};

use crate::era::{Agreement, Choice, Era, NoAgreement, legacy, modern};
use crate::frame::Recording;
use crate::limits::Limits;
use crate::redact::Redactor;
use crate::rpc::{CallError, Connection, Deadline, Notice, Responder};
use crate::session::Session;
use crate::transport::TransportError;
use crate::transport::courier::HttpConfig;
use crate::transport::http::HttpTransport;
use crate::transport::sse::SseTransport;
use crate::transport::stdio::{StdioConfig, StdioTransport};

/// How long to wait for a modern response before also trying the legacy era. Some servers ignore unknown requests and
/// would block the connection; a slow server loses nothing, because both requests stay open.
const PROBE: Duration = Duration::from_secs(2);

/// Maximum number of characters to quote of what a server sent instead of a response.
const EXCERPT: usize = 80;

/// Which HTTP transport to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HttpKind {
    /// Streamable HTTP, and HTTP+SSE if the server has only that.
    #[default]
    Auto,
    /// Streamable HTTP only.
    Streamable,
    /// HTTP+SSE only.
    Sse,
}

/// Address of a target.
#[derive(Clone)]
pub enum Address {
    /// A command to start.
    Stdio(StdioConfig),
    /// A URL.
    Http(HttpConfig, HttpKind),
}

/// Options of a connection.
#[derive(Clone)]
pub struct Options {
    /// The protocol version to use.
    pub protocol: Choice,
    /// Time limit of the handshake, and of each request after it.
    pub deadline: Deadline,
    /// Answers requests of the server.
    pub responder: Arc<dyn Responder>,
    /// Records frames.
    pub recording: Recording,
    /// Size limits.
    pub limits: Limits,
}

/// Why there is no session.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ConnectError {
    /// Neither HTTP transport works.
    #[error("streamable HTTP: {streamable}; HTTP+SSE: {sse}")]
    NoHttpTransport {
        /// The error of streamable HTTP.
        streamable: NoAgreement,
        /// The error of HTTP+SSE.
        sse: Box<ConnectError>,
    },
    /// The server refused the first request of the requested era.
    #[error("the server does not support the requested {era} protocol: {error}")]
    NotSpoken {
        /// The era.
        era: Era,
        /// The server's error.
        error: CallError,
    },
    /// The transport cannot be opened.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// The transport works, but client and server did not agree on a version.
    #[error(transparent)]
    NoAgreement(#[from] NoAgreement),
    /// The server sent no response to the first request, but something else.
    #[error("{error}; {sent}")]
    SentInstead {
        /// The error of the request.
        error: Box<NoAgreement>,
        /// What the server sent, in words.
        sent: String,
    },
}

impl ConnectError {
    /// Whether missing or refused credentials are the cause.
    pub fn needs_auth(&self) -> bool {
        let refused = |error: &TransportError| {
            matches!(error, TransportError::Auth(_))
                || error.status().is_some_and(|status| matches!(status.as_u16(), 401 | 403))
        };
        match self {
            Self::NoHttpTransport { streamable, .. } => {
                transport_of(streamable).is_some_and(refused)
            }
            Self::NotSpoken { .. } => false,
            Self::Transport(error) => refused(error),
            Self::NoAgreement(error) => transport_of(error).is_some_and(refused),
            Self::SentInstead { error, .. } => transport_of(error).is_some_and(refused),
        }
    }
}

fn transport_of(error: &NoAgreement) -> Option<&TransportError> {
    match error {
        NoAgreement::Call(CallError::Transport(error)) => Some(error),
        _ => None,
    }
}

/// Adds what the server sent instead of a response, which usually explains why there is none: a server that logs to
/// its standard output, or responds with another id.
fn explained(error: NoAgreement, connection: &Connection, options: &Options) -> ConnectError {
    let unanswered = match &error {
        NoAgreement::Call(CallError::TimedOut { .. }) => true,
        NoAgreement::Call(CallError::Transport(error)) => error.status().is_none(),
        _ => false,
    };
    if !unanswered {
        return error.into();
    }
    let (is_http, redactor) = (connection.transport().is_http(), options.recording.redactor());
    let notices = connection.take_notices().0;
    match notices.iter().find_map(|notice| sent_instead(notice, is_http, redactor)) {
        Some(sent) => ConnectError::SentInstead { error: Box::new(error), sent },
        None => error.into(),
    }
}

fn sent_instead(notice: &Notice, is_http: bool, redactor: &Redactor) -> Option<String> {
    match notice {
        Notice::Garbled { excerpt, .. } => {
            let text = String::from_utf8_lossy(excerpt);
            let shown: String = text.trim().chars().take(EXCERPT).collect();
            let verb = if is_http { "sent text" } else { "wrote text to stdout" };
            Some(format!("the server {verb} that is not JSON-RPC: `{shown}`"))
        }
        Notice::Stray { id } => {
            let shown: String = redactor.text(id).chars().take(EXCERPT).collect();
            Some(format!("the server sent a response with an unknown id: `{shown}`"))
        }
        Notice::Notification { .. } | Notice::Asked { .. } => None,
    }
}

/// Connects to a target and agrees with it on a version.
///
/// # Errors
/// When the target cannot be reached, or supports no version that we support.
pub async fn connect(address: &Address, options: &Options) -> Result<Session, ConnectError> {
    let connected = connect_by_transport(address, options).await;
    connected.map_err(|error| match (error, options.protocol.era()) {
        (
            ConnectError::NoAgreement(NoAgreement::Call(error @ CallError::Rpc { .. })),
            Some(era),
        ) => ConnectError::NotSpoken { era, error },
        (error, _) => error,
    })
}

async fn connect_by_transport(
    address: &Address,
    options: &Options,
) -> Result<Session, ConnectError> {
    match address {
        Address::Stdio(config) => connect_stdio(config, options).await,
        Address::Http(config, HttpKind::Sse) => connect_sse(config, options).await,
        Address::Http(config, kind) => match connect_streamable(config, options).await {
            Err(ConnectError::NoAgreement(streamable))
                if *kind == HttpKind::Auto && means_not_here(&streamable) =>
            {
                connect_sse(config, options)
                    .await
                    .map_err(|sse| ConnectError::NoHttpTransport { streamable, sse: Box::new(sse) })
            }
            connected => connected,
        },
    }
}

async fn connect_stdio(config: &StdioConfig, options: &Options) -> Result<Session, ConnectError> {
    let open = || {
        Connection::open(
            |sink| async { StdioTransport::spawn(config, options.limits, sink) },
            options.responder.clone(),
            options.recording.clone(),
            options.limits,
        )
    };
    let connection = open().await?;
    match agree(&connection, options).await {
        // Some servers exit on an unknown request; start them again with the legacy handshake only.
        Err(NoAgreement::Call(CallError::Transport(TransportError::Exited { .. })))
            if options.protocol == Choice::Auto =>
        {
            let connection = open().await?;
            let agreed = legacy::handshake(&connection, options.protocol, options.deadline).await;
            session(connection, agreed, options)
        }
        agreed => session(connection, agreed, options),
    }
}

async fn connect_streamable(
    config: &HttpConfig,
    options: &Options,
) -> Result<Session, ConnectError> {
    let (config, limits, recording) = (config.clone(), options.limits, options.recording.clone());
    let connection = Connection::open(
        |sink| async move { HttpTransport::open(config, limits, recording, sink) },
        options.responder.clone(),
        options.recording.clone(),
        options.limits,
    )
    .await?;
    let agreed = agree(&connection, options).await;
    session(connection, agreed, options)
}

async fn connect_sse(config: &HttpConfig, options: &Options) -> Result<Session, ConnectError> {
    let (config, limits, recording) = (config.clone(), options.limits, options.recording.clone());
    let wait = options.deadline.request;
    let connection = Connection::open(
        |sink| async move { SseTransport::open(config, limits, recording, wait, sink).await },
        options.responder.clone(),
        options.recording.clone(),
        options.limits,
    )
    .await?;
    // The modern era does not have this transport.
    let agreed = legacy::handshake(&connection, options.protocol, options.deadline).await;
    session(connection, agreed, options)
}

fn session(
    connection: Connection,
    agreed: Result<Agreement, NoAgreement>,
    options: &Options,
) -> Result<Session, ConnectError> {
    match agreed {
        Ok(agreement) => Ok(Session::new(connection, agreement, options.deadline)),
        Err(error) => Err(explained(error, &connection, options)),
    }
}

async fn agree(connection: &Connection, options: &Options) -> Result<Agreement, NoAgreement> {
    let (choice, deadline) = (options.protocol, options.deadline);
    match choice.era() {
        Some(Era::Modern) => modern::discover(connection, choice, deadline).await,
        Some(Era::Legacy) => legacy::handshake(connection, choice, deadline).await,
        None => {
            let started = Instant::now();
            find_out(connection, deadline, started).await.map_err(|error| match error {
                // Each era got a part of the time limit; report the whole time.
                NoAgreement::Call(CallError::TimedOut { .. }) => {
                    NoAgreement::Call(CallError::TimedOut { after: started.elapsed() })
                }
                error => error,
            })
        }
    }
}

/// Tries the modern era first; any other response than a modern one means a legacy server.
async fn find_out(
    connection: &Connection,
    deadline: Deadline,
    started: Instant,
) -> Result<Agreement, NoAgreement> {
    let mut probe = Box::pin(modern::discover(connection, Choice::Auto, deadline));
    match timeout(PROBE.min(deadline.request / 2), &mut probe).await {
        Ok(Ok(agreement)) => return Ok(agreement),
        Ok(Err(error)) if is_final(&error) => return Err(error),
        Ok(Err(_)) => {
            connection.set_ambient_headers(Vec::new());
            return legacy::handshake(connection, Choice::Auto, left(deadline, started)).await;
        }
        Err(_) => {}
    }
    if connection.transport().is_http() {
        // The headers of the two eras differ, so the two requests cannot be open in parallel.
        drop(probe);
        connection.set_ambient_headers(Vec::new());
        return legacy::handshake(connection, Choice::Auto, left(deadline, started)).await;
    }
    let mut handshake =
        Box::pin(legacy::handshake(connection, Choice::Auto, left(deadline, started)));
    tokio::select! {
        agreed = &mut handshake => match agreed {
            Err(NoAgreement::Call(CallError::Rpc { .. })) => probe.await,
            agreed => agreed,
        },
        discovered = &mut probe => match discovered {
            Ok(agreement) => Ok(agreement),
            Err(_) => handshake.await,
        },
    }
}

fn left(deadline: Deadline, started: Instant) -> Deadline {
    let request = deadline.request.saturating_sub(started.elapsed()).max(Duration::from_millis(1));
    Deadline { request, ..deadline }
}

/// Errors that occur in every era: the target is unreachable or refuses us.
fn is_final(error: &NoAgreement) -> bool {
    match error {
        NoAgreement::Call(CallError::Transport(error)) => match error {
            TransportError::Status { status, .. } => matches!(status.as_u16(), 401 | 403),
            TransportError::NotMcp { .. } | TransportError::StreamEnded { .. } => false,
            _ => true,
        },
        NoAgreement::Call(error) => modern::is_modern_error(error),
        NoAgreement::Version { .. } => false,
    }
}

/// Whether the endpoint does not accept such POSTs, as an SSE-only server.
fn means_not_here(error: &NoAgreement) -> bool {
    let status = match error {
        NoAgreement::Call(CallError::Transport(error)) => error.status(),
        NoAgreement::Call(CallError::Rpc { status, .. }) => *status,
        _ => None,
    };
    status.is_some_and(|status| matches!(status.as_u16(), 400 | 404 | 405 | 406 | 410 | 415 | 501))
}
