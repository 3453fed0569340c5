//! Dynamic registration of clients (RFC 7591).

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::json;
use url::{Host, Url};

use super::error::OAuthError;
use super::provider::Provider;
use super::records::{Client, hash};
use crate::peer::Peer;
use crate::random::random_secret;

const MOST_URIS: usize = 16;
const LONGEST_NAME: usize = 100;
const LONGEST_URI: usize = 2000;

#[derive(Deserialize)]
pub(super) struct Registration {
    #[serde(default)]
    redirect_uris: Vec<String>,
    client_name: Option<String>,
    token_endpoint_auth_method: Option<String>,
    scope: Option<String>,
}

pub(super) async fn register(
    State(provider): State<Arc<Provider>>,
    peer: Option<Extension<Arc<Peer>>>,
    request: Result<Json<Registration>, axum::extract::rejection::JsonRejection>,
) -> Result<Response, OAuthError> {
    let address = peer.map(|Extension(peer)| peer.address.ip().to_string()).unwrap_or_default();
    if provider.registrations.take(&address).is_err() {
        return Err(OAuthError::TooMany);
    }
    let Ok(Json(request)) = request else {
        return Err(OAuthError::InvalidRequest("expected the metadata of a client as JSON"));
    };
    let uris = &request.redirect_uris;
    if uris.is_empty() || uris.len() > MOST_URIS || !uris.iter().all(|uri| is_acceptable(uri)) {
        return Err(OAuthError::BadRedirectUri);
    }
    let method = request.token_endpoint_auth_method.as_deref().unwrap_or("none");
    let secret = match method {
        "none" => None,
        "client_secret_post" | "client_secret_basic" => Some(random_secret()),
        _ => return Err(OAuthError::InvalidRequest("unsupported token_endpoint_auth_method")),
    };
    let name = request.client_name.unwrap_or_else(|| "a client without a name".to_owned());
    let created = jsonwebtoken::get_current_timestamp();
    let client = Client {
        name: name.chars().take(LONGEST_NAME).collect(),
        redirect_uris: request.redirect_uris,
        secret: secret.as_deref().map(hash),
        created,
        is_used: false,
    };
    let mut body = json!({
        "client_name": client.name,
        "redirect_uris": client.redirect_uris,
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": method,
        "client_id_issued_at": created,
    });
    let id = provider.records().add_client(client).ok_or(OAuthError::TooMany)?;
    body["client_id"] = json!(id);
    if let Some(secret) = secret {
        body["client_secret"] = json!(secret);
        body["client_secret_expires_at"] = json!(0);
    }
    if let Some(scope) = request.scope {
        body["scope"] = json!(scope);
    }
    Ok((StatusCode::CREATED, [(header::CACHE_CONTROL, "no-store")], Json(body)).into_response())
}

/// HTTPS, HTTP on this machine, or the own scheme of an application; nothing that a browser would run or open as a file.
fn is_acceptable(uri: &str) -> bool {
    const REFUSED: [&str; 8] =
        ["javascript", "data", "file", "blob", "about", "vbscript", "ftp", "ws"];
    // Parsers drop or keep these differently, and in a header or a policy they separate.
    let is_plain = |c: char| c.is_ascii_graphic() && !"\"'`<>\\^{|},;".contains(c);
    if uri.len() > LONGEST_URI || !uri.chars().all(is_plain) {
        return false;
    }
    let Ok(url) = Url::parse(uri) else { return false };
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-._~[]:".contains(c);
    if !url.host_str().is_none_or(|host| host.chars().all(is_name)) {
        return false;
    }
    if url.fragment().is_some()
        || uri.contains('*')
        || !url.username().is_empty()
        || url.password().is_some()
    {
        return false;
    }
    match url.scheme() {
        "https" => url.host().is_some(),
        "http" => match url.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(ip)) => ip.is_loopback(),
            Some(Host::Ipv6(ip)) => ip.is_loopback(),
            None => false,
        },
        scheme => !REFUSED.contains(&scheme),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_leave_the_machine_only_encrypted() {
        for uri in [
            "https://app.example/cb",
            "http://127.0.0.1:4000/cb",
            "http://localhost/cb",
            "cursor://anysphere.mcp/cb",
        ] {
            assert!(is_acceptable(uri), "{uri}");
        }
        for uri in [
            "http://app.example/cb",
            "javascript:alert(1)",
            "https://a.example/*",
            "https://a.example/#x",
            "https://u:p@a.example/",
            "cb",
            "https://a.example;script-src/cb",
            "https://a.example/cb;x",
            "https://a.example/c\r\nb",
            "https://a.example/c b",
            "a;b://x/cb",
        ] {
            assert!(!is_acceptable(uri), "{uri}");
        }
    }
}
