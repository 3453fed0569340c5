//! Which models can be asked, for `quintain doctor`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quintain_llm::model::Ability;
use quintain_llm::{ChatRequest, ModelSpec, providers};
use quintain_suite::check::ModelTask;
use quintain_suite::suite::{ModelKind, ModelTarget, Suite, TargetKind as _};
use serde::Serialize;
use serde_json::{Value, json};

use crate::models::{ModelAccess, ModelSettings};
use crate::targets::kinds;
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
    /// What the suite asks it for.
    #[serde(rename = "usedBy", skip_serializing_if = "Vec::is_empty")]
    pub used_by: Vec<String>,
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

/// A model that a suite names.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedModel {
    pub value: Value,
    task: ModelTask,
    /// `target`, `judge`, `adversary`, or the types of the assertions that ask it.
    pub used_by: Vec<String>,
}

impl NamedModel {
    /// One that only the command line names.
    pub fn of_command_line(value: Value) -> Self {
        Self { value, task: ModelTask::Text, used_by: Vec::new() }
    }
}

/// What a suite needs of models.
#[derive(Debug, Default)]
pub struct SuiteModels {
    pub named: Vec<NamedModel>,
    /// The types of assertions that need a judge, if nobody is named for them.
    pub unnamed: BTreeSet<String>,
}

impl SuiteModels {
    fn add(&mut self, value: &Value, task: ModelTask, user: &str) {
        if !is_model(value) {
            return;
        }
        let known = self.named.iter_mut().find(|one| one.task == task && one.value == *value);
        match known {
            Some(known) if known.used_by.iter().any(|one| one == user) => {}
            Some(known) => known.used_by.push(user.to_owned()),
            None => {
                let used_by = vec![user.to_owned()];
                self.named.push(NamedModel { value: value.clone(), task, used_by });
            }
        }
    }

    fn add_all(&mut self, value: &Value, user: &str) {
        if !ModelTask::are_keys_of(value) {
            return self.add(value, ModelTask::Text, user);
        }
        for task in ModelTask::ALL {
            if let Some(value) = value.get(task.key()) {
                self.add(value, task, user);
            }
        }
    }
}

/// Whether it is a model, or an id that nobody answers to: programs, files and web services are no models.
fn is_model(value: &Value) -> bool {
    let id = value.as_str().or_else(|| value.get("id").and_then(Value::as_str));
    let id = id.unwrap_or_default();
    kinds()
        .iter()
        .find(|kind| kind.answers_to(id))
        .is_none_or(|kind| kind.meta().id == ModelKind.meta().id)
}

/// The models that a suite names as targets, judges and adversary, and the assertions that lack one.
pub fn of_suite(suite: &Suite) -> SuiteModels {
    let mut found = SuiteModels::default();
    for target in &suite.targets {
        let Some(model) = target.settings::<ModelTarget>() else { continue };
        let value = json!({"id": model.id, "config": model.config, "env": model.env});
        found.add(&value, ModelTask::Text, "target");
    }
    let judge = ModelSettings::default().or_suite(suite).judge;
    if let Some(judge) = &judge {
        found.add_all(judge, "judge");
    }
    let adversary = suite.tests.redteam.as_ref().and_then(|redteam| redteam.get("provider"));
    if let Some(adversary) = adversary {
        found.add_all(&adversary.to_json(), "adversary");
    }
    let tests = &suite.tests.tests;
    for test in (0..tests.len()).filter_map(|at| tests.get(at).ok()) {
        for asked in test.models() {
            match asked.model {
                Ok(Some(named)) => {
                    let of_target = suite.targets.iter().find(|target| {
                        named
                            .value
                            .as_str()
                            .is_some_and(|id| target.name() == id || target.id == id)
                    });
                    // A target that judges is listed as a target.
                    if of_target.is_none() {
                        found.add(&named.value, named.kind, &asked.asked_by);
                    }
                }
                Ok(None) if judge.is_none() => {
                    found.unnamed.insert(asked.asked_by);
                }
                Ok(None) | Err(_) => {}
            }
        }
    }
    found
}

/// A value of a suite that is only read, with `{{env.NAME}}` filled in. Nothing else of a template is computed, since that
/// could run code of the suite.
pub(crate) fn filled(value: &Value, env: &BTreeMap<String, String>) -> Value {
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
pub async fn ask(named: &NamedModel, world: &World) -> AskedModel {
    let asked = ask_value(&named.value, world).await;
    AskedModel { used_by: named.used_by.clone(), ..asked }
}

async fn ask_value(value: &Value, world: &World) -> AskedModel {
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
    let abilities = handle.model().abilities();
    let can = |ability| abilities.contains(&ability);
    let answer = if can(Ability::Chat) {
        handle.chat(&ChatRequest::text(QUESTION)).await.map(|completion| completion.model)
    } else if can(Ability::Embed) {
        handle.embed(&[QUESTION.to_owned()]).await.map(|_| None)
    } else if can(Ability::Moderate) {
        handle.moderate(QUESTION).await.map(|_| None)
    } else if can(Ability::Classify) {
        handle.classify(QUESTION).await.map(|_| None)
    } else {
        handle.compare(QUESTION, &[QUESTION.to_owned()]).await.map(|_| None)
    };
    let took: Duration = started.elapsed();
    let asked = AskedModel { endpoint, ..failed(spec.id, String::new()) };
    match answer {
        Ok(model) => AskedModel {
            model: model.or_else(|| Some(handle.model().name().to_owned())),
            took_ms: Some(took.as_millis() as u64),
            error: None,
            ..asked
        },
        Err(error) => AskedModel { error: Some(error.to_string()), ..asked },
    }
}

fn failed(id: String, why: String) -> AskedModel {
    AskedModel {
        id,
        model: None,
        endpoint: None,
        took_ms: None,
        error: Some(why),
        used_by: Vec::new(),
    }
}
