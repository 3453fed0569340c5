//! OpenAI's responses.

use serde_json::{Map, Value, json};

use super::chat_completions::{is_strict, reasons};
use super::fields::{self, copy, count, merged, number, pass_through, structured, text};
use super::tools;
use crate::chat::{ChatRequest, Prompt};
use crate::completion::{Completion, Output, ToolCallRequest, Usage};
use crate::config::Options;
use crate::conversation::{json_messages, text_of};
use crate::error::ModelError;
use crate::exchange::{Assemble, Failure, ProviderReply};

const MAX_TOKENS: u32 = 1024;

pub(crate) struct Responses {
    pub(crate) model: String,
    config: Map<String, Value>,
}

impl Responses {
    pub(crate) fn read(options: &mut Options<'_>, model: &str) -> Self {
        let mut config = options.config().clone();
        options.number("temperature");
        options.number("top_p");
        options.count("max_output_tokens");
        let omit = options.flag("omitDefaults").unwrap_or(false);
        let usual = |value: Value| Some(value).filter(|_| !omit && !reasons(model));
        let defaults = [
            ("max_output_tokens", "OPENAI_MAX_TOKENS", usual(json!(MAX_TOKENS))),
            ("temperature", "OPENAI_TEMPERATURE", usual(json!(0))),
            ("top_p", "OPENAI_TOP_P", None),
        ];
        for (key, variable, usual) in defaults {
            let set = options.variable(variable).map(|text| number(&Value::String(text)));
            let value = set.filter(Value::is_number).or(usual);
            if let (None, Some(value)) = (options.get(key), value) {
                config.insert(key.to_owned(), value);
            }
        }
        Self { model: model.to_owned(), config }
    }

    pub(crate) fn fingerprint(&self) -> Value {
        json!({"model": self.model, "config": fields::without_secrets(&self.config)})
    }

    pub(crate) fn streams(&self, request: &ChatRequest) -> bool {
        let flag = request.overrides.get("stream").or_else(|| self.config.get("stream"));
        flag.and_then(Value::as_bool).unwrap_or(false)
    }

    /// # Errors
    /// When the prompt is a broken conversation.
    pub(crate) fn body(&self, request: &ChatRequest) -> Result<Value, ModelError> {
        let options = merged(&self.config, &request.overrides);
        let reasons = reasons(&self.model);
        let mut body = Map::new();
        body.insert("model".to_owned(), json!(self.model));
        body.insert("input".to_owned(), input(&request.messages)?);
        let limit =
            options.get("max_output_tokens").or_else(|| request.overrides.get("max_tokens"));
        if let Some(limit) = request.overrides.get("max_tokens").filter(|_| !reasons).or(limit) {
            body.insert("max_output_tokens".to_owned(), number(limit));
        }
        if !reasons {
            for key in ["temperature", "top_p"] {
                if let Some(value) = options.get(key) {
                    body.insert(key.to_owned(), number(value));
                }
            }
        }
        if let Some(effort) = options.get("reasoning_effort").filter(|_| reasons) {
            body.insert("reasoning".to_owned(), json!({"effort": effort}));
        }
        if let (true, Some(Value::Object(more))) = (reasons, options.get("reasoning")) {
            let reasoning = body.entry("reasoning").or_insert_with(|| json!({}));
            if let Value::Object(reasoning) = reasoning {
                reasoning.extend(more.clone());
            }
        }
        copy(
            &options,
            &[
                "instructions",
                "max_tool_calls",
                "include",
                "previous_response_id",
                "truncation",
                "metadata",
                "parallel_tool_calls",
                "store",
                "user",
                "service_tier",
                "prompt_cache_key",
                "prompt_cache_options",
                "prompt_cache_retention",
            ],
            &mut body,
        );
        if let Some(tools) = tools::joined(request.tools.as_ref(), options.get("tools")) {
            body.insert("tools".to_owned(), tools::for_responses(&tools));
        }
        if let Some(choice) = request.tool_choice.as_ref().or_else(|| options.get("tool_choice")) {
            body.insert("tool_choice".to_owned(), tools::choice_for_responses(choice));
        }
        let mut text = json!({"format": format(request, options.get("response_format"))});
        if let Some(verbosity) = options.get("verbosity").filter(|_| reasons) {
            text["verbosity"] = verbosity.clone();
        }
        body.insert("text".to_owned(), text);
        pass_through(&options, &mut body);
        if self.streams(request) {
            body.insert("stream".to_owned(), json!(true));
        }
        Ok(Value::Object(body))
    }

