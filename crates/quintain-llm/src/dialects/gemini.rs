//! Gemini's `generateContent`.

use serde_json::{Map, Value, json};

use super::fields::{self, copy_entries, count, merged, number, pass_through, structured, text};
use super::gemini_prompt;
use super::tools;
use crate::chat::ChatRequest;
use crate::completion::{Completion, Output, ToolCallRequest, Usage};
use crate::config::Options;
use crate::error::ModelError;
use crate::exchange::{Assemble, Failure, ProviderReply};

/// Keys of a schema that the service rejects.
const UNKNOWN_KEYS: &[&str] =
    &["additionalProperties", "$schema", "default", "$id", "$ref", "$defs", "definitions"];
const BLOCKED: &[&str] =
    &["SAFETY", "RECITATION", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "IMAGE_SAFETY"];
/// Newer models of this line take no sampling parameters.
const FIXED_SAMPLING: &[&str] = &[
    "gemini-3.8-flash",
    "gemini-3.7-flash",
    "gemini-3.6-flash",
    "gemini-3.5-flash-lite",
    "gemini-flash-latest",
    "gemini-flash-lite-latest",
];

pub(crate) struct Gemini {
    pub(crate) model: String,
    config: Map<String, Value>,
}

impl Gemini {
    pub(crate) fn read(options: &mut Options<'_>, model: &str) -> Self {
        for key in ["temperature", "topP", "topK", "maxOutputTokens"] {
            options.number(key);
        }
        Self { model: model.to_owned(), config: options.config().clone() }
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
        let contents = gemini_prompt::read(&request.messages)?;
        let mut body = Map::new();
        body.insert("contents".to_owned(), Value::Array(contents.contents));
        body.insert("generationConfig".to_owned(), self.generation(request, &options));
        if let Some(settings) = options.get("safetySettings") {
            body.insert("safetySettings".to_owned(), settings.clone());
        }
        let choice = request.tool_choice.as_ref().or_else(|| options.get("tool_choice"));
        let choice =
            choice.map(tools::choice_for_gemini).or_else(|| options.get("toolConfig").cloned());
        if let Some(choice) = choice {
            body.insert("toolConfig".to_owned(), choice);
        }
        if let Some(tools) = tools::joined(request.tools.as_ref(), options.get("tools")) {
            body.insert("tools".to_owned(), tools::for_gemini(&tools, clean));
        }
        let mut system = instruction(options.get("systemInstruction"));
        system.extend(contents.system);
        if !system.is_empty() {
            body.insert("system_instruction".to_owned(), json!({"parts": system}));
        }
        pass_through(&options, &mut body);
        Ok(Value::Object(body))
    }

    fn generation(&self, request: &ChatRequest, options: &Map<String, Value>) -> Value {
        let mut made = Map::new();
        // The name here, and the usual name of the same option.
        let names = [
            ("temperature", "temperature"),
            ("topP", "top_p"),
            ("topK", "top_k"),
            ("maxOutputTokens", "max_tokens"),
            ("stopSequences", "stop"),
            ("seed", "seed"),
            ("presencePenalty", "presence_penalty"),
            ("frequencyPenalty", "frequency_penalty"),
        ];
        for (name, usual) in names {
            if let Some(value) = options.get(name).or_else(|| options.get(usual)) {
                let is_one_stop = name == "stopSequences" && value.is_string();
                made.insert(
                    name.to_owned(),
                    if is_one_stop { json!([value]) } else { number(value) },
                );
            }
        }
        if options.get("logprobs").and_then(Value::as_bool) == Some(true) {
            made.insert("responseLogprobs".to_owned(), json!(true));
        }
        copy_entries(options, "generationConfig", &mut made);
        if FIXED_SAMPLING.iter().any(|name| self.model.starts_with(name)) {
            for key in [
                "temperature",
                "topP",
                "top_p",
                "topK",
                "top_k",
                "presencePenalty",
                "frequencyPenalty",
            ] {
                made.remove(key);
            }
        }
        let schema = request.schema.as_ref().map(|schema| clean(&schema.schema));
        if let Some(schema) = schema.or_else(|| options.get("responseSchema").cloned()) {
            made.insert("responseMimeType".to_owned(), json!("application/json"));
            made.insert("responseSchema".to_owned(), schema);
        }
        Value::Object(made)
    }

