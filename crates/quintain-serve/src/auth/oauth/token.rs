//! `/mcp/oauth/token`: codes, refresh tokens and client credentials against access tokens.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Form, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::error::OAuthError;
use super::provider::{ACCESS_LIFE_SECONDS, Provider, granted_scope};
use super::records::{Grant, Taken, hash};
use crate::principal::Scope;
use crate::random::random_id;

#[derive(Deserialize)]
pub(super) struct TokenRequest {
    grant_type: Option<String>,
    code: Option<String>,
    redirect_uri: Option<String>,
    code_verifier: Option<String>,
    refresh_token: Option<String>,
    client_id: Option<String>,
    client_secret: Option<String>,
    scope: Option<String>,
    resource: Option<String>,
}

pub(super) async fn token(
    State(provider): State<Arc<Provider>>,
    headers: HeaderMap,
    request: Result<Form<TokenRequest>, axum::extract::rejection::FormRejection>,
) -> Result<Response, OAuthError> {
    let Ok(Form(request)) = request else {
        return Err(OAuthError::InvalidRequest("expected a form"));
    };
    let own = [provider.verifier.resource(), provider.verifier.base_url().to_owned()];
    if request
        .resource
        .as_ref()
        .is_some_and(|named| !own.iter().any(|own| own == named.trim_end_matches('/')))
    {
        return Err(OAuthError::InvalidTarget);
    }
    let (client, secret) = credentials(&headers, &request);
    match request.grant_type.as_deref() {
        Some("authorization_code") => by_code(&provider, &request, client, secret),
        Some("refresh_token") => by_refresh(&provider, &request, client, secret),
        Some("client_credentials") => by_credentials(&provider, &request, client, secret).await,
        Some(_) => Err(OAuthError::UnsupportedGrantType),
        None => Err(OAuthError::InvalidRequest("grant_type is required")),
    }
}

/// Client id and secret, from the header or the form.
fn credentials(headers: &HeaderMap, request: &TokenRequest) -> (Option<String>, Option<String>) {
    let basic = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let basic = basic.and_then(|value| value.strip_prefix("Basic "));
    let decoded = basic
        .and_then(|text| STANDARD.decode(text).ok())
        .and_then(|bytes| String::from_utf8(bytes).ok());
    match decoded.as_deref().and_then(|pair| pair.split_once(':')) {
        Some((id, secret)) => (Some(id.to_owned()), Some(secret.to_owned())),
        None => (request.client_id.clone(), request.client_secret.clone()),
    }
}

/// The client that proved who it is. A public client has nothing to prove it with.
fn known_client(
    provider: &Provider,
    id: Option<String>,
    secret: Option<&str>,
) -> Result<String, OAuthError> {
    let id = id.ok_or(OAuthError::InvalidClient)?;
    let client = provider.records().client(&id).ok_or(OAuthError::InvalidClient)?;
    match (client.secret, secret) {
        (None, _) => Ok(id),
        (Some(expected), Some(secret)) if hash(secret) == expected => Ok(id),
        _ => Err(OAuthError::InvalidClient),
    }
}

fn by_code(
    provider: &Provider,
    request: &TokenRequest,
    client: Option<String>,
    secret: Option<String>,
) -> Result<Response, OAuthError> {
    let client = known_client(provider, client, secret.as_deref())?;
    let code = request.code.as_deref().ok_or(OAuthError::InvalidRequest("code is required"))?;
    let verifier = request.code_verifier.as_deref();
    let verifier = verifier.ok_or(OAuthError::InvalidRequest("code_verifier is required"))?;
    let taken = provider.records().take_code(code);
    let Taken::Code(code) = taken else { return Err(misused(provider, taken)) };
    let proof = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));
    let is_right = code.grant.client == client
        && request.redirect_uri.as_ref() == Some(&code.redirect_uri)
        && proof == code.challenge;
    if !is_right {
        return Err(OAuthError::InvalidGrant);
    }
    answer(provider, code.grant, true)
}

fn by_refresh(
    provider: &Provider,
    request: &TokenRequest,
    client: Option<String>,
    secret: Option<String>,
) -> Result<Response, OAuthError> {
    let client = known_client(provider, client, secret.as_deref())?;
    let token = request.refresh_token.as_deref();
    let token = token.ok_or(OAuthError::InvalidRequest("refresh_token is required"))?;
    let now = jsonwebtoken::get_current_timestamp();
    let taken = provider.records().take_refresh(token, &client, now);
    let Taken::Grant(mut grant) = taken else { return Err(misused(provider, taken)) };
    if grant.via.as_deref().is_some_and(|id| provider.verifier.is_revoked(id)) {
        return Err(OAuthError::InvalidGrant);
    }
    if let Some(scope) = &request.scope {
        // A client may ask for less, never for more.
        let granted: Vec<&str> = grant.scope.split_whitespace().collect();
        let known = scope.split_whitespace().filter(|word| Scope::parse(word).is_some());
        let narrower: Vec<&str> = known.filter(|word| granted.contains(word)).collect();
        if narrower.is_empty() {
            return Err(OAuthError::InvalidScope);
        }
        grant.scope = narrower.join(" ");
    }
    answer(provider, grant, true)
}

/// The answer to what cannot be exchanged. Misuse ends the access tokens of the same consent, too.
fn misused(provider: &Provider, taken: Taken) -> OAuthError {
    if let Taken::Misused(family) = taken {
        provider.verifier.end_family(&family);
    }
    OAuthError::InvalidGrant
}

/// Programs exchange a token of `quintain token new` for a short one: its subject is the client id, the token the secret.
async fn by_credentials(
    provider: &Provider,
    request: &TokenRequest,
    client: Option<String>,
    secret: Option<String>,
) -> Result<Response, OAuthError> {
    let (Some(client), Some(secret)) = (client, secret) else {
        return Err(OAuthError::InvalidClient);
    };
    let claims = provider.verifier.local_claims(&secret).filter(|claims| claims.sub == client);
    let claims = claims.ok_or(OAuthError::InvalidClient)?;
    let principal =
        provider.verifier.principal(&secret).await.map_err(|_| OAuthError::InvalidClient)?;
    let scope = granted_scope(request.scope.as_deref(), &principal)?;
    let via = Some(claims.jti);
    let grant = Grant { owner: claims.sub, scope, client, family: random_id(), via };
    answer(provider, grant, false)
}

fn answer(provider: &Provider, grant: Grant, with_refresh: bool) -> Result<Response, OAuthError> {
    let mut body = json!({
        "access_token": provider.access_token(&grant)?,
        "token_type": "Bearer",
        "expires_in": ACCESS_LIFE_SECONDS,
        "scope": grant.scope,
    });
    if with_refresh {
        let now = jsonwebtoken::get_current_timestamp();
        body["refresh_token"] = json!(provider.records().issue_refresh(grant, now));
    }
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(body)).into_response())
}
