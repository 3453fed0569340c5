//! Reads how to authenticate to a server. Credentials are secrets: `Debug` does not show them.

use quintain_evidence::connection::{
    ApiKeyPlacement, Auth, ClientAuth, Grant, IdentityProvider, OAuth, SigningKey,
};
use quintain_source::{Diagnostic, Diagnostics, Fields, Node, Scope, Severity, wrong_type};
use secrecy::SecretString;

use super::http_url::check_url;
use super::reader::Reader;

pub(super) const TYPES: [(&str, Type); 9] = [
    ("bearer", Type::Bearer),
    ("basic", Type::Basic),
    ("api_key", Type::ApiKey),
    ("oauth", Type::OAuth),
    ("none", Type::None),
    ("no_auth", Type::None),
    ("", Type::None),
    ("stored", Type::Stored),
    ("login", Type::Stored),
];
pub(super) const PLACEMENTS: [(&str, ApiKeyPlacement); 2] =
    [("header", ApiKeyPlacement::Header), ("query", ApiKeyPlacement::Query)];
pub(super) const GRANTS: [(&str, GrantType); 4] = [
    ("client_credentials", GrantType::ClientCredentials),
    ("password", GrantType::Password),
    ("jwt_bearer", GrantType::JwtBearer),
    ("identity_assertion", GrantType::IdentityAssertion),
];
/// The first is the default.
pub(super) const ALGORITHMS: [(&str, &str); 9] = [
    ("ES256", "ES256"),
    ("ES384", "ES384"),
    ("RS256", "RS256"),
    ("RS384", "RS384"),
    ("RS512", "RS512"),
    ("PS256", "PS256"),
    ("PS384", "PS384"),
    ("PS512", "PS512"),
    ("EdDSA", "EdDSA"),
];
pub(super) const CLIENT_AUTHS: [(&str, ClientAuth); 3] = [
    ("auto", ClientAuth::Auto),
    ("client_secret_post", ClientAuth::Body),
    ("client_secret_basic", ClientAuth::Basic),
];

#[derive(Clone, Copy)]
pub(super) enum GrantType {
    ClientCredentials,
    Password,
    JwtBearer,
    IdentityAssertion,
}

#[derive(Clone, Copy)]
pub(super) enum Type {
    None,
    Bearer,
    Basic,
    ApiKey,
    OAuth,
    Stored,
}

/// Reads `auth` of a server. Returns none if any part of it is invalid.
pub(super) fn read(node: &Node, reader: &Reader<'_>, dx: &mut Diagnostics) -> Option<Auth> {
    let mut fields = Fields::of(node, "`auth`", dx)?;
    fields.required("type", dx)?;
    let auth = match fields.choice("type", &TYPES, dx)? {
        Type::None => Some(Auth::None),
        Type::Stored => Some(Auth::Stored),
        Type::Bearer => {
            secret(&mut fields, "token", reader, dx).map(|token| Auth::Bearer { token })
        }
        Type::Basic => {
            let username = required(&mut fields, "username", reader, dx);
            let password = secret(&mut fields, "password", reader, dx);
            username.zip(password).map(|(username, password)| Auth::Basic { username, password })
        }
        Type::ApiKey => api_key(&mut fields, reader, dx),
        Type::OAuth => oauth(&mut fields, reader, dx).map(Auth::OAuth),
    };
    fields.finish(reader.strictness, dx);
    auth
}

fn api_key(fields: &mut Fields<'_>, reader: &Reader<'_>, dx: &mut Diagnostics) -> Option<Auth> {
    let legacy = fields.get("api_key").is_some() && fields.get("value").is_none();
    let value = secret(fields, if legacy { "api_key" } else { "value" }, reader, dx);
    let key_name =
        optional(fields, "keyName", reader, dx).unwrap_or_else(|| "X-API-Key".to_owned());
    let placement = fields.choice("placement", &PLACEMENTS, dx).unwrap_or_default();
    Some(Auth::ApiKey { value: value?, key_name, placement })
}

fn oauth(fields: &mut Fields<'_>, reader: &Reader<'_>, dx: &mut Diagnostics) -> Option<OAuth> {
    let grant_type = match fields.get("grantType") {
        None => Some(GrantType::ClientCredentials),
        Some(_) => fields.choice("grantType", &GRANTS, dx),
    };
    let token_url = optional(fields, "tokenUrl", reader, dx);
    check_known_url(fields, "tokenUrl", token_url.as_deref(), reader, dx);
    let client_auth =
        fields.one_of(&["clientAuthMethod", "tokenEndpointAuthMethod"], Severity::Warning, dx);
    let client_auth = client_auth.and_then(|(name, _)| fields.choice(name, &CLIENT_AUTHS, dx));
    let scopes = scopes(fields, reader, dx);
    let audience = optional(fields, "audience", reader, dx);
    let resource = optional(fields, "resource", reader, dx);
    let (client_id, client_secret, grant) = match grant_type {
        // If the grant type is invalid, the keys that most grants have are still checked.
        Some(GrantType::ClientCredentials) | None => client_credentials(fields, reader, dx),
        Some(other) => {
            let client_id = optional(fields, "clientId", reader, dx);
            let client_secret = optional_secret(fields, "clientSecret", reader, dx);
            let grant = match other {
                GrantType::ClientCredentials | GrantType::Password => {
                    let username = required(fields, "username", reader, dx);
                    let password = secret(fields, "password", reader, dx);
                    username
                        .zip(password)
                        .map(|(username, password)| Grant::Password { username, password })
                }
                GrantType::JwtBearer => secret(fields, "assertion", reader, dx)
                    .map(|assertion| Grant::JwtBearer { assertion }),
                GrantType::IdentityAssertion => {
                    identity_provider(fields, reader, dx).map(Grant::IdentityAssertion)
                }
            };
            (client_id, client_secret, grant)
        }
    };
    let (grant, client_auth) = (grant?, client_auth.unwrap_or_default());
    grant_type?;
    Some(OAuth {
        grant,
        token_url,
        client_id,
        client_secret,
        client_auth,
        scopes,
        audience,
        resource,
    })
}

