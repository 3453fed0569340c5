//! `/mcp/oauth/authorize`: checks the request, asks the user, and sends the browser back with a code.

use std::sync::Arc;

use axum::Form;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde::Deserialize;

use super::callback::to_issuer;
use super::client_redirect::back;
use super::error::OAuthError;
use super::page::{Page, cookie};
use super::provider::{Provider, granted_scope};
use super::records::{Pending, hash};
use crate::random::random_secret;

#[derive(Deserialize)]
pub(super) struct AuthorizeRequest {
    client_id: Option<String>,
    redirect_uri: Option<String>,
    response_type: Option<String>,
    code_challenge: Option<String>,
    code_challenge_method: Option<String>,
    scope: Option<String>,
    state: Option<String>,
    resource: Option<String>,
}

pub(super) async fn show(
    State(provider): State<Arc<Provider>>,
    headers: HeaderMap,
    Query(request): Query<AuthorizeRequest>,
) -> Result<Response, OAuthError> {
    // Until client and redirect URI are verified, nothing redirects.
    let missing = OAuthError::InvalidRequest("client_id and redirect_uri are required");
    let (Some(client_id), Some(redirect_uri)) = (request.client_id, request.redirect_uri) else {
        return Err(missing);
    };
    let client = provider.client(&client_id, &redirect_uri)?;
    let state = request.state.as_deref();
    let refuse = |error| Ok(back(&provider, &redirect_uri, state, Err(error)));
    if request.response_type.as_deref() != Some("code") {
        return refuse(OAuthError::UnsupportedResponseType);
    }
    let challenge = request.code_challenge.filter(|text| (43..=128).contains(&text.len()));
    let (Some(challenge), Some("S256")) = (challenge, request.code_challenge_method.as_deref())
    else {
        return refuse(OAuthError::InvalidRequest("PKCE with S256 is required"));
    };
    let resource = provider.verifier.resource();
    let is_other = |named: &String| {
        named.trim_end_matches('/') != resource
            && named.trim_end_matches('/') != provider.verifier.base_url()
    };
    if request.resource.as_ref().is_some_and(is_other) {
        return refuse(OAuthError::InvalidTarget);
    }
    let browser = cookie(&headers).unwrap_or_else(random_secret);
    let mut pending = Pending::new(client_id, redirect_uri.clone(), challenge, hash(&browser));
    pending.scope.clone_from(&request.scope);
    pending.state.clone_from(&request.state);
    let id = provider.records().add_pending(pending).ok_or(OAuthError::TooMany)?;
    let page = Page {
        server: &provider.name,
        client: &client.name,
        redirect_uri: &redirect_uri,
        scope: request.scope.as_deref(),
        request: &id,
        asks_token: provider.verifier.external.is_none(),
        problem: None,
    };
    Ok(page.response(StatusCode::OK, Some(&browser), is_secure(&provider)))
}

fn is_secure(provider: &Provider) -> bool {
    provider.verifier.base_url().starts_with("https://")
}

#[derive(Deserialize)]
pub(super) struct ConsentForm {
    request: String,
    decision: String,
    #[serde(default)]
    token: String,
}

pub(super) async fn decide(
    State(provider): State<Arc<Provider>>,
    headers: HeaderMap,
    Form(form): Form<ConsentForm>,
) -> Result<Response, OAuthError> {
    let browser = cookie(&headers);
    let pending = provider.records().take_pending(&form.request, browser.as_deref());
    let pending = pending.ok_or(OAuthError::InvalidRequest(
        "the request is unknown, expired, or of another browser",
    ))?;
    let state = pending.state.clone();
    let refuse = |error| Ok(back(&provider, &pending.redirect_uri, state.as_deref(), Err(error)));
    if form.decision != "allow" {
        return refuse(OAuthError::AccessDenied);
    }
    if provider.verifier.external.is_some() {
        return to_issuer(&provider, pending).await;
    }
    let token = form.token.trim();
    let claims = provider.verifier.local_claims(token);
    let principal = match &claims {
        Some(_) => provider.verifier.principal(token).await.ok(),
        None => None,
    };
    let Some(principal) = principal else {
        return again(&provider, pending, browser.as_deref());
    };
    let scope = match granted_scope(pending.scope.as_deref(), &principal) {
        Ok(scope) => scope,
        Err(error) => return refuse(error),
    };
    let via = claims.map(|claims| claims.jti);
    let code = provider.records().issue_code(&pending, &principal, scope, via);
    Ok(back(&provider, &pending.redirect_uri, state.as_deref(), Ok(&code)))
}

/// Asks again after a wrong token.
fn again(
    provider: &Provider,
    pending: Pending,
    browser: Option<&str>,
) -> Result<Response, OAuthError> {
    let client = provider.client(&pending.client, &pending.redirect_uri)?;
    let (redirect_uri, scope) = (pending.redirect_uri.clone(), pending.scope.clone());
    let id = provider.records().add_pending(pending).ok_or(OAuthError::TooMany)?;
    let page = Page {
        server: &provider.name,
        client: &client.name,
        redirect_uri: &redirect_uri,
        scope: scope.as_deref(),
        request: &id,
        asks_token: true,
        problem: Some("This token is not valid."),
    };
    Ok(page.response(StatusCode::FORBIDDEN, browser, is_secure(provider)))
}
