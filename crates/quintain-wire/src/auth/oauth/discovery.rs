//! Finds the authorization server of an MCP server and remembers every URL it asked.

use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use url::Url;

use super::Desk;
use super::metadata::{ResourceMetadata, ServerMetadata};
use crate::auth::error::{bare, shown};
use crate::auth::{Attempt, AuthError, Challenge};

const AUTHORIZATION_SERVER: &str = "oauth-authorization-server";
const OPENID: &str = "openid-configuration";
const PROTECTED_RESOURCE: &str = "oauth-protected-resource";

/// More authorization servers than this are not tried, whatever the resource lists.
const ISSUERS: usize = 4;

/// What discovery found.
#[derive(Clone, Debug)]
pub(crate) struct Discovered {
    pub(crate) server: ServerMetadata,
    /// The identifier to ask tokens for, from the protected-resource metadata.
    pub(crate) resource: Option<String>,
    pub(crate) scopes: Option<Vec<String>>,
    /// The resource takes only tokens that are bound to a key.
    pub(crate) dpop_required: bool,
    /// There is no protected-resource metadata: a server of the 2025-03-26 protocol.
    pub(crate) legacy: bool,
}

impl Discovered {
    fn at_the_server(server: ServerMetadata) -> Self {
        Self { server, resource: None, scopes: None, dpop_required: false, legacy: true }
    }
}

/// One discovery, with a deadline for all of it.
pub(crate) struct Discovery<'a> {
    desk: &'a Desk,
    deadline: Instant,
    tried: Vec<Attempt>,
    unreachable: bool,
}

impl<'a> Discovery<'a> {
    pub(crate) fn new(desk: &'a Desk) -> Self {
        let deadline = Instant::now() + desk.timeout();
        Self { desk, deadline, tried: Vec::new(), unreachable: false }
    }

    /// For grants without a user: three places at the server itself, then protected-resource metadata.
    ///
    /// The issuer is not compared in the first three: who can forge it there can name any endpoint.
    pub(crate) async fn token_endpoint(mut self) -> Result<Discovered, AuthError> {
        for url in at_the_server(&self.desk.server) {
            let Some(object) = self.document(&url).await else { continue };
            let server = ServerMetadata::from_object(&object);
            if server.token_endpoint.is_some() {
                return Ok(Discovered::at_the_server(server));
            }
            self.note("200 OK, but it names no `token_endpoint`");
        }
        match self.protected_resource(&Challenge::default()).await? {
            Some(resource) => self.servers_of(resource).await,
            None => Err(self.failed()),
        }
    }

    /// For logins: protected-resource metadata, else what the 2025-03-26 protocol did.
    pub(crate) async fn login(mut self, challenge: &Challenge) -> Result<Discovered, AuthError> {
        if let Some(resource) = self.protected_resource(challenge).await? {
            return self.servers_of(resource).await;
        }
        let origin = self.desk.server.origin().ascii_serialization();
        for url in of_the_issuer(&self.desk.server, "") {
            let Some(object) = self.document(&url).await else { continue };
            let server = ServerMetadata::from_object(&object);
            return Ok(Discovered::at_the_server(server));
        }
        if self.unreachable {
            return Err(self.failed());
        }
        let server = ServerMetadata::default_for(&origin);
        Ok(Discovered::at_the_server(server))
    }

    async fn protected_resource(
        &mut self,
        challenge: &Challenge,
    ) -> Result<Option<ResourceMetadata>, AuthError> {
        let mut places = Vec::new();
        if let Some(named) = &challenge.resource_metadata {
            places.push(self.desk.endpoint(named)?);
        }
        let server = &self.desk.server;
        places.push(well_known(server, PROTECTED_RESOURCE, path(server)));
        places.push(well_known(server, PROTECTED_RESOURCE, ""));
        places.dedup();
        for url in places {
            let Some(object) = self.document(&url).await else { continue };
            let resource = ResourceMetadata::from_object(&object);
            if resource == ResourceMetadata::default() {
                self.note("200 OK, but it is no protected-resource metadata");
                continue;
            }
            if !resource.covers(&self.desk.server) {
                return Err(AuthError::ResourceMismatch {
                    url: url.to_string(),
                    server: bare(&self.desk.server).to_string(),
                    found: shown(&resource.resource.unwrap_or_default()),
                });
            }
            return Ok(Some(resource));
        }
        Ok(None)
    }

    async fn servers_of(mut self, resource: ResourceMetadata) -> Result<Discovered, AuthError> {
        let mut issuers = resource.authorization_servers.clone();
        if issuers.is_empty() {
            // RFC 9728 leaves the list optional; the resource is then its own authorization server.
            issuers.push(self.desk.server.origin().ascii_serialization());
        }
        for issuer in issuers.iter().take(ISSUERS) {
            if let Some(server) = self.issuer(issuer).await? {
                return Ok(Discovered {
                    server,
                    resource: resource.resource,
                    scopes: resource.scopes_supported,
                    dpop_required: resource.dpop_required,
                    legacy: false,
                });
            }
        }
        Err(self.failed())
    }

