//! Who judges if nobody is named: the models that the suite tests, so that suites of promptfoo run as they are and nothing is
//! contacted that the suite does not name.

use quintain_llm::providers;
use quintain_suite::suite::{ModelTarget, Target};
use serde_json::{Map, Value, json};

/// Options that say where a model is and how it is reached. All others shape the answers of a target: a judge needs no tools of
/// the application, and answers in its own format.
const REACHED_BY: &[&str] = &[
    "apiKey",
    "apiKeyEnvar",
    "apiKeyFile",
    "apiBaseUrl",
    "apiHost",
    "apiVersion",
    "organization",
    "headers",
    "requestsPerMinute",
    "maxConcurrency",
    "maxRetries",
    "timeoutMs",
];

/// What a service offers besides chat, under the names that promptfoo asks by default.
struct Extra {
    service: &'static str,
    embedding: &'static str,
    moderation: &'static str,
}

const EXTRAS: &[Extra] = &[Extra {
    service: "openai",
    embedding: "openai:embedding:text-embedding-3-large",
    moderation: "openai:moderation:omni-moderation-latest",
}];

/// Kinds of models that cannot chat.
const SILENT: &[&str] = &["embedding", "embeddings", "moderation"];

/// One model for each task, as `provider` of a suite names them. None if no target is a model that can judge.
pub(crate) fn of_targets(targets: &[Target]) -> Option<Value> {
    let models: Vec<&ModelTarget> = targets.iter().filter_map(judging).collect();
    let chats = |model: &&&ModelTarget| !SILENT.iter().any(|kind| kind_of(&model.id) == *kind);
    let text = models.iter().find(chats)?;
    let mut judge = json!({"text": reached(text, &text.id)});
    let extra = models.iter().find_map(|model| Some((model, extra_of(&model.id)?)));
    if let Some((model, extra)) = extra {
        judge["embedding"] = reached(model, extra.embedding);
        judge["moderation"] = reached(model, extra.moderation);
    }
    Some(judge)
}

fn judging(target: &Target) -> Option<&ModelTarget> {
    let model = target.settings::<ModelTarget>()?;
    providers::find(&model.id).is_some_and(providers::Provider::can_judge).then_some(model)
}

fn kind_of(id: &str) -> &str {
    id.split(':').nth(1).unwrap_or_default()
}

fn extra_of(id: &str) -> Option<&'static Extra> {
    EXTRAS.iter().find(|extra| id.split(':').next() == Some(extra.service))
}

/// A model at the same place as a target.
fn reached(model: &ModelTarget, id: &str) -> Value {
    let options = model.config.iter().filter(|(name, _)| REACHED_BY.contains(&name.as_str()));
    let config: Map<String, Value> =
        options.map(|(name, value)| (name.clone(), value.clone())).collect();
    json!({"id": id, "config": config, "env": model.env})
}
