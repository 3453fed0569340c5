//! All models of one run: specs are resolved once; limits, retries, cache and prices apply to all of them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout};

use crate::cache::{Cache, CacheOptions, Key};
use crate::chat::ChatRequest;
use crate::completion::{Completion, Usage};
use crate::config::ConfigError;
use crate::environment::Environment;
use crate::error::ModelError;
use crate::limits::Limits;
use crate::measures::{Classification, Embeddings, Moderation, Similarity};
use crate::model::Model;
use crate::network::Network;
use crate::prices::PriceTable;
use crate::providers;
use crate::retry::Backoff;
use crate::spec::ModelSpec;
use crate::throttle::{self, Throttle};

/// What applies to all models of a run.
#[derive(Debug, Clone)]
pub struct ModelsOptions {
    /// Nothing is stored without it.
    pub cache: Option<CacheOptions>,
    pub prices: PriceTable,
    /// Requests in parallel, of all models together.
    pub concurrency: Option<usize>,
    /// Decides the jitter of retries.
    pub seed: u64,
}

impl Default for ModelsOptions {
    fn default() -> Self {
        Self { cache: None, prices: PriceTable::built_in(), concurrency: None, seed: 0 }
    }
}

/// The models of one run.
pub struct Models {
    shared: Arc<Shared>,
    environment: Arc<dyn Environment>,
    handles: Mutex<Vec<(ModelSpec, Arc<Handle>)>>,
    throttles: Mutex<BTreeMap<String, Arc<Throttle>>>,
}

struct Shared {
    network: Arc<dyn Network>,
    cache: Option<Arc<Cache>>,
    prices: PriceTable,
    slots: Option<Arc<Semaphore>>,
    seed: u64,
    /// Numbers the requests, so that their waits differ.
    requests: AtomicU64,
}

impl Models {
    pub fn new(
        network: Arc<dyn Network>,
        environment: Arc<dyn Environment>,
        options: ModelsOptions,
    ) -> Self {
        let ModelsOptions { cache, prices, concurrency, seed } = options;
        let shared = Shared {
            network,
            cache: cache.map(|cache| Arc::new(Cache::new(cache))),
            prices,
            slots: concurrency.map(throttle::slots),
            seed,
            requests: AtomicU64::new(0),
        };
        Self {
            shared: Arc::new(shared),
            environment,
            handles: Mutex::default(),
            throttles: Mutex::default(),
        }
    }

    /// The model that a spec names. Equal specs share one.
    ///
    /// # Errors
    /// All mistakes in the spec.
    pub fn model(&self, spec: &ModelSpec) -> Result<Arc<Handle>, Vec<ConfigError>> {
        let mut handles = self.handles.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, handle)) = handles.iter().find(|(known, _)| known == spec) {
            return Ok(handle.clone());
        }
        let provider =
            providers::find(&spec.id).ok_or_else(|| vec![providers::unknown(&spec.id)])?;
        let model = provider.configure(spec, &*self.environment)?;
        let limits = model.limits();
        let throttle = self.throttle(provider.meta().id, &*model, &limits);
        let (spec_id, label) = (spec.id.clone(), spec.label.clone());
        let handle =
            Handle { id: spec_id, label, model, limits, throttle, shared: self.shared.clone() };
        let handle = Arc::new(handle);
        handles.push((spec.clone(), handle.clone()));
        Ok(handle)
    }

    /// Models of the same provider, endpoint and limits share them: a limit is one of the account.
    fn throttle(&self, provider: &str, model: &dyn Model, limits: &Limits) -> Arc<Throttle> {
        let origin = model.endpoint().map(|url| url.origin().ascii_serialization());
        let key =
            json!([provider, origin, limits.requests_per_minute, limits.concurrency]).to_string();
        let mut throttles = self.throttles.lock().unwrap_or_else(PoisonError::into_inner);
        throttles.entry(key).or_insert_with(|| Arc::new(Throttle::new(limits))).clone()
    }
}

/// The kinds of answers in the cache.
const CHAT: &str = "chat";
const EMBED: &str = "embed";
const MODERATE: &str = "moderate";
const CLASSIFY: &str = "classify";

