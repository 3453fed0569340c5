//! Models behind the inference interface of Hugging Face: one URL, and a body for each task.

use futures_util::future::{BoxFuture, FutureExt as _};
use serde_json::{Map, Value, json};

use super::embeddings::vector;
use super::{Hosted, hosted_methods};
use crate::chat::{ChatRequest, Prompt};
use crate::completion::{Completion, Usage};
use crate::config::Options;
use crate::conversation::text_of;
use crate::dialects::fields::{copy, merged, without_secrets};
use crate::error::{ModelError, shorten};
use crate::exchange::ProviderReply;
use crate::measures::{Classification, Embeddings, Similarity};
use crate::model::{Ability, Model};
use crate::network::Network;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    TextClassification,
    TokenClassification,
    FeatureExtraction,
    SentenceSimilarity,
    TextGeneration,
}

/// Options of a text generation that belong into `parameters`.
const PARAMETERS: &[&str] = &[
    "top_k",
    "top_p",
    "temperature",
    "repetition_penalty",
    "max_new_tokens",
    "max_time",
    "return_full_text",
    "num_return_sequences",
    "do_sample",
];

pub(crate) struct InferenceModel {
    hosted: Hosted,
    task: Task,
    name: String,
    config: Map<String, Value>,
}

impl InferenceModel {
    pub(crate) fn read(options: &mut Options<'_>, hosted: Hosted, task: Task, name: &str) -> Self {
        Self { hosted, task, name: name.to_owned(), config: options.config().clone() }
    }

    async fn post(&self, body: Value, network: &dyn Network) -> Result<ProviderReply, ModelError> {
        let Hosted { connection, url, .. } = &self.hosted;
        Ok(connection.post(network, url.clone(), &body).await?)
    }

    /// `use_cache` and `wait_for_model`, as far as they are set.
    fn options(&self) -> Value {
        let mut options = Map::new();
        copy(&self.config, &["use_cache", "wait_for_model"], &mut options);
        Value::Object(options)
    }

    async fn generate(
        &self,
        request: &ChatRequest,
        network: &dyn Network,
    ) -> Result<Completion, ModelError> {
        let text = match &request.messages {
            Prompt::Text(text) => text.clone(),
            Prompt::Messages(messages) => {
                let texts =
                    messages.iter().filter_map(|message| message.get("content")).map(text_of);
                texts.collect::<Vec<_>>().join("\n\n")
            }
        };
        let options = merged(&self.config, &request.overrides);
        let mut parameters = Map::from_iter([("return_full_text".to_owned(), json!(false))]);
        copy(&options, PARAMETERS, &mut parameters);
        let answer = self.post(json!({"inputs": text, "parameters": parameters}), network).await?;
        let first = answer.body.get(0).unwrap_or(&answer.body);
        let Some(text) = first.get("generated_text").and_then(Value::as_str) else {
            return Err(malformed("a generated text", &answer.body));
        };
        Ok(Completion { raw: answer.raw, ..Completion::of_text(text) })
    }

    async fn scores(
        &self,
        text: &str,
        network: &dyn Network,
    ) -> Result<Classification, ModelError> {
        let (body, label) = match self.task {
            Task::TokenClassification => {
                let strategy = self.config.get("aggregation_strategy").cloned();
                let strategy = strategy.unwrap_or_else(|| json!("simple"));
                let parameters = json!({"aggregation_strategy": strategy});
                (
                    json!({"inputs": text, "parameters": parameters, "options": self.options()}),
                    "entity_group",
                )
            }
            _ => (json!({"inputs": text, "parameters": {}}), "label"),
        };
        let answer = self.post(body, network).await?;
        let mut scores: Vec<(String, f64)> = Vec::new();
        let items = row(&answer.body).as_array().map_or(&[][..], Vec::as_slice);
        for item in items {
            let name = item.get(label).and_then(Value::as_str);
            let (Some(name), Some(score)) = (name, item.get("score").and_then(Value::as_f64))
            else {
                return Err(malformed("labels with scores", &answer.body));
            };
            // Of several places with the same label, the surest counts.
            match scores.iter_mut().find(|(known, _)| known == name) {
                Some((_, known)) => *known = known.max(score),
                None => scores.push((name.to_owned(), score)),
            }
        }
        // A text without names has no tokens to classify; every text has a class.
        if scores.is_empty() && (self.task == Task::TextClassification || !answer.body.is_array()) {
            return Err(malformed("labels with scores", &answer.body));
        }
        scores.sort_by(|one, other| other.1.total_cmp(&one.1));
        Ok(Classification { scores, raw: answer.raw, cached: false })
    }