/// The client credentials: its id, and a secret or a private key.
fn client_credentials(
    fields: &mut Fields<'_>,
    reader: &Reader<'_>,
    dx: &mut Diagnostics,
) -> (Option<String>, Option<SecretString>, Option<Grant>) {
    let id = required(fields, "clientId", reader, dx);
    // This grant does not use them; users often set them anyway.
    fields.get("username");
    fields.get("password");
    if fields.get("privateKey").is_none() {
        let secret = secret(fields, "clientSecret", reader, dx);
        let is_complete = id.is_some() && secret.is_some();
        return (id, secret, is_complete.then_some(Grant::ClientCredentials { key: None }));
    }
    let pem = secret(fields, "privateKey", reader, dx);
    let algorithm = match fields.get("signingAlgorithm") {
        None => Some(ALGORITHMS[0].1),
        Some(_) => fields.choice("signingAlgorithm", &ALGORITHMS, dx),
    };
    let key_id = optional(fields, "keyId", reader, dx);
    let key = pem.zip(algorithm).map(|(pem, algorithm)| SigningKey { pem, algorithm, key_id });
    let grant = key.filter(|_| id.is_some()).map(|key| Grant::ClientCredentials { key: Some(key) });
    (id, None, grant)
}

fn identity_provider(
    fields: &mut Fields<'_>,
    reader: &Reader<'_>,
    dx: &mut Diagnostics,
) -> Option<IdentityProvider> {
    let id_token = secret(fields, "idToken", reader, dx);
    let token_url = required(fields, "idpTokenUrl", reader, dx);
    check_known_url(fields, "idpTokenUrl", token_url.as_deref(), reader, dx);
    let client_id = required(fields, "idpClientId", reader, dx);
    let client_secret = optional_secret(fields, "idpClientSecret", reader, dx);
    let (id_token, token_url, client_id) = (id_token?, token_url?, client_id?);
    Some(IdentityProvider { token_url, client_id, client_secret, id_token })
}

/// Reports an invalid URL, once all variables in it are known.
fn check_known_url(
    fields: &mut Fields<'_>,
    name: &'static str,
    url: Option<&str>,
    reader: &Reader<'_>,
    dx: &mut Diagnostics,
) {
    let known = url.filter(|url| !reader.is_unfilled(url));
    if let Some((node, url)) = fields.get(name).zip(known) {
        check_url(name, url, node, dx);
    }
}

/// A list, or one text separated by commas or white space.
fn scopes(fields: &mut Fields<'_>, reader: &Reader<'_>, dx: &mut Diagnostics) -> Vec<String> {
    let nodes = fields.scalars("scopes", dx).unwrap_or_default();
    let texts = nodes.into_iter().filter_map(|node| reader.templates.fill(node, Scope::Bare, dx));
    let texts: Vec<String> = texts.collect();
    let words = texts.iter().flat_map(|text| text.split([',', ' ', '\n']));
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// A text in which `{{X}}` without `env.` is an environment variable, as in promptfoo.
fn optional(
    fields: &mut Fields<'_>,
    name: &'static str,
    reader: &Reader<'_>,
    dx: &mut Diagnostics,
) -> Option<String> {
    let node = fields.get(name)?;
    if node.raw().is_none() {
        wrong_type(name, "text", node, dx);
    }
    reader.templates.fill(node, Scope::Bare, dx)
}

/// The same for a required key, which must not be empty.
fn required(
    fields: &mut Fields<'_>,
    name: &'static str,
    reader: &Reader<'_>,
    dx: &mut Diagnostics,
) -> Option<String> {
    let node = fields.required(name, dx)?;
    let text = optional(fields, name, reader, dx)?;
    if text.trim().is_empty() {
        let title = format!("`{name}` is empty");
        dx.push(Diagnostic::error("config::empty-value", title).at(node.span, "expected a value"));
        return None;
    }
    Some(text)
}

fn optional_secret(
    fields: &mut Fields<'_>,
    name: &'static str,
    reader: &Reader<'_>,
    dx: &mut Diagnostics,
) -> Option<SecretString> {
    optional(fields, name, reader, dx).map(SecretString::from)
}

fn secret(
    fields: &mut Fields<'_>,
    name: &'static str,
    reader: &Reader<'_>,
    dx: &mut Diagnostics,
) -> Option<SecretString> {
    required(fields, name, reader, dx).map(SecretString::from)
}
