//! One answer of a script.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::completion::{Completion, Output, RawExchange, ToolCallRequest, Usage};
use crate::config::{ConfigError, Options};
use crate::dialects::fields::{call_id, count, text};
use crate::error::ModelError;
use crate::spec::kind;

const KEYS: &[&str] = &[
    "text",
    "json",
    "tool_calls",
    "refusal",
    "finish_reason",
    "usage",
    "logprobs",
    "delay_ms",
    "fail",
    "model",
    "cost",
];

pub(super) struct Reply {
    map: Map<String, Value>,
    pub(super) delay: Option<Duration>,
}

impl Reply {
    pub(super) fn read_all(options: &mut Options<'_>, key: &str) -> Vec<Self> {
        match options.get(key) {
            None => Vec::new(),
            Some(Value::Array(items)) => {
                items.iter().filter_map(|item| Self::read(options, key, item)).collect()
            }
            Some(one) => Self::read(options, key, one).into_iter().collect(),
        }
    }

    pub(super) fn read_one(options: &mut Options<'_>, key: &str) -> Option<Self> {
        let value = options.get(key)?;
        Self::read(options, key, value)
    }

    pub(super) fn read(options: &mut Options<'_>, key: &str, value: &Value) -> Option<Self> {
        let map = match value {
            Value::String(_) | Value::Number(_) | Value::Bool(_) => {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                Map::from_iter([("text".to_owned(), Value::String(text))])
            }
            Value::Object(map) => map.clone(),
            other => {
                let message =
                    format!("a reply in `{key}` must be a text or a map, not {}", kind(other));
                options.fail(ConfigError::of(key, message));
                return None;
            }
        };
        if let Some(unknown) = map.keys().find(|name| !KEYS.contains(&name.as_str())) {
            let message = format!("a reply in `{key}` has no `{unknown}`");
            options
                .fail(ConfigError::of(key, message).help(format!("known are {}", KEYS.join(", "))));
        }
        Some(Self { delay: super::delay(&map), map })
    }

    /// The answer, or the failure that the script asks for.
    pub(super) fn completion(&self, name: &str, body: Value) -> Result<Completion, ModelError> {
        let map = &self.map;
        if let Some(fail) = map.get("fail") {
            return Err(failure(fail));
        }
        let calls = map.get("tool_calls").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let tool_calls: Vec<ToolCallRequest> = calls.iter().enumerate().map(call).collect();
        let refusal = text(map.get("refusal"));
        let said = text(map.get("text")).or_else(|| refusal.clone());
        let said = said.or_else(|| map.get("json").map(Value::to_string)).unwrap_or_default();
        let listed: Vec<Value> = tool_calls.iter().map(ToolCallRequest::to_openai).collect();
        let output = match (map.get("json"), listed.is_empty(), said.is_empty()) {
            (Some(value), true, _) => Output::Json(value.clone()),
            (_, false, true) => Output::ToolCalls(listed),
            (_, false, false) => {
                Output::Json(json!({"role": "assistant", "content": said, "tool_calls": listed}))
            }
            _ => Output::Text(said.clone()),
        };
        let usual = if tool_calls.is_empty() { "stop" } else { "tool_calls" };
        let usage = map.get("usage").map_or_else(Usage::default, |usage| Usage {
            prompt: count(usage.get("prompt")),
            completion: count(usage.get("completion")),
            total: count(usage.get("total")),
            cached: count(usage.get("cached")),
            cache_write: None,
            reasoning: count(usage.get("reasoning")),
        });
        let logprobs = map.get("logprobs").and_then(Value::as_array);
        Ok(Completion {
            output,
            text: said,
            tool_calls,
            usage: usage.summed(),
            cost: map.get("cost").and_then(Value::as_f64),
            finish_reason: text(map.get("finish_reason")).or_else(|| Some(usual.to_owned())),
            refusal,
            logprobs: logprobs.map(|list| list.iter().filter_map(Value::as_f64).collect()),
            model: text(map.get("model")).or_else(|| Some(name.to_owned())),
            raw: RawExchange {
                request: json!({"body": body}),
                response: Value::Object(map.clone()),
            },
            ..Completion::of_text("")
        })
    }
}

fn call((at, call): (usize, &Value)) -> ToolCallRequest {
    let function = call.get("function").unwrap_or(call);
    let name = text(function.get("name")).unwrap_or_default();
    let id = text(call.get("id")).unwrap_or_else(|| call_id(at));
    match function.get("arguments") {
        Some(Value::String(arguments)) => ToolCallRequest::of_text(id, name, arguments),
        Some(arguments) => ToolCallRequest { id, name, arguments: Ok(arguments.clone()) },
        None => ToolCallRequest::of_text(id, name, ""),
    }
}

fn failure(fail: &Value) -> ModelError {
    let message = text(fail.get("message")).unwrap_or_else(|| "scripted failure".to_owned());
    let asked = fail.get("retry_after").and_then(Value::as_f64);
    let asked = asked.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    match fail.get("status").and_then(Value::as_u64) {
        Some(status) => {
            ModelError::status_of(u16::try_from(status).unwrap_or(500), &message, asked)
        }
        None => ModelError::Unreachable(message),
    }
}
