//! Errors in the form that RFC 6749 prescribes.

use axum::{
    Json,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::json;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum OAuthError {
    #[error("invalid_request")]
    InvalidRequest,
    #[error("invalid_client")]
    InvalidClient,
    #[error("invalid_grant")]
    InvalidGrant,
    #[error("invalid_scope")]
    InvalidScope,
    #[error("unsupported_grant_type")]
    UnsupportedGrantType,
    #[error("invalid_redirect_uri")]
    InvalidRedirectUri,
    #[error("server_error")]
    Server,
}

impl From<getrandom::Error> for OAuthError {
    fn from(_: getrandom::Error) -> Self {
        Self::Server
    }
}

impl IntoResponse for OAuthError {
    fn into_response(self) -> Response {
        let status = match self {
            Self::InvalidClient => StatusCode::UNAUTHORIZED,
            Self::Server => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::BAD_REQUEST,
        };
        let body = Json(json!({ "error": self.to_string() }));
        let mut response = (status, [(header::CACHE_CONTROL, "no-store")], body).into_response();
        if self == Self::InvalidClient {
            let challenge = header::HeaderValue::from_static("Basic realm=\"techmart\"");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        }
        response
    }
}