/// What a model was asked. Measures of a text have no samples: the same text has the same one.
#[derive(Debug, Clone, Copy)]
pub enum Asked<'a> {
    Chat(&'a ChatRequest),
    Embed(&'a [String]),
    Moderate(&'a str),
    Classify(&'a str),
}

/// One model of a run.
pub struct Handle {
    id: String,
    label: Option<String>,
    model: Box<dyn Model>,
    limits: Limits,
    throttle: Arc<Throttle>,
    shared: Arc<Shared>,
}

/// Options of the model may be secret.
impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handle").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Handle {
    /// As the suite writes it.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The label, or the id.
    pub fn shown(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.id)
    }

    pub fn model(&self) -> &dyn Model {
        &*self.model
    }

    /// # Errors
    /// When the model does not answer.
    pub async fn chat(&self, request: &ChatRequest) -> Result<Completion, ModelError> {
        let network = &*self.shared.network;
        self.ask(CHAT, request, || self.model.chat(request, network)).await
    }

    /// The stored answer to a request.
    pub(crate) async fn stored_chat(&self, request: &ChatRequest) -> Option<Completion> {
        self.stored(self.key(CHAT, request)?).await
    }

    /// Asks, whatever the cache contains, and stores nothing.
    pub(crate) async fn fresh_chat(&self, request: &ChatRequest) -> Result<Completion, ModelError> {
        let network = &*self.shared.network;
        self.fresh(|| self.model.chat(request, network)).await
    }

    /// Stores an answer to a request.
    pub(crate) async fn store_chat(&self, request: &ChatRequest, answer: &Completion) {
        if let Some(key) = self.key(CHAT, request) {
            self.store(key, answer).await;
        }
    }

    /// Removes an answer from the cache that turned out to be of no use, so that it is asked for again.
    pub async fn forget(&self, asked: &Asked<'_>) {
        let key = match asked {
            Asked::Chat(request) => self.key(CHAT, request),
            Asked::Embed(texts) => self.key(EMBED, texts),
            Asked::Moderate(text) => self.key(MODERATE, text),
            Asked::Classify(text) => self.key(CLASSIFY, text),
        };
        if let (Some(cache), Some(key)) = (self.shared.cache.clone(), key) {
            let _ = tokio::task::spawn_blocking(move || cache.remove(&key)).await;
        }
    }

    /// # Errors
    /// When the model does not answer.
    pub async fn embed(&self, texts: &[String]) -> Result<Embeddings, ModelError> {
        let network = &*self.shared.network;
        self.ask(EMBED, &texts, || self.model.embed(texts, network)).await
    }

    /// # Errors
    /// When the model does not answer.
    pub async fn moderate(&self, text: &str) -> Result<Moderation, ModelError> {
        let network = &*self.shared.network;
        self.ask(MODERATE, &text, || self.model.moderate(text, network)).await
    }

    /// # Errors
    /// When the model does not answer.
    pub async fn classify(&self, text: &str) -> Result<Classification, ModelError> {
        let network = &*self.shared.network;
        self.ask(CLASSIFY, &text, || self.model.classify(text, network)).await
    }

    /// How similar each sentence is to `source`, for models that compare sentences themselves.
    ///
    /// # Errors
    /// When the model does not answer.
    pub async fn compare(
        &self,
        source: &str,
        sentences: &[String],
    ) -> Result<Similarity, ModelError> {
        let network = &*self.shared.network;
        let request = (source, sentences);
        self.ask("compare", &request, || self.model.compare(source, sentences, network)).await
    }

    /// What decides an answer besides the request. Another key may belong to another account, or be wrong; only its
    /// digest counts.
    fn identity(&self) -> Value {
        let digest = |secret: &SecretString| {
            let hash = Sha256::digest(secret.expose_secret().as_bytes());
            hash.to_vec()
        };
        let keys: Vec<Vec<u8>> = self.model.secrets().iter().map(digest).collect();
        json!([self.model.fingerprint(), keys])
    }

    /// Answers from the cache, or asks and stores the answer.
    async fn ask<'f, T: Answered>(
        &'f self,
        kind: &str,
        request: &impl Serialize,
        attempt: impl Fn() -> BoxFuture<'f, Result<T, ModelError>>,
    ) -> Result<T, ModelError> {
        let Some(key) = self.key(kind, request) else { return self.fresh(attempt).await };
        if let Some(answer) = self.stored(key.clone()).await {
            return Ok(answer);
        }
        let answer = self.fresh(attempt).await?;
        self.store(key, &answer).await;
        Ok(answer)
    }

    /// Where the answer to a request is stored; none if it is not.
    fn key(&self, kind: &str, request: &impl Serialize) -> Option<Key> {
        let is_cached = self.shared.cache.is_some() && self.model.is_cacheable();
        is_cached.then(|| Key::new(kind, &self.identity(), request)).flatten()
    }

    async fn stored<T: Answered>(&self, key: Key) -> Option<T> {
        let cache = self.shared.cache.clone()?;
        let stored = tokio::task::spawn_blocking(move || cache.get::<T>(&key)).await;
        let mut answer = stored.ok().flatten()?;
        answer.mark_cached();
        Some(answer)
    }

    async fn store<T: Answered>(&self, key: Key, answer: &T) {
        let Some(cache) = self.shared.cache.clone() else { return };
        let (stored, secrets) = (answer.clone(), self.model.secrets());
        // A failed write is no reason to fail.
        let _ = tokio::task::spawn_blocking(move || cache.put(&key, &stored, &secrets)).await;
    }

    async fn fresh<'f, T: Answered>(
        &'f self,
        attempt: impl Fn() -> BoxFuture<'f, Result<T, ModelError>>,
    ) -> Result<T, ModelError> {
        let (mut answer, attempts) = self.retry(attempt).await?;
        let cost =
            self.shared.prices.cost(&self.model.pricing(), self.model.name(), &answer.usage());
        answer.complete(cost, attempts);
        Ok(answer)
    }

    /// Sends a request until it succeeds, attempts or time are used up, or another attempt makes no sense.
    async fn retry<'f, T>(
        &self,
        attempt: impl Fn() -> BoxFuture<'f, Result<T, ModelError>>,
    ) -> Result<(T, u32), ModelError> {
        let number = self.shared.requests.fetch_add(1, Ordering::Relaxed);
        let backoff = Backoff::new(&self.limits, self.shared.seed, number);
        // The time in queues does not count: it depends on the other requests.
        let mut used = Duration::ZERO;
        for attempts in 1.. {
            // A provider with a low rate must not occupy the slots of the others while it waits.
            let turn = self.throttle.enter().await;
            let slot = (turn, throttle::acquire(self.shared.slots.as_ref()).await);
            let begin = Instant::now();
            let answer = timeout(self.limits.total_time.saturating_sub(used), attempt()).await;
            used += begin.elapsed();
            drop(slot);
            let error = match answer {
                Ok(Ok(answer)) => return Ok((answer, attempts)),
                Ok(Err(error)) => error,
                Err(_) => {
                    return Err(gave_up(ModelError::TimedOut(self.limits.total_time), attempts));
                }
            };
            let left = self.limits.total_time.saturating_sub(used);
            let Some(wait) = backoff.wait(&error, attempts, left) else {
                return Err(gave_up(error, attempts));
            };
            if let (ModelError::RateLimited { .. }, Some(asked)) = (&error, error.retry_after()) {
                self.throttle.pause(asked);
            }
            used += wait;
            sleep(wait).await;
        }
        unreachable!("the number of attempts is limited")
    }
}