    /// # Errors
    /// When the answer has no output, or failed.
    pub(crate) fn completion(
        &self,
        request: &ChatRequest,
        answer: ProviderReply,
    ) -> Result<Completion, ModelError> {
        let ProviderReply { body, raw } = answer;
        let items = body.get("output").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        if body.get("status").and_then(Value::as_str) == Some("failed") {
            let message =
                body.pointer("/error/message").and_then(Value::as_str).unwrap_or("no explanation");
            return Err(ModelError::status_of(500, message, None));
        }
        let (mut shown, mut said, mut refusal, mut calls) =
            (Vec::new(), Vec::new(), None, Vec::new());
        let mut logprobs = Vec::new();
        for item in items {
            match item.get("type").and_then(Value::as_str) {
                Some("message") => {
                    let (message, refused) = read_message(item, &mut logprobs);
                    refusal = refusal.or(refused);
                    shown.push(message.clone());
                    said.push(message);
                }
                Some("function_call") => {
                    calls.push(call(calls.len(), item));
                    shown.push(item.to_string());
                }
                Some("reasoning") => shown.extend(summary(item)),
                _ => {}
            }
        }
        shown.retain(|part| !part.is_empty());
        said.retain(|part: &String| !part.is_empty());
        let finish = finish(&body, !calls.is_empty());
        if said.is_empty() && calls.is_empty() && refusal.is_none() {
            let reason = finish.as_deref().unwrap_or("none");
            return Err(ModelError::Empty(format!("finish reason: {reason}")));
        }
        let said = said.join("\n");
        let options = merged(&self.config, &request.overrides);
        let asked = options.get("response_format").and_then(|format| format.get("type"));
        let is_structured =
            request.schema.is_some() || asked.and_then(Value::as_str) == Some("json_schema");
        let output = match (&refusal, structured(&said, is_structured)) {
            (Some(refusal), _) => Output::Text(refusal.clone()),
            (None, Some(value)) if calls.is_empty() => Output::Json(value),
            _ => Output::Text(shown.join("\n")),
        };
        Ok(Completion {
            output,
            text: if said.is_empty() { refusal.clone().unwrap_or_default() } else { said },
            tool_calls: calls,
            usage: usage(body.get("usage")),
            finish_reason: finish,
            refusal,
            logprobs: (!logprobs.is_empty()).then_some(logprobs),
            model: text(body.get("model")),
            raw,
            ..Completion::of_text("")
        })
    }
}

fn format(request: &ChatRequest, asked: Option<&Value>) -> Value {
    if let Some(schema) = &request.schema {
        let strict = is_strict(&schema.schema);
        return json!({"type": "json_schema", "name": schema.name, "schema": schema.schema, "strict": strict});
    }
    match asked.and_then(|format| format.get("type")).and_then(Value::as_str) {
        Some("json_schema") => {
            let asked = asked.unwrap_or(&Value::Null);
            let inner = asked.get("json_schema").unwrap_or(asked);
            let name = inner.get("name").and_then(Value::as_str).unwrap_or("response_schema");
            let schema = inner.get("schema").or_else(|| asked.get("schema"));
            json!({"type": "json_schema", "name": name, "schema": schema, "strict": true})
        }
        Some("json_object") => json!({"type": "json_object"}),
        _ => json!({"type": "text"}),
    }
}

/// The prompt as a text, or as items.
fn input(prompt: &Prompt) -> Result<Value, ModelError> {
    let messages = match prompt {
        Prompt::Messages(messages) => messages.clone(),
        Prompt::Text(text) => match json_messages(text)? {
            Some(messages) => messages,
            None => return Ok(Value::String(text.clone())),
        },
    };
    Ok(messages.iter().flat_map(items).collect())
}

/// A message of a chat as items. What already is an item stays as it is.
fn items(message: &Value) -> Vec<Value> {
    if message.get("type").is_some() {
        return vec![message.clone()];
    }
    let role = message.get("role").and_then(Value::as_str).unwrap_or("user");
    let content = message.get("content").unwrap_or(&Value::Null);
    if role == "tool" {
        let output = text_of(content);
        let id = message.get("tool_call_id");
        return vec![json!({"type": "function_call_output", "call_id": id, "output": output})];
    }
    let mut made = Vec::new();
    let has_content = !content.is_null() && content.as_str() != Some("");
    if has_content {
        let parts = match content {
            Value::Array(parts) => parts.iter().map(|part| part_of(part, role)).collect(),
            other => other.clone(),
        };
        made.push(json!({"role": role, "content": parts}));
    }
    for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
        let function = call.get("function").unwrap_or(call);
        let (name, arguments) = (function.get("name"), function.get("arguments"));
        made.push(json!({"type": "function_call", "call_id": call.get("id"), "name": name, "arguments": arguments}));
    }
    made
}

