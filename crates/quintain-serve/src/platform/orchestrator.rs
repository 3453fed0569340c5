//! An orchestrator: what is run on a generator. Becomes the work of a job; its status is that of its stored runs.

use quintain_engine::jobs::{
    EvalWork, OrderRequest, Overrides, RedteamWork, Resume, TargetRequest, Work,
};
use quintain_engine::models::ModelSettings;
use quintain_engine::store::{Entity, EntityKind, Run, RunEnd, RunState};
use quintain_redteam::orders::Destructive;
use serde_json::{Map, Value, json};

use super::generator::Generator;
use super::suite::{self, Attack};
use super::{Platform, converters};
use crate::datasets::{self, Dataset, Entry};
use crate::error::{ErrorCode, ToolError};
use crate::principal::Principal;

/// The tag of runs that names their orchestrator.
pub const TAG: &str = "orchestrator";

/// What can be run.
pub const TYPES: [&str; 15] = [
    "prompt_sending",
    "multi_turn",
    "red_teaming",
    "crescendo",
    "pair",
    "tree_of_attacks",
    "skeleton_key",
    "many_shot",
    "flip",
    "chunked",
    "xpia",
    "mcp_scan",
    "mcp_fuzz",
    "mcp_authz",
    "eval",
];

/// Attacks that send what a schema forbids, and measure how a server copes.
const FUZZ: [&str; 5] =
    ["schema-bypass", "dos-malformed", "dos-growth", "error-leak", "tool-contract"];
/// Attacks on who may do what.
const AUTHZ: [&str; 9] = [
    "auth-missing",
    "bola",
    "bfla",
    "rbac",
    "session-hijack",
    "token-handling",
    "cross-session-leak",
    "hidden-tool",
    "http-host-origin",
];
/// Attacks on models that need no judge.
const MODEL_ATTACKS: [&str; 8] = [
    "prompt-injection",
    "prompt-extraction",
    "system-prompt-override",
    "hijacking",
    "context-compliance",
    "special-token-injection",
    "model-pii",
    "ascii-smuggling",
];

/// What a run of an orchestrator does.
pub struct Planned {
    pub work: Work,
    /// The target first, then models.
    pub generators: Vec<Generator>,
    pub is_attack: bool,
    pub destroys: bool,
    /// Number of requests, as far as it is known before the run.
    pub requests: Option<usize>,
    pub notes: Vec<String>,
}

/// The configuration of an orchestrator with what a start overrides.
pub struct Settings<'a> {
    pub body: &'a Value,
    pub config: Map<String, Value>,
    pub sample_size: Option<usize>,
}

impl<'a> Settings<'a> {
    pub fn new(body: &'a Value, execution: Option<&Value>) -> Self {
        let mut config = body["config"].as_object().cloned().unwrap_or_default();
        if let Some(overrides) = execution.and_then(|one| one["overrides"].as_object()) {
            config.extend(overrides.clone());
        }
        let sample_size = execution.and_then(|one| one["sample_size"].as_u64());
        Self { body, config, sample_size: sample_size.map(|size| size as usize) }
    }

    fn list(&self, key: &str) -> Vec<Value> {
        self.config.get(key).and_then(Value::as_array).cloned().unwrap_or_default()
    }

    fn number(&self, key: &str) -> Option<u64> {
        self.config.get(key)?.as_u64()
    }

    fn budget(&self, key: &str) -> Option<u64> {
        self.config.get("budget")?.get(key)?.as_u64()
    }

    fn kind(&self) -> &str {
        self.body["orchestrator_type"].as_str().unwrap_or_default()
    }
}

impl Platform {
    /// A data set: one of the principal, by id or name, or else a built-in one.
    pub async fn dataset(&self, principal: &Principal, wanted: &str) -> Result<Dataset, ToolError> {
        match self.entity(principal, EntityKind::Dataset, wanted).await {
            Ok(entity) => dataset_of(entity),
            Err(error) if error.code == ErrorCode::NotFound => {
                datasets::find(wanted).cloned().ok_or(error)
            }
            Err(error) => Err(error),
        }
    }

