//! Where a login gets its client id: configured, by metadata document, or by dynamic registration (RFC 7591).

use secrecy::SecretString;
use serde_json::{Value, json};
use url::Url;

use super::GrantContext;
use super::client::{ClientAuthMethod, ClientIdentity};
use super::discovery::Discovered;
use super::token::learn_client_secret;
use crate::auth::error::{bare, described, shown};
use crate::auth::{AuthError, LoginOptions};

/// A client as registered with one issuer for one redirect URI.
#[derive(Clone, Debug)]
pub(crate) struct Registration {
    pub(crate) issuer: String,
    pub(crate) redirect_uri: Url,
    pub(crate) client: ClientIdentity,
}

/// Finds the client id to use at the discovered server; reuses `earlier` if it still matches.
pub(crate) async fn client(
    grant_context: &GrantContext,
    options: &LoginOptions,
    found: &Discovered,
    redirect_uri: &Url,
    earlier: Option<&Registration>,
) -> Result<ClientIdentity, AuthError> {
    let issuer = found.server.issuer();
    let supported = found.server.token_endpoint_auth_methods_supported.as_deref();
    if let Some(id) = &options.client_id {
        if let Some(other) = earlier.filter(|e| e.client.id == *id && e.issuer != issuer) {
            return Err(AuthError::IssuerChanged {
                server: bare(&grant_context.server).to_string(),
                expected: shown(&other.issuer),
                found: shown(issuer),
            });
        }
        let secret = options.client_secret.clone();
        if let Some(secret) = &secret {
            learn_client_secret(&grant_context.redactor, Some(id), secret);
        }
        let chosen = ClientAuthMethod::choose(secret.is_some(), supported);
        let method = options.client_auth.unwrap_or(chosen);
        return Ok(ClientIdentity { id: id.clone(), secret, key: None, method });
    }
    let document = options.client_metadata_url.as_ref();
    if let Some(url) = document.filter(|_| found.server.client_id_metadata_documents) {
        let (id, method) = (url.to_string(), ClientAuthMethod::None);
        return Ok(ClientIdentity { id, secret: None, key: None, method });
    }
    // A registration belongs to its issuer and must not be sent to another one.
    let earlier = earlier.filter(|e| e.issuer == issuer && e.redirect_uri == *redirect_uri);
    if let Some(earlier) = earlier {
        return Ok(earlier.client.clone());
    }
    match found.server.registration_endpoint(grant_context).await? {
        Some(endpoint) => register(grant_context, &endpoint, redirect_uri, supported).await,
        None => Err(AuthError::NoRegistration { issuer: shown(issuer) }),
    }
}

async fn register(
    grant_context: &GrantContext,
    endpoint: &Url,
    redirect_uri: &Url,
    supported: Option<&[String]>,
) -> Result<ClientIdentity, AuthError> {
    let wanted = wanted(supported);
    let body = json!({
        "client_name": "Quintain",
        "redirect_uris": [redirect_uri.as_str()],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": wanted.as_str(),
        "application_type": "native",
    });
    let answer =
        grant_context.http.send(grant_context.http.post(endpoint).json(&body), endpoint).await?;
    let object = answer.object().unwrap_or_default();
    let text = |name: &str| object.get(name).and_then(Value::as_str).filter(|t| !t.is_empty());
    if !answer.status.is_success() {
        let reason = match text("error") {
            Some(error) => format!("{}{}", shown(error), described(text("error_description"))),
            None => format!("{} {}", answer.status_line(), answer.excerpt()),
        };
        let (url, status) = (endpoint.to_string(), answer.status);
        return Err(AuthError::RegistrationRefused { url, status, reason });
    }
    let Some(id) = text("client_id") else {
        let reason = "it has no `client_id`".to_owned();
        return Err(AuthError::BadAnswer { url: endpoint.to_string(), reason });
    };
    let secret = text("client_secret").map(SecretString::from);
    if let Some(secret) = &secret {
        learn_client_secret(&grant_context.redactor, Some(id), secret);
    }
    let registered = text("token_endpoint_auth_method").and_then(|name| name.parse().ok());
    let method = registered.unwrap_or_else(|| match supported {
        // The server did not change the method, so it registered the requested one.
        Some(_) => wanted,
        None => ClientAuthMethod::choose(secret.is_some(), None),
    });
    Ok(ClientIdentity { id: id.to_owned(), secret, key: None, method })
}

/// A program on a user's machine cannot keep a secret, so it requests none if the server allows that.
fn wanted(supported: Option<&[String]>) -> ClientAuthMethod {
    let supports = |m: ClientAuthMethod| {
        supported.is_none_or(|list| list.iter().any(|name| name == m.as_str()))
    };
    if supports(ClientAuthMethod::None) {
        ClientAuthMethod::None
    } else {
        ClientAuthMethod::choose(true, supported)
    }
}
