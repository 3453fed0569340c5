//! Finds the authorization server of an MCP server, and records every URL it requests.
//!
//! It requests only the origin of the server and well-known URLs of issuers that the server names, and rejects documents
//! of other issuers.

use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use url::Url;

use super::GrantContext;
use super::issuer::{Issuer, path, well_known};
use super::resource_metadata::ResourceMetadata;
use super::server_metadata::{Foreign, ServerMetadata};
use crate::auth::error::{bare, shown};
use crate::auth::{AuthError, Challenge, DiscoveryAttempt};

const PROTECTED_RESOURCE: &str = "oauth-protected-resource";

/// Maximum number of authorization servers to try.
const ISSUERS: usize = 4;

/// The result of discovery.
#[derive(Clone, Debug)]
pub(crate) struct Discovered {
    pub(crate) server: ServerMetadata,
    /// The identifier to request tokens for, from the protected-resource metadata.
    pub(crate) resource: Option<String>,
    pub(crate) scopes: Option<Vec<String>>,
    /// The resource accepts only tokens that are bound to a key.
    pub(crate) dpop_required: bool,
    /// There is no protected-resource metadata: a server of the 2025-03-26 protocol.
    pub(crate) legacy: bool,
}

impl Discovered {
    fn at_the_server(server: ServerMetadata) -> Self {
        Self { server, resource: None, scopes: None, dpop_required: false, legacy: true }
    }
}

/// One discovery, with one deadline for all requests.
pub(crate) struct Discovery<'a> {
    grant_context: &'a GrantContext,
    deadline: Instant,
    tried: Vec<DiscoveryAttempt>,
    unreachable: bool,
}

impl<'a> Discovery<'a> {
    pub(crate) fn new(grant_context: &'a GrantContext) -> Self {
        let deadline = Instant::now() + grant_context.timeout();
        Self { grant_context, deadline, tried: Vec::new(), unreachable: false }
    }

    /// For grants without a user: tries the server itself as its issuer, then protected-resource metadata.
    pub(crate) async fn token_endpoint(mut self) -> Result<Discovered, AuthError> {
        let server = self.grant_context.server.clone();
        let mut places = Vec::new();
        for issuer in [Issuer::itself(&server), Issuer::origin(&server)] {
            places.extend(issuer.places_at_a_server().into_iter().map(|url| (issuer.clone(), url)));
        }
        places.dedup_by(|(_, b), (_, a)| a == b);
        let mut mismatch = None;
        for (issuer, url) in places {
            let Some(object) = self.document(&url).await else { continue };
            match ServerMetadata::of_target(&object, &issuer, &server) {
                Ok(found) if found.has_token_endpoint() => {
                    return Ok(Discovered::at_the_server(found));
                }
                Ok(_) => self.note("200 OK, but it has no `token_endpoint`"),
                Err(foreign) => {
                    self.note("200 OK, but it describes another issuer");
                    mismatch.get_or_insert(foreign_document(&url, &issuer, foreign));
                }
            }
        }
        match self.protected_resource(&Challenge::default()).await? {
            Some(resource) => self.servers_of(resource).await,
            None => Err(mismatch.unwrap_or_else(|| self.failed())),
        }
    }

    /// For logins: tries protected-resource metadata, then the method of the 2025-03-26 protocol.
    pub(crate) async fn login(mut self, challenge: &Challenge) -> Result<Discovered, AuthError> {
        if let Some(resource) = self.protected_resource(challenge).await? {
            return self.servers_of(resource).await;
        }
        let server = &self.grant_context.server;
        let issuer = Issuer::origin(server);
        for url in issuer.places() {
            let Some(object) = self.document(&url).await else { continue };
            let found = ServerMetadata::of_target(&object, &issuer, server)
                .map_err(|foreign| foreign_document(&url, &issuer, foreign))?;
            return Ok(Discovered::at_the_server(found));
        }
        if self.unreachable {
            return Err(self.failed());
        }
        Ok(Discovered::at_the_server(ServerMetadata::assumed(server)))
    }

    /// For a stored login: the current metadata of its issuer.
    pub(crate) async fn stored(mut self, issuer: &str) -> Result<ServerMetadata, AuthError> {
        match self.issuer(issuer).await? {
            Some(server) => Ok(server),
            None => Err(self.failed()),
        }
    }

