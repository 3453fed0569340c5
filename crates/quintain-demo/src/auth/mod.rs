//! Identifies the caller of an HTTP request: one file per kind of credential, and the layer that uses them.

mod api_key;
mod basic;
mod bearer;
pub(crate) mod oauth;
mod sessions;

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header},
    middleware::Next,
    response::{IntoResponse, Response},
};

pub(crate) use self::sessions::Sessions;
use self::{bearer::token_of, oauth::AuthorizationServer};
use crate::{
    config::{Auth, DemoConfig, Twin},
    identity::Caller,
};

const SESSION_HEADER: &str = "mcp-session-id";

/// Identifies the caller of each request to the MCP endpoints.
pub(crate) struct Gate {
    twin: Twin,
    auth: Auth,
    anonymous: Caller,
    pub(crate) oauth: AuthorizationServer,
    /// The user whose credential opened each session.
    pub(crate) sessions: Sessions,
}

impl Gate {
    pub(crate) fn new(config: &DemoConfig, base_url: String) -> Self {
        Self {
            twin: config.twin,
            auth: config.auth.clone(),
            anonymous: Caller::unlimited(&config.user),
            oauth: AuthorizationServer::new(base_url, config.token_ttl, config.user.clone()),
            sessions: Sessions::default(),
        }
    }

    fn caller(&self, uri: &Uri, headers: &HeaderMap) -> Option<Caller> {
        match &self.auth {
            Auth::None => Some(self.anonymous.clone()),
            Auth::Bearer => bearer::caller(self.twin, uri, headers),
            Auth::Basic => basic::caller(headers),
            Auth::ApiKey { name, placement } => {
                api_key::caller(self.twin, name, *placement, uri, headers)
            }
            Auth::OAuth => {
                let token = token_of(self.twin, uri, headers)?;
                self.oauth.caller(self.twin, &token)
            }
        }
    }

    /// The value of `WWW-Authenticate` for a refusal.
    fn challenge(&self) -> String {
        match &self.auth {
            Auth::None | Auth::Bearer => "Bearer realm=\"techmart\"".into(),
            Auth::Basic => "Basic realm=\"techmart\", charset=\"UTF-8\"".into(),
            Auth::ApiKey { name, .. } => format!("ApiKey realm=\"techmart\", name=\"{name}\""),
            Auth::OAuth => format!(
                "Bearer realm=\"techmart\", resource_metadata=\"{}\"",
                self.oauth.resource_metadata_url()
            ),
        }
    }

    /// The caller of a request that names `sessions`.
    ///
    /// A session is not a credential: the patched twin requires one with each request, and it must belong to
    /// the same user as the one that opened the session. For every other caller the session does not exist.
    fn admit(&self, caller: Option<Caller>, sessions: &[String]) -> Result<Caller, StatusCode> {
        let mut owners = sessions.iter().filter_map(|id| self.sessions.owner(id));
        // PLANTED (session-hijack): the id of a session is enough, without a credential of its owner.
        if self.twin.is_vulnerable() {
            return caller.or_else(|| owners.next()).ok_or(StatusCode::UNAUTHORIZED);
        }
        let caller = caller.ok_or(StatusCode::UNAUTHORIZED)?;
        if owners.any(|owner| owner != caller) {
            return Err(StatusCode::NOT_FOUND);
        }
        Ok(caller)
    }
}

/// Passes a request on with its caller attached, or refuses it.
pub(crate) async fn layer(
    State(gate): State<Arc<Gate>>,
    mut request: Request,
    next: Next,
) -> Response {
    let found = gate.caller(request.uri(), request.headers());
    let sessions = sessions_of(request.uri(), request.headers());
    let caller = match gate.admit(found, &sessions) {
        Ok(caller) => caller,
        Err(StatusCode::UNAUTHORIZED) => return refusal(&gate.challenge()),
        Err(status) => return (status, "unknown session").into_response(),
    };
    request.extensions_mut().insert(caller.clone());
    let ends_sessions = request.method() == Method::DELETE;
    let response = next.run(request).await;
    if ends_sessions && response.status().is_success() {
        for id in &sessions {
            gate.sessions.close(id);
        }
    }
    if let Some(id) = response.headers().get(SESSION_HEADER).and_then(|id| id.to_str().ok())
        && !sessions.iter().any(|named| named == id)
    {
        gate.sessions.open(id, caller);
    }
    response
}

/// The sessions that a request names. It may name one for each transport, and which one applies is not
/// known yet, so the caller must own them all.
fn sessions_of(uri: &Uri, headers: &HeaderMap) -> Vec<String> {
    let header = headers.get(SESSION_HEADER).and_then(|id| id.to_str().ok()).map(str::to_owned);
    header.into_iter().chain(query_parameter(uri, "sessionId")).collect()
}

fn refusal(challenge: &str) -> Response {
    let mut response = (StatusCode::UNAUTHORIZED, "unauthorized").into_response();
    if let Ok(value) = HeaderValue::from_str(challenge) {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, value);
    }
    response
}

/// The rest of the `Authorization` header after `scheme`.
fn authorization<'a>(headers: &'a HeaderMap, scheme: &str) -> Option<&'a str> {
    let (found, rest) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    found.eq_ignore_ascii_case(scheme).then(|| rest.trim())
}

fn query_parameter(uri: &Uri, name: &str) -> Option<String> {
    url::form_urlencoded::parse(uri.query()?.as_bytes())
        .find(|(found, _)| found == name)
        .map(|(_, value)| value.into_owned())
}
