//! Turns the suite's `auth:` into an authorizer.

use std::sync::Arc;
use std::time::Duration;

use quintain_evidence::connection::{ApiKeyPlacement, Auth, ClientAuth, Grant, OAuth};
use quintain_wire::auth::oauth::client::{ClientAuthMethod, SigningKey};
use quintain_wire::auth::{
    AuthConfig, AuthContext, AuthError, Authorizer, GrantConfig, IdentityProvider, OAuthConfig,
    Placement, authorizer as build,
};
use url::Url;

use crate::world::World;

pub(super) fn authorizer(
    auth: &Auth,
    url: &Url,
    timeout: Duration,
    world: &World,
) -> Result<Arc<dyn Authorizer>, AuthError> {
    let context = || {
        let mut context = AuthContext::new(world.redactor.clone());
        context.timeout = timeout;
        context.state_dir = world.logins().cloned();
        context.destinations = world.policy.destinations();
        context
    };
    if world.stored_auth_only {
        return build(AuthConfig::Stored, url, context());
    }
    let config = match auth {
        // Use a stored login for the same URL, if there is one.
        Auth::None => {
            return build(AuthConfig::Stored, url, context())
                .or_else(|_| build(AuthConfig::None, url, context()));
        }
        Auth::Bearer { token } => AuthConfig::Bearer { token: token.clone() },
        Auth::Basic { username, password } => {
            AuthConfig::Basic { username: username.clone(), password: password.clone() }
        }
        Auth::ApiKey { value, key_name, placement } => AuthConfig::ApiKey {
            value: value.clone(),
            key_name: Some(key_name.clone()),
            placement: match placement {
                ApiKeyPlacement::Header => Placement::Header,
                ApiKeyPlacement::Query => Placement::Query,
            },
        },
        Auth::OAuth(oauth) => AuthConfig::OAuth(config(oauth)?),
        Auth::Stored => AuthConfig::Stored,
    };
    build(config, url, context())
}

fn config(oauth: &OAuth) -> Result<OAuthConfig, AuthError> {
    let mut config = OAuthConfig::new(match &oauth.grant {
        Grant::ClientCredentials { key } => GrantConfig::ClientCredentials {
            key: key.as_ref().map(|key| SigningKey {
                pem: key.pem.clone(),
                algorithm: key.algorithm.to_owned(),
                key_id: key.key_id.clone(),
            }),
        },
        Grant::Password { username, password } => {
            GrantConfig::Password { username: username.clone(), password: password.clone() }
        }
        Grant::JwtBearer { assertion } => GrantConfig::JwtBearer { assertion: assertion.clone() },
        Grant::IdentityAssertion(provider) => GrantConfig::IdentityAssertion(IdentityProvider {
            token_url: parsed("idpTokenUrl", &provider.token_url)?,
            client_id: provider.client_id.clone(),
            client_secret: provider.client_secret.clone(),
            id_token: provider.id_token.clone(),
        }),
    });
    config.token_url = oauth.token_url.as_deref().map(|url| parsed("tokenUrl", url)).transpose()?;
    config.client_id.clone_from(&oauth.client_id);
    config.client_secret.clone_from(&oauth.client_secret);
    config.client_auth = match oauth.client_auth {
        ClientAuth::Auto => None,
        ClientAuth::Body => Some(ClientAuthMethod::ClientSecretPost),
        ClientAuth::Basic => Some(ClientAuthMethod::ClientSecretBasic),
    };
    config.scopes.clone_from(&oauth.scopes);
    config.audience.clone_from(&oauth.audience);
    config.resource.clone_from(&oauth.resource);
    Ok(config)
}

fn parsed(key: &str, url: &str) -> Result<Url, AuthError> {
    let invalid =
        |error| AuthError::Failed(format!("`{key}`: `{url}` is not a valid URL: {error}"));
    Url::parse(url).map_err(invalid)
}
