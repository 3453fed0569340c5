//! The language models of a run: as targets, and as judges and adversaries that answer questions. Which provider an id means,
//! retries, limits, cache and prices are the business of quintain-llm.

mod network;
mod own_judge;
mod reply;
mod settings;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use quintain_evidence::result::SourcePlace;
use quintain_llm::{
    CacheOptions, ConfigError, Handle, ModelError, ModelSpec, Models, ModelsOptions, Provider,
};
use quintain_suite::suite::{ModelTarget, Target};
use quintain_wire::redact::Redactor;

use crate::web::Web;
use crate::world::World;
use network::{ModelEnvironment, ModelNetwork};
pub(crate) use reply::{exchange_of, json_reply, reply_of, response_of, usage_of};
pub(crate) use settings::RecordedAnswers;
pub use settings::{ModelSettings, RecordError};

/// Cached responses of models: their total size, and how long one is used.
const CACHE_BYTES: u64 = 256 << 20;
const CACHE_TIME: Duration = Duration::from_hours(14 * 24);

/// Why a model cannot be asked.
#[derive(Debug)]
pub(crate) struct NotConfigured(pub(crate) Vec<ConfigError>);

impl NotConfigured {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(vec![ConfigError::new(message)])
    }
}

impl std::fmt::Display for NotConfigured {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (at, ConfigError { message, help, .. }) in self.0.iter().enumerate() {
            let end = help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
            write!(f, "{}{message}{end}", if at == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}

/// The models that a run can ask.
pub(crate) struct ModelAccess {
    models: Models,
    redactor: Redactor,
    /// Models that a request could not reach, and why.
    unreachable: Mutex<BTreeMap<String, String>>,
    /// Models whose endpoint refuses every request alike, and why.
    rejected: Mutex<BTreeMap<String, RejectedModel>>,
}

/// A model whose endpoint refuses requests for a reason that lies in the suite or its environment.
#[derive(Debug, Clone, PartialEq)]
pub struct RejectedModel {
    /// Its label or id.
    pub model: String,
    pub why: String,
    pub help: &'static str,
    /// Where the suite names it.
    pub place: Option<SourcePlace>,
}

/// What to do about an answer that no repetition changes.
fn advice(error: &ModelError) -> Option<&'static str> {
    match (error.root(), error.status()) {
        (ModelError::Quota(_), _) => Some("check the account that the key belongs to"),
        (_, Some(401 | 403)) => {
            Some("check the key, and that it belongs to the service at `apiBaseUrl`")
        }
        (_, Some(404 | 405)) => Some("check the name of the model and `apiBaseUrl`"),
        _ => None,
    }
}

impl ModelAccess {
    pub(crate) fn new(env: BTreeMap<String, String>, web: Arc<Web>, world: &World) -> Self {
        let redactor = world.redactor.clone();
        let cache = world.model_cache.clone().map(|dir| CacheOptions {
            has_secret: Some(Arc::new(move |text| redactor.text(text) != text)),
            max_bytes: CACHE_BYTES,
            ttl: Some(CACHE_TIME),
            dir,
        });
        let environment = ModelEnvironment { env, world: world.clone() };
        let network = ModelNetwork { web, sampler: world.sampler.clone() };
        let options = ModelsOptions { cache, ..ModelsOptions::default() };
        let models = Models::new(Arc::new(network), Arc::new(environment), options);
        Self {
            models,
            redactor: world.redactor.clone(),
            unreachable: Mutex::default(),
            rejected: Mutex::default(),
        }
    }

    /// Remembers a model that cannot be reached, which makes the run incomplete, or that refuses to answer at all.
    pub(crate) fn failed(&self, handle: &Handle, error: &ModelError) {
        if let Some(help) = advice(error) {
            let mut rejected = self.rejected.lock().unwrap_or_else(PoisonError::into_inner);
            let model = handle.shown().to_owned();
            rejected.entry(model.clone()).or_insert_with(|| RejectedModel {
                model,
                why: self.redactor.text(&error.to_string()).into_owned(),
                help,
                place: None,
            });
        }
        if let ModelError::Unreachable(_) = error.root() {
            let mut unreachable = self.unreachable.lock().unwrap_or_else(PoisonError::into_inner);
            unreachable.entry(handle.shown().to_owned()).or_insert_with(|| error.to_string());
        }
    }

    /// The models whose endpoints refuse them.
    pub(crate) fn rejected(&self) -> Vec<RejectedModel> {
        let rejected = self.rejected.lock().unwrap_or_else(PoisonError::into_inner);
        rejected.values().cloned().collect()
    }

    /// The models that could not be reached, and why.
    pub(crate) fn unreachable(&self) -> Vec<String> {
        let unreachable = self.unreachable.lock().unwrap_or_else(PoisonError::into_inner);
        unreachable.iter().map(|(model, why)| format!("{model}: {why}")).collect()
    }

    /// Models that are checked, and not asked.
    pub(crate) fn unconnected(world: &World) -> Self {
        let web = Arc::new(Web::new(0, world.policy.destinations()));
        Self::new((*world.env).clone(), web, world)
    }

    /// A model that can be asked. Its secrets are known to the redactor from here on.
    ///
    /// # Errors
    /// All mistakes in its options, and what it needs.
    pub(crate) fn handle(&self, spec: &ModelSpec) -> Result<Arc<Handle>, NotConfigured> {
        let handle = self.models.model(spec).map_err(NotConfigured)?;
        for secret in handle.model().secrets() {
            self.redactor.learn(&secret);
        }
        Ok(handle)
    }

    /// The model of a target.
    ///
    /// # Errors
    /// See [`Self::handle`].
    pub(crate) fn of_target(
        &self,
        target: &Target,
        settings: &ModelTarget,
    ) -> Result<Arc<Handle>, NotConfigured> {
        self.handle(&spec_of(target, settings))
    }
}

/// A model target in the words of quintain-llm. `tools` and `functions` are those that the suite resolved from files.
fn spec_of(target: &Target, settings: &ModelTarget) -> ModelSpec {
    let mut config = settings.config.clone();
    for (name, value) in &target.offered {
        config.insert(name.clone(), value.clone());
    }
    ModelSpec {
        id: settings.id.clone(),
        label: target.label.clone(),
        config,
        env: settings.env.clone(),
    }
}

/// Who offers models.
pub fn providers() -> impl Iterator<Item = &'static dyn Provider> {
    quintain_llm::ALL.iter().copied()
}

/// Where responses of models are cached, below the folder of Quintain's state.
pub fn cache_folder(state: &std::path::Path) -> PathBuf {
    state.join("models")
}
