//! The way over an external issuer: there with our own state and PKCE, and back at `/mcp/oauth/callback`.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse as _, Redirect, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use url::Url;

use super::client_redirect::back;
use super::error::OAuthError;
use super::page::cookie;
use super::provider::{Provider, granted_scope};
use super::records::Pending;
use crate::random::random_secret;

fn callback_url(provider: &Provider) -> String {
    format!("{}/mcp/oauth/callback", provider.verifier.base_url())
}

/// Sends the browser to the issuer.
pub(super) async fn to_issuer(
    provider: &Provider,
    mut pending: Pending,
) -> Result<Response, OAuthError> {
    let (Some(external), Some((client_id, _))) =
        (&provider.verifier.external, &provider.external_client)
    else {
        return Err(OAuthError::ServerError);
    };
    let discovery = external.discovery().await.map_err(|error| {
        tracing::warn!(%error, "the issuer is not available");
        OAuthError::ServerError
    })?;
    let endpoint = discovery.authorization_endpoint.ok_or(OAuthError::ServerError)?;
    let mut url = Url::parse(&endpoint).map_err(|_| OAuthError::ServerError)?;
    let verifier = random_secret();
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));
    pending.verifier = Some(verifier);
    let state = provider.records().add_pending(pending).ok_or(OAuthError::TooMany)?;
    url.query_pairs_mut()
        .append_pair("response_type", "code")
        .append_pair("client_id", client_id)
        .append_pair("redirect_uri", &callback_url(provider))
        .append_pair("scope", "openid")
        .append_pair("state", &state)
        .append_pair("code_challenge", &challenge)
        .append_pair("code_challenge_method", "S256");
    Ok(Redirect::to(url.as_str()).into_response())
}

#[derive(Deserialize)]
pub(super) struct CallbackQuery {
    code: Option<String>,
    state: Option<String>,
    iss: Option<String>,
}

pub(super) async fn callback(
    State(provider): State<Arc<Provider>>,
    headers: HeaderMap,
    Query(query): Query<CallbackQuery>,
) -> Result<Response, OAuthError> {
    const FORGED: OAuthError =
        OAuthError::InvalidRequest("this login was not started here, or is over");
    let Some(external) = provider.verifier.external.clone() else { return Err(FORGED) };
    let state = query.state.ok_or(FORGED)?;
    let pending =
        provider.records().take_pending(&state, cookie(&headers).as_deref()).ok_or(FORGED)?;
    // A request that waits for consent is no login at the issuer.
    let verifier = pending.verifier.clone().ok_or(FORGED)?;
    if query.iss.is_some_and(|named| named.trim_end_matches('/') != external.issuer()) {
        return Err(FORGED);
    }
    let refuse =
        |error| Ok(back(&provider, &pending.redirect_uri, pending.state.as_deref(), Err(error)));
    let Some(code) = query.code else { return refuse(OAuthError::AccessDenied) };
    let claims = match exchange(&provider, &code, &verifier).await {
        Ok(claims) => claims,
        Err(why) => {
            tracing::warn!(why, "the login at the issuer failed");
            return refuse(OAuthError::ServerError);
        }
    };
    let Some(principal) = external.principal_of(&claims) else {
        return refuse(OAuthError::AccessDenied);
    };
    let scope = match granted_scope(pending.scope.as_deref(), &principal) {
        Ok(scope) => scope,
        Err(error) => return refuse(error),
    };
    let code = provider.records().issue_code(&pending, &principal, scope, None);
    Ok(back(&provider, &pending.redirect_uri, pending.state.as_deref(), Ok(&code)))
}

/// The claims of the user, from the issuer's id token.
async fn exchange(provider: &Provider, code: &str, verifier: &str) -> Result<Value, String> {
    let external = provider.verifier.external.as_ref().ok_or("no issuer")?;
    let (client_id, secret) = provider.external_client.as_ref().ok_or("no client")?;
    let discovery = external.discovery().await.map_err(|error| error.to_string())?;
    let endpoint = discovery.token_endpoint.ok_or("the issuer has no token endpoint")?;
    let callback = callback_url(provider);
    let form = [
        ("grant_type", "authorization_code"),
        ("code", code),
        ("redirect_uri", callback.as_str()),
        ("code_verifier", verifier),
        ("client_id", client_id),
    ];
    let mut request = external.client().post(&endpoint).form(&form);
    if let Some(secret) = secret {
        request = request.basic_auth(client_id, Some(secret));
    }
    let response = request.send().await.map_err(|error| error.to_string())?;
    if !response.status().is_success() {
        return Err(format!("HTTP status {}", response.status()));
    }
    let body: Value = response.json().await.map_err(|error| error.to_string())?;
    let token = body.get("id_token").and_then(Value::as_str).ok_or("no id token")?;
    let claims = external.claims(token, std::slice::from_ref(client_id)).await;
    let mut claims = claims.map_err(|refusal| refusal.to_string())?;
    // Issuers put scopes and roles into the access token. It is read only if it is a token of theirs for this client or server.
    let audiences = [
        client_id.clone(),
        provider.verifier.resource(),
        provider.verifier.base_url().to_owned(),
        "account".to_owned(),
    ];
    if let Some(access) = body.get("access_token").and_then(Value::as_str)
        && let Ok(access) = external.claims(access, &audiences).await
        && access.get("sub") == claims.get("sub")
    {
        for name in ["scope", "scp", "realm_access", "resource_access"] {
            if let Some(value) = access.get(name) {
                claims[name] = value.clone();
            }
        }
    }
    Ok(claims)
}
