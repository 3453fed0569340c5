//! Answers that refuse a request before rmcp sees it.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::json;

/// Refuses a token, and says where clients find out how to get one.
pub(super) fn unauthorized(base_url: &str, error: Option<&str>, what: &str) -> Response {
    let mut challenge =
        format!("Bearer resource_metadata=\"{base_url}/.well-known/oauth-protected-resource/mcp\"");
    if let Some(error) = error {
        challenge = format!("{challenge}, error=\"{error}\", error_description=\"{what}\"");
    }
    challenged(StatusCode::UNAUTHORIZED, &challenge, error.unwrap_or("unauthorized"), what)
}

/// Refuses what the scopes of a token do not contain.
pub(super) fn insufficient_scope(base_url: &str, scope: &str) -> Response {
    let challenge = format!(
        "Bearer error=\"insufficient_scope\", scope=\"{scope}\", \
         resource_metadata=\"{base_url}/.well-known/oauth-protected-resource/mcp\""
    );
    let what = format!("the token lacks the scope {scope}");
    challenged(StatusCode::FORBIDDEN, &challenge, "insufficient_scope", &what)
}

/// Refuses a token in the query: it would be in the logs of every proxy.
pub(super) fn token_in_query() -> Response {
    let challenge = "Bearer error=\"invalid_request\", error_description=\"tokens belong in the Authorization header\"";
    let what = "tokens belong in the Authorization header";
    challenged(StatusCode::BAD_REQUEST, challenge, "invalid_request", what)
}

fn challenged(status: StatusCode, challenge: &str, error: &str, what: &str) -> Response {
    let mut response =
        (status, Json(json!({"error": error, "error_description": what}))).into_response();
    if let Ok(value) = HeaderValue::from_str(challenge) {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, value);
    }
    response
}

pub(super) fn too_many(seconds: u64) -> Response {
    let body = Json(json!({"error": "rate_limited", "error_description": "too many requests"}));
    let mut response = (StatusCode::TOO_MANY_REQUESTS, body).into_response();
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    response
}

pub(super) fn unknown_session() -> Response {
    let error = json!({"code": -32001, "message": "Session not found"});
    let body = Json(json!({"jsonrpc": "2.0", "id": null, "error": error}));
    (StatusCode::NOT_FOUND, body).into_response()
}
