//! The JWT bearer grant (RFC 7523): somebody else's word buys the token. The word is given as it is
//! (a workload's identity), or fetched from an identity provider by token exchange (RFC 8693).

use futures_util::future::BoxFuture;
use secrecy::{ExposeSecret, SecretString};
use url::Url;

use super::Desk;
use super::authorization_code::canonical;
use super::client::{ClientAuthMethod, ClientIdentity};
use super::client_credentials::Teller;
use super::source::Grant;
use super::token::{TokenEndpoint, TokenSet, learn_client_secret};
use crate::auth::{AuthError, OAuthConfig, Refusal};

/// Where the assertion comes from.
#[derive(Clone, Debug)]
pub enum Assertion {
    /// It is at hand.
    Given(SecretString),
    /// An identity provider issues it for what the user holds (enterprise-managed authorization).
    Exchanged {
        /// The token endpoint of the identity provider.
        token_url: Url,
        /// The client as the identity provider knows it.
        client_id: String,
        /// Its secret, sent in an HTTP Basic header.
        client_secret: Option<SecretString>,
        /// What is exchanged.
        subject_token: SecretString,
        /// `id_token` or `refresh_token`.
        subject_token_type: String,
    },
}

pub(crate) struct JwtBearer {
    teller: Teller,
    assertion: Assertion,
}

impl JwtBearer {
    pub(crate) fn new(
        desk: Desk,
        config: OAuthConfig,
        assertion: Assertion,
    ) -> Result<Self, AuthError> {
        let secret = match &assertion {
            Assertion::Given(token) => token,
            Assertion::Exchanged { client_id, client_secret, subject_token, .. } => {
                if let Some(secret) = client_secret {
                    learn_client_secret(&desk.redactor, Some(client_id), secret);
                }
                subject_token
            }
        };
        if secret.expose_secret().is_empty() {
            return Err(AuthError::Empty { what: "the assertion (`auth.assertion`)" });
        }
        desk.redactor.learn(secret);
        Ok(Self { teller: Teller::new(desk, config, None), assertion })
    }

    async fn assertion(&self) -> Result<SecretString, AuthError> {
        let (token_url, client_id, client_secret, subject_token, kind) = match &self.assertion {
            Assertion::Given(token) => return Ok(token.clone()),
            Assertion::Exchanged {
                token_url,
                client_id,
                client_secret,
                subject_token,
                subject_token_type,
            } => (token_url, client_id, client_secret, subject_token, subject_token_type),
        };
        let (endpoint, resource) = self.teller.endpoint().await?;
        let secret = client_secret.clone();
        let method = match secret {
            Some(_) => ClientAuthMethod::ClientSecretBasic,
            None => ClientAuthMethod::None,
        };
        let provider = TokenEndpoint {
            url: token_url.clone(),
            issuer: None,
            client: Some(ClientIdentity { id: client_id.clone(), secret, key: None, method }),
            dpop: None,
        };
        let kind = format!("urn:ietf:params:oauth:token-type:{kind}");
        let audience = endpoint.issuer.as_deref().unwrap_or(endpoint.url.as_str());
        // Keys and passwords in the URL of the target are no business of the identity provider.
        let resource = resource.clone().unwrap_or_else(|| canonical(&self.teller.desk.server));
        let parameters = [
            ("subject_token", subject_token.expose_secret()),
            ("subject_token_type", &kind),
            ("audience", audience),
            ("resource", &resource),
        ];
        let wanted = "urn:ietf:params:oauth:token-type:id-jag";
        provider.exchange(&self.teller.desk, wanted, &parameters).await
    }
}

impl Grant for JwtBearer {
    fn obtain<'a>(
        &'a self,
        _: Option<&'a Refusal>,
    ) -> BoxFuture<'a, Result<Option<TokenSet>, AuthError>> {
        Box::pin(async {
            let assertion = self.assertion().await?;
            let own = [("assertion", assertion.expose_secret())];
            let grant = "urn:ietf:params:oauth:grant-type:jwt-bearer";
            self.teller.ask(grant, &own).await.map(Some)
        })
    }

    fn refresh<'a>(
        &'a self,
        old: &'a TokenSet,
        _: Option<&'a Refusal>,
    ) -> BoxFuture<'a, Result<TokenSet, AuthError>> {
        Box::pin(self.teller.refresh(old))
    }
}