    /// # Errors
    /// When the answer has no content.
    pub(crate) fn completion(
        request: &ChatRequest,
        answer: ProviderReply,
    ) -> Result<Completion, ModelError> {
        let ProviderReply { body, raw } = answer;
        let usage = usage(body.get("usageMetadata"));
        let model = text(body.get("modelVersion"));
        let empty = Value::Null;
        let candidate = body.pointer("/candidates/0").unwrap_or(&empty);
        let reason = candidate.get("finishReason").and_then(Value::as_str);
        if let Some(refusal) = blocked(&body, reason) {
            return Ok(Completion {
                usage,
                model,
                raw,
                finish_reason: Some("content_filter".to_owned()),
                refusal: Some(refusal.clone()),
                ..Completion::of_text(refusal)
            });
        }
        let parts = candidate.pointer("/content/parts").and_then(Value::as_array);
        let parts = parts.map_or(&[][..], Vec::as_slice);
        if parts.is_empty() {
            return Err(ModelError::Empty(format!("finish reason: {}", reason.unwrap_or("none"))));
        }
        let is_thought = |part: &Value| part.get("thought").and_then(Value::as_bool) == Some(true);
        let texts = |with_thoughts: bool| -> String {
            let kept = parts.iter().filter(|part| with_thoughts || !is_thought(part));
            kept.filter_map(|part| part.get("text")?.as_str()).collect()
        };
        let said = texts(false);
        let tool_calls: Vec<ToolCallRequest> = parts.iter().enumerate().filter_map(call).collect();
        let is_text = parts.iter().all(|part| part.get("text").is_some());
        let output = match (is_text, structured(&said, request.schema.is_some())) {
            (true, Some(value)) => Output::Json(value),
            (true, None) => Output::Text(texts(true)),
            (false, _) => Output::Json(Value::Array(parts.to_vec())),
        };
        let finish = match reason {
            Some("STOP") if !tool_calls.is_empty() => Some("tool_calls".to_owned()),
            _ => fields::finish_reason(candidate.get("finishReason")),
        };
        Ok(Completion {
            output,
            text: said,
            tool_calls,
            usage,
            finish_reason: finish,
            logprobs: logprobs(candidate),
            model,
            raw,
            ..Completion::of_text("")
        })
    }
}

