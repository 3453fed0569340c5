//! Anthropic's messages.

use serde_json::{Map, Value, json};

use super::fields::{
    self, copy, count, finish_reason, merged, number, pass_through, structured, text,
};
use super::messages_prompt;
use super::tools;
use crate::chat::{ChatRequest, JsonSchema};
use crate::completion::{Completion, Output, ToolCallRequest, Usage};
use crate::config::Options;
use crate::error::ModelError;
use crate::exchange::ProviderReply;

const MAX_TOKENS: u64 = 1024;
/// Thinking takes its tokens from the same limit.
const MAX_TOKENS_THINKING: u64 = 2048;
const REFUSED: &str = "Content refused by Anthropic safety filters";

pub(crate) struct Messages {
    pub(crate) model: String,
    config: Map<String, Value>,
    claude: Claude,
}

impl Messages {
    pub(crate) fn read(options: &mut Options<'_>, model: &str) -> Self {
        let mut config = options.config().clone();
        for key in ["temperature", "top_p", "top_k"] {
            options.number(key);
        }
        options.count("max_tokens");
        for (key, variable) in
            [("max_tokens", "ANTHROPIC_MAX_TOKENS"), ("temperature", "ANTHROPIC_TEMPERATURE")]
        {
            let set = options.variable(variable).map(|text| number(&Value::String(text)));
            if let (None, Some(value)) = (options.get(key), set.filter(Value::is_number)) {
                config.insert(key.to_owned(), value);
            }
        }
        Self { model: model.to_owned(), config, claude: Claude::of(model) }
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
        let conversation = messages_prompt::read(&request.messages)?;
        let asked = options.get("thinking").cloned().or(conversation.thinking);
        let thinking = self.claude.thinking(asked, options.get("effort").and_then(Value::as_str));
        let thinks = self.claude.always_thinks() || is_on(thinking.as_ref());
        let mut body = Map::new();
        body.insert("model".to_owned(), json!(self.model));
        if let Some(system) = conversation.system {
            body.insert("system".to_owned(), system);
        }
        let consumes = thinks || (thinking.is_none() && self.claude.thinks_by_default());
        let usual = if consumes { MAX_TOKENS_THINKING } else { MAX_TOKENS };
        let most = count(options.get("max_tokens")).unwrap_or(usual);
        body.insert("max_tokens".to_owned(), json!(above_budget(most, thinking.as_ref())));
        body.insert("messages".to_owned(), Value::Array(conversation.messages));
        self.sampling(&options, thinks, &mut body);
        copy(&options, &["cache_control", "service_tier", "metadata"], &mut body);
        if let Some(stop) = options.get("stop_sequences").or_else(|| options.get("stop")) {
            let list = if stop.is_array() { stop.clone() } else { json!([stop]) };
            body.insert("stop_sequences".to_owned(), list);
        }
        let forced = self.forced_tool(request, thinking.as_ref());
        let mut all = tools::joined(request.tools.as_ref(), options.get("tools"));
        if let Some(schema) = forced {
            all = tools::joined(all.as_ref(), Some(&answer_tool(schema)));
        }
        if let Some(all) = all {
            body.insert("tools".to_owned(), tools::for_messages(&all));
        }
        let choice = request.tool_choice.as_ref().or_else(|| options.get("tool_choice"));
        let choice = choice.map(tools::choice_for_messages);
        let choice = forced.map(|schema| json!({"type": "tool", "name": schema.name})).or(choice);
        if let Some(choice) = choice.filter(|choice| self.accepts(choice, thinking.as_ref())) {
            body.insert("tool_choice".to_owned(), choice);
        }
        if let Some(thinking) = thinking {
            body.insert("thinking".to_owned(), thinking);
        }
        let schema = request.schema.as_ref().filter(|_| forced.is_none());
        let format = schema.map(|schema| json!({"type": "json_schema", "schema": schema.schema}));
        let format = format.or_else(|| options.get("output_format").cloned());
        let mut output = Map::new();
        output.extend(format.map(|format| ("format".to_owned(), format)));
        output.extend(options.get("effort").map(|effort| ("effort".to_owned(), effort.clone())));
        if !output.is_empty() {
            body.insert("output_config".to_owned(), Value::Object(output));
        }
        pass_through(&options, &mut body);
        if self.streams(request) {
            body.insert("stream".to_owned(), json!(true));
        }
        Ok(Value::Object(body))
    }

