//! Language models, through the models of the run.

use quintain_evidence::evidence::Outcome;
use quintain_evidence::response::Response;
use quintain_llm::{ChatRequest, ModelError};
use quintain_suite::suite::{MODEL_KEYS, ModelKind, ModelTarget};
use serde_json::{Map, Value, json};

use super::{Ask, Asked, Sender, Told};
use crate::external_services::ExternalServices;
use crate::models::response_of;

const METHOD: &str = "chat";

impl Sender for ModelKind {
    type Settings = ModelTarget;

    async fn ask(
        &self,
        asked: &Asked<'_, ModelTarget>,
        ask: &Ask<'_>,
        outside: &ExternalServices,
    ) -> Told {
        let sent = json!({"model": asked.target.id, "prompt": ask.prompt});
        let model = match outside.models.of_target(asked.target, asked.settings) {
            Ok(model) => model,
            Err(why) => return Told::refused(METHOD, sent, why.to_string()),
        };
        let mut request = ChatRequest::text(ask.prompt);
        request.overrides = overrides(ask.options);
        // A repetition is a request of its own, not a cached answer.
        let repetition = ask.vars.get("__repeatIndex").and_then(Value::as_u64);
        request.repetition =
            repetition.and_then(|number| number.try_into().ok()).unwrap_or_default();
        match model.chat(&request).await {
            Ok(completion) => {
                let outcome = Outcome::Reply(completion.raw.response.clone());
                let sent = completion.raw.request.clone();
                Told { method: METHOD, sent, outcome, response: response_of(completion) }
            }
            Err(error) => {
                outside.models.failed(&model, &error);
                failed(sent, &error)
            }
        }
    }
}

fn failed(sent: Value, error: &ModelError) -> Told {
    let response = Response::failed(format!("API error: {error}"));
    let outcome = match error.root() {
        ModelError::TimedOut(after) => Outcome::TimedOut { after: *after },
        ModelError::Config(_) | ModelError::NotAllowed(_) | ModelError::Unsupported(_) => {
            return Told::refused(METHOD, sent, error.to_string());
        }
        ModelError::Unreachable(_) => Outcome::Closed { why: error.to_string() },
        _ => Outcome::Garbled { why: error.to_string(), bytes: Vec::new() },
    };
    Told { method: METHOD, sent, outcome, response }
}

/// Options of a test that are options of a model, too.
fn overrides(options: &Map<String, Value>) -> Map<String, Value> {
    let of_model = |name: &&str| Some(((*name).to_owned(), options.get(*name)?.clone()));
    MODEL_KEYS.iter().filter_map(of_model).collect()
}