    async fn vectors(
        &self,
        texts: &[String],
        network: &dyn Network,
    ) -> Result<Embeddings, ModelError> {
        let inputs = match texts {
            [one] => json!(one),
            many => json!(many),
        };
        let answer =
            self.post(json!({"inputs": inputs, "options": self.options()}), network).await?;
        let vectors: Option<Vec<Vec<f64>>> = if texts.len() == 1 {
            vector(row(&answer.body)).map(|vector| vec![vector])
        } else {
            answer.body.as_array().and_then(|rows| rows.iter().map(vector).collect())
        };
        let vectors = vectors.filter(|vectors| vectors.len() == texts.len());
        let vectors = vectors.ok_or_else(|| malformed("a vector for each text", &answer.body))?;
        Ok(Embeddings {
            vectors,
            usage: Usage::default(),
            cost: None,
            raw: answer.raw,
            cached: false,
        })
    }

    async fn similarity(
        &self,
        source: &str,
        sentences: &[String],
        network: &dyn Network,
    ) -> Result<Similarity, ModelError> {
        let inputs = json!({"source_sentence": source, "sentences": sentences});
        let answer =
            self.post(json!({"inputs": inputs, "options": self.options()}), network).await?;
        let scores = vector(&answer.body).filter(|scores| scores.len() == sentences.len());
        let scores = scores.ok_or_else(|| malformed("a number for each sentence", &answer.body))?;
        Ok(Similarity { scores, raw: answer.raw, cached: false })
    }
}

/// A list in a list of one is that list.
fn row(body: &Value) -> &Value {
    match body.as_array().map(Vec::as_slice) {
        Some([inner @ Value::Array(_)]) => inner,
        _ => body,
    }
}

fn malformed(expected: &str, body: &Value) -> ModelError {
    let start: String = body.to_string().chars().take(200).collect();
    ModelError::WrongSchema(format!("expected {expected}, found `{}`", shorten(&start)))
}

impl Model for InferenceModel {
    hosted_methods!();

    fn name(&self) -> &str {
        &self.name
    }

    fn fingerprint(&self) -> Value {
        let task = format!("{:?}", self.task);
        self.hosted.fingerprint(json!([self.name, task, without_secrets(&self.config)]))
    }

    fn abilities(&self) -> &'static [Ability] {
        match self.task {
            Task::TextClassification | Task::TokenClassification => &[Ability::Classify],
            Task::FeatureExtraction => &[Ability::Embed],
            Task::SentenceSimilarity => &[Ability::Compare],
            Task::TextGeneration => &[Ability::Chat],
        }
    }

    fn chat<'f>(
        &'f self,
        request: &'f ChatRequest,
        network: &'f dyn Network,
    ) -> BoxFuture<'f, Result<Completion, ModelError>> {
        match self.task {
            Task::TextGeneration => self.generate(request, network).boxed(),
            _ => self.cannot(Ability::Chat),
        }
    }

    fn embed<'f>(
        &'f self,
        texts: &'f [String],
        network: &'f dyn Network,
    ) -> BoxFuture<'f, Result<Embeddings, ModelError>> {
        match self.task {
            Task::FeatureExtraction => self.vectors(texts, network).boxed(),
            _ => self.cannot(Ability::Embed),
        }
    }

    fn classify<'f>(
        &'f self,
        text: &'f str,
        network: &'f dyn Network,
    ) -> BoxFuture<'f, Result<Classification, ModelError>> {
        match self.task {
            Task::TextClassification | Task::TokenClassification => {
                self.scores(text, network).boxed()
            }
            _ => self.cannot(Ability::Classify),
        }
    }

    fn compare<'f>(
        &'f self,
        source: &'f str,
        sentences: &'f [String],
        network: &'f dyn Network,
    ) -> BoxFuture<'f, Result<Similarity, ModelError>> {
        match self.task {
            Task::SentenceSimilarity => self.similarity(source, sentences, network).boxed(),
            _ => self.cannot(Ability::Compare),
        }
    }
}

impl InferenceModel {
    fn cannot<'f, T: Send + 'f>(&self, asked: Ability) -> BoxFuture<'f, Result<T, ModelError>> {
        crate::model::cannot(&self.name, self.abilities(), asked)
    }
}