    /// The service rejects `temperature` with `top_p` or thinking, and all three for newer models.
    fn sampling(&self, options: &Map<String, Value>, thinks: bool, body: &mut Map<String, Value>) {
        if self.claude.has_fixed_sampling() {
            return;
        }
        let top_p = options.get("top_p").map(number);
        if top_p.is_none() && !thinks {
            let temperature = options.get("temperature").map_or(json!(0), number);
            body.insert("temperature".to_owned(), temperature);
        }
        if let Some(top_p) = top_p {
            let clamped =
                top_p.as_f64().filter(|_| thinks).map(|value| json!(value.clamp(0.95, 1.0)));
            body.insert("top_p".to_owned(), clamped.unwrap_or(top_p));
        }
        if let (false, Some(top_k)) = (thinks, options.get("top_k")) {
            body.insert("top_k".to_owned(), number(top_k));
        }
    }

    /// The schema that becomes a tool which the model must call. That works with all models but the newest, and not
    /// together with thinking or other tools; those get `output_config`.
    fn forced_tool<'r>(
        &self,
        request: &'r ChatRequest,
        thinking: Option<&Value>,
    ) -> Option<&'r JsonSchema> {
        let schema = request.schema.as_ref()?;
        let is_object = schema.schema.get("type").and_then(Value::as_str) == Some("object");
        let is_alone = request.tools.is_none() && !self.config.contains_key("tools");
        let is_possible =
            is_object && is_alone && !is_on(thinking) && !self.claude.rejects_forced_tools();
        is_possible.then_some(schema)
    }

    fn accepts(&self, choice: &Value, thinking: Option<&Value>) -> bool {
        let kind = choice.get("type").and_then(Value::as_str);
        let is_forced = matches!(kind, Some("any" | "tool"));
        !is_forced || (!is_manual(thinking) && !self.claude.rejects_forced_tools())
    }

    /// # Errors
    /// When the answer has no content.
    pub(crate) fn completion(
        &self,
        request: &ChatRequest,
        answer: ProviderReply,
    ) -> Result<Completion, ModelError> {
        let ProviderReply { body, raw } = answer;
        let blocks = body.get("content").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let options = merged(&self.config, &request.overrides);
        let finish = finish_reason(body.get("stop_reason"));
        let refusal = refusal(&body);
        if blocks.is_empty() && refusal.is_none() {
            let reason = finish.as_deref().unwrap_or("none");
            return Err(ModelError::Empty(format!("finish reason: {reason}")));
        }
        let mut completion = Completion {
            usage: usage(body.get("usage")),
            finish_reason: finish,
            model: text(body.get("model")),
            raw,
            ..Completion::of_text("")
        };
        if let Some(value) = self.forced_answer(request, blocks, &options) {
            completion.text = value.to_string();
            completion.output = Output::Json(value);
            completion.finish_reason = Some("stop".to_owned());
            return Ok(completion);
        }
        let texts: Vec<&str> = blocks.iter().filter_map(text_of_block).collect();
        completion.text = texts.join("\n\n");
        completion.tool_calls = blocks.iter().enumerate().filter_map(call).collect();
        let shows = options.get("showThinking").and_then(Value::as_bool).unwrap_or(true);
        let format = options.get("output_format").and_then(|format| format.get("type"));
        let is_structured =
            request.schema.is_some() || format.and_then(Value::as_str) == Some("json_schema");
        let shown = shown(blocks, shows);
        completion.output = match structured(&completion.text, is_structured) {
            Some(value) if completion.tool_calls.is_empty() => Output::Json(value),
            _ => Output::Text(shown),
        };
        if let Some(refusal) = refusal {
            // Without details, the answer stays empty, which `is-refusal` knows as well.
            let is_explained = body.get("stop_details").is_some_and(Value::is_object);
            if completion.text.is_empty() && is_explained {
                completion.text.clone_from(&refusal);
                completion.output = Output::Text(refusal.clone());
            }
            completion.refusal = Some(refusal);
        }
        Ok(completion)
    }

    /// The arguments of the tool that stands for the schema.
    fn forced_answer(
        &self,
        request: &ChatRequest,
        blocks: &[Value],
        options: &Map<String, Value>,
    ) -> Option<Value> {
        let schema = self.forced_tool(request, options.get("thinking"))?;
        let is_call = |block: &&Value| {
            block.get("type").and_then(Value::as_str) == Some("tool_use")
                && block.get("name").and_then(Value::as_str) == Some(&schema.name)
        };
        blocks.iter().find(is_call)?.get("input").cloned()
    }
}

