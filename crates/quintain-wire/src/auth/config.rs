//! What a suite or a command line can say about credentials, and how it becomes an [`Authorizer`].

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
use super::oauth::{Desk, token};
use super::stored::{StoredGrant, StoredTokens, TokenStore};
use super::{AuthError, Authorizer, Clock, Credentials, api_key, basic, bearer};
use crate::destination::Destinations;
use crate::redact::Redactor;

/// How requests to a URL target prove who sends them.
#[derive(Clone, Debug, Default)]
pub enum AuthConfig {
    /// They do not.
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
        /// Header or parameter; `X-API-Key` if not given.
        key_name: Option<String>,
        /// Header or query.
        placement: Placement,
    },
    /// An OAuth grant that needs no user.
    OAuth(OAuthConfig),
    /// An OAuth login that a user finishes when the target first refuses.
    Interactive {
        /// Client id, scopes, ...
        options: LoginOptions,
        /// Starts the user agent.
        opener: Arc<dyn Opener>,
    },
    /// Only what an earlier login stored; never asks a user.
    Stored,
}

/// An OAuth grant without a user.
#[derive(Clone, Debug)]
pub struct OAuthConfig {
    /// Which grant.
    pub grant: GrantConfig,
    /// The token endpoint; discovered if not given.
    pub token_url: Option<Url>,
    /// Required for client credentials.
    pub client_id: Option<String>,
    /// Required for client credentials unless a key signs.
    pub client_secret: Option<SecretString>,
    /// How the client proves itself; by default what the server supports, else the request body.
    pub client_auth: Option<ClientAuthMethod>,
    /// Scopes to ask for.
    pub scopes: Vec<String>,
    /// `audience`, as some authorization servers want it.
    pub audience: Option<String>,
    /// `resource` (RFC 8707).
    pub resource: Option<String>,
    /// How long before its expiry a token is renewed; 60 s if not given.
    pub refresh_lead: Option<Duration>,
}

impl OAuthConfig {
    /// A configuration with nothing but the grant.
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
    /// The client acts for itself, proven by a secret or by a signed assertion (RFC 7523).
    ClientCredentials {
        /// Signs the assertion in place of a secret.
        key: Option<SigningKey>,
    },
    /// The user's own name and password.
    Password {
        /// The user name.
        username: String,
        /// The password.
        password: SecretString,
    },
    /// An assertion that somebody else signed (RFC 7523), such as a workload's own JWT.
    JwtBearer {
        /// The JWT.
        assertion: SecretString,
    },
    /// The assertion that an identity provider hands out for its user's login (enterprise-managed
    /// authorization, also known as cross-app access).
    IdentityAssertion(IdentityProvider),
}

/// The identity provider of an enterprise, and the login of one of its users.
#[derive(Clone, Debug)]
pub struct IdentityProvider {
    /// Its token endpoint.
    pub token_url: Url,
    /// The id of the client that the user logged in with there.
    pub client_id: String,
    /// The secret of that client, if it has one.
    pub client_secret: Option<SecretString>,
    /// What the login yielded.
    pub id_token: SecretString,
}

/// What a login can be told beforehand.
#[derive(Clone, Debug, Default)]
pub struct LoginOptions {
    /// A client registered by hand.
    pub client_id: Option<String>,
    /// Its secret, if it has one.
    pub client_secret: Option<SecretString>,
    /// How it proves itself; by default what the server supports.
    pub client_auth: Option<ClientAuthMethod>,
    /// The https URL of a Client ID Metadata Document, used where the server supports it.
    pub client_metadata_url: Option<Url>,
    /// Scopes to ask for beside those the server demands.
    pub scopes: Vec<String>,
    /// The port of the redirect URI; from the system if not given.
    pub redirect_port: Option<u16>,
    /// How long a user has to finish the login; five minutes if not given.
    pub login_timeout: Option<Duration>,
}

/// What every method of authentication needs from its surroundings.
#[derive(Clone, Debug)]
pub struct AuthContext {
    /// Told every secret and every token.
    pub redactor: Redactor,
    /// The total time for one exchange with an authorization server, and for one discovery.
    pub timeout: Duration,
    /// Where logins are stored; nothing is stored without it.
    pub state_dir: Option<PathBuf>,
    /// The time of day.
    pub clock: Clock,
    /// Permits plain http to hosts other than this machine.
    pub allow_plain_http: bool,
    /// Where requests may go.
    pub destinations: Destinations,
}

impl AuthContext {
    /// A context that stores nothing and waits 30 s.
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

/// Turns a configuration into something that hands out credentials for `server_url`.
///
/// Nothing is sent yet: tokens are fetched when they are first asked for.
///
/// # Errors
/// When the configuration is incomplete, or nothing usable is stored for [`AuthConfig::Stored`].
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
            let desk = Desk::new(server_url, &context)?;
            let store = context.state_dir.as_deref().map(TokenStore::new);
            let stored = store.as_ref().map(|store| store.load(server_url)).transpose()?.flatten();
            let known = stored.as_ref().map(|stored| stored.token_set(redactor));
            let clock = context.clock.clone();
            let grant = InteractiveGrant::new(desk, options, opener, store, stored);
            Arc::new(TokenSource::new(grant, known, None, clock))
        }
        AuthConfig::Stored => {
            let desk = Desk::new(server_url, &context)?;
            let (grant, known) = StoredGrant::open(desk, context.state_dir.as_deref())?;
            Arc::new(TokenSource::new(grant, Some(known), None, context.clock.clone()))
        }
    })
}

fn oauth(
    config: OAuthConfig,
    server_url: &Url,
    context: &AuthContext,
) -> Result<Arc<dyn Authorizer>, AuthError> {
    let desk = Desk::new(server_url, context)?;
    let (lead, clock) = (config.refresh_lead, context.clock.clone());
    if let Some(secret) = &config.client_secret {
        token::learn_client_secret(&context.redactor, config.client_id.as_deref(), secret);
    }
    Ok(match config.grant.clone() {
        GrantConfig::ClientCredentials { key } => {
            let grant = ClientCredentials::new(desk, config, key)?;
            Arc::new(TokenSource::new(grant, None, lead, clock))
        }
        GrantConfig::Password { username, password } => {
            context.redactor.learn(&password);
            let grant = Password::new(desk, config, username, password)?;
            Arc::new(TokenSource::new(grant, None, lead, clock))
        }
        GrantConfig::JwtBearer { assertion } => {
            let grant = JwtBearer::given(desk, config, assertion)?;
            Arc::new(TokenSource::new(grant, None, lead, clock))
        }
        GrantConfig::IdentityAssertion(provider) => {
            let grant = JwtBearer::exchanged(desk, config, provider)?;
            Arc::new(TokenSource::new(grant, None, lead, clock))
        }
    })
}

/// Logs a user in at the authorization server of `server_url` and stores the tokens.
///
/// # Errors
/// When no authorization server is found, the user or the server refuses, or nobody answers in time.
pub async fn login(
    server_url: &Url,
    options: LoginOptions,
    opener: Arc<dyn Opener>,
    context: AuthContext,
) -> Result<StoredTokens, AuthError> {
    let desk = Desk::new(server_url, &context)?;
    let store = context.state_dir.as_deref().map(TokenStore::new);
    interactive::login(desk, options, opener, store).await
}
