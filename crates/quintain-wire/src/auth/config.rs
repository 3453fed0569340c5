//! The authentication settings of a suite or a command line, and the [`Authorizer`] for them.

use std::sync::Arc;

use secrecy::SecretString;
use url::Url;

use super::api_key::Placement;
use super::context::AuthContext;
use super::fixed::Fixed;
use super::interactive::{self, InteractiveGrant};
use super::oauth::client_credentials::ClientCredentials;
use super::oauth::config::{GrantConfig, LoginOptions, OAuthConfig};
use super::oauth::jwt_bearer::JwtBearer;
use super::oauth::opener::Opener;
use super::oauth::password::Password;
use super::oauth::source::TokenSource;
use super::oauth::{GrantContext, token};
use super::stored::{StoredGrant, StoredTokens, TokenStore};
use super::{AuthError, Authorizer, Credentials, api_key, basic, bearer};

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