    /// The work of an orchestrator, or why it cannot run.
    pub async fn plan(
        &self,
        principal: &Principal,
        settings: &Settings<'_>,
        resume: Option<&str>,
    ) -> Result<Planned, ToolError> {
        let wanted = settings.body["target_generator_id"].as_str().unwrap_or_default();
        let target = self.generator(principal, wanted).await?;
        let dataset = match settings.body["dataset_id"].as_str() {
            Some(wanted) => Some(self.dataset(principal, wanted).await?),
            None => None,
        };
        let mut generators = vec![target.clone()];
        let mut models = [None, None];
        for (at, key) in ["adversary_generator_id", "judge_generator_id"].iter().enumerate() {
            if let Some(wanted) = settings.config.get(*key).and_then(Value::as_str) {
                let model = self.generator(principal, wanted).await?;
                models[at] = Some(model.target());
                generators.push(model);
            }
        }
        let [adversary, judge] = models;
        let quota = self.quota(principal);
        let seconds = settings.budget("max_seconds").or(settings.number("timeout_s"));
        let seconds = seconds.unwrap_or(quota.seconds_per_run).min(quota.seconds_per_run);
        let calls = settings.budget("max_requests").map(|calls| calls as usize);
        let calls = calls.unwrap_or(quota.calls_per_run).min(quota.calls_per_run);
        let limits = Limits { seconds, calls, adversary, judge };
        let planned = match settings.kind() {
            "eval" | "prompt_sending" => {
                self.plan_eval(settings, &target, dataset.as_ref(), limits, resume)?
            }
            _ => self.plan_attack(settings, &target, dataset.as_ref(), limits, resume)?,
        };
        Ok(Planned { generators, ..planned })
    }

    fn plan_eval(
        &self,
        settings: &Settings<'_>,
        target: &Generator,
        dataset: Option<&Dataset>,
        limits: Limits,
        resume: Option<&str>,
    ) -> Result<Planned, ToolError> {
        let invalid = |what: &str, hint: &str| {
            Err(ToolError::new(ErrorCode::InvalidConfiguration, what).with_hint(hint))
        };
        let scorers: Vec<Value> = settings.list("scorers").iter().map(scorer).collect();
        let tactics = converters::read(&settings.list("converters"))?;
        let seed = settings.number("seed").unwrap_or_default();
        let own = settings.list("tests");
        let Some(entries) = dataset.map(|dataset| &dataset.entries[..]).or(if own.is_empty() {
            None
        } else {
            Some(&[])
        }) else {
            return invalid(
                "dataset_id is required for this orchestrator_type",
                "list_datasets shows what can be sent",
            );
        };
        let entries = &entries[..settings.sample_size.unwrap_or(entries.len()).min(entries.len())];
        if target.is_mcp()
            && let Some(other) = entries.iter().find(|entry| !is_call(entry))
        {
            let what = format!("the entry `{}` is not a tool call", short(&other.value));
            return invalid(
                &what,
                "an MCP server takes tool calls: use generate_dataset, or an orchestrator of type mcp_scan",
            );
        }
        let mut tests = own;
        for entry in entries {
            if let Some(kind) = suite::program(entry) {
                let what = format!(
                    "an entry of the data set asserts with `{kind}`, which would run or contact something"
                );
                return invalid(
                    &what,
                    "a data set is data: remove the assertion, or name it in `config.scorers`",
                );
            }
            let value = converters::apply(&entry.value, &tactics, seed)?.pop();
            let value = value.as_deref().unwrap_or(&entry.value);
            tests.push(suite::test_of_entry(target, entry, value, &scorers));
        }
        let mut notes = Vec::new();
        let unjudged = tests.iter().filter(|test| test.get("assert").is_none()).count();
        if unjudged > 0 {
            notes.push(format!("{unjudged} entries have nothing that decides whether they worked: name `config.scorers`"));
        }
        let repeat = settings.number("generations").unwrap_or(1).max(1);
        let requests = tests.len() * repeat as usize;
        if requests > limits.calls {
            let what = format!(
                "{requests} requests are more than the {} that a run may make",
                limits.calls
            );
            return Err(
                ToolError::new(ErrorCode::BudgetExceeded, what).with_hint("use `sample_size`")
            );
        }
        let text = suite::text(&suite::of_tests(target, tests), &self.allowances.workspace);
        let mut choices = Map::new();
        if repeat > 1 {
            choices.insert("repeat".to_owned(), json!(repeat));
        }
        let work = EvalWork {
            suite: vec![text],
            choices,
            overrides: Overrides {
                concurrency: settings.number("concurrency").map(|number| number as usize),
                rate: settings.config.get("rate_limit_rps").and_then(Value::as_f64),
                max_time_ms: Some(limits.seconds.saturating_mul(1_000)),
                ..Overrides::default()
            },
            resume: resume.map(|run| Resume { run: run.to_owned(), retry_errors: false }),
            models: ModelSettings {
                judge: limits.judge,
                adversary: limits.adversary,
                ..ModelSettings::default()
            },
            ..EvalWork::default()
        };
        Ok(Planned {
            work: Work::Eval(Box::new(work)),
            generators: Vec::new(),
            is_attack: settings.kind() != "eval",
            destroys: false,
            requests: Some(requests),
            notes,
        })
    }

