//! Credentials for URL targets, and the reaction to refusals.

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
mod context;
mod error;
mod fixed;
mod interactive;
pub mod oauth;
pub mod stored;

pub use api_key::Placement;
pub use challenge::Challenge;
pub use clock::Clock;
pub use config::{AuthConfig, authorizer, login};
pub use context::AuthContext;
pub use error::{AuthError, DiscoveryAttempt};
pub use oauth::config::{GrantConfig, IdentityProvider, LoginOptions, OAuthConfig};
pub use stored::{StoredTokens, TokenStore};

/// The credentials of a request.
#[derive(Clone, Default, Debug)]
pub struct Credentials {
    /// Headers to add; they override a target's static headers.
    pub headers: Vec<(HeaderName, SecretString)>,
    /// Query parameters to append to the URL.
    pub query: Vec<(String, SecretString)>,
    /// Proves for each request that the token is ours.
    pub proof: Option<oauth::Proof>,
    /// Increases with each refresh, so that two refusals of the same token cause only one refresh.
    pub generation: u64,
}

/// A refusal (401 or 403) of a target.
#[derive(Clone, Debug)]
pub struct HttpRefusal {
    /// The status of the response.
    pub status: StatusCode,
    /// Its headers, including `WWW-Authenticate`.
    pub headers: HeaderMap,
    /// The URL that refused.
    pub url: Url,
    /// The generation of the refused credentials.
    pub generation: u64,
}

/// Provides credentials and refreshes them.
pub trait Authorizer: Send + Sync {
    /// The credentials of the next request; may fetch or refresh a token first.
    fn credentials(&self) -> BoxFuture<'_, Result<Credentials, AuthError>>;

    /// Called once for a refused request. `Ok(true)` means: get new credentials and retry.
    fn refused(&self, refusal: HttpRefusal) -> BoxFuture<'_, Result<bool, AuthError>>;
}
