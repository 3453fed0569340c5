//! The HTTP+SSE transport of 2024-11-05, which rmcp does not have.
//!
//! A GET opens a stream whose first event names the URL for messages; each POST there gets 202
//! at once, and messages of the server arrive as events. Internally, rmcp serves a pair of pipes.

use std::{
    collections::HashMap,
    convert::Infallible,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::{
    Extension,
    body::Bytes,
    extract::{Query, State},
    http::StatusCode,
    response::{
        IntoResponse, Response, Sse,
        sse::{Event, KeepAlive},
    },
};
use futures_util::{StreamExt, stream};
use rmcp::ServiceExt;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, WriteHalf},
    sync::{
        mpsc::{self, error::SendTimeoutError},
        watch,
    },
};

use super::until;
use crate::{
    auth::{Gate, oauth::random_text},
    identity::Caller,
    session::Demo,
};

const PIPE_SIZE: usize = 64 * 1024;
/// Messages of one session that may be queued before a POST waits, and for how long it waits.
const MOST_WAITING: usize = 64;
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// The open sessions and where to send their messages.
pub(super) struct Hub {
    demo: Arc<Demo>,
    gate: Arc<Gate>,
    stopping: watch::Receiver<bool>,
    sessions: Mutex<HashMap<String, mpsc::Sender<String>>>,
}

impl Hub {
    pub(super) fn new(demo: Arc<Demo>, gate: Arc<Gate>, stopping: watch::Receiver<bool>) -> Self {
        Self { demo, gate, stopping, sessions: Mutex::default() }
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<String, mpsc::Sender<String>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Forgets a session when its stream ends, for whatever reason. That drops the sender, the pump ends, the
/// pipe closes, and rmcp sees the end of its input.
struct Registration {
    hub: Arc<Hub>,
    id: String,
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.hub.sessions().remove(&self.id);
        self.hub.gate.sessions.close(&self.id);
    }
}

pub(super) async fn open(
    State(hub): State<Arc<Hub>>,
    Extension(caller): Extension<Caller>,
) -> Response {
    let Ok(id) = random_text() else { return StatusCode::INTERNAL_SERVER_ERROR.into_response() };
    let (ours, theirs) = tokio::io::duplex(PIPE_SIZE);
    let session = hub.demo.session(caller.clone());
    tokio::spawn(async move {
        match session.serve(theirs).await {
            Ok(running) => drop(running.waiting().await),
            Err(error) => tracing::debug!(%error, "the SSE session did not start"),
        }
    });

    let (reader, writer) = tokio::io::split(ours);
    let (sender, messages) = mpsc::channel(MOST_WAITING);
    tokio::spawn(pump(messages, writer));
    hub.gate.sessions.open(&id, caller);
    hub.sessions().insert(id.clone(), sender);
    let registration = Registration { hub: Arc::clone(&hub), id };

    let endpoint =
        Event::default().event("endpoint").data(format!("/messages?sessionId={}", registration.id));
    let lines = BufReader::new(reader).lines();
    let answers = stream::unfold((lines, registration), |(mut lines, registration)| async {
        let line = lines.next_line().await.ok()??;
        Some((Event::default().event("message").data(line), (lines, registration)))
    });
    let stopped = Box::pin(until(hub.stopping.clone()));
    let events = stream::once(async { endpoint }).chain(answers).take_until(stopped);
    Sse::new(events.map(Ok::<_, Infallible>)).keep_alive(KeepAlive::default()).into_response()
}

/// Writes messages to the pipe in the order of their arrival.
async fn pump(mut messages: mpsc::Receiver<String>, mut writer: WriteHalf<DuplexStream>) {
    while let Some(mut message) = messages.recv().await {
        message.push('\n');
        if writer.write_all(message.as_bytes()).await.is_err() {
            return;
        }
    }
    let _ = writer.shutdown().await;
}

#[derive(Deserialize)]
pub(super) struct MessageQuery {
    #[serde(rename = "sessionId")]
    session_id: String,
}

pub(super) async fn message(
    State(hub): State<Arc<Hub>>,
    Query(query): Query<MessageQuery>,
    body: Bytes,
) -> Response {
    let Some(sender) = hub.sessions().get(&query.session_id).cloned() else {
        return (StatusCode::NOT_FOUND, "unknown session").into_response();
    };
    // The pipe carries one message per line, so the lines of a pretty-printed body become spaces. A
    // line break inside a JSON string would be escaped, so none is lost.
    let Ok(json) = serde_json::from_slice::<&RawValue>(&body) else {
        return (StatusCode::BAD_REQUEST, "not JSON").into_response();
    };
    let message = json.get().replace(['\r', '\n'], " ");
    match sender.send_timeout(message, LONGEST_WAIT).await {
        Ok(()) => (StatusCode::ACCEPTED, "Accepted").into_response(),
        Err(SendTimeoutError::Timeout(_)) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        Err(SendTimeoutError::Closed(_)) => StatusCode::NOT_FOUND.into_response(),
    }
}