fn answer_tool(schema: &JsonSchema) -> Value {
    json!([{"name": schema.name, "description": "Gives the answer.", "input_schema": schema.schema}])
}

fn is_manual(thinking: Option<&Value>) -> bool {
    thinking.and_then(|thinking| thinking.get("type")).and_then(Value::as_str) == Some("enabled")
}

fn is_on(thinking: Option<&Value>) -> bool {
    let kind = thinking.and_then(|thinking| thinking.get("type")).and_then(Value::as_str);
    matches!(kind, Some("enabled" | "adaptive"))
}

/// The limit must be above the budget for thinking.
fn above_budget(most: u64, thinking: Option<&Value>) -> u64 {
    let budget = thinking.filter(|thinking| is_manual(Some(thinking)));
    let budget = budget.and_then(|thinking| thinking.get("budget_tokens")).and_then(Value::as_u64);
    budget.filter(|budget| most <= *budget).map_or(most, |budget| budget + MAX_TOKENS)
}

fn text_of_block(block: &Value) -> Option<&str> {
    let is_text = block.get("type").and_then(Value::as_str) == Some("text");
    block.get("text").and_then(Value::as_str).filter(|_| is_text)
}

fn call((at, block): (usize, &Value)) -> Option<ToolCallRequest> {
    if block.get("type").and_then(Value::as_str) != Some("tool_use") {
        return None;
    }
    let id = text(block.get("id")).unwrap_or_else(|| fields::call_id(at));
    let name = text(block.get("name")).unwrap_or_default();
    let arguments = match block.get("input") {
        // A stream that was assembled from broken JSON.
        Some(Value::String(raw)) => Err(raw.clone()),
        Some(Value::Null) | None => Ok(json!({})),
        Some(input) => Ok(input.clone()),
    };
    Some(ToolCallRequest { id, name, arguments })
}

/// The answer as promptfoo shows it: blocks that are neither text nor thinking as JSON.
fn shown(blocks: &[Value], shows_thinking: bool) -> String {
    let show = |block: &Value| -> Option<String> {
        match block.get("type").and_then(Value::as_str) {
            Some("text") => text_of_block(block).map(str::to_owned),
            Some("thinking") => {
                let thought = block.get("thinking").and_then(Value::as_str).unwrap_or_default();
                let signature = block.get("signature").and_then(Value::as_str).unwrap_or_default();
                let is_shown = shows_thinking && !thought.trim().is_empty();
                is_shown.then(|| format!("Thinking: {thought}\nSignature: {signature}"))
            }
            Some("redacted_thinking") => {
                let data = block.get("data").and_then(Value::as_str).unwrap_or_default();
                shows_thinking.then(|| format!("Redacted Thinking: {data}"))
            }
            _ => Some(block.to_string()),
        }
    };
    let parts: Vec<String> =
        blocks.iter().filter_map(show).filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}

fn refusal(body: &Value) -> Option<String> {
    if body.get("stop_reason").and_then(Value::as_str) != Some("refusal") {
        return None;
    }
    let detail = |key: &str| text(body.get("stop_details").and_then(|details| details.get(key)));
    let mut parts = vec![REFUSED.to_owned()];
    parts.extend(detail("category").map(|category| format!("category: {category}")));
    parts.extend(detail("explanation").map(|why| format!("explanation: {why}")));
    Some(parts.join(" — "))
}

