//! Which models can be asked, for `quintain doctor`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quintain_llm::{ChatRequest, ModelSpec, providers};
use quintain_suite::suite::{ModelTarget, Suite};
use serde::Serialize;
use serde_json::{Value, json};

use super::{ModelAccess, ModelSettings};
use crate::web::Web;
use crate::world::World;

/// Answers of models are longer than this only if something is wrong.
const MAX_BODY: usize = 1 << 20;
/// A question with a short answer that any model can give.
const QUESTION: &str = "Answer with the one word: ready";

/// A provider whose key is set.
#[derive(Debug, Clone, Serialize)]
pub struct ConfiguredProvider {
    pub id: &'static str,
    /// The variables that are set.
    pub variables: Vec<String>,
}

/// A model that was asked.
#[derive(Debug, Clone, Serialize)]
pub struct AskedModel {
    pub id: String,
    /// As the endpoint names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    #[serde(rename = "tookMs", skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The providers whose keys are in the environment. Nothing is contacted.
pub fn configured(env: &BTreeMap<String, String>) -> Vec<ConfiguredProvider> {
    let set = |name: &&str| env.get(*name).is_some_and(|value| !value.trim().is_empty());
    let all = providers::ALL.iter().filter_map(|provider| {
        let variables: Vec<String> = provider
            .key_variables()
            .iter()
            .filter(|name| set(name))
            .map(|&name| name.to_owned())
            .collect();
        let id = provider.meta().id;
        (!variables.is_empty()).then_some(ConfiguredProvider { id, variables })
    });
    all.collect()
}

/// The models that a suite names as targets and as its judge.
pub fn of_suite(suite: &Suite) -> Vec<Value> {
    let targets = suite.targets.iter().filter_map(|target| {
        let model = target.settings::<ModelTarget>()?;
        Some(json!({"id": model.id, "config": model.config, "env": model.env}))
    });
    let judge = ModelSettings::default().or_suite(suite).judge;
    targets.chain(judge).collect()
}

/// A value of a suite that is only read, with `{{env.NAME}}` filled in. Nothing else of a template is computed, since that
/// could run code of the suite.
fn filled(value: &Value, env: &BTreeMap<String, String>) -> Value {
    match value {
        Value::String(text) => {
            let mut out = String::new();
            let mut rest = text.as_str();
            while let Some((before, after)) = rest.split_once("{{") {
                let Some((inner, tail)) = after.split_once("}}") else { break };
                out.push_str(before);
                match inner.trim().strip_prefix("env.").and_then(|name| env.get(name)) {
                    Some(value) => out.push_str(value),
                    None => {
                        let _ = write!(out, "{{{{{inner}}}}}");
                    }
                }
                rest = tail;
            }
            out.push_str(rest);
            Value::String(out)
        }
        Value::Array(items) => items.iter().map(|item| filled(item, env)).collect(),
        Value::Object(entries) => Value::Object(
            entries.iter().map(|(name, value)| (name.clone(), filled(value, env))).collect(),
        ),
        other => other.clone(),
    }
}

/// Asks a model one short question.
pub async fn ask(value: &Value, world: &World) -> AskedModel {
    let value = &filled(value, &world.env);
    let spec = match ModelSpec::read(value) {
        Ok(spec) => spec,
        Err(error) => return failed(value.to_string(), error.to_string()),
    };
    let web = Arc::new(Web::new(MAX_BODY, world.policy.destinations()));
    let world = World { model_cache: None, ..world.clone() };
    let access = ModelAccess::new((*world.env).clone(), web, &world);
    let handle = match access.handle(&spec) {
        Ok(handle) => handle,
        Err(why) => return failed(spec.id, why.to_string()),
    };
    let endpoint = handle.model().endpoint().map(|url| url.origin().ascii_serialization());
    let started = Instant::now();
    let answer = handle.chat(&ChatRequest::text(QUESTION)).await;
    let took: Duration = started.elapsed();
    let asked = AskedModel { endpoint, ..failed(spec.id, String::new()) };
    match answer {
        Ok(completion) => AskedModel {
            model: completion.model.or_else(|| Some(handle.model().name().to_owned())),
            took_ms: Some(took.as_millis() as u64),
            error: None,
            ..asked
        },
        Err(error) => AskedModel { error: Some(error.to_string()), ..asked },
    }
}

fn failed(id: String, why: String) -> AskedModel {
    AskedModel { id, model: None, endpoint: None, took_ms: None, error: Some(why) }
}