    fn plan_attack(
        &self,
        settings: &Settings<'_>,
        target: &Generator,
        dataset: Option<&Dataset>,
        limits: Limits,
        resume: Option<&str>,
    ) -> Result<Planned, ToolError> {
        let kind = settings.kind();
        let is_for_servers = kind.starts_with("mcp_");
        if is_for_servers != target.is_mcp() && kind != "xpia" {
            let what = if is_for_servers {
                format!("`{kind}` needs a generator with provider_type `mcp`")
            } else {
                format!("`{kind}` needs a model or another target that takes text")
            };
            return Err(ToolError::new(ErrorCode::InvalidConfiguration, what));
        }
        let mut notes = Vec::new();
        let mut plugins = settings.list("plugins");
        if plugins.is_empty() {
            plugins = default_plugins(kind, target, dataset, limits.judge.is_some(), &mut notes);
        }
        let mut strategies: Vec<Value> =
            settings.list("converters").iter().map(converters::entry).collect();
        strategies.extend(strategy(kind, settings));
        converters::read(&strategies)?;
        let destructive = settings.config.get("destructive").and_then(Value::as_str);
        let destructive = destructive.and_then(Destructive::find).unwrap_or_default();
        let mut orders = Map::new();
        for (ours, suite) in [("purpose", "purpose"), ("identities", "identities")] {
            if let Some(value) = settings.config.get(ours) {
                orders.insert(suite.to_owned(), value.clone());
            }
        }
        if let Some(repeat) = settings.number("generations").filter(|number| *number > 1) {
            orders.insert("repeat".to_owned(), json!(repeat));
        }
        let attack = Attack {
            plugins,
            strategies,
            settings: orders,
            adversary: limits.adversary,
            judge: limits.judge,
        };
        let text = suite::text(&suite::of_attack(target, attack), &self.allowances.workspace);
        let number = |key: &str| settings.number(key).map(|number| number as usize);
        let work = RedteamWork {
            suite: vec![text],
            target: TargetRequest { name: Some(target.name.clone()), ..TargetRequest::default() },
            orders: OrderRequest {
                num_tests: settings.sample_size.or(number("num_tests")),
                budget_calls: Some(limits.calls),
                budget_seconds: Some(limits.seconds),
                budget_tokens: settings.budget("max_tokens"),
                seed: settings.number("seed"),
                concurrency: number("concurrency"),
                destructive,
                // The user was asked, and the policy of the run limits the addresses.
                allow_remote: true,
                ..OrderRequest::default()
            },
            resume: resume.map(str::to_owned),
            ..RedteamWork::default()
        };
        Ok(Planned {
            work: Work::Redteam(Box::new(work)),
            generators: Vec::new(),
            is_attack: true,
            destroys: destructive.is_allowed(),
            requests: None,
            notes,
        })
    }
}

/// The attacks of a list that exist.
fn known(names: &[&str]) -> Vec<Value> {
    let all: Vec<&str> = quintain_redteam::orders::known_names().collect();
    names.iter().filter(|name| all.contains(name)).map(|name| json!(name)).collect()
}

/// What limits a run, and the models it asks.
struct Limits {
    seconds: u64,
    calls: usize,
    adversary: Option<Value>,
    judge: Option<Value>,
}

/// The strategy of an orchestrator of this kind.
fn strategy(kind: &str, settings: &Settings<'_>) -> Option<Value> {
    let turns = settings.number("max_turns");
    let option = |config: &mut Map<String, Value>, name: &str, value: Option<u64>| {
        config.extend(value.map(|value| (name.to_owned(), json!(value))));
    };
    let mut config = Map::new();
    let id = match kind {
        "crescendo" => {
            option(&mut config, "maxTurns", turns);
            option(&mut config, "maxBacktracks", settings.number("max_backtracks"));
            "crescendo"
        }
        "multi_turn" => {
            option(&mut config, "maxTurns", turns);
            "mischievous-user"
        }
        "red_teaming" => {
            option(&mut config, "maxTurns", turns);
            "goat"
        }
        "pair" => "pair",
        "tree_of_attacks" => "tap",
        "skeleton_key" => "skeleton-key",
        "many_shot" => "many-shot",
        "flip" => "flip",
        "chunked" => "chunked",
        _ => return None,
    };
    let known = quintain_redteam::strategies::find(id)?.meta().id;
    Some(json!({"id": known, "config": config}))
}

