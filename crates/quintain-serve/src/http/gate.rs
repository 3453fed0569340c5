//! Lets in requests with a valid token, and only as many as the principal may send.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use quintain_engine::store::LOCAL_OWNER;

use super::answers::{token_in_query, too_many, unauthorized};
use super::state::HttpState;
use crate::auth::Refusal;
use crate::principal::{Access, Group, Principal, Scope};

pub(super) async fn layer(
    State(state): State<Arc<HttpState>>,
    mut request: Request,
    next: Next,
) -> Response {
    let query = request.uri().query().unwrap_or_default();
    if query.split('&').any(|pair| pair.starts_with("access_token=") || pair.starts_with("token="))
    {
        return token_in_query();
    }
    let principal = if state.settings().require_auth {
        let Some(token) = bearer(request.headers()) else {
            return unauthorized(state.verifier.base_url(), None, &Refusal::Missing.to_string());
        };
        match state.verifier.principal(&token).await {
            Ok(principal) => principal,
            Err(Refusal::IssuerUnreachable) => {
                return (StatusCode::SERVICE_UNAVAILABLE, "the issuer cannot be reached")
                    .into_response();
            }
            Err(refusal) => {
                let base_url = state.verifier.base_url();
                return unauthorized(base_url, Some("invalid_token"), &refusal.to_string());
            }
        }
    } else {
        anonymous(&state)
    };
    if let Err(wait) = state.limiter.take(&principal.owner) {
        return too_many(wait.as_secs() + 1);
    }
    request.extensions_mut().insert(principal);
    next.run(request).await
}

/// The token of the header. Two headers are ambiguous, so neither counts.
fn bearer(headers: &HeaderMap) -> Option<String> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let value = values.next()?.to_str().ok()?;
    if values.next().is_some() {
        return None;
    }
    let (scheme, token) = value.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then(|| token.to_owned())
}

/// Who calls without authentication: on a loopback address the user of this machine, otherwise a stranger without special rights.
fn anonymous(state: &HttpState) -> Principal {
    if state.address.ip().is_loopback() {
        return Principal::local(LOCAL_OWNER);
    }
    let groups = Group::ALL.into_iter().filter(|group| *group != Group::Admin);
    let scopes = groups.map(|group| Scope::new(group, Access::Write)).collect();
    Principal { owner: "anonymous".to_owned(), operator: false, scopes }
}
