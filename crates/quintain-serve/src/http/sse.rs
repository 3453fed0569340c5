//! The HTTP+SSE transport of 2024-11-05, which rmcp does not have. A GET opens a stream whose first event names the URL for
//! messages; each POST there gets 202 at once, and messages of the server arrive as events.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::to_bytes;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive};
use axum::response::{IntoResponse as _, Response, Sse};
use futures_util::{StreamExt as _, stream};
use rmcp::ServiceExt as _;
use serde_json::Value;
use tokio::sync::mpsc::{self, error::SendTimeoutError};
use tokio_util::sync::CancellationToken;

use super::answers::{insufficient_scope, unknown_session};
use super::call_scope::missing_scope;
use super::state::HttpState;
use crate::principal::Principal;
use crate::random::random_id;
use crate::server::{Connection, MessageChannel};

/// Messages of one session that may wait, and for how long a POST waits for room.
const MOST_WAITING: usize = 64;
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// The open streams.
pub(super) struct Hub {
    state: Arc<HttpState>,
    stopped: CancellationToken,
    sessions: Mutex<HashMap<String, Session>>,
}

#[derive(Clone)]
struct Session {
    owner: String,
    messages: mpsc::Sender<Vec<u8>>,
}

impl Hub {
    pub(super) fn new(state: Arc<HttpState>, stopped: CancellationToken) -> Self {
        Self { state, stopped, sessions: Mutex::default() }
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<String, Session>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Forgets a session when its stream ends. That drops the sender, and rmcp sees the end of its input.
struct Registration {
    hub: Arc<Hub>,
    id: String,
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.hub.sessions().remove(&self.id);
    }
}

/// The session that a message is for.
pub(super) fn session_id(request: &Request) -> Option<&str> {
    let query = request.uri().query()?;
    query.split('&').find_map(|pair| pair.strip_prefix("sessionId="))
}

pub(super) fn open(hub: &Arc<Hub>, principal: Option<Principal>) -> Response {
    let Some(principal) = principal else { return StatusCode::UNAUTHORIZED.into_response() };
    let id = random_id();
    let (messages, incoming) = mpsc::channel(MOST_WAITING);
    let (outgoing, answers) = mpsc::channel(MOST_WAITING);
    let owner = principal.owner.clone();
    let connection = Connection::new(Arc::clone(&hub.state.server), principal);
    tokio::spawn(async move {
        match connection.serve(MessageChannel::new(incoming, outgoing)).await {
            Ok(running) => drop(running.waiting().await),
            Err(error) => tracing::debug!(%error, "the SSE session did not start"),
        }
    });
    hub.sessions().insert(id.clone(), Session { owner, messages });
    let registration = Registration { hub: Arc::clone(hub), id };
    let settings = hub.state.settings();
    let public = settings.public_url.as_deref().and_then(|url| url::Url::parse(url).ok());
    let prefix = public.map(|url| url.path().trim_end_matches('/').to_owned()).unwrap_or_default();
    let endpoint = format!("{prefix}{}?sessionId={}", settings.sse_endpoint, registration.id);
    let endpoint = Event::default().event("endpoint").data(endpoint);
    let answers = stream::unfold((answers, registration), |(mut answers, registration)| async {
        let message: String = answers.recv().await?;
        Some((Event::default().event("message").data(message), (answers, registration)))
    });
    let stopped = Box::pin(hub.stopped.clone().cancelled_owned());
    let events = stream::once(async { endpoint }).chain(answers).take_until(stopped);
    Sse::new(events.map(Ok::<_, Infallible>)).keep_alive(KeepAlive::default()).into_response()
}

pub(super) async fn message(hub: &Arc<Hub>, request: Request) -> Response {
    let Some(principal) = request.extensions().get::<Principal>().cloned() else {
        return StatusCode::UNAUTHORIZED.into_response();
    };
    let session = session_id(&request).and_then(|id| hub.sessions().get(id).cloned());
    // The session of another principal does not exist for this one.
    let Some(session) = session.filter(|session| session.owner == principal.owner) else {
        return unknown_session();
    };
    let Ok(body) = to_bytes(request.into_body(), hub.state.settings().max_body_size).await else {
        return (StatusCode::PAYLOAD_TOO_LARGE, "the request is too large").into_response();
    };
    let parsed: Value = serde_json::from_slice(&body).unwrap_or_default();
    if let Some(scope) = missing_scope(&hub.state, &principal, &parsed) {
        return insufficient_scope(hub.state.verifier.base_url(), &scope);
    }
    match session.messages.send_timeout(body.to_vec(), LONGEST_WAIT).await {
        Ok(()) => (StatusCode::ACCEPTED, "Accepted").into_response(),
        Err(SendTimeoutError::Timeout(_)) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        Err(SendTimeoutError::Closed(_)) => unknown_session(),
    }
}
