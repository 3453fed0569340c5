//! Models behind HTTP endpoints: a connection and a dialect. Several providers offer the same kinds.

pub(crate) mod chat;
pub(crate) mod completions;
pub(crate) mod embeddings;
pub(crate) mod gemini;
pub(crate) mod inference;
pub(crate) mod messages;
pub(crate) mod moderation;
pub(crate) mod ollama;
pub(crate) mod openai_kind;
pub(crate) mod responses;

use http::HeaderName;
use http::header::AUTHORIZATION;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};
use url::Url;

use crate::exchange::Connection;
use crate::prices::Pricing;

/// What all kinds of hosted models have.
pub(crate) struct Hosted {
    /// The id of the provider.
    pub(crate) provider: &'static str,
    /// Where requests are sent.
    pub(crate) url: Url,
    pub(crate) connection: Connection,
    pub(crate) pricing: Pricing,
}

impl Hosted {
    /// `of_dialect` is what the options say about answers.
    pub(crate) fn fingerprint(&self, of_dialect: Value) -> Value {
        let path = self.url.path();
        json!([self.provider, self.connection.fingerprint(), path, of_dialect])
    }
}

/// `Authorization: Bearer KEY`.
pub(crate) fn bearer(key: &SecretString) -> (HeaderName, String) {
    (AUTHORIZATION, format!("Bearer {}", key.expose_secret()))
}

/// The methods of [`crate::model::Model`] that are the same for all hosted models.
macro_rules! hosted_methods {
    () => {
        fn endpoint(&self) -> Option<url::Url> {
            Some(self.hosted.url.clone())
        }

        fn secrets(&self) -> Vec<secrecy::SecretString> {
            self.hosted.connection.secrets().to_vec()
        }

        fn limits(&self) -> crate::limits::Limits {
            self.hosted.connection.limits().clone()
        }

        fn pricing(&self) -> crate::prices::Pricing {
            self.hosted.pricing.clone()
        }
    };
}
pub(crate) use hosted_methods;
