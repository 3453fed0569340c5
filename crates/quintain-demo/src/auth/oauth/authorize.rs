//! The authorize endpoint. There is no user to ask, so it approves at once.

use std::sync::Arc;

use axum::{
    extract::{Query, State},
    response::{IntoResponse, Redirect, Response},
};
use serde::Deserialize;
use url::{Host, Url};

use super::{super::Gate, Grant, clients::Client, error::OAuthError, token::granted_scope};

#[derive(Deserialize)]
pub(super) struct AuthorizeRequest {
    response_type: String,
    client_id: String,
    redirect_uri: String,
    code_challenge: Option<String>,
    code_challenge_method: Option<String>,
    scope: Option<String>,
    state: Option<String>,
    resource: Option<String>,
}

pub(super) async fn authorize(
    State(gate): State<Arc<Gate>>,
    Query(request): Query<AuthorizeRequest>,
) -> Result<Response, OAuthError> {
    let server = &gate.oauth;
    // Until client and redirect URI are verified, it never redirects.
    let client = server.clients().get(&request.client_id).ok_or(OAuthError::InvalidClient)?;
    let mut target =
        Url::parse(&request.redirect_uri).map_err(|_| OAuthError::InvalidRedirectUri)?;
    if !may_redirect(&client, &target) {
        return Err(OAuthError::InvalidRedirectUri);
    }

    let outcome = match (&request.code_challenge, request.code_challenge_method.as_deref()) {
        (Some(challenge), Some("S256")) if request.response_type == "code" => {
            granted_scope(request.scope.as_deref()).and_then(|scope| {
                let grant = Grant {
                    user: server.user.clone(),
                    client: request.client_id,
                    scope,
                    resource: request.resource,
                };
                let uri = request.redirect_uri;
                Ok(server.vault().issue_code(grant, challenge.clone(), uri)?)
            })
        }
        _ => Err(OAuthError::InvalidRequest),
    };
    {
        let mut query = target.query_pairs_mut();
        match outcome {
            Ok(code) => query.append_pair("code", &code),
            Err(error) => query.append_pair("error", &error.to_string()),
        };
        if let Some(state) = &request.state {
            query.append_pair("state", state);
        }
        query.append_pair("iss", &server.base_url);
    }
    Ok(Redirect::to(target.as_str()).into_response())
}

/// Registered URIs must match exactly, except for the port of a loopback address (RFC 8252).
fn may_redirect(client: &Client, target: &Url) -> bool {
    let Some(registered) = &client.redirect_uris else { return is_loopback(target) };
    registered.iter().filter_map(|uri| Url::parse(uri).ok()).any(|mut uri| {
        if is_loopback(&uri) && is_loopback(target) {
            let _ = uri.set_port(target.port());
        }
        uri == *target
    })
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_port_of_a_loopback_address_may_vary() {
        let client = Client {
            secret: None,
            user: None,
            redirect_uris: Some(vec!["http://127.0.0.1/back".into(), "https://a.example/b".into()]),
        };
        for (uri, expected) in [
            ("http://127.0.0.1:4711/back", true),
            ("http://127.0.0.1:4711/other", false),
            ("https://a.example/b", true),
            ("https://a.example:444/b", false),
            ("https://evil.example/b", false),
        ] {
            assert_eq!(may_redirect(&client, &Url::parse(uri).unwrap()), expected, "{uri}");
        }
    }
}
