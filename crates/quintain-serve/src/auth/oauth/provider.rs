//! The authorisation server: its records, and the tokens it signs.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use url::{Host, Url};

use super::error::OAuthError;
use super::records::{Client, Grant, Records};
use crate::auth::{Claims, Verifier};
use crate::principal::{Access, Group, Principal, Scope};
use crate::random::random_id;
use crate::rate::RateLimiter;
use crate::settings::Settings;

/// How long an access token is valid.
pub(super) const ACCESS_LIFE_SECONDS: u64 = 600;
/// Registrations from one address.
const REGISTRATIONS_PER_MINUTE: u32 = 120;

/// The authorisation server of one server.
pub struct Provider {
    pub(super) verifier: Arc<Verifier>,
    pub(super) name: String,
    /// This server as client of the external issuer.
    pub(super) external_client: Option<(String, Option<String>)>,
    records: Mutex<Records>,
    /// Registrations by address of the client: everybody may register.
    pub(super) registrations: RateLimiter,
}

impl Provider {
    pub fn open(folder: &Path, verifier: Arc<Verifier>, settings: &Settings) -> Self {
        let id = settings.oauth_client_id.clone();
        let secret = settings.oauth_client_secret.clone();
        Self {
            verifier,
            name: settings.name.clone(),
            external_client: id.map(|id| (id, secret)),
            records: Mutex::new(Records::open(folder)),
            registrations: RateLimiter::new(REGISTRATIONS_PER_MINUTE),
        }
    }

    pub(super) fn records(&self) -> MutexGuard<'_, Records> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The client, if the redirect URI is one of its own, character by character. The port of this machine's loopback may
    /// differ, since applications get it from the operating system (RFC 8252, section 7.3).
    pub(super) fn client(&self, id: &str, redirect_uri: &str) -> Result<Client, OAuthError> {
        let client = self.records().client(id).ok_or(OAuthError::InvalidClient)?;
        if client
            .redirect_uris
            .iter()
            .any(|own| own == redirect_uri || is_on_other_port(own, redirect_uri))
        {
            Ok(client)
        } else {
            Err(OAuthError::InvalidRedirectUri)
        }
    }

    /// Signs an access token.
    pub(super) fn access_token(&self, grant: &Grant) -> Result<String, OAuthError> {
        let now = jsonwebtoken::get_current_timestamp();
        let claims = Claims {
            iss: self.verifier.base_url().to_owned(),
            sub: grant.owner.clone(),
            aud: self.verifier.resource(),
            exp: now + ACCESS_LIFE_SECONDS,
            nbf: now,
            iat: now,
            jti: random_id(),
            scope: grant.scope.clone(),
            operator: false,
            client_id: Some(grant.client.clone()),
            via: grant.via.clone(),
            family: Some(grant.family.clone()),
        };
        self.verifier.keys().sign(&claims).map_err(|error| {
            tracing::error!(%error, "cannot sign a token");
            OAuthError::ServerError
        })
    }
}

/// Whether two URIs differ only in the port of this machine's loopback address.
fn is_on_other_port(own: &str, other: &str) -> bool {
    let without_port = |uri: &str| {
        let mut url = Url::parse(uri).ok().filter(|url| url.scheme() == "http")?;
        let is_loopback = match url.host()? {
            Host::Ipv4(ip) => ip.is_loopback(),
            Host::Ipv6(ip) => ip.is_loopback(),
            Host::Domain(name) => name == "localhost",
        };
        url.set_port(None).ok()?;
        // Only a URI in its usual notation, so that nothing else differs.
        let written = Url::parse(uri).ok()?;
        (is_loopback && written.as_str() == uri).then(|| url.to_string())
    };
    without_port(own).is_some_and(|own| without_port(other) == Some(own))
}

/// Every scope, in the order of documentation.
pub(super) fn all_scopes() -> Vec<String> {
    let both = |group| [Scope::new(group, Access::Read), Scope::new(group, Access::Write)];
    Group::ALL.into_iter().flat_map(both).map(|scope| scope.to_string()).collect()
}

/// What a client gets of what the user has. Without a request, everything except administration.
pub(super) fn granted_scope(
    requested: Option<&str>,
    principal: &Principal,
) -> Result<String, OAuthError> {
    let requested = requested.unwrap_or_default();
    let mut scopes: Vec<Scope> = requested.split_whitespace().filter_map(Scope::parse).collect();
    if scopes.is_empty() {
        let groups = Group::ALL.into_iter().filter(|group| *group != Group::Admin);
        scopes = groups
            .flat_map(|group| [Scope::new(group, Access::Read), Scope::new(group, Access::Write)])
            .collect();
    }
    scopes.retain(|scope| principal.may(*scope));
    if scopes.is_empty() {
        return Err(OAuthError::InvalidScope);
    }
    let words: Vec<String> = scopes.iter().map(ToString::to_string).collect();
    Ok(words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::is_on_other_port;

    #[test]
    fn only_the_port_of_loopback_may_differ() {
        assert!(is_on_other_port("http://127.0.0.1:7777/cb", "http://127.0.0.1:7778/cb"));
        assert!(is_on_other_port("http://127.0.0.1/cb", "http://127.0.0.1:50000/cb"));
        assert!(is_on_other_port("http://[::1]:1/cb", "http://[::1]:2/cb"));
        for (own, other) in [
            ("http://127.0.0.1:1/cb", "http://127.0.0.1:2/other"),
            ("http://127.0.0.1:1/cb", "http://127.0.0.2:1/cb"),
            ("http://127.0.0.1:1/cb", "http://u@127.0.0.1:2/cb"),
            ("http://127.0.0.1:1/cb", "http://127.0.0.1:2/x/../cb"),
            ("http://127.0.0.1:1/cb", "https://127.0.0.1:2/cb"),
            ("https://a.example:1/cb", "https://a.example:2/cb"),
        ] {
            assert!(!is_on_other_port(own, other), "{own} {other}");
        }
    }
}
