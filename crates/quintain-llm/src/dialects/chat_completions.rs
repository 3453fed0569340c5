//! OpenAI's chat completions, which most services speak. Defaults on the wire are promptfoo's.

use serde_json::{Map, Value, json};

use super::fields::{
    self, copy, count, finish_reason, merged, number, pass_through, structured, text,
};
use super::tools;
use crate::chat::{ChatRequest, JsonSchema};
use crate::completion::{Completion, Output, ToolCallRequest, Usage};
use crate::config::Options;
use crate::conversation::{self, text_of};
use crate::error::ModelError;
use crate::exchange::{ProviderReply, Rejection};

const MAX_TOKENS: u32 = 1024;
/// Keywords of schemas that OpenAI does not guarantee.
const UNSUPPORTED: &[&str] = &["allOf", "oneOf", "not", "if", "patternProperties", "prefixItems"];
/// Shown if a filter removed the whole answer, as in promptfoo.
const FILTERED: &str = "Content filtered by provider";

/// How a service returns JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum JsonMode {
    /// `response_format: {type: json_schema}`.
    #[default]
    Schema,
    /// `response_format: {type: json_object}`; the schema becomes a message.
    Object,
}

/// Where services differ from OpenAI.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Flavor {
    pub(crate) json_mode: JsonMode,
    /// The temperature if the user gives none; absent means that of the service.
    pub(crate) temperature: Option<f64>,
    /// The name of `seed`.
    pub(crate) seed: &'static str,
}

impl Flavor {
    pub(crate) const OPENAI: Self =
        Self { json_mode: JsonMode::Schema, temperature: Some(0.0), seed: "seed" };
}

/// The part of a model's options that decides bodies.
pub(crate) struct ChatCompletions {
    pub(crate) model: String,
    config: Map<String, Value>,
    flavor: Flavor,
}

impl ChatCompletions {
    /// Reads the options. Variables of OpenAI are defaults, as in promptfoo, for all services of this dialect.
    pub(crate) fn read(options: &mut Options<'_>, model: &str, flavor: Flavor) -> Self {
        let mut config = options.config().clone();
        for key in ["temperature", "top_p", "presence_penalty", "frequency_penalty"] {
            options.number(key);
        }
        for key in ["max_tokens", "max_completion_tokens"] {
            options.natural(key);
        }
        let omit = options.flag("omitDefaults").unwrap_or(false);
        let defaults = [
            ("max_tokens", "OPENAI_MAX_TOKENS", Some(json!(MAX_TOKENS))),
            ("temperature", "OPENAI_TEMPERATURE", flavor.temperature.map(plain)),
            ("max_completion_tokens", "OPENAI_MAX_COMPLETION_TOKENS", None),
            ("top_p", "OPENAI_TOP_P", None),
            ("presence_penalty", "OPENAI_PRESENCE_PENALTY", None),
            ("frequency_penalty", "OPENAI_FREQUENCY_PENALTY", None),
        ];
        for (key, variable, usual) in defaults {
            let own = config.get(key).is_some_and(|value| !value.is_null());
            // A limit of the newer kind replaces the default of the older one.
            let replaced = key == "max_tokens"
                && config.get("max_completion_tokens").is_some_and(|value| !value.is_null());
            if own || replaced {
                continue;
            }
            let set = options.variable(variable).map(|text| number(&Value::String(text)));
            if let Some(value) = set.filter(Value::is_number).or(usual.filter(|_| !omit)) {
                config.insert(key.to_owned(), value);
            }
        }
        Self { model: model.to_owned(), config, flavor }
    }

    /// Everything of the options that decides answers.
    pub(crate) fn fingerprint(&self) -> Value {
        json!({"model": self.model, "config": fields::without_secrets(&self.config)})
    }

    /// Whether answers are read as a stream.
    pub(crate) fn streams(&self, request: &ChatRequest) -> bool {
        let flag = request.overrides.get("stream").or_else(|| self.config.get("stream"));
        flag.and_then(Value::as_bool).unwrap_or(false)
    }

