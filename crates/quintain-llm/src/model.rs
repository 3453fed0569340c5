//! One configured model: a single attempt at each kind of question. Retries, limits and the cache are in
//! [`crate::models`].

use futures_util::future::{BoxFuture, FutureExt as _};
use secrecy::SecretString;
use serde_json::Value;
use url::Url;

use crate::chat::ChatRequest;
use crate::completion::Completion;
use crate::error::ModelError;
use crate::limits::Limits;
use crate::measures::{Classification, Embeddings, Moderation, Similarity};
use crate::network::Network;
use crate::prices::Pricing;

/// What a model can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ability {
    Chat,
    Embed,
    Moderate,
    Classify,
    Compare,
}

impl Ability {
    fn words(self) -> &'static str {
        match self {
            Self::Chat => "answer prompts",
            Self::Embed => "compute embeddings",
            Self::Moderate => "moderate texts",
            Self::Classify => "classify texts",
            Self::Compare => "compare sentences",
        }
    }
}

pub trait Model: Send + Sync {
    /// The name of the model at the endpoint.
    fn name(&self) -> &str;

    /// What is contacted; nothing, if the model is built in. It may contain credentials: show it with
    /// `quintain_content::secret::shown_url`.
    fn endpoint(&self) -> Option<Url> {
        None
    }

    /// Whatever must not be shown: keys, secret headers.
    fn secrets(&self) -> Vec<SecretString> {
        Vec::new()
    }

    fn limits(&self) -> Limits {
        Limits::default()
    }

    /// Everything besides the request that decides the answer: provider, endpoint, model, options. Contains no secrets.
    fn fingerprint(&self) -> Value;

    /// Whether answers may be stored. Models that answer by the order of requests say no.
    fn is_cacheable(&self) -> bool {
        true
    }

    fn pricing(&self) -> Pricing {
        Pricing::default()
    }

    fn abilities(&self) -> &'static [Ability];

    fn chat<'f>(
        &'f self,
        request: &'f ChatRequest,
        network: &'f dyn Network,
    ) -> BoxFuture<'f, Result<Completion, ModelError>> {
        let _ = (request, network);
        cannot(self.name(), self.abilities(), Ability::Chat)
    }

    fn embed<'f>(
        &'f self,
        texts: &'f [String],
        network: &'f dyn Network,
    ) -> BoxFuture<'f, Result<Embeddings, ModelError>> {
        let _ = (texts, network);
        cannot(self.name(), self.abilities(), Ability::Embed)
    }

    fn moderate<'f>(
        &'f self,
        text: &'f str,
        network: &'f dyn Network,
    ) -> BoxFuture<'f, Result<Moderation, ModelError>> {
        let _ = (text, network);
        cannot(self.name(), self.abilities(), Ability::Moderate)
    }

    fn classify<'f>(
        &'f self,
        text: &'f str,
        network: &'f dyn Network,
    ) -> BoxFuture<'f, Result<Classification, ModelError>> {
        let _ = (text, network);
        cannot(self.name(), self.abilities(), Ability::Classify)
    }

    /// Compares `source` with each sentence.
    fn compare<'f>(
        &'f self,
        source: &'f str,
        sentences: &'f [String],
        network: &'f dyn Network,
    ) -> BoxFuture<'f, Result<Similarity, ModelError>> {
        let _ = (source, sentences, network);
        cannot(self.name(), self.abilities(), Ability::Compare)
    }
}

pub(crate) fn cannot<'f, T: Send + 'f>(
    name: &str,
    abilities: &[Ability],
    asked: Ability,
) -> BoxFuture<'f, Result<T, ModelError>> {
    let error = unsupported(name, abilities, asked);
    async { Err(error) }.boxed()
}

/// The error for a question that a model does not answer.
pub fn unsupported(name: &str, abilities: &[Ability], asked: Ability) -> ModelError {
    let can: Vec<&str> = abilities.iter().map(|ability| ability.words()).collect();
    let can = if can.is_empty() { "answer nothing".to_owned() } else { can.join(" and ") };
    ModelError::Unsupported(format!("`{name}` cannot {}; it can {can}", asked.words()))
}
