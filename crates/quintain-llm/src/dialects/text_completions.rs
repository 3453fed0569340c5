//! OpenAI's older text completions, which local servers offer as well. Defaults on the wire are promptfoo's.

use serde_json::{Map, Value, json};

use super::chat_completions::{logprobs, usage};
use super::fields::{self, copy, finish_reason, merged, number, pass_through, text};
use crate::chat::{ChatRequest, Prompt};
use crate::completion::Completion;
use crate::config::Options;
use crate::error::ModelError;
use crate::exchange::ProviderReply;

/// Name of an option, its variable, and the default.
const DEFAULTS: &[(&str, &str, i64)] = &[
    ("max_tokens", "OPENAI_MAX_TOKENS", 1024),
    ("temperature", "OPENAI_TEMPERATURE", 0),
    ("top_p", "OPENAI_TOP_P", 1),
    ("presence_penalty", "OPENAI_PRESENCE_PENALTY", 0),
    ("frequency_penalty", "OPENAI_FREQUENCY_PENALTY", 0),
    ("best_of", "OPENAI_BEST_OF", 1),
];
/// What ends a turn in the formats of chat models, so that a completion does not write the next turn as well.
const STOPS: [&str; 2] = ["<|im_end|>", "<|endoftext|>"];

pub(crate) struct TextCompletions {
    pub(crate) model: String,
    config: Map<String, Value>,
}

impl TextCompletions {
    pub(crate) fn read(options: &mut Options<'_>, model: &str) -> Self {
        let mut config = options.config().clone();
        for key in ["temperature", "top_p", "presence_penalty", "frequency_penalty"] {
            options.number(key);
        }
        options.natural("max_tokens");
        let omit = options.flag("omitDefaults").unwrap_or(false);
        for &(key, variable, usual) in DEFAULTS {
            if config.get(key).is_some_and(|value| !value.is_null()) {
                continue;
            }
            let set = options.variable(variable).map(|text| number(&Value::String(text)));
            let usual = (!omit).then(|| json!(usual));
            if let Some(value) = set.filter(Value::is_number).or(usual) {
                config.insert(key.to_owned(), value);
            }
        }
        if config.get("stop").is_none_or(Value::is_null) {
            config.insert("stop".to_owned(), json!(STOPS));
        }
        Self { model: model.to_owned(), config }
    }

    pub(crate) fn fingerprint(&self) -> Value {
        json!({"model": self.model, "config": fields::without_secrets(&self.config)})
    }

    /// The body of a request. A conversation is sent as the text that it was written as.
    pub(crate) fn body(&self, request: &ChatRequest) -> Value {
        let options = merged(&self.config, &request.overrides);
        let mut prompt = match &request.messages {
            Prompt::Text(text) => text.clone(),
            Prompt::Messages(messages) => Value::Array(messages.clone()).to_string(),
        };
        if let Some(schema) = &request.schema {
            let asked = format!(
                "\n\nAnswer with JSON only. It must match this JSON schema: {}\n",
                schema.schema
            );
            prompt.push_str(&asked);
        }
        let mut body = Map::new();
        body.insert("model".to_owned(), json!(self.model));
        body.insert("prompt".to_owned(), json!(prompt));
        for &(key, ..) in DEFAULTS {
            if let Some(value) = options.get(key) {
                body.insert(key.to_owned(), number(value));
            }
        }
        let more = ["seed", "stop", "logprobs", "echo", "suffix", "user", "logit_bias", "n"];
        copy(&options, &more, &mut body);
        pass_through(&options, &mut body);
        Value::Object(body)
    }

    /// # Errors
    /// When the answer has no choice, or one without text.
    pub(crate) fn completion(answer: ProviderReply) -> Result<Completion, ModelError> {
        let ProviderReply { body, raw } = answer;
        let Some(choice) = body.pointer("/choices/0") else {
            return Err(ModelError::Empty("the answer has no choices".to_owned()));
        };
        let Some(said) = choice.get("text").and_then(Value::as_str) else {
            return Err(ModelError::Empty("the first choice has no text".to_owned()));
        };
        Ok(Completion {
            usage: usage(body.get("usage")),
            finish_reason: finish_reason(choice.get("finish_reason")),
            logprobs: logprobs(choice),
            model: text(body.get("model")),
            raw,
            ..Completion::of_text(said)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::completion::RawExchange;
    use crate::spec::ModelSpec;

    fn dialect(config: Value) -> TextCompletions {
        let spec =
            ModelSpec::read(&json!({"id": "openai:completion:m", "config": config})).unwrap();
        let env = BTreeMap::new();
        TextCompletions::read(&mut Options::new(&spec, &env), "m")
    }

    #[test]
    fn bodies_have_the_defaults_of_promptfoo() {
        let body = dialect(json!({"temperature": 0.5, "passthrough": {"logprobs": 1}}));
        let expected = json!({
            "model": "m", "prompt": "Hi", "max_tokens": 1024, "temperature": 0.5, "top_p": 1, "presence_penalty": 0,
            "frequency_penalty": 0, "best_of": 1, "stop": ["<|im_end|>", "<|endoftext|>"], "logprobs": 1,
        });
        assert_eq!(body.body(&ChatRequest::text("Hi")), expected);
    }

    #[test]
    fn an_answer_is_the_text_of_the_first_choice() {
        let body = json!({
            "choices": [{"text": " there", "finish_reason": "length", "logprobs": {"token_logprobs": [-0.5, null]}}],
            "usage": {"prompt_tokens": 2, "completion_tokens": 1},
        });
        let answer = ProviderReply { body, raw: RawExchange::default() };
        let found = TextCompletions::completion(answer).unwrap();
        assert_eq!(found.text, " there");
        assert_eq!(found.finish_reason.as_deref(), Some("length"));
        assert_eq!(found.logprobs, Some(vec![-0.5]));
        assert_eq!(found.usage.total, Some(3));
    }

    #[test]
    fn an_answer_without_text_is_an_error() {
        for body in [json!({"choices": []}), json!({"choices": [{"message": {"content": "x"}}]})] {
            let answer = ProviderReply { body, raw: RawExchange::default() };
            assert!(matches!(TextCompletions::completion(answer), Err(ModelError::Empty(_))));
        }
    }
}