fn gave_up(error: ModelError, attempts: u32) -> ModelError {
    match attempts {
        1 => error,
        _ => ModelError::GaveUp { attempts, last: Box::new(error) },
    }
}

/// What all kinds of answers have in common.
pub(crate) trait Answered: Serialize + DeserializeOwned + Clone + Send + 'static {
    fn usage(&self) -> Usage {
        Usage::default()
    }
    fn complete(&mut self, _cost: Option<f64>, _attempts: u32) {}
    fn mark_cached(&mut self);
}

impl Answered for Completion {
    fn usage(&self) -> Usage {
        self.usage
    }
    fn complete(&mut self, cost: Option<f64>, attempts: u32) {
        self.cost = self.cost.or(cost);
        self.attempts = attempts;
    }
    fn mark_cached(&mut self) {
        self.cached = true;
        self.attempts = 0;
    }
}

impl Answered for Embeddings {
    fn usage(&self) -> Usage {
        self.usage
    }
    fn complete(&mut self, cost: Option<f64>, _: u32) {
        self.cost = self.cost.or(cost);
    }
    fn mark_cached(&mut self) {
        self.cached = true;
    }
}

impl Answered for Moderation {
    fn mark_cached(&mut self) {
        self.cached = true;
    }
}

impl Answered for Classification {
    fn mark_cached(&mut self) {
        self.cached = true;
    }
}

impl Answered for Similarity {
    fn mark_cached(&mut self) {
        self.cached = true;
    }
}