    /// The body of a request.
    ///
    /// # Errors
    /// When the prompt is a broken conversation.
    pub(crate) fn body(&self, request: &ChatRequest) -> Result<Value, ModelError> {
        let options = merged(&self.config, &request.overrides);
        let mut messages = conversation::messages(&request.messages)?;
        let named = options.get("passthrough").and_then(|passthrough| passthrough.get("model"));
        // A deployment may have any name.
        let named = named.or_else(|| options.get("modelName")).and_then(Value::as_str);
        let mut traits = Traits::of(named.unwrap_or(&self.model));
        let flagged = |key: &str| options.get(key).and_then(Value::as_bool) == Some(true);
        traits.reasons |= flagged("isReasoningModel") || flagged("o1");
        let mut body = Map::new();
        body.insert("model".to_owned(), json!(self.model));
        body.insert("messages".to_owned(), Value::Null);
        if let Some(seed) = options.get("seed") {
            body.insert(self.flavor.seed.to_owned(), number(seed));
        }
        let mut numbers =
            vec!["top_p", "presence_penalty", "frequency_penalty", "max_completion_tokens"];
        if !traits.reasons {
            numbers.extend(["max_tokens", "temperature"]);
        }
        for key in numbers {
            if let Some(value) = options.get(key) {
                body.insert(key.to_owned(), number(value));
            }
        }
        if traits.reasons || traits.is_open_weight {
            copy(&options, &["reasoning_effort"], &mut body);
        }
        if traits.is_o_series {
            copy(&options, &["reasoning"], &mut body);
        }
        if traits.has_verbosity {
            copy(&options, &["verbosity"], &mut body);
        }
        copy(&options, &["functions", "function_call"], &mut body);
        if let Some(tools) = tools::joined(request.tools.as_ref(), options.get("tools")) {
            body.insert("tools".to_owned(), tools::for_chat_completions(&tools));
        }
        if let Some(choice) = request.tool_choice.as_ref().or_else(|| options.get("tool_choice")) {
            body.insert("tool_choice".to_owned(), tools::choice_for_chat_completions(choice));
        }
        copy(
            &options,
            &[
                "response_format",
                "logprobs",
                "top_logprobs",
                "stop",
                "service_tier",
                "user",
                "metadata",
                "store",
                "prompt_cache_key",
                "prompt_cache_options",
                "prompt_cache_retention",
                "modalities",
                "audio",
                "tool_resources",
                "parallel_tool_calls",
                "n",
                "logit_bias",
            ],
            &mut body,
        );
        if let Some(schema) = &request.schema {
            self.ask_for(schema, &mut messages, &mut body);
        }
        body.insert("messages".to_owned(), Value::Array(messages));
        pass_through(&options, &mut body);
        if traits.reasons {
            body.remove("max_tokens");
        }
        if self.streams(request) {
            body.insert("stream".to_owned(), json!(true));
            body.entry("stream_options").or_insert(json!({"include_usage": true}));
        }
        Ok(Value::Object(body))
    }

    fn ask_for(
        &self,
        schema: &JsonSchema,
        messages: &mut Vec<Value>,
        body: &mut Map<String, Value>,
    ) {
        let format = match self.flavor.json_mode {
            JsonMode::Schema => {
                let mut inner = json!({"name": schema.name, "schema": schema.schema});
                if is_strict(&schema.schema) {
                    inner["strict"] = json!(true);
                }
                json!({"type": "json_schema", "json_schema": inner})
            }
            JsonMode::Object => {
                let words = format!(
                    "Answer with JSON only. It must match this JSON schema: {}",
                    schema.schema
                );
                messages.push(json!({"role": "system", "content": words}));
                json!({"type": "json_object"})
            }
        };
        body.insert("response_format".to_owned(), format);
    }