    async fn issuer(&mut self, issuer: &str) -> Result<Option<ServerMetadata>, AuthError> {
        let base = self.desk.endpoint(issuer)?;
        for url in of_the_issuer(&base, path(&base)) {
            let Some(object) = self.document(&url).await else { continue };
            let server = ServerMetadata::from_object(&object);
            let found = server.issuer.as_deref().unwrap_or("none");
            // A trailing slash is the one difference that real servers get wrong without harm.
            if found.trim_end_matches('/') != issuer.trim_end_matches('/') {
                let (url, expected, found) = (url.to_string(), shown(issuer), shown(found));
                return Err(AuthError::IssuerMismatch { url, expected, found });
            }
            if server.token_endpoint.is_none() {
                let reason = "it names no `token_endpoint`".to_owned();
                return Err(AuthError::BadAnswer { url: url.to_string(), reason });
            }
            return Ok(Some(server));
        }
        Ok(None)
    }

    /// The JSON object at `url`, if there is one.
    async fn document(&mut self, url: &Url) -> Option<Map<String, Value>> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left == Duration::ZERO {
            self.unreachable = true;
            self.attempt(url, "not asked, the time for discovery is over".to_owned());
            return None;
        }
        match self.desk.http.get(url, left).await {
            Ok(answer) if answer.status.is_success() => {
                let object = answer.object();
                self.attempt(
                    url,
                    match object {
                        Some(_) => answer.status_line(),
                        None => format!("{}, but not a JSON object", answer.status_line()),
                    },
                );
                object
            }
            Ok(answer) => {
                self.attempt(url, answer.status_line());
                None
            }
            Err(error) => {
                self.unreachable = true;
                self.attempt(
                    url,
                    match error {
                        AuthError::Unreachable { reason, .. }
                        | AuthError::BadAnswer { reason, .. } => reason,
                        AuthError::TimedOut { .. } => "no answer in time".to_owned(),
                        other => other.to_string(),
                    },
                );
                None
            }
        }
    }

    fn attempt(&mut self, url: &Url, outcome: String) {
        tracing::debug!(%url, outcome, "oauth discovery");
        self.tried.push(Attempt { url: url.clone(), outcome });
    }

    /// Corrects the outcome of the latest attempt.
    fn note(&mut self, outcome: &str) {
        if let Some(last) = self.tried.last_mut() {
            outcome.clone_into(&mut last.outcome);
        }
    }

    fn failed(self) -> AuthError {
        AuthError::Discovery { server: bare(&self.desk.server).to_string(), tried: self.tried }
    }
}

fn path(url: &Url) -> &str {
    url.path().trim_end_matches('/')
}

/// `{origin}/.well-known/{name}{path}`; the query of the server stays at the server.
fn well_known(base: &Url, name: &str, path: &str) -> Url {
    at(base, &format!("/.well-known/{name}{path}"))
}

fn at(base: &Url, path: &str) -> Url {
    let mut url = bare(base);
    url.set_path(path);
    url
}

/// Path-appended (Keycloak style), path-aware (RFC 8414), root; each place once.
fn at_the_server(server: &Url) -> Vec<Url> {
    let path = path(server);
    let mut places = vec![
        at(server, &format!("{path}/.well-known/{AUTHORIZATION_SERVER}")),
        well_known(server, AUTHORIZATION_SERVER, path),
        well_known(server, AUTHORIZATION_SERVER, ""),
    ];
    places.dedup();
    places
}

/// RFC 8414, then OpenID with the path inserted, then OpenID with the path in front; each place once.
fn of_the_issuer(base: &Url, path: &str) -> Vec<Url> {
    let mut places = vec![
        well_known(base, AUTHORIZATION_SERVER, path),
        well_known(base, OPENID, path),
        at(base, &format!("{path}/.well-known/{OPENID}")),
    ];
    places.dedup();
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(urls: &[Url]) -> Vec<&str> {
        urls.iter().map(Url::as_str).collect()
    }

    #[test]
    fn the_three_places_at_the_server_come_in_the_documented_order() {
        let server = "https://u:p@h:8443/realms/x/?key=secret#f".parse().unwrap();
        assert_eq!(
            texts(&at_the_server(&server)),
            [
                "https://h:8443/realms/x/.well-known/oauth-authorization-server",
                "https://h:8443/.well-known/oauth-authorization-server/realms/x",
                "https://h:8443/.well-known/oauth-authorization-server",
            ]
        );
        let bare = "https://h".parse().unwrap();
        assert_eq!(
            texts(&at_the_server(&bare)),
            ["https://h/.well-known/oauth-authorization-server"]
        );
    }

    #[test]
    fn an_issuer_with_a_path_has_three_places_and_one_without_has_two() {
        let issuer: Url = "https://as/tenant1".parse().unwrap();
        assert_eq!(
            texts(&of_the_issuer(&issuer, path(&issuer))),
            [
                "https://as/.well-known/oauth-authorization-server/tenant1",
                "https://as/.well-known/openid-configuration/tenant1",
                "https://as/tenant1/.well-known/openid-configuration",
            ]
        );
        let root: Url = "https://as/".parse().unwrap();
        assert_eq!(of_the_issuer(&root, path(&root)).len(), 2);
    }
}
