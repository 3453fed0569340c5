//! Credentials for URL targets: what is sent along, and what happens when it is refused.

use futures_util::future::BoxFuture;
use http::{HeaderMap, HeaderName, StatusCode};
use secrecy::SecretString;
use url::Url;

mod api_key;
mod basic;
mod bearer;
mod challenge;
mod clock;
mod config;
mod error;
mod fixed;
pub mod oauth;
pub mod stored;

pub use api_key::Placement;
pub use challenge::Challenge;
pub use clock::Clock;
pub use config::{
    AuthConfig, AuthContext, GrantConfig, IdentityProvider, LoginOptions, OAuthConfig, authorizer,
    login,
};
pub use error::{Attempt, AuthError};
pub use stored::{StoredTokens, TokenStore};

/// What a request carries to prove who sends it.
#[derive(Clone, Default, Debug)]
pub struct Credentials {
    /// Headers to add; they win over a target's static headers.
    pub headers: Vec<(HeaderName, SecretString)>,
    /// Query parameters to append to the URL.
    pub query: Vec<(String, SecretString)>,
    /// What shows, anew for each request, that the token is ours.
    pub proof: Option<oauth::Proof>,
    /// Grows with each renewal, so that two refusals of the same token cause one refresh.
    pub generation: u64,
}

/// A refusal (401 or 403) as the target worded it.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The status of the refusing answer.
    pub status: StatusCode,
    /// Its headers; `WWW-Authenticate` is among them.
    pub headers: HeaderMap,
    /// The URL that refused.
    pub url: Url,
    /// The generation of the credentials that were refused.
    pub generation: u64,
}

/// Hands out credentials and renews them.
pub trait Authorizer: Send + Sync {
    /// What the next request should carry; may fetch or refresh a token first.
    fn credentials(&self) -> BoxFuture<'_, Result<Credentials, AuthError>>;

    /// Called once for a refused request. `Ok(true)` means: ask for credentials again and retry.
    fn refused(&self, refusal: Refusal) -> BoxFuture<'_, Result<bool, AuthError>>;
}
