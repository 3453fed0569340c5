//! Models of Gemini.

use futures_util::future::{BoxFuture, FutureExt as _};
use serde_json::{Map, Value, json};
use url::Url;

use super::embeddings::vector;
use super::{Hosted, hosted_methods};
use crate::chat::ChatRequest;
use crate::completion::{Completion, Usage};
use crate::config::Options;
use crate::dialects::fields::{copy, count, without_secrets};
use crate::dialects::gemini::{Gemini, GeminiStream};
use crate::error::ModelError;
use crate::measures::Embeddings;
use crate::model::{Ability, Model};
use crate::network::Network;
use crate::sse::Framing;

pub(crate) struct GeminiModel {
    hosted: Hosted,
    stream_url: Url,
    dialect: Gemini,
}

impl GeminiModel {
    pub(crate) fn read(
        options: &mut Options<'_>,
        hosted: Hosted,
        stream_url: Url,
        name: &str,
    ) -> Self {
        Self { hosted, stream_url, dialect: Gemini::read(options, name) }
    }

    async fn ask(
        &self,
        request: &ChatRequest,
        network: &dyn Network,
    ) -> Result<Completion, ModelError> {
        let body = self.dialect.body(request)?;
        let Hosted { connection, url, .. } = &self.hosted;
        let answer = if self.dialect.streams(request) {
            let mut stream = GeminiStream::default();
            connection
                .stream(network, self.stream_url.clone(), &body, Framing::Sse, &mut stream)
                .await?
        } else {
            connection.post(network, url.clone(), &body).await?
        };
        Gemini::completion(request, answer)
    }
}

impl Model for GeminiModel {
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

pub(crate) struct GeminiEmbedding {
    hosted: Hosted,
    /// For several texts.
    batch_url: Url,
    name: String,
    config: Map<String, Value>,
}

impl GeminiEmbedding {
    pub(crate) fn read(
        options: &mut Options<'_>,
        hosted: Hosted,
        batch_url: Url,
        name: &str,
    ) -> Self {
        Self { hosted, batch_url, name: name.to_owned(), config: options.config().clone() }
    }

    async fn ask(&self, texts: &[String], network: &dyn Network) -> Result<Embeddings, ModelError> {
        let one = |text: &String| {
            let mut body = Map::new();
            body.insert("content".to_owned(), json!({"parts": [{"text": text}]}));
            copy(&self.config, &["taskType", "outputDimensionality", "title"], &mut body);
            body
        };
        let Hosted { connection, url, .. } = &self.hosted;
        let answer = if let [text] = texts {
            connection.post(network, url.clone(), &Value::Object(one(text))).await?
        } else {
            let requests = texts.iter().map(|text| {
                let mut body = one(text);
                body.insert("model".to_owned(), json!(format!("models/{}", self.name)));
                Value::Object(body)
            });
            let body = json!({"requests": requests.collect::<Vec<_>>()});
            connection.post(network, self.batch_url.clone(), &body).await?
        };
        let single = answer.body.get("embedding").map(std::slice::from_ref);
        let many = answer.body.get("embeddings").and_then(Value::as_array).map(Vec::as_slice);
        let found = single.or(many).unwrap_or_default();
        let vectors: Vec<Vec<f64>> =
            found.iter().filter_map(|item| item.get("values").and_then(vector)).collect();
        if vectors.len() != texts.len() {
            let why = format!("{} texts, {} embeddings", texts.len(), vectors.len());
            return Err(ModelError::Empty(why));
        }
        let prompt = count(answer.body.pointer("/usageMetadata/promptTokenCount"));
        let usage = Usage { prompt, ..Usage::default() }.summed();
        Ok(Embeddings { vectors, usage, cost: None, raw: answer.raw, cached: false })
    }
}

impl Model for GeminiEmbedding {
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
