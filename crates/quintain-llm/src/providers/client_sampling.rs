//! The model of a connected client, asked through `sampling/createMessage`.

use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt as _};
use quintain_content::registry::Meta;
use serde_json::{Map, Value, json};

use super::Provider;
use crate::chat::ChatRequest;
use crate::completion::{Completion, RawExchange};
use crate::config::{ConfigError, Options};
use crate::conversation::{self, text_of};
use crate::dialects::fields::{count, finish_reason, merged, number, text};
use crate::environment::Environment;
use crate::error::ModelError;
use crate::limits::Limits;
use crate::model::{Ability, Model};
use crate::network::Network;
use crate::spec::ModelSpec;

const META: Meta = Meta {
    id: "client-sampling",
    aliases: &[],
    summary: "The model of the client that is connected to Quintain",
    docs: "\
# What it does
Asks the client that is connected to Quintain (`sampling/createMessage`) for a completion, so that its user's model answers and no key
is needed. It works only where Quintain runs as a server for such a client.

# Example
```yaml
providers:
  - id: client-sampling
    config:
      max_tokens: 500
```
",
    since: "0.1.0",
};

const MAX_TOKENS: u64 = 1024;

pub(super) struct ClientSampling;
pub(super) static CLIENT_SAMPLING: ClientSampling = ClientSampling;

impl Provider for ClientSampling {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn words(&self) -> &'static [&'static str] {
        &["client-sampling"]
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
        options.number("temperature");
        options.count("max_tokens");
        let limits = Limits::read(&mut options);
        let model = SamplingModel { limits, config: spec.config.clone() };
        options.finish(Some(Box::new(model) as Box<dyn Model>))
    }
}

struct SamplingModel {
    limits: Limits,
    config: Map<String, Value>,
}

impl SamplingModel {
    fn params(&self, request: &ChatRequest) -> Result<Value, ModelError> {
        let options = merged(&self.config, &request.overrides);
        let (mut system, mut messages) = (Vec::new(), Vec::new());
        for message in conversation::messages(&request.messages)? {
            let text = message.get("content").map(text_of).unwrap_or_default();
            match message.get("role").and_then(Value::as_str) {
                Some("system" | "developer") => system.push(text),
                Some("assistant") => {
                    messages.push(
                        json!({"role": "assistant", "content": {"type": "text", "text": text}}),
                    );
                }
                _ => messages
                    .push(json!({"role": "user", "content": {"type": "text", "text": text}})),
            }
        }
        if let Some(schema) = &request.schema {
            system.push(format!(
                "Answer with JSON only. It must match this JSON schema: {}",
                schema.schema
            ));
        }
        let most = count(options.get("max_tokens")).unwrap_or(MAX_TOKENS);
        let mut params = json!({"messages": messages, "maxTokens": most});
        if !system.is_empty() {
            params["systemPrompt"] = json!(system.join("\n\n"));
        }
        if let Some(temperature) = options.get("temperature") {
            params["temperature"] = number(temperature);
        }
        if let Some(stop) = options.get("stop") {
            params["stopSequences"] = if stop.is_array() { stop.clone() } else { json!([stop]) };
        }
        Ok(params)
    }

    async fn ask(
        &self,
        request: &ChatRequest,
        network: &dyn Network,
    ) -> Result<Completion, ModelError> {
        let params = self.params(request)?;
        let time: Duration = self.limits.request_time;
        let asked = tokio::time::timeout(time, network.sample(params.clone(), time)).await;
        let result = asked.map_err(|_| ModelError::TimedOut(time))??;
        let content = result.get("content").unwrap_or(&Value::Null);
        let said = match content {
            Value::Array(_) => text_of(content),
            one => one.get("text").and_then(Value::as_str).unwrap_or_default().to_owned(),
        };
        if said.is_empty() {
            return Err(ModelError::Empty("the client returned no text".to_owned()));
        }
        let reason = text(result.get("stopReason")).map(|reason| match reason.as_str() {
            "endTurn" | "stopSequence" => json!("stop"),
            "maxTokens" => json!("length"),
            _ => json!(reason),
        });
        Ok(Completion {
            finish_reason: finish_reason(reason.as_ref()),
            model: text(result.get("model")),
            raw: RawExchange { request: params, response: result.clone() },
            ..Completion::of_text(said)
        })
    }
}

impl Model for SamplingModel {
    fn name(&self) -> &'static str {
        "client-sampling"
    }

    fn limits(&self) -> Limits {
        self.limits.clone()
    }

    fn fingerprint(&self) -> Value {
        json!("client-sampling")
    }

    /// Which model answers is the client's choice.
    fn is_cacheable(&self) -> bool {
        false
    }

    fn abilities(&self) -> &'static [Ability] {
        &[Ability::Chat]
    }

    fn chat<'f>(
        &'f self,
        request: &'f ChatRequest,
        network: &'f dyn Network,
    ) -> BoxFuture<'f, Result<Completion, ModelError>> {
        self.ask(request, network).boxed()
    }
}