/// A scorer as an assertion of a suite: a name, or a map with `name` or `type` and options.
pub fn scorer(scorer: &Value) -> Value {
    match scorer {
        Value::Object(map) => {
            let mut assertion =
                map.get("params").and_then(Value::as_object).cloned().unwrap_or_default();
            let name = map.get("name").or_else(|| map.get("type")).and_then(Value::as_str);
            assertion.insert("type".to_owned(), json!(dashed(name.unwrap_or_default())));
            for (key, value) in map {
                if !["name", "type", "params"].contains(&key.as_str()) {
                    assertion.insert(key.clone(), value.clone());
                }
            }
            Value::Object(assertion)
        }
        name => json!({"type": dashed(name.as_str().unwrap_or_default())}),
    }
}

/// Names that other tools use for our assertions. A scorer accepts what a safe response is.
const SCORER_NAMES: [(&str, &str); 20] = [
    ("substring", "contains"),
    ("sub-string", "contains"),
    ("substringscorer", "contains"),
    ("refusal", "is-refusal"),
    ("selfaskrefusal", "is-refusal"),
    ("self-ask-refusal", "is-refusal"),
    ("selfaskrefusalscorer", "is-refusal"),
    ("selfasktruefalse", "llm-rubric"),
    ("self-ask-true-false", "llm-rubric"),
    ("selfasktruefalsescorer", "llm-rubric"),
    ("selfaskscale", "llm-rubric"),
    ("selfasklikert", "llm-rubric"),
    ("selfaskcategory", "llm-rubric"),
    ("pii", "no-pii"),
    ("secrets", "no-secrets"),
    ("credential-leak", "no-secrets"),
    ("credentialleak", "no-secrets"),
    ("internals", "no-internals"),
    ("regexscorer", "regex"),
    ("json", "is-json"),
];

/// The assertion of a scorer's name.
fn dashed(name: &str) -> String {
    let dashed = name.replace('_', "-");
    let plain = dashed.to_ascii_lowercase();
    let known = SCORER_NAMES.iter().find(|(other, _)| *other == plain);
    known.map_or(dashed, |(_, ours)| (*ours).to_owned())
}

fn is_call(entry: &Entry) -> bool {
    serde_json::from_str::<Value>(&entry.value)
        .is_ok_and(|value| ["tool", "method", "steps"].iter().any(|key| value.get(key).is_some()))
}

fn short(text: &str) -> String {
    let cut: String = text.chars().take(60).collect();
    quintain_source::visible(&cut).into_owned()
}

/// The data set in an entity.
pub fn dataset_of(entity: Entity) -> Result<Dataset, ToolError> {
    let mut dataset: Dataset = serde_json::from_value(entity.body)
        .map_err(|_| ToolError::new(ErrorCode::Internal, "the stored data set cannot be read"))?;
    dataset.id = entity.id;
    dataset.name = entity.name;
    Ok(dataset)
}

/// The status of an orchestrator: that of its latest run. A run that did not finish can be resumed unless it was cancelled.
pub fn status(body: &Value, run: Option<&Run>) -> &'static str {
    let Some(run) = run else { return "pending" };
    match run.state {
        RunState::Queued | RunState::Running => "running",
        RunState::Ended(RunEnd::Finished | RunEnd::LimitReached) => "completed",
        RunState::Ended(RunEnd::Failed) => "failed",
        RunState::Ended(RunEnd::Interrupted) if body["stopped"] == json!(run.id) => "cancelled",
        RunState::Died | RunState::Ended(RunEnd::Interrupted) => "paused",
    }
}

fn default_plugins(
    kind: &str,
    target: &Generator,
    dataset: Option<&Dataset>,
    has_judge: bool,
    notes: &mut Vec<String>,
) -> Vec<Value> {
    let named = |names: &[&str]| names.iter().map(|name| json!(name)).collect();
    match kind {
        // Everything that applies.
        "mcp_scan" => Vec::new(),
        "mcp_fuzz" => known(&FUZZ),
        "mcp_authz" => known(&AUTHZ),
        "xpia" if target.is_mcp() => known(&["output-injection", "tool-poisoning", "toxic-flow"]),
        "xpia" => named(&["model-indirect-prompt-injection"]),
        _ => match dataset {
            Some(dataset) if has_judge => {
                let objectives: Vec<&str> =
                    dataset.entries.iter().map(|entry| entry.value.as_str()).collect();
                vec![json!({"id": "intent", "config": {"intent": objectives}})]
            }
            Some(_) => {
                notes.push("only a judge can decide whether the objectives of the data set were reached: name `config.judge_generator_id`; the built-in attacks run instead".to_owned());
                known(&MODEL_ATTACKS)
            }
            None => known(&MODEL_ATTACKS),
        },
    }
}
