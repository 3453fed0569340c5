//! Lets in requests with a valid token, and only as many as the principal may send.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;
use quintain_engine::store::LOCAL_OWNER;

use super::answers::{token_in_query, too_many, unauthorized};
use super::state::HttpState;
use crate::auth::Refusal;
use crate::peer::Peer;
use crate::principal::{Access, Group, Principal, Scope};

/// How often the token of an open stream is verified again.
const TOKEN_CHECK: Duration = Duration::from_secs(2);

pub(super) async fn layer(
    State(state): State<Arc<HttpState>>,
    mut request: Request,
    next: Next,
) -> Response {
    let query = request.uri().query().unwrap_or_default();
    if has_token(query) {
        return token_in_query();
    }
    let mut valid = None;
    let principal = if state.settings().require_auth {
        let Some(token) = bearer(request.headers()) else {
            return unauthorized(state.verifier.base_url(), None, &Refusal::Missing.to_string());
        };
        match state.verifier.principal(&token).await {
            Ok(principal) => {
                valid = Some(token);
                principal
            }
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
    if let Some(peer) = request.extensions().get::<Arc<Peer>>() {
        peer.recognise();
    }
    request.extensions_mut().insert(principal);
    let is_stream = *request.method() == Method::GET;
    let response = next.run(request).await;
    match valid {
        Some(token) if is_stream && response.status().is_success() => {
            while_valid(state, token, response)
        }
        _ => response,
    }
}

/// Whether the header of a request has a valid token.
pub(super) async fn is_authenticated(state: &HttpState, headers: &HeaderMap) -> bool {
    match bearer(headers) {
        Some(token) => state.verifier.principal(&token).await.is_ok(),
        None => false,
    }
}

/// A stream that ends soon after its token was revoked or expired.
fn while_valid(state: Arc<HttpState>, token: String, response: Response) -> Response {
    let ended = async move {
        loop {
            tokio::time::sleep(TOKEN_CHECK).await;
            if matches!(state.verifier.principal(&token).await, Err(Refusal::Invalid)) {
                return;
            }
        }
    };
    response.map(|body| Body::from_stream(body.into_data_stream().take_until(Box::pin(ended))))
}

/// Whether a parameter is named like a credential, however the name is written.
fn has_token(query: &str) -> bool {
    const NAMES: [&str; 10] = [
        "access_token",
        "token",
        "bearer",
        "bearer_token",
        "auth_token",
        "authorization",
        "api_key",
        "apikey",
        "key",
        "jwt",
    ];
    url::form_urlencoded::parse(query.as_bytes()).any(|(name, value)| {
        let name = name.trim().to_ascii_lowercase().replace('-', "_");
        NAMES.contains(&name.as_str()) || is_jwt(&value)
    })
}

/// Whether a value looks like a signed token: three parts, the first of which is JSON.
fn is_jwt(value: &str) -> bool {
    value.starts_with("eyJ") && value.split('.').count() == 3
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

#[cfg(test)]
mod tests {
    use super::has_token;

    #[test]
    fn a_token_in_the_query_is_found_however_its_name_is_written() {
        for query in [
            "access_token=x",
            "a=1&access%5ftoken=x",
            "ACCESS_TOKEN=x",
            "Access-Token=x",
            "%61ccess_token=x",
            "bearer=x",
            "api_key=x",
            "+token=x",
            "other=eyJhbGciOiJIUzI1NiJ9.e30.c2ln",
        ] {
            assert!(has_token(query), "{query}");
        }
        for query in ["", "sessionId=abc", "a=access_token", "tokens=3"] {
            assert!(!has_token(query), "{query}");
        }
    }
}
