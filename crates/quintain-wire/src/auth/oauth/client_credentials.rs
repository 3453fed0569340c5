//! The client credentials grant, and code shared with the other grants that need no user.

use futures_util::future::BoxFuture;
use secrecy::ExposeSecret;
use tokio::sync::OnceCell;

use super::GrantContext;
use super::client::{ClientAuthMethod, ClientIdentity, SigningKey};
use super::discovery::Discovery;
use super::source::Grant;
use super::token::{TokenEndpoint, TokenSet};
use crate::auth::{AuthError, HttpRefusal, OAuthConfig};

/// Sends requests to the token endpoint of a configuration, which it discovers on first use.
pub(crate) struct TokenClient {
    pub(crate) grant_context: GrantContext,
    config: OAuthConfig,
    key: Option<SigningKey>,
    endpoint: OnceCell<(TokenEndpoint, Option<String>)>,
}

impl TokenClient {
    pub(crate) fn new(
        grant_context: GrantContext,
        config: OAuthConfig,
        key: Option<SigningKey>,
    ) -> Self {
        Self { grant_context, config, key, endpoint: OnceCell::new() }
    }

    /// Sends a grant with the scopes, audience and resource of the configuration.
    pub(crate) async fn ask(
        &self,
        grant: &str,
        own: &[(&str, &str)],
    ) -> Result<TokenSet, AuthError> {
        let (endpoint, resource) = self.endpoint().await?;
        let scope = self.config.scopes.join(" ");
        let mut parameters = own.to_vec();
        parameters.push(("scope", &scope));
        parameters.push(("audience", self.config.audience.as_deref().unwrap_or_default()));
        parameters.push(("resource", resource.as_deref().unwrap_or_default()));
        endpoint.request(&self.grant_context, grant, &parameters).await
    }

    /// The token endpoint, and the resource to request tokens for.
    pub(crate) async fn endpoint(&self) -> Result<&(TokenEndpoint, Option<String>), AuthError> {
        self.endpoint.get_or_try_init(|| self.find()).await
    }

    pub(crate) async fn refresh(&self, old: &TokenSet) -> Result<TokenSet, AuthError> {
        let token = old.refresh_token.as_ref().map(ExposeSecret::expose_secret);
        let own = [("refresh_token", token.unwrap_or_default())];
        self.ask("refresh_token", &own).await
    }

    pub(crate) fn config(&self) -> &OAuthConfig {
        &self.config
    }

    async fn find(&self) -> Result<(TokenEndpoint, Option<String>), AuthError> {
        let config = &self.config;
        if let Some(url) = &config.token_url {
            // The user wrote this URL, so plain http is the user's decision.
            let (url, client) = (url.clone(), self.client(None));
            let endpoint = TokenEndpoint { url, issuer: None, client, dpop: None };
            return Ok((endpoint, config.resource.clone()));
        }
        let found = Discovery::new(&self.grant_context).token_endpoint().await?;
        let url = found.server.token_endpoint(&self.grant_context).await?;
        let supported = found.server.token_endpoint_auth_methods_supported.as_deref();
        let client = self.client(supported);
        let resource = config.resource.clone().or(found.resource);
        let issuer = Some(found.server.issuer().to_owned());
        Ok((TokenEndpoint { url, issuer, client, dpop: None }, resource))
    }

    fn client(&self, supported: Option<&[String]>) -> Option<ClientIdentity> {
        let secret = self.config.client_secret.clone();
        let method = self.config.client_auth.unwrap_or_else(|| match self.key {
            Some(_) => ClientAuthMethod::PrivateKeyJwt,
            None => ClientAuthMethod::choose(secret.is_some(), supported),
        });
        let id = self.config.client_id.clone()?;
        Some(ClientIdentity { id, secret, key: self.key.clone(), method })
    }
}

/// The client acts for itself.
pub(crate) struct ClientCredentials(TokenClient);

impl ClientCredentials {
    pub(crate) fn new(
        grant_context: GrantContext,
        config: OAuthConfig,
        key: Option<SigningKey>,
    ) -> Result<Self, AuthError> {
        const GRANT: &str = "the client_credentials grant";
        if config.client_id.as_deref().unwrap_or_default().is_empty() {
            return Err(AuthError::Missing { grant: GRANT, what: "`clientId`" });
        }
        match (&config.client_secret, &key) {
            (None, None) => Err(AuthError::Missing { grant: GRANT, what: "`clientSecret`" }),
            (Some(secret), None) if secret.expose_secret().is_empty() => {
                Err(AuthError::Empty { what: "the client secret (`auth.clientSecret`)" })
            }
            _ => {
                if let Some(key) = &key {
                    grant_context.redactor.learn(&key.pem);
                }
                Ok(Self(TokenClient::new(grant_context, config, key)))
            }
        }
    }
}

impl Grant for ClientCredentials {
    fn obtain<'a>(
        &'a self,
        _: Option<&'a HttpRefusal>,
    ) -> BoxFuture<'a, Result<Option<TokenSet>, AuthError>> {
        Box::pin(async { self.0.ask("client_credentials", &[]).await.map(Some) })
    }

    fn refresh<'a>(
        &'a self,
        old: &'a TokenSet,
        _: Option<&'a HttpRefusal>,
    ) -> BoxFuture<'a, Result<TokenSet, AuthError>> {
        Box::pin(self.0.refresh(old))
    }
}
