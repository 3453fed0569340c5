//! The authentication settings of a suite or a command line, and the [`Authorizer`] for them.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use secrecy::SecretString;
use url::Url;

use super::api_key::Placement;
use super::fixed::Fixed;
use super::oauth::client::{ClientAuthMethod, SigningKey};
use super::oauth::client_credentials::ClientCredentials;
use super::oauth::interactive::{self, InteractiveGrant};
use super::oauth::jwt_bearer::JwtBearer;
use super::oauth::opener::Opener;
use super::oauth::password::Password;
use super::oauth::source::TokenSource;
use super::oauth::{GrantContext, token};
use super::stored::{StoredGrant, StoredTokens, TokenStore};
use super::{AuthError, Authorizer, Clock, Credentials, api_key, basic, bearer};
use crate::destination::Destinations;
use crate::redact::Redactor;

/// How requests to a URL target authenticate.
#[derive(Clone, Debug, Default)]
pub enum AuthConfig {
    /// Without credentials.
    #[default]
    None,
    /// `Authorization: Bearer <token>`.
    Bearer {
        /// The token.
        token: SecretString,
    },
    /// `Authorization: Basic <base64>`.
    Basic {
        /// The user name.
        username: String,
        /// The password.
        password: SecretString,
    },
    /// A key in a header or in the query.
    ApiKey {
        /// The key.
        value: SecretString,
        /// Name of the header or parameter; `X-API-Key` if absent.
        key_name: Option<String>,
        /// Header or query.
        placement: Placement,
    },
    /// An OAuth grant that needs no user.
    OAuth(OAuthConfig),
    /// An OAuth login by a user, started when the target first refuses a request.
    Interactive {
        /// Client id, scopes, ...
        options: LoginOptions,
        /// Opens the login page.
        opener: Arc<dyn Opener>,
    },
    /// Only the tokens of an earlier login; never asks a user.
    Stored,
}

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

/// What all methods of authentication need.
#[derive(Clone, Debug)]
pub struct AuthContext {
    /// Learns every secret and every token.
    pub redactor: Redactor,
    /// Time limit of one exchange with an authorization server, and of one discovery.
    pub timeout: Duration,
    /// Folder of stored logins; nothing is stored without it.
    pub state_dir: Option<PathBuf>,
    /// The clock.
    pub clock: Clock,
    /// Allows plain http to hosts other than this machine.
    pub allow_plain_http: bool,
    /// Allowed destinations of requests.
    pub destinations: Destinations,
}

impl AuthContext {
    /// A context that stores nothing, with a time limit of 30 s.
    pub fn new(redactor: Redactor) -> Self {
        Self {
            redactor,
            timeout: Duration::from_secs(30),
            state_dir: None,
            clock: Clock::default(),
            allow_plain_http: false,
            destinations: Destinations::everywhere(),
        }
    }
}

/// Turns a configuration into an authorizer for `server_url`.
///
/// Sends nothing yet: tokens are fetched on first use.
///
/// # Errors
/// When the configuration is incomplete, or no usable login is stored for [`AuthConfig::Stored`].
pub fn authorizer(
    config: AuthConfig,
    server_url: &Url,
    context: AuthContext,
) -> Result<Arc<dyn Authorizer>, AuthError> {
    let redactor = &context.redactor;
    Ok(match config {
        AuthConfig::None => Arc::new(Fixed(Credentials::default())),
        AuthConfig::Bearer { token } => Arc::new(bearer::bearer(&token, redactor)?),
        AuthConfig::Basic { username, password } => {
            Arc::new(basic::basic(&username, &password, redactor)?)
        }
        AuthConfig::ApiKey { value, key_name, placement } => {
            Arc::new(api_key::api_key(&value, key_name.as_deref(), placement, redactor)?)
        }
        AuthConfig::OAuth(config) => oauth(config, server_url, &context)?,
        AuthConfig::Interactive { options, opener } => {
            let grant_context = GrantContext::new(server_url, &context)?;
            let store = context.state_dir.as_deref().map(TokenStore::new);
            let stored = store.as_ref().map(|store| store.load(server_url)).transpose()?.flatten();
            let known = stored.as_ref().map(|stored| stored.token_set(redactor));
            let clock = context.clock.clone();
            let grant = InteractiveGrant::new(grant_context, options, opener, store, stored);
            Arc::new(TokenSource::new(grant, known, None, clock))
        }
        AuthConfig::Stored => {
            let grant_context = GrantContext::new(server_url, &context)?;
            let (grant, known) = StoredGrant::open(grant_context, context.state_dir.as_deref())?;
            Arc::new(TokenSource::new(grant, Some(known), None, context.clock.clone()))
        }
    })
}

fn oauth(
    config: OAuthConfig,
    server_url: &Url,
    context: &AuthContext,
) -> Result<Arc<dyn Authorizer>, AuthError> {
    let grant_context = GrantContext::new(server_url, context)?;
    let (lead, clock) = (config.refresh_lead, context.clock.clone());
    if let Some(secret) = &config.client_secret {
        token::learn_client_secret(&context.redactor, config.client_id.as_deref(), secret);
    }
    Ok(match config.grant.clone() {
        GrantConfig::ClientCredentials { key } => {
            let grant = ClientCredentials::new(grant_context, config, key)?;
            Arc::new(TokenSource::new(grant, None, lead, clock))
        }
        GrantConfig::Password { username, password } => {
            context.redactor.learn(&password);
            let grant = Password::new(grant_context, config, username, password)?;
            Arc::new(TokenSource::new(grant, None, lead, clock))
        }
        GrantConfig::JwtBearer { assertion } => {
            let grant = JwtBearer::given(grant_context, config, assertion)?;
            Arc::new(TokenSource::new(grant, None, lead, clock))
        }
        GrantConfig::IdentityAssertion(provider) => {
            let grant = JwtBearer::exchanged(grant_context, config, provider)?;
            Arc::new(TokenSource::new(grant, None, lead, clock))
        }
    })
}

/// Logs a user in at the authorization server of `server_url` and stores the tokens.
///
/// # Errors
/// When no authorization server is found, the user or the server refuses, or the time limit is reached.
pub async fn login(
    server_url: &Url,
    options: LoginOptions,
    opener: Arc<dyn Opener>,
    context: AuthContext,
) -> Result<StoredTokens, AuthError> {
    let grant_context = GrantContext::new(server_url, &context)?;
    let store = context.state_dir.as_deref().map(TokenStore::new);
    interactive::login(grant_context, options, opener, store).await
}
