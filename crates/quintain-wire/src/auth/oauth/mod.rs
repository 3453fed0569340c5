//! OAuth 2.1 as MCP uses it: grants, discovery, registration, and refreshing of tokens.

use std::sync::Arc;
use std::time::Duration;

use url::Url;

use super::{AuthContext, AuthError, Clock};
use crate::net::is_loopback;
use crate::redact::Redactor;

pub(crate) mod authorization_code;
mod boundary;
mod callback;
pub mod client;
pub(crate) mod client_credentials;
pub mod config;
pub(crate) mod discovery;
pub(crate) mod dpop;
mod http;
pub(crate) mod issuer;
pub(crate) mod jwt_bearer;
pub mod opener;
pub(crate) mod password;
pub(crate) mod registration;
mod resource_metadata;
mod server_metadata;
pub(crate) mod source;
pub(crate) mod token;

pub use client::{ClientAuthMethod, SigningKey};
pub use dpop::Proof;
pub use opener::Opener;

use boundary::Boundary;
use http::Http;

/// What every grant needs: the server, the network, the clock and the redactor.
#[derive(Clone)]
pub(crate) struct GrantContext {
    pub(crate) server: Url,
    pub(crate) http: Http,
    pub(crate) redactor: Redactor,
    pub(crate) clock: Clock,
    plain_http: PlainHttp,
    boundary: Arc<Boundary>,
}

/// Hosts that may be contacted without TLS.
#[derive(Clone, Copy)]
enum PlainHttp {
    Nobody,
    Loopback,
    Anybody,
}

impl GrantContext {
    pub(crate) fn new(server: &Url, context: &AuthContext) -> Result<Self, AuthError> {
        // A remote server must not send us to services on this machine.
        let plain_http = match server {
            _ if context.allow_plain_http => PlainHttp::Anybody,
            server if is_loopback(server) => PlainHttp::Loopback,
            _ => PlainHttp::Nobody,
        };
        let boundary = Boundary::around(server);
        Ok(Self {
            server: server.clone(),
            http: Http::new(context.timeout, server, Arc::clone(&boundary), &context.destinations)?,
            redactor: context.redactor.clone(),
            clock: context.clock.clone(),
            plain_http,
            boundary,
        })
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.http.timeout()
    }

    /// Parses a URL from a server and checks that credentials may be sent there.
    pub(crate) async fn endpoint(&self, text: &str) -> Result<Url, AuthError> {
        let refuse = |reason| AuthError::Unsafe { url: super::error::shown(text), reason };
        let url = Url::parse(text).map_err(|_| refuse("it is not a URL"))?;
        match (url.scheme(), self.plain_http) {
            ("https", _) | ("http", PlainHttp::Anybody) => {}
            ("http", PlainHttp::Loopback) if is_loopback(&url) => {}
            ("http", _) => {
                return Err(refuse(
                    "tokens and secrets need https, except between programs on this machine",
                ));
            }
            _ => return Err(refuse("only http and https are supported")),
        }
        self.boundary.check(&url).await.map_err(refuse)?;
        Ok(url)
    }
}

/// Random bytes as text that is safe in URLs; for `state`, PKCE verifiers and token ids.
pub(crate) fn nonce() -> Result<String, AuthError> {
    use base64::Engine as _;
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes)
        .map_err(|error| AuthError::Failed(format!("cannot get random bytes: {error}")))?;
    Ok(base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant_context(server: &str) -> GrantContext {
        let context = AuthContext::new(Redactor::default());
        GrantContext::new(&server.parse().unwrap(), &context).unwrap()
    }

    #[tokio::test]
    async fn plain_http_is_for_this_machine_only() {
        let local = grant_context("http://127.0.0.1:1/mcp");
        for good in ["http://localhost:2/token", "http://[::1]:2/", "https://as.example/token"] {
            assert!(local.endpoint(good).await.is_ok(), "{good}");
        }
        for bad in ["http://as.example/token", "file:///etc/passwd", "ftp://h/", "nonsense"] {
            assert!(local.endpoint(bad).await.is_err(), "{bad}");
        }
    }

    #[tokio::test]
    async fn a_remote_server_cannot_send_us_to_this_machine() {
        let remote = grant_context("https://8.8.8.8/mcp");
        let error = remote.endpoint("http://127.0.0.1:9/token").await.unwrap_err();
        assert!(error.to_string().contains("need https"), "{error}");
        let error = remote.endpoint("https://127.0.0.1:9/token").await.unwrap_err();
        assert!(error.to_string().contains("sends us to this machine"), "{error}");
    }
}
