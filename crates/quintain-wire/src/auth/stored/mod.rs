//! Logins stored between runs: one JSON file per server and issuer, readable only by its owner.

use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::future::BoxFuture;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use url::Url;

use super::error::bare;
use super::oauth::GrantContext;
use super::oauth::authorization_code::Session;
use super::oauth::client::{ClientAuthMethod, ClientIdentity};
use super::oauth::dpop::DpopKey;
use super::oauth::registration::Registration;
use super::oauth::source::Grant;
use super::oauth::token::{TokenEndpoint, TokenSet, learn_client_secret};
use super::{AuthError, HttpRefusal};
use crate::redact::Redactor;

mod fields;
pub(crate) mod renewal;
mod store;

use fields::{address, optional_secret, secret};
pub use store::TokenStore;

/// The tokens of one login and the client they were issued to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StoredTokens {
    /// The MCP server.
    #[serde(with = "address")]
    pub server_url: Url,
    /// The authorization server that issued the tokens.
    pub issuer: String,
    /// The endpoint that refreshes them.
    #[serde(with = "address")]
    pub token_endpoint: Url,
    /// The client they were issued to.
    pub client_id: String,
    #[serde(with = "optional_secret", default, skip_serializing_if = "Option::is_none")]
    client_secret: Option<SecretString>,
    client_auth: ClientAuthMethod,
    #[serde(with = "address")]
    redirect_uri: Url,
    #[serde(with = "secret")]
    access_token: SecretString,
    #[serde(with = "optional_secret", default, skip_serializing_if = "Option::is_none")]
    refresh_token: Option<SecretString>,
    /// The key that the tokens are bound to.
    #[serde(with = "optional_secret", default, skip_serializing_if = "Option::is_none")]
    dpop_key: Option<SecretString>,
    /// Seconds since 1970.
    pub expires_at: u64,
    lifetime: u64,
    /// The requested scopes.
    pub scopes: Vec<String>,
    /// The resource that the tokens are for.
    pub resource: String,
}

impl StoredTokens {
    pub(crate) fn new(server: &Url, session: &Session, tokens: &TokenSet) -> Self {
        let Registration { issuer, redirect_uri, client } = session.registration.clone();
        Self {
            server_url: bare(server),
            issuer,
            token_endpoint: session.endpoint.url.clone(),
            client_id: client.id,
            client_secret: client.secret,
            client_auth: client.method,
            redirect_uri,
            access_token: tokens.access_token.clone(),
            refresh_token: tokens.refresh_token.clone(),
            dpop_key: tokens.dpop.as_ref().map(DpopKey::export),
            expires_at: seconds(tokens.expires_at),
            lifetime: tokens.lifetime.as_secs(),
            scopes: session.scopes.clone(),
            resource: session.resource.clone(),
        }
    }

    /// Whether the tokens can be refreshed without a user.
    pub fn renewable(&self) -> bool {
        self.refresh_token.is_some()
    }

    pub(crate) fn session(&self) -> Session {
        let client = ClientIdentity {
            id: self.client_id.clone(),
            secret: self.client_secret.clone(),
            key: None,
            method: self.client_auth,
        };
        Session {
            endpoint: TokenEndpoint {
                url: self.token_endpoint.clone(),
                issuer: Some(self.issuer.clone()),
                client: Some(client.clone()),
                dpop: self.key(),
            },
            registration: Registration {
                issuer: self.issuer.clone(),
                redirect_uri: self.redirect_uri.clone(),
                client,
            },
            resource: self.resource.clone(),
            scopes: self.scopes.clone(),
        }
    }

    /// The key of bound tokens. Without it the server refuses them.
    fn key(&self) -> Option<DpopKey> {
        self.dpop_key.as_ref().and_then(DpopKey::import)
    }

    pub(crate) fn token_set(&self, redactor: &Redactor) -> TokenSet {
        redactor.learn(&self.access_token);
        if let Some(token) = &self.refresh_token {
            redactor.learn(token);
        }
        if let Some(key) = &self.dpop_key {
            redactor.learn(key);
        }
        if let Some(secret) = &self.client_secret {
            learn_client_secret(redactor, Some(&self.client_id), secret);
        }
        let expires_at = UNIX_EPOCH.checked_add(Duration::from_secs(self.expires_at));
        TokenSet {
            access_token: self.access_token.clone(),
            refresh_token: self.refresh_token.clone(),
            expires_at: expires_at.unwrap_or(UNIX_EPOCH),
            lifetime: Duration::from_secs(self.lifetime),
            dpop: self.key(),
        }
    }
}

/// Refreshes a stored login and never asks a user.
pub(crate) struct StoredGrant {
    grant_context: GrantContext,
    store: TokenStore,
    stored: StoredTokens,
    /// Why the authorization server no longer refreshes this login.
    ended: OnceLock<AuthError>,
}

impl StoredGrant {
    pub(crate) fn open(
        grant_context: GrantContext,
        state_dir: Option<&Path>,
    ) -> Result<(Self, TokenSet), AuthError> {
        let needed = |reason: &str| AuthError::LoginNeeded {
            server: bare(&grant_context.server).to_string(),
            reason: reason.to_owned(),
        };
        let folder = state_dir.ok_or_else(|| needed("no folder for stored logins is set"))?;
        let store = TokenStore::new(folder);
        let stored = store.load(&grant_context.server)?;
        let stored = stored.ok_or_else(|| needed("no login is stored for this server"))?;
        let known = stored.token_set(&grant_context.redactor);
        if !stored.renewable() && known.expires_at <= grant_context.clock.now() {
            return Err(needed("the stored login has expired and cannot be refreshed"));
        }
        Ok((Self { grant_context, store, stored, ended: OnceLock::new() }, known))
    }
}

impl Grant for StoredGrant {
    fn obtain<'a>(
        &'a self,
        _: Option<&'a HttpRefusal>,
    ) -> BoxFuture<'a, Result<Option<TokenSet>, AuthError>> {
        Box::pin(async {
            Err(AuthError::LoginNeeded {
                server: self.stored.server_url.to_string(),
                reason: "the stored login is no longer accepted".to_owned(),
            })
        })
    }

    fn refresh<'a>(
        &'a self,
        old: &'a TokenSet,
        _: Option<&'a HttpRefusal>,
    ) -> BoxFuture<'a, Result<TokenSet, AuthError>> {
        Box::pin(async move {
            let (session, ended) = (self.stored.session(), self.ended.get());
            match renewal::renew(&self.store, &self.grant_context, &session, old, ended).await {
                Err(AuthError::TokenRefused { error, description, .. }) => {
                    let reason =
                        format!("the stored login is no longer accepted ({error}{description})");
                    let server = self.stored.server_url.to_string();
                    let ended = AuthError::LoginNeeded { server, reason };
                    Err(self.ended.get_or_init(|| ended).clone())
                }
                result => result,
            }
        })
    }
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