    /// # Errors
    /// When the answer has no choice, or an empty one.
    pub(crate) fn completion(
        &self,
        request: &ChatRequest,
        answer: ProviderReply,
    ) -> Result<Completion, ModelError> {
        let ProviderReply { body, raw } = answer;
        let Some(choice) = body.pointer("/choices/0") else {
            return Err(ModelError::Empty("the answer has no choices".to_owned()));
        };
        // Gateways report the failure of one provider inside of the choice.
        if let Some(error) = choice.get("error").filter(|error| error.is_object()) {
            let status = count(error.get("code")).and_then(|code| u16::try_from(code).ok());
            let why = error.get("message").and_then(Value::as_str).unwrap_or("no explanation");
            return Err(ModelError::status_of(status.unwrap_or(500), why, None));
        }
        let message = choice.get("message").unwrap_or(&Value::Null);
        let finish = finish_reason(choice.get("finish_reason"));
        let content = message.get("content").filter(|content| !content.is_null());
        let said = content.map(text_of);
        let calls = raw_calls(message);
        let refusal = refusal_of(message, finish.as_deref(), said.as_deref());
        if said.is_none() && calls.is_empty() && refusal.is_none() {
            let reason = finish.as_deref().unwrap_or("none");
            return Err(ModelError::Empty(format!("finish reason: {reason}")));
        }
        let options = merged(&self.config, &request.overrides);
        let output = match &refusal {
            Some(refusal) => Output::Text(refusal.clone()),
            None => output_of(message, said.as_deref(), &calls, &options, request.schema.is_some()),
        };
        Ok(Completion {
            output,
            text: said.or_else(|| refusal.clone()).unwrap_or_default(),
            tool_calls: tool_calls(&calls),
            usage: usage(body.get("usage")),
            finish_reason: finish,
            refusal,
            logprobs: logprobs(choice),
            model: text(body.get("model")),
            raw,
            ..Completion::of_text("")
        })
    }
}

/// A number as people write it: 0 instead of 0.0.
fn plain(number: f64) -> Value {
    if number.fract() == 0.0 { json!(number as i64) } else { json!(number) }
}

/// A prompt that the service refused to pass to its model is a refusal, not a fault.
pub(crate) fn refused(rejection: &Rejection) -> Option<Completion> {
    let is_filter = matches!(
        rejection.code.as_str(),
        "invalid_prompt" | "content_filter" | "content_policy_violation"
    );
    if rejection.status != 400 || !is_filter {
        return None;
    }
    Some(Completion {
        refusal: Some(rejection.message.clone()),
        finish_reason: Some("content_filter".to_owned()),
        raw: rejection.raw.clone(),
        ..Completion::of_text(rejection.message.clone())
    })
}

/// What the name of a model says about its parameters.
struct Traits {
    /// Takes neither `temperature` nor `max_tokens`.
    reasons: bool,
    is_o_series: bool,
    has_verbosity: bool,
    is_open_weight: bool,
}

impl Traits {
    fn of(model: &str) -> Self {
        let model = model.replace("/ft:", "/");
        let model = model.strip_prefix("ft:").unwrap_or(&model);
        let starts =
            |prefix: &str| model.starts_with(prefix) || model.contains(&format!("/{prefix}"));
        let is_o_series = ["o1", "o3", "o4"].into_iter().any(starts);
        let is_gpt5 = starts("gpt-5");
        let is_gpt6 = starts("gpt-6-astra") || starts("gpt-daybreak-");
        Self {
            reasons: is_o_series || is_gpt5 || is_gpt6,
            is_o_series,
            has_verbosity: is_gpt5 || is_gpt6,
            is_open_weight: model.contains("gpt-oss"),
        }
    }
}

/// Whether the name is one of OpenAI's models that reason, which take other parameters.
pub(crate) fn reasons(model: &str) -> bool {
    Traits::of(model).reasons
}

fn raw_calls(message: &Value) -> Vec<Value> {
    match (message.get("tool_calls"), message.get("function_call")) {
        (Some(Value::Array(calls)), _) if !calls.is_empty() => calls.clone(),
        (_, Some(call)) if call.is_object() => vec![call.clone()],
        _ => Vec::new(),
    }
}

fn tool_calls(calls: &[Value]) -> Vec<ToolCallRequest> {
    let read = |(at, call): (usize, &Value)| {
        let function = call.get("function").unwrap_or(call);
        let name = text(function.get("name")).unwrap_or_default();
        let id = text(call.get("id")).unwrap_or_else(|| fields::call_id(at));
        match function.get("arguments") {
            Some(Value::String(arguments)) => ToolCallRequest::of_text(id, name, arguments),
            Some(other) if !other.is_null() => {
                ToolCallRequest { id, name, arguments: Ok(other.clone()) }
            }
            _ => ToolCallRequest::of_text(id, name, ""),
        }
    };
    calls.iter().enumerate().map(read).collect()
}

