//! Embeddings in OpenAI's dialect.

use futures_util::future::{BoxFuture, FutureExt as _};
use serde_json::{Map, Value, json};

use super::{Hosted, hosted_methods};
use crate::config::Options;
use crate::dialects::chat_completions::usage;
use crate::dialects::fields::{copy, pass_through, without_secrets};
use crate::error::ModelError;
use crate::measures::Embeddings;
use crate::model::{Ability, Model};
use crate::network::Network;

pub(crate) struct EmbeddingModel {
    hosted: Hosted,
    name: String,
    config: Map<String, Value>,
}

impl EmbeddingModel {
    pub(crate) fn read(options: &mut Options<'_>, hosted: Hosted, name: &str) -> Self {
        Self { hosted, name: name.to_owned(), config: options.config().clone() }
    }

    async fn ask(&self, texts: &[String], network: &dyn Network) -> Result<Embeddings, ModelError> {
        let input = match texts {
            [one] => json!(one),
            many => json!(many),
        };
        let mut body = Map::new();
        body.insert("model".to_owned(), json!(self.name));
        body.insert("input".to_owned(), input);
        copy(&self.config, &["dimensions", "encoding_format", "user"], &mut body);
        pass_through(&self.config, &mut body);
        let Hosted { connection, url, .. } = &self.hosted;
        let answer = connection.post(network, url.clone(), &Value::Object(body)).await?;
        let data = answer.body.get("data").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let mut vectors: Vec<Option<Vec<f64>>> = vec![None; texts.len()];
        for (at, item) in data.iter().enumerate() {
            let index =
                item.get("index").and_then(Value::as_u64).map_or(at, |index| index as usize);
            if let Some(slot) = vectors.get_mut(index) {
                *slot = item.get("embedding").and_then(vector);
            }
        }
        let vectors: Option<Vec<Vec<f64>>> = vectors.into_iter().collect();
        let vectors = vectors.ok_or_else(|| {
            let why = format!("{} texts, {} embeddings", texts.len(), data.len());
            ModelError::Empty(why)
        })?;
        let usage = usage(answer.body.get("usage"));
        Ok(Embeddings { vectors, usage, cost: None, raw: answer.raw, cached: false })
    }
}

/// A list of numbers that is not empty.
pub(crate) fn vector(value: &Value) -> Option<Vec<f64>> {
    let numbers: Option<Vec<f64>> = value.as_array()?.iter().map(Value::as_f64).collect();
    numbers.filter(|numbers| !numbers.is_empty())
}

impl Model for EmbeddingModel {
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
