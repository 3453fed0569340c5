//! Answers from the options instead of a model: deterministic, for tests of suites and of Quintain.

mod reply;
mod rule;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt as _};
use quintain_content::registry::Meta;
use serde_json::{Map, Value, json};

use self::reply::Reply;
use self::rule::Rule;
use super::{Provider, rest};
use crate::chat::ChatRequest;
use crate::completion::{Completion, RawExchange, Usage};
use crate::config::{ConfigError, Options};
use crate::conversation;
use crate::dialects::fields::without_secrets;
use crate::environment::Environment;
use crate::error::ModelError;
use crate::limits::Limits;
use crate::measures::{Category, Classification, Embeddings, Moderation, Similarity};
use crate::model::{Ability, Model};
use crate::network::Network;
use crate::prices::Pricing;
use crate::spec::ModelSpec;

const META: Meta = Meta {
    id: "scripted",
    aliases: &[],
    summary: "Answers from the suite instead of a model, for tests without a network",
    docs: "\
# What it does
Answers with what its options say. The first of these that applies decides:

- `rules`: the first rule whose `match` is contained in the last message (`in: all` searches the whole conversation). A text in
  slashes is a regular expression.
- `turns`: one reply for each message of the assistant that the conversation already has. The same conversation gets the same reply,
  also with tests in parallel.
- `responses`: one reply for each request, in the order of requests.
- `default`.

A reply is a text, or a map: `text`, `json`, `tool_calls: [{name, arguments, id?}]`, `refusal`, `finish_reason`, `usage: {prompt, completion}`,
`logprobs`, `delay_ms`, or `fail: {status, message?, retry_after?}` to fail like an endpoint. `embeddings: {TEXT: [numbers]}` and
`classifications`, `moderations` (maps from a part of the text to `{LABEL: score}`) answer other questions; without an entry, embeddings
count words.

# Example
```yaml
providers:
  - id: scripted:judge
    config:
      rules:
        - match: refund
          reply: {json: {pass: true, score: 1, reason: mentions the refund}}
      default: I do not know
```
",
    since: "0.1.0",
};

/// Dimensions of an embedding that counts words.
const DIMENSIONS: usize = 256;

pub(super) struct Scripted;
pub(super) static SCRIPTED: Scripted = Scripted;

impl Provider for Scripted {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn words(&self) -> &'static [&'static str] {
        &["scripted"]
    }

    fn can_judge(&self) -> bool {
        false
    }

    fn configure(
        &self,
        spec: &ModelSpec,
        env: &dyn Environment,
    ) -> Result<Box<dyn Model>, Vec<ConfigError>> {
        let mut options = Options::new(spec, env);
        let name = Some(rest(&spec.id)).filter(|name| !name.is_empty()).unwrap_or("scripted");
        let model = ScriptedModel {
            name: name.to_owned(),
            rules: Rule::read_all(&mut options),
            turns: Reply::read_all(&mut options, "turns"),
            responses: Reply::read_all(&mut options, "responses"),
            default: Reply::read_one(&mut options, "default"),
            embeddings: options.object("embeddings").cloned().unwrap_or_default(),
            classifications: options.object("classifications").cloned().unwrap_or_default(),
            moderations: options.object("moderations").cloned().unwrap_or_default(),
            limits: Limits::read(&mut options),
            pricing: Pricing::read(&mut options, None),
            requests: AtomicUsize::new(0),
            fingerprint: json!([name, without_secrets(&spec.config)]),
        };
        options.finish(Some(Box::new(model) as Box<dyn Model>))
    }
}

struct ScriptedModel {
    name: String,
    rules: Vec<Rule>,
    turns: Vec<Reply>,
    responses: Vec<Reply>,
    default: Option<Reply>,
    embeddings: Map<String, Value>,
    classifications: Map<String, Value>,
    moderations: Map<String, Value>,
    limits: Limits,
    pricing: Pricing,
    /// Requests that `responses` answered.
    requests: AtomicUsize,
    fingerprint: Value,
}

impl ScriptedModel {
    fn reply(&self, messages: &[Value]) -> Result<&Reply, ModelError> {
        if let Some(rule) = self.rules.iter().find(|rule| rule.applies(messages)) {
            return Ok(&rule.reply);
        }
        let is_assistant =
            |message: &&Value| message.get("role").and_then(Value::as_str) == Some("assistant");
        let turn = messages.iter().filter(is_assistant).count();
        if let Some(reply) = self.turns.get(turn) {
            return Ok(reply);
        }
        if !self.responses.is_empty() {
            let request = self.requests.fetch_add(1, Ordering::SeqCst);
            if let Some(reply) = self.responses.get(request) {
                return Ok(reply);
            }
        }
        self.default.as_ref().ok_or_else(|| {
            let why = format!("the script of `{}` has no answer to this request", self.name);
            ModelError::Config(why)
        })
    }

