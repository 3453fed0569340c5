//! OAuth 2.1 as MCP uses it: grants, discovery, registration, and tokens that renew themselves.

use std::time::Duration;

use url::Url;

use super::{AuthContext, AuthError, Clock};
use crate::net::is_loopback;
use crate::redact::Redactor;

pub(crate) mod authorization_code;
mod callback;
pub mod client;
pub(crate) mod client_credentials;
pub(crate) mod discovery;
pub(crate) mod dpop;
mod http;
pub(crate) mod interactive;
pub(crate) mod jwt_bearer;
pub mod metadata;
pub mod opener;
pub(crate) mod password;
pub(crate) mod registration;
pub(crate) mod source;
pub(crate) mod token;

pub use client::{ClientAuthMethod, SigningKey};
pub use dpop::Proof;
pub use opener::{HeadlessOpener, Opener, ShowUrl};

use http::Http;

/// What every grant works with: the server it is for, the network, the clock and the redactor.
#[derive(Clone)]
pub(crate) struct Desk {
    pub(crate) server: Url,
    pub(crate) http: Http,
    pub(crate) redactor: Redactor,
    pub(crate) clock: Clock,
    plain_http: PlainHttp,
}

/// Which hosts may be talked to without TLS.
#[derive(Clone, Copy)]
enum PlainHttp {
    Nobody,
    Loopback,
    Anybody,
}

impl Desk {
    pub(crate) fn new(server: &Url, context: &AuthContext) -> Result<Self, AuthError> {
        // A remote server has no business in sending us to services on this machine.
        let plain_http = match server {
            _ if context.allow_plain_http => PlainHttp::Anybody,
            server if is_loopback(server) => PlainHttp::Loopback,
            _ => PlainHttp::Nobody,
        };
        Ok(Self {
            server: server.clone(),
            http: Http::new(context.timeout, server)?,
            redactor: context.redactor.clone(),
            clock: context.clock.clone(),
            plain_http,
        })
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.http.timeout()
    }

    /// Parses an endpoint that a stranger named and checks that credentials may go there.
    pub(crate) fn endpoint(&self, text: &str) -> Result<Url, AuthError> {
        let refuse = |reason| AuthError::Unsafe { url: super::error::shown(text), reason };
        let url = Url::parse(text).map_err(|_| refuse("it is not a URL"))?;
        match (url.scheme(), self.plain_http) {
            ("https", _) | ("http", PlainHttp::Anybody) => Ok(url),
            ("http", PlainHttp::Loopback) if is_loopback(&url) => Ok(url),
            ("http", _) => Err(refuse(
                "tokens and secrets need https, except between programs on this machine",
            )),
            _ => Err(refuse("only http and https are spoken here")),
        }
    }
}

/// Random bytes as text that fits into URLs; for `state`, PKCE verifiers and token ids.
pub(crate) fn nonce() -> Result<String, AuthError> {
    use base64::Engine as _;
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes)
        .map_err(|error| AuthError::Failed(format!("the system gives no random bytes: {error}")))?;
    Ok(base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn desk(server: &str) -> Desk {
        let context = AuthContext::new(Redactor::default());
        Desk::new(&server.parse().unwrap(), &context).unwrap()
    }

    #[test]
    fn plain_http_is_for_this_machine_only() {
        let local = desk("http://127.0.0.1:1/mcp");
        assert!(local.endpoint("http://localhost:2/token").is_ok());
        assert!(local.endpoint("http://[::1]:2/token").is_ok());
        assert!(local.endpoint("https://as.example/token").is_ok());
        for bad in ["http://as.example/token", "file:///etc/passwd", "ftp://h/", "nonsense"] {
            assert!(local.endpoint(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_remote_server_cannot_send_us_to_this_machine_in_the_clear() {
        let remote = desk("https://mcp.example/mcp");
        let error = remote.endpoint("http://127.0.0.1:9/token").unwrap_err();
        assert!(error.to_string().contains("need https"), "{error}");
    }
}
