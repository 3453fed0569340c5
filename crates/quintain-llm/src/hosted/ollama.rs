//! Models of an Ollama server.

use futures_util::future::{BoxFuture, FutureExt as _};
use serde_json::{Map, Value, json};

use super::embeddings::vector;
use super::{Hosted, hosted_methods};
use crate::chat::ChatRequest;
use crate::completion::Completion;
use crate::config::Options;
use crate::dialects::fields::{copy, without_secrets};
use crate::dialects::ollama::{Ollama, OllamaKind, OllamaStream, nested, usage};
use crate::error::ModelError;
use crate::measures::Embeddings;
use crate::model::{Ability, Model};
use crate::network::Network;
use crate::sse::Framing;

pub(crate) struct OllamaModel {
    hosted: Hosted,
    dialect: Ollama,
}

impl OllamaModel {
    pub(crate) fn read(
        options: &mut Options<'_>,
        hosted: Hosted,
        name: &str,
        kind: OllamaKind,
    ) -> Self {
        Self { hosted, dialect: Ollama::read(options, name, kind) }
    }

    async fn ask(
        &self,
        request: &ChatRequest,
        network: &dyn Network,
    ) -> Result<Completion, ModelError> {
        let body = self.dialect.body(request)?;
        let Hosted { connection, url, .. } = &self.hosted;
        let answer = if self.dialect.streams(request) {
            let mut stream = OllamaStream::default();
            connection.stream(network, url.clone(), &body, Framing::Lines, &mut stream).await?
        } else {
            connection.post(network, url.clone(), &body).await?
        };
        self.dialect.completion(request, answer)
    }
}

impl Model for OllamaModel {
    hosted_methods!();

    fn name(&self) -> &str {
        &self.dialect.model
    }

    fn fingerprint(&self) -> Value {
        self.hosted.fingerprint(self.dialect.fingerprint())
    }

    fn abilities(&self) -> &'static [Ability] {
        &[Ability::Chat]
    }

    fn chat<'f>(
        &'f self,
        request: &'f ChatRequest,
        network: &'f dyn Network,
    ) -> BoxFuture<'f, Result<Completion, ModelError>> {
        self.ask(request, network).boxed()
    }
}

pub(crate) struct OllamaEmbedding {
    hosted: Hosted,
    name: String,
    config: Map<String, Value>,
}

impl OllamaEmbedding {
    pub(crate) fn read(options: &mut Options<'_>, hosted: Hosted, name: &str) -> Self {
        Self { hosted, name: name.to_owned(), config: options.config().clone() }
    }

    async fn ask(&self, texts: &[String], network: &dyn Network) -> Result<Embeddings, ModelError> {
        let input = match texts {
            [one] => json!(one),
            many => json!(many),
        };
        // A text that is cut silently would be compared as something else.
        let mut body = Map::from_iter([
            ("model".to_owned(), json!(self.name)),
            ("input".to_owned(), input),
            ("truncate".to_owned(), json!(false)),
            ("options".to_owned(), nested(&self.config)),
        ]);
        copy(&self.config, &["truncate", "dimensions", "keep_alive"], &mut body);
        let Hosted { connection, url, .. } = &self.hosted;
        let answer = connection.post(network, url.clone(), &Value::Object(body)).await?;
        let found = answer.body.get("embeddings").and_then(Value::as_array);
        let vectors: Option<Vec<Vec<f64>>> =
            found.map(|list| list.iter().filter_map(vector).collect());
        let vectors = vectors.filter(|vectors| vectors.len() == texts.len());
        let vectors = vectors.ok_or_else(|| {
            ModelError::Empty(format!("{} texts, other than embeddings", texts.len()))
        })?;
        Ok(Embeddings {
            vectors,
            usage: usage(&answer.body),
            cost: None,
            raw: answer.raw,
            cached: false,
        })
    }
}

impl Model for OllamaEmbedding {
    hosted_methods!();

    fn name(&self) -> &str {
        &self.name
    }

    fn fingerprint(&self) -> Value {
        self.hosted.fingerprint(json!([self.name, without_secrets(&self.config)]))
    }

    fn abilities(&self) -> &'static [Ability] {
        &[Ability::Embed]
    }

    fn embed<'f>(
        &'f self,
        texts: &'f [String],
        network: &'f dyn Network,
    ) -> BoxFuture<'f, Result<Embeddings, ModelError>> {
        self.ask(texts, network).boxed()
    }
}
