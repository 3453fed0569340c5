//! The token endpoint and the revocation endpoint.

use std::sync::{Arc, atomic::Ordering};

use axum::{
    Form, Json,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::{
    super::{Gate, basic},
    AuthorizationServer, DEFAULT_SCOPE, Grant, SCOPES,
    clients::Client,
    error::OAuthError,
};
use crate::credentials;

#[derive(Deserialize)]
pub(super) struct TokenRequest {
    grant_type: String,
    client_id: Option<String>,
    client_secret: Option<String>,
    scope: Option<String>,
    resource: Option<String>,
    username: Option<String>,
    password: Option<String>,
    refresh_token: Option<String>,
    code: Option<String>,
    code_verifier: Option<String>,
    redirect_uri: Option<String>,
}

pub(super) async fn token(
    State(gate): State<Arc<Gate>>,
    headers: HeaderMap,
    Form(request): Form<TokenRequest>,
) -> Result<Response, OAuthError> {
    let server = &gate.oauth;
    server.token_requests.fetch_add(1, Ordering::Relaxed);
    let client =
        server.client(&headers, request.client_id.as_deref(), request.client_secret.as_deref())?;
    match request.grant_type.as_str() {
        "client_credentials" => server.client_credentials(client, request),
        "password" => server.password(client, request),
        "refresh_token" => server.refresh(client, request),
        "authorization_code" => server.exchange_code(client, request),
        _ => Err(OAuthError::UnsupportedGrantType),
    }
}

#[derive(Deserialize)]
pub(super) struct RevokeRequest {
    token: String,
    client_id: Option<String>,
    client_secret: Option<String>,
}

/// Answers 200 whether the token existed or not, as RFC 7009 requires.
pub(super) async fn revoke(
    State(gate): State<Arc<Gate>>,
    headers: HeaderMap,
    Form(request): Form<RevokeRequest>,
) -> Result<StatusCode, OAuthError> {
    let (id, _) = gate
        .oauth
        .client(&headers, request.client_id.as_deref(), request.client_secret.as_deref())?
        .unwrap_or_default();
    gate.oauth.vault().revoke(&request.token, &id);
    Ok(StatusCode::OK)
}

/// The id of an authenticated client, and its data.
type Proven = (String, Option<Client>);

impl AuthorizationServer {
    /// The client of a request: by `client_secret_basic`, by `client_secret_post`, or a public client
    /// that only sends its id. `None` if the request names no client.
    fn client(
        &self,
        headers: &HeaderMap,
        id: Option<&str>,
        secret: Option<&str>,
    ) -> Result<Option<Proven>, OAuthError> {
        let (id, secret) = match (basic::login(headers), id) {
            (Some((id, secret)), _) => (decoded(&id), Some(decoded(&secret))),
            (None, Some(id)) => (id.to_owned(), secret.map(str::to_owned)),
            (None, None) => return Ok(None),
        };
        let client = self.clients().get(&id).ok_or(OAuthError::InvalidClient)?;
        if client.secret != secret {
            return Err(OAuthError::InvalidClient);
        }
        Ok(Some((id, Some(client))))
    }

    fn client_credentials(
        &self,
        client: Option<Proven>,
        request: TokenRequest,
    ) -> Result<Response, OAuthError> {
        let (id, client) = client.ok_or(OAuthError::InvalidClient)?;
        let user = client.and_then(|client| client.user).ok_or(OAuthError::InvalidClient)?;
        let grant = Grant {
            user: user.into(),
            client: id,
            scope: granted_scope(request.scope.as_deref())?,
            resource: request.resource,
        };
        let family = self.vault().new_family();
        self.issue(grant, family, false)
    }

    fn password(
        &self,
        client: Option<Proven>,
        request: TokenRequest,
    ) -> Result<Response, OAuthError> {
        let (Some(name), Some(password)) = (&request.username, &request.password) else {
            return Err(OAuthError::InvalidRequest);
        };
        let user = credentials::user_of_pair(credentials::LOGINS, name, password)
            .ok_or(OAuthError::InvalidGrant)?;
        let grant = Grant {
            user: user.into(),
            client: client.unwrap_or_default().0,
            scope: granted_scope(request.scope.as_deref())?,
            resource: request.resource,
        };
        let family = self.vault().new_family();
        self.issue(grant, family, true)
    }

    fn refresh(
        &self,
        client: Option<Proven>,
        request: TokenRequest,
    ) -> Result<Response, OAuthError> {
        let old = request.refresh_token.ok_or(OAuthError::InvalidRequest)?;
        let id = client.unwrap_or_default().0;
        let taken = self.vault().take_refresh(&old, &id);
        let (mut grant, family) = taken.ok_or(OAuthError::InvalidGrant)?;
        if let Some(scope) = request.scope.as_deref() {
            // A refresh can narrow the scope but never widen it.
            let had: Vec<&str> = grant.scope.split(' ').collect();
            if scope.split(' ').any(|one| !had.contains(&one)) {
                return Err(OAuthError::InvalidScope);
            }
            scope.clone_into(&mut grant.scope);
        }
        self.issue(grant, family, true)
    }

    fn exchange_code(
        &self,
        client: Option<Proven>,
        request: TokenRequest,
    ) -> Result<Response, OAuthError> {
        let (Some(code), Some(verifier)) = (request.code, request.code_verifier) else {
            return Err(OAuthError::InvalidRequest);
        };
        let (id, _) = client.ok_or(OAuthError::InvalidClient)?;
        let taken = self.vault().take_code(&code);
        let code = taken.ok_or(OAuthError::InvalidGrant)?;
        let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(verifier));
        let is_same_uri = request.redirect_uri.is_none_or(|uri| uri == code.redirect_uri);
        if code.challenge != challenge || code.grant.client != id || !is_same_uri {
            return Err(OAuthError::InvalidGrant);
        }
        let mut grant = code.grant;
        grant.resource = request.resource.or(grant.resource);
        let family = self.vault().new_family();
        self.issue(grant, family, true)
    }

    fn issue(
        &self,
        grant: Grant,
        family: u64,
        can_be_refreshed: bool,
    ) -> Result<Response, OAuthError> {
        let mut vault = self.vault();
        let mut answer = json!({
            "access_token": vault.issue_access(grant.clone(), family, self.token_ttl)?,
            "token_type": "Bearer",
            "expires_in": self.token_ttl.as_secs(),
            "scope": grant.scope,
        });
        if can_be_refreshed {
            answer["refresh_token"] = vault.issue_refresh(grant, family)?.into();
        }
        Ok(([(header::CACHE_CONTROL, "no-store")], Json(answer)).into_response())
    }
}

/// In RFC 6749, clients form-encode id and secret before they put them into the header.
fn decoded(text: &str) -> String {
    url::form_urlencoded::parse(format!("v={text}").as_bytes())
        .next()
        .map_or_else(|| text.to_owned(), |(_, value)| value.into_owned())
}

pub(super) fn granted_scope(asked: Option<&str>) -> Result<String, OAuthError> {
    match asked.map(str::trim).filter(|scope| !scope.is_empty()) {
        None => Ok(DEFAULT_SCOPE.into()),
        Some(scope) if scope.split(' ').all(|one| SCOPES.contains(&one)) => Ok(scope.into()),
        Some(_) => Err(OAuthError::InvalidScope),
    }
}
