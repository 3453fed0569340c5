//! Errors as OAuth writes them.

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OAuthError {
    InvalidRequest(&'static str),
    InvalidClient,
    InvalidGrant,
    InvalidScope,
    InvalidTarget,
    UnsupportedGrantType,
    UnsupportedResponseType,
    InvalidRedirectUri,
    BadRedirectUri,
    AccessDenied,
    TooMany,
    ServerError,
}

impl OAuthError {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::InvalidRequest(_) => "invalid_request",
            Self::InvalidClient => "invalid_client",
            Self::InvalidGrant => "invalid_grant",
            Self::InvalidScope => "invalid_scope",
            Self::InvalidTarget => "invalid_target",
            Self::UnsupportedGrantType => "unsupported_grant_type",
            Self::UnsupportedResponseType => "unsupported_response_type",
            Self::InvalidRedirectUri | Self::BadRedirectUri => "invalid_redirect_uri",
            Self::AccessDenied => "access_denied",
            Self::TooMany => "temporarily_unavailable",
            Self::ServerError => "server_error",
        }
    }

    fn what(self) -> &'static str {
        match self {
            Self::InvalidRequest(what) => what,
            Self::InvalidClient => "unknown client, or its secret is wrong",
            Self::InvalidGrant => {
                "the code or token is not valid, was used before, or belongs to another client"
            }
            Self::InvalidScope => "none of the requested scopes is available",
            Self::InvalidTarget => "the resource is not this server",
            Self::UnsupportedGrantType => "this grant type is not supported",
            Self::UnsupportedResponseType => "only the response type `code` is supported",
            Self::InvalidRedirectUri => "the redirect URI is not registered for this client",
            Self::BadRedirectUri => {
                "expected 1 to 16 redirect URIs: https, http on this machine, or the scheme of an application"
            }
            Self::AccessDenied => "the user refused",
            Self::TooMany => "too many requests; try again later",
            Self::ServerError => "the server cannot answer",
        }
    }
}

impl IntoResponse for OAuthError {
    fn into_response(self) -> Response {
        let status = match self {
            Self::InvalidClient => StatusCode::UNAUTHORIZED,
            Self::TooMany => StatusCode::TOO_MANY_REQUESTS,
            Self::ServerError => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::BAD_REQUEST,
        };
        let body = json!({"error": self.word(), "error_description": self.what()});
        (status, [(header::CACHE_CONTROL, "no-store")], Json(body)).into_response()
    }
}
