//! A small OAuth 2.1 authorization server in memory, sufficient to test clients.

mod authorize;
mod clients;
mod error;
mod metadata;
mod token;
mod vault;

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use axum::{
    Json, Router,
    extract::State,
    routing::{get, post},
};
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use self::{clients::Clients, vault::Vault};
use super::Gate;
use crate::{config::Twin, identity::Caller};

/// Scopes that a client can request.
const SCOPES: [&str; 3] = ["read", "write", "offline_access"];
const DEFAULT_SCOPE: &str = "read write";

/// The rights of a token.
#[derive(Debug, Clone)]
struct Grant {
    user: String,
    client: String,
    scope: String,
    /// The resource that the token was issued for, if the client named one.
    resource: Option<String>,
}

/// The state of the authorization server.
pub(crate) struct AuthorizationServer {
    base_url: String,
    token_ttl: Duration,
    /// The user in whose name the authorize endpoint approves.
    user: String,
    vault: Mutex<Vault>,
    clients: Mutex<Clients>,
    token_requests: AtomicU64,
}

impl AuthorizationServer {
    pub(crate) fn new(base_url: String, token_ttl: Duration, user: String) -> Self {
        Self {
            base_url,
            token_ttl,
            user,
            vault: Mutex::default(),
            clients: Mutex::new(Clients::known()),
            token_requests: AtomicU64::new(0),
        }
    }

    /// The number of requests to the token endpoint.
    pub(crate) fn token_requests(&self) -> u64 {
        self.token_requests.load(Ordering::Relaxed)
    }

    pub(crate) fn revoke_access_tokens(&self) {
        self.vault().revoke_all_access();
    }

    pub(super) fn resource_metadata_url(&self) -> String {
        format!("{}/.well-known/oauth-protected-resource/mcp", self.base_url)
    }

    fn resource(&self) -> String {
        format!("{}/mcp", self.base_url)
    }

    /// Whether a token issued for `resource` is meant for this server.
    fn is_audience(&self, resource: &str) -> bool {
        let resource = resource.trim_end_matches('/');
        resource == self.base_url
            || resource.strip_prefix(&self.base_url).is_some_and(|path| path.starts_with('/'))
    }

    /// The caller of an access token.
    pub(super) fn caller(&self, twin: Twin, token: &str) -> Option<Caller> {
        let (grant, is_alive) = self.vault().access(token)?;
        let is_ours = grant.resource.as_deref().is_none_or(|resource| self.is_audience(resource));
        // PLANTED (token-handling): neither the expiry nor the audience of a token is checked.
        let is_good = twin.is_vulnerable() || (is_alive && is_ours);
        if !is_good {
            return None;
        }
        let scopes = grant.scope.split(' ').map(str::to_owned).collect();
        Some(Caller { user: grant.user, scopes: Some(scopes) })
    }

    fn vault(&self) -> MutexGuard<'_, Vault> {
        self.vault.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn clients(&self) -> MutexGuard<'_, Clients> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The endpoints of the authorization server and the documents that describe it.
pub(crate) fn routes() -> Router<Arc<Gate>> {
    Router::new()
        .route("/oauth/token", post(token::token))
        .route("/oauth/revoke", post(token::revoke))
        .route("/oauth/register", post(clients::register))
        .route("/oauth/authorize", get(authorize::authorize))
        .route("/oauth/stats", get(stats))
        .merge(metadata::routes())
}

async fn stats(State(gate): State<Arc<Gate>>) -> Json<Value> {
    Json(json!({ "token_requests": gate.oauth.token_requests() }))
}

/// A string that cannot be guessed.
pub(crate) fn random_text() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 24];
    getrandom::fill(&mut bytes)?;
    Ok(BASE64_URL_SAFE_NO_PAD.encode(bytes))
}