fn instruction(option: Option<&Value>) -> Vec<Value> {
    match option {
        Some(Value::String(text)) => vec![json!({"text": text})],
        Some(Value::Object(map)) => match map.get("parts") {
            Some(Value::Array(parts)) => parts.clone(),
            Some(part) => vec![part.clone()],
            None => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn call((at, part): (usize, &Value)) -> Option<ToolCallRequest> {
    let call = part.get("functionCall")?;
    let id = text(call.get("id")).unwrap_or_else(|| fields::call_id(at));
    let name = text(call.get("name")).unwrap_or_default();
    let arguments = call.get("args").filter(|args| !args.is_null()).cloned();
    Some(ToolCallRequest { id, name, arguments: Ok(arguments.unwrap_or_else(|| json!({}))) })
}

/// Why a filter removed the answer or the prompt.
fn blocked(body: &Value, reason: Option<&str>) -> Option<String> {
    if let Some(why) = body.pointer("/promptFeedback/blockReason").and_then(Value::as_str) {
        return Some(format!("Response blocked: {why}"));
    }
    let reason = reason.filter(|reason| BLOCKED.contains(reason))?;
    Some(format!("Response was blocked with finish reason: {reason}"))
}

/// Tokens spent on thoughts are paid like the others, so they are counted as completion.
fn usage(usage: Option<&Value>) -> Usage {
    let Some(usage) = usage.filter(|usage| usage.is_object()) else { return Usage::default() };
    let get = |key: &str| count(usage.get(key));
    let thoughts = get("thoughtsTokenCount");
    let answer = get("candidatesTokenCount");
    let made = Usage {
        prompt: get("promptTokenCount")
            .map(|prompt| prompt + get("toolUsePromptTokenCount").unwrap_or(0)),
        completion: answer.map(|answer| answer + thoughts.unwrap_or(0)).or(thoughts),
        total: get("totalTokenCount"),
        cached: get("cachedContentTokenCount"),
        cache_write: None,
        reasoning: thoughts,
    };
    made.summed()
}

fn logprobs(candidate: &Value) -> Option<Vec<f64>> {
    let chosen = candidate.pointer("/logprobsResult/chosenCandidates")?.as_array()?;
    Some(chosen.iter().filter_map(|token| token.get("logProbability")?.as_f64()).collect())
}

/// A JSON schema in the subset that the service knows.
pub(crate) fn clean(schema: &Value) -> Value {
    let Value::Object(map) = schema else { return schema.clone() };
    let mut made = Map::new();
    for (key, value) in map {
        match (key.as_str(), value) {
            (key, _) if UNKNOWN_KEYS.contains(&key) => {}
            ("type", Value::String(kind)) => {
                made.insert(key.clone(), json!(kind.to_uppercase()));
            }
            ("type", Value::Array(kinds)) => {
                let mut named =
                    kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null");
                if let Some(kind) = named.next() {
                    made.insert(key.clone(), json!(kind.to_uppercase()));
                }
                if kinds.iter().any(|kind| kind == "null") {
                    made.insert("nullable".to_owned(), json!(true));
                }
            }
            ("const", value) => {
                made.insert("enum".to_owned(), json!([value]));
            }
            ("properties", Value::Object(properties)) => {
                let cleaned = properties.iter().map(|(name, value)| (name.clone(), clean(value)));
                made.insert(key.clone(), Value::Object(cleaned.collect()));
            }
            ("items", value) => {
                made.insert(key.clone(), clean(value));
            }
            ("anyOf" | "oneOf" | "allOf", Value::Array(all)) => {
                made.insert(key.clone(), all.iter().map(clean).collect());
            }
            _ => {
                made.insert(key.clone(), value.clone());
            }
        }
    }
    Value::Object(made)
}

/// Joins the parts of several answers.
#[derive(Default)]
pub(crate) struct GeminiStream {
    last: Option<Value>,
    parts: Vec<Value>,
    finish: Option<Value>,
    blocked: Option<Value>,
}

impl Assemble for GeminiStream {
    fn event(&mut self, chunk: &Value) -> Result<(), Failure> {
        let parts = chunk.pointer("/candidates/0/content/parts").and_then(Value::as_array);
        self.parts.extend(parts.into_iter().flatten().cloned());
        if let Some(reason) =
            chunk.pointer("/candidates/0/finishReason").filter(|reason| !reason.is_null())
        {
            self.finish = Some(reason.clone());
        }
        if let Some(feedback) =
            chunk.get("promptFeedback").filter(|feedback| feedback.get("blockReason").is_some())
        {
            self.blocked = Some(feedback.clone());
        }
        self.last = Some(chunk.clone());
        Ok(())
    }

    fn is_complete(&self) -> bool {
        self.finish.is_some() || self.blocked.is_some()
    }

    fn body(&mut self) -> Value {
        let mut body = self.last.take().unwrap_or_else(|| json!({}));
        let parts = std::mem::take(&mut self.parts);
        body["candidates"] = json!([{"content": {"role": "model", "parts": parts}, "finishReason": self.finish.take()}]);
        if let Some(feedback) = self.blocked.take() {
            body["promptFeedback"] = feedback;
        }
        body
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_are_reduced_to_what_the_service_knows() {
        let schema = json!({"$schema": "x", "type": "object", "additionalProperties": false, "required": ["a"],
            "properties": {"a": {"type": ["string", "null"], "default": ""}, "type": {"const": 1}}});
        let expected = json!({"type": "OBJECT", "required": ["a"],
            "properties": {"a": {"type": "STRING", "nullable": true}, "type": {"enum": [1]}}});
        assert_eq!(clean(&schema), expected);
    }
}
