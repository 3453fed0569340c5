//! How a server wants to be authenticated to. Credentials are secrets: `Debug` does not show them.

use quintain_evidence::connection::ApiKeyPlacement;
use quintain_evidence::connection::Auth;
use quintain_evidence::connection::ClientAuth;
use quintain_evidence::connection::Grant;
use quintain_evidence::connection::OAuth;
use quintain_source::{Diagnostic, Diagnostics, Fields, Node, Scope, Severity, wrong_type};
use secrecy::SecretString;

use super::reader::Reader;
use super::server::check_url;

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
pub(super) const GRANTS: [(&str, bool); 2] = [("client_credentials", false), ("password", true)];
pub(super) const CLIENT_AUTHS: [(&str, ClientAuth); 3] = [
    ("auto", ClientAuth::Auto),
    ("client_secret_post", ClientAuth::Body),
    ("client_secret_basic", ClientAuth::Basic),
];

#[derive(Clone, Copy)]
pub(super) enum Type {
    None,
    Bearer,
    Basic,
    ApiKey,
    OAuth,
    Stored,
}

/// Reads `auth` of a server. Nothing is returned if anything about it is wrong.
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
    let by_password = match fields.get("grantType") {
        None => Some(false),
        Some(_) => fields.choice("grantType", &GRANTS, dx),
    };
    let token_url = optional(fields, "tokenUrl", reader, dx);
    let known = token_url.as_deref().filter(|url| !reader.is_unfilled(url));
    if let Some((node, url)) = fields.get("tokenUrl").zip(known) {
        check_url("tokenUrl", url, node, dx);
    }
    let client_auth =
        fields.one_of(&["clientAuthMethod", "tokenEndpointAuthMethod"], Severity::Warning, dx);
    let client_auth = client_auth.and_then(|(name, _)| fields.choice(name, &CLIENT_AUTHS, dx));
    let mut oauth = OAuth {
        grant: Grant::ClientCredentials,
        token_url,
        client_id: None,
        client_secret: None,
        client_auth: client_auth.unwrap_or_default(),
        scopes: scopes(fields, reader, dx),
        audience: optional(fields, "audience", reader, dx),
        resource: optional(fields, "resource", reader, dx),
    };
    if by_password == Some(true) {
        let username = required(fields, "username", reader, dx);
        let password = secret(fields, "password", reader, dx);
        oauth.client_id = optional(fields, "clientId", reader, dx);
        oauth.client_secret = optional(fields, "clientSecret", reader, dx).map(SecretString::from);
        let (username, password) = username.zip(password)?;
        oauth.grant = Grant::Password { username, password };
    } else {
        oauth.client_id = required(fields, "clientId", reader, dx);
        oauth.client_secret = secret(fields, "clientSecret", reader, dx);
        // They may stand there by habit; this grant has no use for them.
        fields.get("username");
        fields.get("password");
        oauth.client_id.as_ref().zip(oauth.client_secret.as_ref())?;
    }
    by_password.map(|_| oauth)
}

/// A list, or one text in which commas or blanks separate.
fn scopes(fields: &mut Fields<'_>, reader: &Reader<'_>, dx: &mut Diagnostics) -> Vec<String> {
    let nodes = fields.scalars("scopes", dx).unwrap_or_default();
    let texts = nodes.into_iter().filter_map(|node| reader.templates.fill(node, Scope::Bare, dx));
    let texts: Vec<String> = texts.collect();
    let words = texts.iter().flat_map(|text| text.split([',', ' ', '\n']));
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// A text in which bare `{{X}}` means the environment, as promptfoo has it here.
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

/// The same, but it must be there and say something.
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
        dx.push(Diagnostic::error("config::empty-value", title).at(node.span, "says nothing"));
        return None;
    }
    Some(text)
}

fn secret(
    fields: &mut Fields<'_>,
    name: &'static str,
    reader: &Reader<'_>,
    dx: &mut Diagnostics,
) -> Option<SecretString> {
    required(fields, name, reader, dx).map(SecretString::from)
}