fn part_of(part: &Value, role: &str) -> Value {
    match part.get("type").and_then(Value::as_str) {
        Some("text") => {
            let kind = if role == "assistant" { "output_text" } else { "input_text" };
            json!({"type": kind, "text": part.get("text")})
        }
        Some("image_url") => {
            let url = part.pointer("/image_url/url").or_else(|| part.get("image_url"));
            json!({"type": "input_image", "image_url": url})
        }
        _ => part.clone(),
    }
}

/// Text and refusal of a message.
fn read_message(item: &Value, logprobs: &mut Vec<f64>) -> (String, Option<String>) {
    let (mut said, mut refusal) = (String::new(), text(item.get("refusal")));
    for part in item.get("content").and_then(Value::as_array).into_iter().flatten() {
        match part.get("type").and_then(Value::as_str) {
            Some("refusal") => refusal = text(part.get("refusal")).or(refusal),
            _ => said.push_str(part.get("text").and_then(Value::as_str).unwrap_or_default()),
        }
        let tokens = part.get("logprobs").and_then(Value::as_array).into_iter().flatten();
        logprobs.extend(tokens.filter_map(|token| token.get("logprob")?.as_f64()));
    }
    (said, refusal)
}

fn call(at: usize, item: &Value) -> ToolCallRequest {
    let id = text(item.get("call_id")).or_else(|| text(item.get("id")));
    let name = text(item.get("name")).unwrap_or_default();
    let arguments = item.get("arguments").and_then(Value::as_str).unwrap_or_default();
    ToolCallRequest::of_text(id.unwrap_or_else(|| fields::call_id(at)), name, arguments)
}

/// The summary of what the model thought, as promptfoo shows it.
fn summary(item: &Value) -> Option<String> {
    let parts = item.get("summary")?.as_array()?;
    let texts: Vec<&str> = parts.iter().filter_map(|part| part.get("text")?.as_str()).collect();
    (!texts.is_empty()).then(|| format!("Reasoning: {}", texts.join("\n")))
}

fn finish(body: &Value, has_calls: bool) -> Option<String> {
    let reason = body.pointer("/incomplete_details/reason").and_then(Value::as_str);
    let word = match (body.get("status").and_then(Value::as_str)?, reason) {
        ("completed", _) if has_calls => "tool_calls",
        ("completed", _) => "stop",
        ("incomplete", Some("max_output_tokens")) => "length",
        ("incomplete", Some(reason)) => reason,
        (other, _) => other,
    };
    Some(word.to_owned())
}

fn usage(usage: Option<&Value>) -> Usage {
    let Some(usage) = usage.filter(|usage| usage.is_object()) else { return Usage::default() };
    let usage = Usage {
        prompt: count(usage.get("input_tokens")),
        completion: count(usage.get("output_tokens")),
        total: count(usage.get("total_tokens")),
        cached: count(usage.pointer("/input_tokens_details/cached_tokens")),
        cache_write: None,
        reasoning: count(usage.pointer("/output_tokens_details/reasoning_tokens")),
    };
    usage.summed()
}

/// The last event contains the whole answer.
#[derive(Default)]
pub(crate) struct ResponsesStream {
    response: Option<Value>,
}

impl Assemble for ResponsesStream {
    fn event(&mut self, event: &Value) -> Result<(), Failure> {
        match event.get("type").and_then(Value::as_str) {
            Some("response.completed" | "response.incomplete" | "response.failed") => {
                self.response = event.get("response").cloned();
                Ok(())
            }
            Some("error") => {
                let message =
                    event.get("message").and_then(Value::as_str).unwrap_or("no explanation");
                Err(ModelError::status_of(500, message, None).into())
            }
            _ => Ok(()),
        }
    }

    fn is_complete(&self) -> bool {
        self.response.is_some()
    }

    fn body(&mut self) -> Value {
        self.response.take().unwrap_or(Value::Null)
    }
}
