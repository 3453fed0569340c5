//! Ollama's own dialect: chat and text completion, answers as JSON lines.

use serde_json::{Map, Value, json};

use super::fields::{self, copy, count, finish_reason, merged, number, structured, text};
use super::tools;
use crate::chat::{ChatRequest, Prompt};
use crate::completion::{Completion, Output, ToolCallRequest, Usage};
use crate::config::Options;
use crate::conversation::{self, text_of};
use crate::error::ModelError;
use crate::exchange::{Assemble, Failure, ProviderReply};

/// What belongs into `options` of a request.
const OPTIONS: &[&str] = &[
    "num_keep",
    "seed",
    "num_predict",
    "top_k",
    "top_p",
    "min_p",
    "tfs_z",
    "typical_p",
    "repeat_last_n",
    "temperature",
    "repeat_penalty",
    "presence_penalty",
    "frequency_penalty",
    "mirostat",
    "mirostat_tau",
    "mirostat_eta",
    "penalize_newline",
    "stop",
    "numa",
    "num_ctx",
    "num_batch",
    "num_gqa",
    "num_gpu",
    "main_gpu",
    "low_vram",
    "f16_kv",
    "vocab_only",
    "use_mmap",
    "use_mlock",
    "num_thread",
    "draft_num_predict",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OllamaKind {
    Chat,
    Completion,
}

pub(crate) struct Ollama {
    pub(crate) model: String,
    kind: OllamaKind,
    config: Map<String, Value>,
}

impl Ollama {
    pub(crate) fn read(options: &mut Options<'_>, model: &str, kind: OllamaKind) -> Self {
        for key in ["temperature", "top_p", "num_predict", "num_ctx"] {
            options.number(key);
        }
        Self { model: model.to_owned(), kind, config: options.config().clone() }
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
        let mut body = Map::new();
        body.insert("model".to_owned(), json!(self.model));
        match self.kind {
            OllamaKind::Chat => {
                let messages = conversation::messages(&request.messages)?;
                let messages: Vec<Value> = messages.iter().map(message).collect();
                body.insert("messages".to_owned(), Value::Array(messages));
            }
            OllamaKind::Completion => {
                body.insert("prompt".to_owned(), json!(prompt(&request.messages)));
            }
        }
        body.insert("stream".to_owned(), json!(self.streams(request)));
        body.insert("options".to_owned(), nested(&options));
        copy(&options, &["think", "keep_alive", "format", "truncate"], &mut body);
        if self.kind == OllamaKind::Completion {
            copy(&options, &["suffix", "system", "template", "raw"], &mut body);
        }
        if let Some(schema) = &request.schema {
            body.insert("format".to_owned(), schema.schema.clone());
        }
        let tools = tools::joined(request.tools.as_ref(), options.get("tools"));
        if let (OllamaKind::Chat, Some(tools)) = (self.kind, tools) {
            body.insert("tools".to_owned(), tools::for_chat_completions(&tools));
        }
        for (key, value) in
            options.get("passthrough").and_then(Value::as_object).into_iter().flatten()
        {
            // Its `options` were merged into the others.
            if key != "options" {
                body.insert(key.clone(), value.clone());
            }
        }
        Ok(Value::Object(body))
    }

    /// # Errors
    /// When the answer has neither text nor calls.
    pub(crate) fn completion(
        &self,
        request: &ChatRequest,
        answer: ProviderReply,
    ) -> Result<Completion, ModelError> {
        let ProviderReply { body, raw } = answer;
        let empty = Value::Null;
        let message = match self.kind {
            OllamaKind::Chat => body.get("message").unwrap_or(&empty),
            OllamaKind::Completion => &body,
        };
        let key = if self.kind == OllamaKind::Chat { "content" } else { "response" };
        let said = message.get(key).and_then(Value::as_str);
        let calls =
            message.get("tool_calls").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let finish = finish_reason(body.get("done_reason"));
        let Some(said) = said.or((!calls.is_empty()).then_some("")) else {
            let reason = finish.as_deref().unwrap_or("none");
            return Err(ModelError::Empty(format!("finish reason: {reason}")));
        };
        let options = merged(&self.config, &request.overrides);
        let is_structured = request.schema.is_some();
        let output = match (calls.is_empty(), said.trim().is_empty()) {
            (false, true) => Output::ToolCalls(calls.to_vec()),
            (false, false) => Output::Json(json!({"content": said, "tool_calls": calls})),
            (true, _) => match structured(said, is_structured) {
                Some(value) => Output::Json(value),
                None => Output::Text(shown(said, message.get("thinking"), &options)),
            },
        };
        let finish =
            finish.map(|finish| if calls.is_empty() { finish } else { "tool_calls".to_owned() });
        Ok(Completion {
            output,
            text: said.to_owned(),
            tool_calls: calls.iter().enumerate().map(call).collect(),
            usage: usage(&body),
            finish_reason: finish,
            model: text(body.get("model")),
            raw,
            ..Completion::of_text("")
        })
    }
}

pub(crate) fn nested(options: &Map<String, Value>) -> Value {
    let mut nested = Map::new();
    for key in OPTIONS {
        if let Some(value) = options.get(*key) {
            nested.insert((*key).to_owned(), number(value));
        }
    }
    // The usual word for the same limit.
    if let (None, Some(limit)) = (nested.get("num_predict"), options.get("max_tokens")) {
        nested.insert("num_predict".to_owned(), number(limit));
    }
    let more = options.get("passthrough").and_then(|passthrough| passthrough.get("options"));
    nested.extend(more.and_then(Value::as_object).cloned().unwrap_or_default());
    Value::Object(nested)
}

/// A completion has no roles, so a conversation becomes its texts.
fn prompt(prompt: &Prompt) -> String {
    match prompt {
        Prompt::Text(text) => text.clone(),
        Prompt::Messages(messages) => {
            let texts = messages.iter().filter_map(|message| message.get("content")).map(text_of);
            texts.collect::<Vec<_>>().join("\n\n")
        }
    }
}

/// A message of OpenAI's form: arguments are objects, images a list of their own, results name the tool.
fn message(message: &Value) -> Value {
    let mut made = message.clone();
    let Value::Object(map) = &mut made else { return made };
    if let Some(Value::Array(calls)) = map.get_mut("tool_calls") {
        for call in calls {
            let arguments = call.pointer_mut("/function/arguments");
            if let Some(arguments) = arguments
                && let Some(text) = arguments.as_str()
            {
                *arguments = serde_json::from_str(text).unwrap_or_else(|_| json!({}));
            }
        }
    }
    if let Some(content @ Value::Array(_)) = map.get("content") {
        let images: Vec<Value> =
            content.as_array().into_iter().flatten().filter_map(image).collect();
        let text = text_of(content);
        map.insert("content".to_owned(), json!(text));
        if !images.is_empty() {
            map.insert("images".to_owned(), Value::Array(images));
        }
    }
    if map.get("content").is_none_or(Value::is_null) {
        map.insert("content".to_owned(), json!(""));
    }
    made
}

fn image(part: &Value) -> Option<Value> {
    let url = part.pointer("/image_url/url").or_else(|| part.get("image_url"))?.as_str()?;
    url.split_once(";base64,").map(|(_, data)| json!(data))
}

fn call((at, call): (usize, &Value)) -> ToolCallRequest {
    let function = call.get("function").unwrap_or(call);
    let id = text(call.get("id")).unwrap_or_else(|| fields::call_id(at));
    let name = text(function.get("name")).unwrap_or_default();
    match function.get("arguments") {
        Some(Value::String(arguments)) => ToolCallRequest::of_text(id, name, arguments),
        Some(arguments) if !arguments.is_null() => {
            ToolCallRequest { id, name, arguments: Ok(arguments.clone()) }
        }
        _ => ToolCallRequest::of_text(id, name, ""),
    }
}

fn shown(said: &str, thinking: Option<&Value>, options: &Map<String, Value>) -> String {
    let shows = options.get("showThinking").and_then(Value::as_bool).unwrap_or(true);
    match text(thinking).filter(|_| shows) {
        Some(thinking) if said.is_empty() => format!("Thinking: {thinking}"),
        Some(thinking) => format!("Thinking: {thinking}\n\n{said}"),
        None => said.to_owned(),
    }
}

pub(crate) fn usage(body: &Value) -> Usage {
    let prompt = count(body.get("prompt_eval_count"));
    let completion = count(body.get("eval_count"));
    Usage { prompt, completion, ..Usage::default() }.summed()
}

/// Joins the lines of an answer.
#[derive(Default)]
pub(crate) struct OllamaStream {
    message: Map<String, Value>,
    last: Option<Value>,
}

impl OllamaStream {
    fn append(&mut self, from: &Value, key: &str) {
        let Some(piece) = from.get(key).and_then(Value::as_str) else { return };
        let known = self.message.entry(key).or_insert_with(|| json!(""));
        if let Value::String(known) = known {
            known.push_str(piece);
        }
    }
}

impl Assemble for OllamaStream {
    fn event(&mut self, line: &Value) -> Result<(), Failure> {
        for from in [line.get("message").unwrap_or(&Value::Null), line] {
            for key in ["content", "response", "thinking"] {
                self.append(from, key);
            }
        }
        if let Some(Value::Array(calls)) = line.pointer("/message/tool_calls") {
            let known = self.message.entry("tool_calls").or_insert_with(|| json!([]));
            if let Value::Array(known) = known {
                known.extend(calls.iter().cloned());
            }
        }
        if line.get("done").and_then(Value::as_bool) == Some(true) {
            self.last = Some(line.clone());
        }
        Ok(())
    }

    fn is_complete(&self) -> bool {
        self.last.is_some()
    }

    fn body(&mut self) -> Value {
        let mut body = self.last.take().unwrap_or_else(|| json!({}));
        let message = std::mem::take(&mut self.message);
        for key in ["response", "thinking"] {
            if let Some(value) = message.get(key) {
                body[key] = value.clone();
            }
        }
        body["message"] = Value::Object(message);
        body
    }
}
