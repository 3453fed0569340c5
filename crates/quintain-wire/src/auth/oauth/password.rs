//! The resource owner password grant: a token for the name and password of a user.

use futures_util::future::BoxFuture;
use secrecy::{ExposeSecret, SecretString};

use super::GrantContext;
use super::client_credentials::TokenClient;
use super::source::Grant;
use super::token::TokenSet;
use crate::auth::{AuthError, HttpRefusal, OAuthConfig};

pub(crate) struct Password {
    teller: TokenClient,
    user: String,
    secret: SecretString,
}

impl Password {
    pub(crate) fn new(
        grant_context: GrantContext,
        config: OAuthConfig,
        username: String,
        password: SecretString,
    ) -> Result<Self, AuthError> {
        if username.is_empty() {
            return Err(AuthError::Empty { what: "the user name (`auth.username`)" });
        }
        if password.expose_secret().is_empty() {
            return Err(AuthError::Empty { what: "the password (`auth.password`)" });
        }
        Ok(Self {
            teller: TokenClient::new(grant_context, config, None),
            user: username,
            secret: password,
        })
    }
}

impl Grant for Password {
    fn obtain<'a>(
        &'a self,
        _: Option<&'a HttpRefusal>,
    ) -> BoxFuture<'a, Result<Option<TokenSet>, AuthError>> {
        Box::pin(async {
            let own = [("username", self.user.as_str()), ("password", self.secret.expose_secret())];
            self.teller.ask("password", &own).await.map(Some)
        })
    }

    fn refresh<'a>(
        &'a self,
        old: &'a TokenSet,
        _: Option<&'a HttpRefusal>,
    ) -> BoxFuture<'a, Result<TokenSet, AuthError>> {
        Box::pin(self.teller.refresh(old))
    }
}
