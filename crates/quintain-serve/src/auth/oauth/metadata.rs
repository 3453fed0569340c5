//! The documents of RFC 9728 and RFC 8414.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

use super::provider::{Provider, all_scopes};

/// The protected resource: where tokens for this server come from.
pub(super) async fn resource(State(provider): State<Arc<Provider>>) -> Json<Value> {
    let verifier = &provider.verifier;
    let own = verifier.base_url();
    // With a client of ours at the external issuer, our endpoints are a proxy to it.
    let server = match &verifier.external {
        Some(external) if provider.external_client.is_none() => external.issuer(),
        _ => own,
    };
    Json(json!({
        "resource": verifier.resource(),
        "authorization_servers": [server],
        "scopes_supported": all_scopes(),
        "bearer_methods_supported": ["header"],
        "resource_name": provider.name,
    }))
}

/// The authorisation server. With an external issuer and no client of ours there is none here.
pub(super) async fn server(State(provider): State<Arc<Provider>>) -> Response {
    if provider.verifier.external.is_some() && provider.external_client.is_none() {
        return StatusCode::NOT_FOUND.into_response();
    }
    let own = provider.verifier.base_url();
    Json(json!({
        "issuer": own,
        "authorization_endpoint": format!("{own}/mcp/oauth/authorize"),
        "token_endpoint": format!("{own}/mcp/oauth/token"),
        "registration_endpoint": format!("{own}/mcp/oauth/register"),
        "scopes_supported": all_scopes(),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
        "token_endpoint_auth_methods_supported": ["none", "client_secret_post", "client_secret_basic"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": true,
    }))
    .into_response()
}