    async fn ask(&self, request: &ChatRequest) -> Result<Completion, ModelError> {
        let messages = conversation::messages(&request.messages)?;
        let reply = self.reply(&messages)?;
        if let Some(delay) = reply.delay {
            tokio::time::sleep(delay).await;
        }
        let body = json!({"messages": messages, "tools": request.tools, "tool_choice": request.tool_choice});
        reply.completion(&self.name, body)
    }
}

impl Model for ScriptedModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn limits(&self) -> Limits {
        self.limits.clone()
    }

    fn fingerprint(&self) -> Value {
        self.fingerprint.clone()
    }

    fn is_cacheable(&self) -> bool {
        self.responses.is_empty()
    }

    fn pricing(&self) -> Pricing {
        self.pricing.clone()
    }

    fn abilities(&self) -> &'static [Ability] {
        &[Ability::Chat, Ability::Embed, Ability::Moderate, Ability::Classify, Ability::Compare]
    }

    fn chat<'f>(
        &'f self,
        request: &'f ChatRequest,
        _: &'f dyn Network,
    ) -> BoxFuture<'f, Result<Completion, ModelError>> {
        self.ask(request).boxed()
    }

    fn embed<'f>(
        &'f self,
        texts: &'f [String],
        _: &'f dyn Network,
    ) -> BoxFuture<'f, Result<Embeddings, ModelError>> {
        let given = |text: &String| {
            let numbers = self.embeddings.get(text)?.as_array()?;
            Some(numbers.iter().filter_map(Value::as_f64).collect())
        };
        let vectors = texts.iter().map(|text| given(text).unwrap_or_else(|| word_counts(text)));
        let usage = Usage { prompt: Some(texts.len() as u64), ..Usage::default() }.summed();
        let raw = RawExchange { request: json!({"input": texts}), response: Value::Null };
        let answer =
            Embeddings { vectors: vectors.collect(), usage, cost: None, raw, cached: false };
        async { Ok(answer) }.boxed()
    }

    fn moderate<'f>(
        &'f self,
        text: &'f str,
        _: &'f dyn Network,
    ) -> BoxFuture<'f, Result<Moderation, ModelError>> {
        let category = |(name, score): (String, f64)| Category {
            name,
            flagged: score >= 0.5,
            score: Some(score),
        };
        let categories: Vec<Category> =
            scores(&self.moderations, text).into_iter().map(category).collect();
        let flagged = categories.iter().any(|category| category.flagged);
        let raw = RawExchange { request: json!({"input": text}), response: Value::Null };
        async move { Ok(Moderation { flagged, categories, raw, cached: false }) }.boxed()
    }

    fn classify<'f>(
        &'f self,
        text: &'f str,
        _: &'f dyn Network,
    ) -> BoxFuture<'f, Result<Classification, ModelError>> {
        let mut scores = scores(&self.classifications, text);
        scores.sort_by(|one, other| other.1.total_cmp(&one.1));
        let raw = RawExchange { request: json!({"inputs": text}), response: Value::Null };
        async move { Ok(Classification { scores, raw, cached: false }) }.boxed()
    }

    fn compare<'f>(
        &'f self,
        source: &'f str,
        sentences: &'f [String],
        _: &'f dyn Network,
    ) -> BoxFuture<'f, Result<Similarity, ModelError>> {
        let vector = word_counts(source);
        let scores =
            sentences.iter().map(|sentence| cosine(&vector, &word_counts(sentence))).collect();
        let request = json!({"source_sentence": source, "sentences": sentences});
        let raw = RawExchange { request, response: Value::Null };
        async move { Ok(Similarity { scores, raw, cached: false }) }.boxed()
    }
}

/// Scores of the first entry that the text contains; an empty entry applies to all texts.
fn scores(table: &Map<String, Value>, text: &str) -> Vec<(String, f64)> {
    let entry = table.iter().find(|(part, _)| text.contains(part.as_str()));
    let labels = entry.and_then(|(_, labels)| labels.as_object()).into_iter().flatten();
    labels.filter_map(|(label, score)| Some((label.clone(), score.as_f64()?))).collect()
}

/// A vector that is close for texts with the same words, and of length 1.
fn word_counts(text: &str) -> Vec<f64> {
    let mut vector = vec![0.0; DIMENSIONS];
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let hash = word.to_lowercase().bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        vector[(hash % DIMENSIONS as u64) as usize] += 1.0;
    }
    let length = vector.iter().map(|number| number * number).sum::<f64>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|number| *number /= length);
    }
    vector
}

fn cosine(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

/// Reads a duration in milliseconds.
fn delay(map: &Map<String, Value>) -> Option<Duration> {
    map.get("delay_ms").and_then(Value::as_u64).map(Duration::from_millis)
}