    async fn protected_resource(
        &mut self,
        challenge: &Challenge,
    ) -> Result<Option<ResourceMetadata>, AuthError> {
        let server = self.grant_context.server.clone();
        let mut places = Vec::new();
        if let Some(named) = &challenge.resource_metadata {
            let own = on_its_own_origin(named, &server);
            if own.is_none() {
                tracing::warn!(
                    url = shown(named),
                    "ignoring the resource metadata URL that the server names: it is on another origin or has a query"
                );
            }
            places.extend(own);
        }
        places.push(well_known(&server, PROTECTED_RESOURCE, path(&server)));
        places.push(well_known(&server, PROTECTED_RESOURCE, ""));
        places.dedup();
        for url in places {
            let Some(object) = self.document(&url).await else { continue };
            let resource = ResourceMetadata::from_object(&object);
            if resource == ResourceMetadata::default() {
                self.note("200 OK, but it is not protected-resource metadata");
                continue;
            }
            if !resource.covers(&server) {
                return Err(AuthError::ResourceMismatch {
                    url: url.to_string(),
                    server: bare(&server).to_string(),
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
            // The list is optional (RFC 9728); without it, the resource is its own authorization server.
            issuers.push(self.grant_context.server.origin().ascii_serialization());
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
        let issuer = Issuer::named(issuer, self.grant_context).await?;
        for url in issuer.places() {
            let Some(object) = self.document(&url).await else { continue };
            let server = ServerMetadata::of_issuer(&object, &issuer)
                .map_err(|foreign| foreign_document(&url, &issuer, foreign))?;
            if !server.has_token_endpoint() {
                let reason = "it has no `token_endpoint`".to_owned();
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
            self.attempt(url, "not requested, time limit of discovery reached".to_owned());
            return None;
        }
        match self.grant_context.http.get(url, left).await {
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
                        AuthError::TimedOut { .. } => "no response in time".to_owned(),
                        other => other.to_string(),
                    },
                );
                None
            }
        }
    }

    fn attempt(&mut self, url: &Url, outcome: String) {
        tracing::debug!(%url, outcome, "oauth discovery");
        self.tried.push(DiscoveryAttempt { url: url.clone(), outcome });
    }

    /// Replaces the result of the latest attempt.
    fn note(&mut self, outcome: &str) {
        if let Some(last) = self.tried.last_mut() {
            outcome.clone_into(&mut last.outcome);
        }
    }

    fn failed(self) -> AuthError {
        AuthError::Discovery {
            server: bare(&self.grant_context.server).to_string(),
            tried: self.tried,
        }
    }
}

fn foreign_document(url: &Url, issuer: &Issuer, foreign: Foreign) -> AuthError {
    AuthError::IssuerMismatch {
        url: url.to_string(),
        expected: shown(issuer.as_str()),
        found: shown(foreign.found.as_deref().unwrap_or("none")),
    }
}

/// The URL of resource metadata in a challenge, if it may be requested.
///
/// RFC 9728 requires it to be on the origin of the resource, and the MCP conformance suite uses any path there. A URL on
/// another origin is never requested because a server names it, and outside of `/.well-known/` it must not have a query,
/// so that a server cannot make us call a program.
fn on_its_own_origin(named: &str, server: &Url) -> Option<Url> {
    let named = Url::parse(named).ok()?;
    let plain = named.query().is_none() || named.path().starts_with("/.well-known/");
    let own = named.origin() == server.origin() && plain && named.username().is_empty();
    own.then_some(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_leads_nowhere_but_to_the_origin_of_its_server() {
        let server: Url = "https://mcp.example/mcp".parse().unwrap();
        for own in [
            "https://mcp.example/.well-known/oauth-protected-resource/mcp",
            "https://mcp.example/.well-known/oauth-protected-resource/mcp?tenant=1",
            "https://mcp.example:443/custom/metadata.json",
        ] {
            assert!(on_its_own_origin(own, &server).is_some(), "{own}");
        }
        for other in [
            "https://evil.example/.well-known/oauth-protected-resource",
            "http://mcp.example/.well-known/oauth-protected-resource",
            "https://mcp.example:8443/.well-known/oauth-protected-resource",
            "https://mcp.example.evil/.well-known/oauth-protected-resource",
            "https://mcp.example@evil.example/.well-known/x",
            "https://user@mcp.example/.well-known/x",
            "https://mcp.example/admin?delete=all",
            "https://127.0.0.1/.well-known/x",
            "file:///etc/passwd",
            "/.well-known/oauth-protected-resource",
            "",
        ] {
            assert!(on_its_own_origin(other, &server).is_none(), "{other}");
        }
    }
}
