//! The discovery documents of the authorization server: RFC 8414 and RFC 9728.

use std::sync::Arc;

use axum::{Json, Router, extract::State, routing::get};
use serde_json::{Value, json};

use super::{super::Gate, SCOPES};

pub(super) fn routes() -> Router<Arc<Gate>> {
    // Clients differ in where they look for a server at /mcp, so the document is in all three places.
    Router::new()
        .route("/.well-known/oauth-authorization-server", get(authorization_server))
        .route("/.well-known/oauth-authorization-server/mcp", get(authorization_server))
        .route("/mcp/.well-known/oauth-authorization-server", get(authorization_server))
        .route("/.well-known/oauth-protected-resource", get(protected_resource))
        .route("/.well-known/oauth-protected-resource/mcp", get(protected_resource))
}

async fn authorization_server(State(gate): State<Arc<Gate>>) -> Json<Value> {
    let base = &gate.oauth.base_url;
    Json(json!({
        "issuer": base,
        "authorization_endpoint": format!("{base}/oauth/authorize"),
        "token_endpoint": format!("{base}/oauth/token"),
        "registration_endpoint": format!("{base}/oauth/register"),
        "revocation_endpoint": format!("{base}/oauth/revoke"),
        "scopes_supported": SCOPES,
        "response_types_supported": ["code"],
        "grant_types_supported":
            ["authorization_code", "client_credentials", "password", "refresh_token"],
        "token_endpoint_auth_methods_supported":
            ["client_secret_basic", "client_secret_post", "none"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": true,
    }))
}

async fn protected_resource(State(gate): State<Arc<Gate>>) -> Json<Value> {
    Json(json!({
        "resource": gate.oauth.resource(),
        "authorization_servers": [gate.oauth.base_url],
        "scopes_supported": SCOPES,
        "bearer_methods_supported": ["header"],
        "resource_name": "TechMart payments",
    }))
}
