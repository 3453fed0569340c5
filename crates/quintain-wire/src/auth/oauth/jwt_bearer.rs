//! Tokens for an assertion that a third party signed (RFC 7523 section 2.1).
//!
//! The assertion is given, such as the JWT of a workload, or an identity provider issues it for the login of its user
//! (token exchange, RFC 8693, for an identity assertion grant).

use futures_util::future::BoxFuture;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use super::GrantContext;
use super::authorization_code::canonical;
use super::client::{ClientAuthMethod, ClientIdentity};
use super::client_credentials::TokenClient;
use super::source::Grant;
use super::token::{TokenEndpoint, TokenSet, learn_client_secret};
use crate::auth::error::shown;
use crate::auth::{AuthError, HttpRefusal, IdentityProvider, OAuthConfig};

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ID_TOKEN: &str = "urn:ietf:params:oauth:token-type:id_token";
/// The identity assertion authorization grant.
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";

pub(crate) struct JwtBearer {
    teller: TokenClient,
    assertion: Assertion,
}

/// Source of the assertion.
enum Assertion {
    Given(SecretString),
    Exchanged(Box<TokenEndpoint>, SecretString),
}

impl JwtBearer {
    /// With a given assertion.
    pub(crate) fn given(
        grant_context: GrantContext,
        config: OAuthConfig,
        assertion: SecretString,
    ) -> Result<Self, AuthError> {
        if assertion.expose_secret().is_empty() {
            return Err(AuthError::Empty { what: "the assertion (`auth.assertion`)" });
        }
        grant_context.redactor.learn(&assertion);
        Ok(Self {
            teller: TokenClient::new(grant_context, config, None),
            assertion: Assertion::Given(assertion),
        })
    }

    /// With an assertion from an identity provider.
    pub(crate) fn exchanged(
        grant_context: GrantContext,
        config: OAuthConfig,
        provider: IdentityProvider,
    ) -> Result<Self, AuthError> {
        let IdentityProvider { token_url: url, client_id: id, client_secret: secret, id_token } =
            provider;
        if id_token.expose_secret().is_empty() {
            return Err(AuthError::Empty { what: "the ID token (`auth.idToken`)" });
        }
        grant_context.redactor.learn(&id_token);
        if let Some(secret) = &secret {
            learn_client_secret(&grant_context.redactor, Some(&id), secret);
        }
        let method = ClientAuthMethod::choose(secret.is_some(), None);
        let client = Some(ClientIdentity { id, secret, key: None, method });
        // The user wrote this URL, so plain http is the user's decision.
        let endpoint = Box::new(TokenEndpoint { url, issuer: None, client, dpop: None });
        let assertion = Assertion::Exchanged(endpoint, id_token);
        Ok(Self { teller: TokenClient::new(grant_context, config, None), assertion })
    }

    async fn assertion(&self) -> Result<SecretString, AuthError> {
        let (provider, id_token) = match &self.assertion {
            Assertion::Given(assertion) => return Ok(assertion.clone()),
            Assertion::Exchanged(provider, id_token) => (provider, id_token),
        };
        let (grant_context, config) = (&self.teller.grant_context, self.teller.config());
        let (endpoint, resource) = self.teller.endpoint().await?;
        let audience = config.audience.as_deref().or(endpoint.issuer.as_deref());
        let audience = audience.ok_or(AuthError::Missing {
            grant: "the exchange of an ID token",
            what: "`audience`, the issuer of the authorization server",
        })?;
        let resource = resource.clone().unwrap_or_else(|| canonical(&grant_context.server));
        let scope = config.scopes.join(" ");
        let parameters = [
            ("requested_token_type", ID_JAG),
            ("audience", audience),
            ("resource", &resource),
            ("scope", &scope),
            ("subject_token", id_token.expose_secret()),
            ("subject_token_type", ID_TOKEN),
        ];
        let answer = provider.exchange(grant_context, TOKEN_EXCHANGE, &parameters).await?;
        let text = |name: &str| answer.get(name).and_then(Value::as_str);
        let bad = |reason| AuthError::BadAnswer { url: provider.url.to_string(), reason };
        if let Some(kind) = text("issued_token_type").filter(|kind| *kind != ID_JAG) {
            return Err(bad(format!("it is a `{}`, not an `{ID_JAG}`", shown(kind))));
        }
        let assertion = text("access_token").filter(|token| !token.is_empty());
        let assertion = assertion.ok_or_else(|| bad("it has no `access_token`".to_owned()))?;
        let assertion = SecretString::from(assertion);
        grant_context.redactor.learn(&assertion);
        Ok(assertion)
    }
}

impl Grant for JwtBearer {
    fn obtain<'a>(
        &'a self,
        _: Option<&'a HttpRefusal>,
    ) -> BoxFuture<'a, Result<Option<TokenSet>, AuthError>> {
        Box::pin(async {
            let assertion = self.assertion().await?;
            let own = [("assertion", assertion.expose_secret())];
            self.teller.ask(JWT_BEARER, &own).await.map(Some)
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
