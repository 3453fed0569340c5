//! The settings of OAuth grants and logins.

use std::time::Duration;

use secrecy::SecretString;
use url::Url;

use super::client::{ClientAuthMethod, SigningKey};

/// An OAuth grant without a user.
#[derive(Clone, Debug)]
pub struct OAuthConfig {
    /// The grant.
    pub grant: GrantConfig,
    /// The token endpoint; discovered if absent.
    pub token_url: Option<Url>,
    /// Required for client credentials.
    pub client_id: Option<String>,
    /// Required for client credentials unless a private key signs.
    pub client_secret: Option<SecretString>,
    /// How the client authenticates; by default a method that the server supports, else in the request body.
    pub client_auth: Option<ClientAuthMethod>,
    /// Scopes to request.
    pub scopes: Vec<String>,
    /// `audience`, which some authorization servers require.
    pub audience: Option<String>,
    /// `resource` (RFC 8707).
    pub resource: Option<String>,
    /// How long before its expiry a token is refreshed; 60 s if absent.
    pub refresh_lead: Option<Duration>,
}

impl OAuthConfig {
    /// A configuration with only the grant.
    pub fn new(grant: GrantConfig) -> Self {
        Self {
            grant,
            token_url: None,
            client_id: None,
            client_secret: None,
            client_auth: None,
            scopes: Vec::new(),
            audience: None,
            resource: None,
            refresh_lead: None,
        }
    }
}

/// The grants that need no user.
#[derive(Clone, Debug)]
pub enum GrantConfig {
    /// The client acts for itself, authenticated by a secret or a signed assertion (RFC 7523).
    ClientCredentials {
        /// Signs the assertion; replaces a secret.
        key: Option<SigningKey>,
    },
    /// The name and password of a user.
    Password {
        /// The user name.
        username: String,
        /// The password.
        password: SecretString,
    },
    /// An assertion signed by a third party (RFC 7523), such as the JWT of a workload.
    JwtBearer {
        /// The JWT.
        assertion: SecretString,
    },
    /// The assertion that an identity provider issues for the login of its user (enterprise-managed authorization, also
    /// known as cross-app access).
    IdentityAssertion(IdentityProvider),
}

/// The identity provider of an enterprise, and the login of one of its users.
#[derive(Clone, Debug)]
pub struct IdentityProvider {
    /// Its token endpoint.
    pub token_url: Url,
    /// Id of the client that the user logged in with.
    pub client_id: String,
    /// The secret of that client, if it has one.
    pub client_secret: Option<SecretString>,
    /// The ID token of the login.
    pub id_token: SecretString,
}

/// Options of a login.
#[derive(Clone, Debug, Default)]
pub struct LoginOptions {
    /// Id of a manually registered client.
    pub client_id: Option<String>,
    /// Its secret, if it has one.
    pub client_secret: Option<SecretString>,
    /// How it authenticates; by default a method that the server supports.
    pub client_auth: Option<ClientAuthMethod>,
    /// The https URL of a Client ID Metadata Document, used if the server supports it.
    pub client_metadata_url: Option<Url>,
    /// Scopes to request in addition to those that the server requires.
    pub scopes: Vec<String>,
    /// The port of the redirect URI; any free port if absent.
    pub redirect_port: Option<u16>,
    /// Time limit for the user to finish the login; five minutes if absent.
    pub login_timeout: Option<Duration>,
}
