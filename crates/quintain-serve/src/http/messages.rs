//! Looks at the messages of streamable HTTP before rmcp does: size, shape, session, scope.

use std::sync::Arc;

use axum::Json;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;
use serde_json::{Value, json};

use super::answers::{insufficient_scope, unknown_session};
use super::call_scope::missing_scope;
use super::sse;
use super::state::HttpState;
use crate::principal::Principal;
use crate::server::{Checked, check_message, has_batches, messages_of, with_task_capability};

const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
/// The longest answer to a message of a batch.
const LONGEST_ANSWER: usize = 64 * 1024 * 1024;
/// The first version without sessions, and the methods that it has no longer.
const STATELESS: &str = "2026-07-28";
const REMOVED: [&str; 5] =
    ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"];

pub(super) async fn layer(
    State(state): State<Arc<HttpState>>,
    request: Request,
    next: Next,
) -> Response {
    let Some(principal) = request.extensions().get::<Principal>().cloned() else {
        return StatusCode::UNAUTHORIZED.into_response();
    };
    let session = request.headers().get(SESSION).and_then(|id| id.to_str().ok()).map(str::to_owned);
    if let Some(session) = &session
        && !state.is_bound(session, &principal.owner)
    {
        return unknown_session();
    }
    let is_delete = *request.method() == Method::DELETE;
    // The older transport checks its messages itself.
    if *request.method() != Method::POST || sse::session_id(&request).is_some() {
        let mut response = next.run(request).await;
        if is_delete && let Some(session) = &session {
            state.forget(session);
            // The session is gone at once; clients report 202 as a failure.
            if response.status() == StatusCode::ACCEPTED {
                *response.status_mut() = StatusCode::NO_CONTENT;
            }
        }
        return response;
    }
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, state.settings().max_body_size).await else {
        return (StatusCode::PAYLOAD_TOO_LARGE, "the request is too large").into_response();
    };
    // Versions with batches do not name themselves in a header.
    let version = parts.headers.get(VERSION).and_then(|version| version.to_str().ok());
    if version.is_none_or(has_batches)
        && let Some(messages) = messages_of(&body)
    {
        return match messages {
            Ok(messages) => batch(&state, &principal, &parts, messages, &next).await,
            Err(answer) => (StatusCode::BAD_REQUEST, Json(answer)).into_response(),
        };
    }
    single(&state, &principal, parts, body, next).await
}

/// Answers the messages of a batch one after the other, with one array.
async fn batch(
    state: &HttpState,
    principal: &Principal,
    parts: &Parts,
    messages: Vec<Value>,
    next: &Next,
) -> Response {
    let mut answers = Vec::new();
    for message in messages {
        let body = Bytes::from(message.to_string());
        let response = single(state, principal, parts.clone(), body, next.clone()).await;
        let is_refused = matches!(
            response.status(),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::NOT_FOUND
        );
        if is_refused {
            return response;
        }
        let Ok(body) = to_bytes(response.into_body(), LONGEST_ANSWER).await else {
            return StatusCode::INTERNAL_SERVER_ERROR.into_response();
        };
        answers.extend(answer_in(&body));
    }
    if answers.is_empty() {
        return StatusCode::ACCEPTED.into_response();
    }
    Json(answers).into_response()
}

/// The answer in a body: the body itself, or the last event of a stream.
fn answer_in(body: &[u8]) -> Option<Value> {
    let is_answer = |message: &Value| message.is_object() && message.get("method").is_none();
    if let Ok(message) = serde_json::from_slice::<Value>(body) {
        return Some(message).filter(is_answer);
    }
    let text = std::str::from_utf8(body).ok()?;
    let events = text.lines().filter_map(|line| line.strip_prefix("data:"));
    events.filter_map(|data| serde_json::from_str(data.trim()).ok()).rfind(is_answer)
}

async fn single(
    state: &HttpState,
    principal: &Principal,
    mut parts: Parts,
    body: Bytes,
    next: Next,
) -> Response {
    if let Some(answer) = refuse_removed(&parts.headers, &body) {
        return (StatusCode::NOT_FOUND, Json(answer)).into_response();
    }
    let checked = match check_message(&body) {
        Checked::Pass(passed) => passed,
        Checked::Ignore => return StatusCode::ACCEPTED.into_response(),
        Checked::Answer(answer) => {
            let code = answer["error"]["code"].as_i64();
            let status =
                if code == Some(-32602) { StatusCode::OK } else { StatusCode::BAD_REQUEST };
            return (status, Json(answer)).into_response();
        }
    };
    let message: Value = serde_json::from_slice(&checked).unwrap_or_default();
    if let Some(scope) = missing_scope(state, principal, &message) {
        return insufficient_scope(state.verifier.base_url(), &scope);
    }
    let is_greeting = message.get("method").and_then(Value::as_str) == Some("initialize");
    let checked = checked.into_owned();
    parts.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(checked.len()));
    let response = next.run(Request::from_parts(parts, Body::from(checked))).await;
    if !is_greeting {
        return response;
    }
    if let Some(session) = response.headers().get(SESSION).and_then(|id| id.to_str().ok()) {
        state.bind(session, &principal.owner);
    }
    with_tasks(response)
}

/// The answer to a method that the version of the request has no longer.
fn refuse_removed(headers: &HeaderMap, body: &[u8]) -> Option<Value> {
    let version = headers.get(VERSION)?.to_str().ok()?;
    if version < STATELESS {
        return None;
    }
    let message: Value = serde_json::from_slice(body).ok()?;
    let method = message.get("method")?.as_str()?;
    if !REMOVED.contains(&method) {
        return None;
    }
    let id = message.get("id").cloned().unwrap_or_default();
    let error = json!({"code": -32601, "message": format!("Method not found: {method}")});
    Some(json!({"jsonrpc": "2.0", "id": id, "error": error}))
}

/// Adds the tasks of 2025-11-25 to the greeting, which rmcp sends as an event.
fn with_tasks(mut response: Response) -> Response {
    response.headers_mut().remove(header::CONTENT_LENGTH);
    response.map(|body| {
        let chunks = body.into_data_stream().map(|chunk| chunk.map(rewritten));
        Body::from_stream(chunks)
    })
}

fn rewritten(chunk: Bytes) -> Bytes {
    let Ok(text) = std::str::from_utf8(&chunk) else { return chunk };
    if !text.contains("\"serverInfo\"") {
        return chunk;
    }
    let line = |line: &str| {
        let (prefix, data) = match line.strip_prefix("data:") {
            Some(data) => ("data: ", data),
            None => ("", line),
        };
        match serde_json::from_str::<Value>(data.trim()) {
            Ok(mut message) if message.is_object() => {
                with_task_capability(&mut message);
                format!("{prefix}{message}")
            }
            _ => line.to_owned(),
        }
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n").into()
}