fn usage(usage: Option<&Value>) -> Usage {
    let Some(usage) = usage.filter(|usage| usage.is_object()) else { return Usage::default() };
    let cached = count(usage.get("cache_read_input_tokens"));
    let written = count(usage.get("cache_creation_input_tokens"));
    let input = count(usage.get("input_tokens"));
    let prompt = input.map(|input| input + cached.unwrap_or(0) + written.unwrap_or(0));
    let usage = Usage {
        prompt,
        completion: count(usage.get("output_tokens")),
        total: None,
        cached,
        cache_write: written,
        reasoning: count(usage.pointer("/output_tokens_details/thinking_tokens")),
    };
    usage.summed()
}

/// What the name of a model says about its parameters. Names are `claude-opus-4-8` or `claude-3-5-sonnet-20241022`.
struct Claude {
    family: String,
    major: u32,
    minor: u32,
}

impl Claude {
    fn of(model: &str) -> Self {
        let model = model.to_ascii_lowercase();
        let (_, rest) = model.split_once("claude-").unwrap_or_default();
        let version =
            |part: &&str| part.len() <= 2 && part.bytes().all(|byte| byte.is_ascii_digit());
        let parts: Vec<&str> =
            rest.split(['-', '.', '@', ':']).filter(|part| !part.is_empty()).collect();
        let numbers: Vec<u32> = parts
            .iter()
            .filter(|part| version(part))
            .filter_map(|part| part.parse().ok())
            .collect();
        let family = parts.iter().find(|part| !part.starts_with(|c: char| c.is_ascii_digit()));
        Self {
            family: family.map_or_else(String::new, |family| (*family).to_owned()),
            major: numbers.first().copied().unwrap_or(0),
            minor: numbers.get(1).copied().unwrap_or(0),
        }
    }

    fn is_mythos(&self) -> bool {
        self.major >= 5 && matches!(self.family.as_str(), "fable" | "mythos")
    }

    /// Temperature, `top_p` and `top_k` are errors.
    fn has_fixed_sampling(&self) -> bool {
        self.major >= 5 || (self.family == "opus" && self.major == 4 && self.minor >= 7)
    }

    fn always_thinks(&self) -> bool {
        self.is_mythos()
    }

    fn thinks_by_default(&self) -> bool {
        self.major >= 5 && matches!(self.family.as_str(), "opus" | "sonnet")
    }

    fn rejects_forced_tools(&self) -> bool {
        self.is_mythos() && (self.major > 5 || self.minor >= 1)
    }

    /// What the model accepts of the thinking that was asked for.
    fn thinking(&self, asked: Option<Value>, effort: Option<&str>) -> Option<Value> {
        let asked = asked?;
        match asked.get("type").and_then(Value::as_str) {
            Some("enabled") if self.has_fixed_sampling() => Some(json!({"type": "adaptive"})),
            Some("disabled") if self.always_thinks() => None,
            Some("disabled")
                if self.family == "opus"
                    && self.major >= 5
                    && matches!(effort, Some("xhigh" | "max")) =>
            {
                None
            }
            _ => Some(asked),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_decide_the_parameters() {
        for fixed in [
            "claude-opus-4-7",
            "claude-sonnet-5",
            "claude-opus-5-20260101",
            "claude-fable-5-1",
            "claude-new-7",
        ] {
            assert!(Claude::of(fixed).has_fixed_sampling(), "{fixed}");
        }
        for free in [
            "claude-3-5-sonnet-20241022",
            "claude-opus-4-5-20251101",
            "claude-sonnet-4-20250514",
            "local",
            "claude-haiku-4-5",
        ] {
            assert!(!Claude::of(free).has_fixed_sampling(), "{free}");
        }
        assert!(Claude::of("claude-mythos-5-1").rejects_forced_tools());
        assert!(!Claude::of("claude-mythos-5").rejects_forced_tools());
    }

    #[test]
    fn the_limit_is_above_the_budget() {
        let thinking = json!({"type": "enabled", "budget_tokens": 8000});
        assert_eq!(above_budget(1024, Some(&thinking)), 9024);
        assert_eq!(above_budget(10_000, Some(&thinking)), 10_000);
        assert_eq!(above_budget(1024, None), 1024);
    }
}