fn refusal_of(message: &Value, finish: Option<&str>, said: Option<&str>) -> Option<String> {
    if let Some(refusal) = text(message.get("refusal")) {
        return Some(refusal);
    }
    let said = said.filter(|said| !said.is_empty());
    (finish == Some("content_filter")).then(|| said.unwrap_or(FILTERED).to_owned())
}

/// The answer as promptfoo shows it.
fn output_of(
    message: &Value,
    said: Option<&str>,
    calls: &[Value],
    options: &Map<String, Value>,
    has_schema: bool,
) -> Output {
    let said_text = said.unwrap_or_default();
    if !calls.is_empty() {
        let is_legacy = message.get("function_call").is_some_and(Value::is_object);
        return match (said_text.is_empty(), is_legacy) {
            (true, false) => Output::ToolCalls(calls.to_vec()),
            (true, true) => Output::Json(calls[0].clone()),
            (false, _) => Output::Json(message.clone()),
        };
    }
    let format = options.get("response_format").and_then(|format| format.get("type"));
    let is_structured = has_schema || format.and_then(Value::as_str) == Some("json_schema");
    if let Some(value) = structured(said_text, is_structured) {
        return Output::Json(value);
    }
    let shows = options.get("showThinking").and_then(Value::as_bool).unwrap_or(true);
    let thought = text(message.get("reasoning")).or_else(|| text(message.get("reasoning_content")));
    match thought.filter(|_| shows) {
        Some(thought) => Output::Text(format!("Thinking: {thought}\n\n{said_text}")),
        None => Output::Text(said_text.to_owned()),
    }
}

pub(crate) fn usage(usage: Option<&Value>) -> Usage {
    let Some(usage) = usage.filter(|usage| usage.is_object()) else { return Usage::default() };
    let cached = usage.pointer("/prompt_tokens_details/cached_tokens");
    let reasoning = usage.pointer("/completion_tokens_details/reasoning_tokens");
    let usage = Usage {
        prompt: count(usage.get("prompt_tokens")),
        completion: count(usage.get("completion_tokens")),
        total: count(usage.get("total_tokens")),
        cached: count(cached).or_else(|| count(usage.get("prompt_cache_hit_tokens"))),
        cache_write: None,
        reasoning: count(reasoning),
    };
    usage.summed()
}

pub(crate) fn logprobs(choice: &Value) -> Option<Vec<f64>> {
    let logprobs = choice.get("logprobs")?;
    if let Some(Value::Array(tokens)) = logprobs.get("content") {
        return Some(tokens.iter().filter_map(|token| token.get("logprob")?.as_f64()).collect());
    }
    let legacy = logprobs.get("token_logprobs")?.as_array()?;
    Some(legacy.iter().filter_map(Value::as_f64).collect())
}

/// Whether a schema meets OpenAI's conditions for guaranteed output: every object lists all its properties as
/// required and allows no others.
pub(crate) fn is_strict(schema: &Value) -> bool {
    let Value::Object(map) = schema else { return true };
    if let Some(properties) = map.get("properties").and_then(Value::as_object) {
        let required = map.get("required").and_then(Value::as_array);
        let is_required = |name: &String| {
            required.is_some_and(|names| names.iter().any(|one| one.as_str() == Some(name)))
        };
        if map.get("additionalProperties") != Some(&Value::Bool(false))
            || !properties.keys().all(is_required)
        {
            return false;
        }
        if !properties.values().all(is_strict) {
            return false;
        }
    } else if map.get("type").and_then(Value::as_str) == Some("object") {
        return false;
    }
    !UNSUPPORTED.iter().any(|key| map.contains_key(*key))
        && map.get("items").is_none_or(is_strict)
        && map.get("anyOf").and_then(Value::as_array).is_none_or(|all| all.iter().all(is_strict))
}
