//! The options of models that some provider reads, or that promptfoo has for one. Any other option has no effect, so
//! it is probably misspelt.

use quintain_source::closest;

use crate::config::{ADDRESS_KEYS, KEY_KEYS};
use crate::spec::ModelSpec;
use crate::{limits, prices, providers};

/// An option that no provider has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownOption {
    pub key: String,
    /// The known option that is most similar.
    pub meant: Option<&'static str>,
}

/// Options of dialects and services, by subject.
const READ: &[&str] = &[
    // Where requests go, and for whom.
    "apiBaseUrl",
    "apiHost",
    "apiVersion",
    "apiKeyRequired",
    "baseUrl",
    "url",
    "organization",
    "deployment",
    "deployment_id",
    "deploymentName",
    "modelName",
    "model",
    "anthropicVersion",
    "region",
    "location",
    "project",
    "projectId",
    "publisher",
    "keepAlive",
    "keep_alive",
    // Sampling and length.
    "temperature",
    "top_p",
    "top_k",
    "topP",
    "topK",
    "min_p",
    "typical_p",
    "tfs_z",
    "seed",
    "stop",
    "stop_sequences",
    "stopSequences",
    "max_tokens",
    "maxTokens",
    "max_completion_tokens",
    "max_output_tokens",
    "maxOutputTokens",
    "max_new_tokens",
    "num_predict",
    "presence_penalty",
    "frequency_penalty",
    "repeat_penalty",
    "repetition_penalty",
    "repeat_last_n",
    "logit_bias",
    "n",
    "logprobs",
    "top_logprobs",
    "omitDefaults",
    "do_sample",
    "max_time",
    "return_full_text",
    "num_return_sequences",
    "aggregation_strategy",
    // Reasoning.
    "reasoning",
    "reasoning_effort",
    "verbosity",
    "thinking",
    "effort",
    "showThinking",
    "isReasoningModel",
    "o1",
    "think",
    // Tools and structure of answers.
    "tools",
    "tool_choice",
    "toolConfig",
    "tool_config",
    "functions",
    "function_call",
    "functionToolCallbacks",
    "parallel_tool_calls",
    "max_tool_calls",
    "tool_resources",
    "response_format",
    "responseSchema",
    "output_format",
    "generationConfig",
    "safetySettings",
    "systemInstruction",
    "system",
    "instructions",
    "contents",
    "cachedContent",
    "format",
    "options",
    "raw",
    "suffix",
    "template",
    "context",
    "dimensions",
    "encoding_format",
    // The request as a whole.
    "stream",
    "passthrough",
    "extra_body",
    "metadata",
    "user",
    "store",
    "service_tier",
    "include",
    "truncation",
    "background",
    "previous_response_id",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "modalities",
    "audio",
    "beta",
    "extra_headers",
    "cache_control",
    "data_sources",
    "dataSources",
    // Ollama's options of a local model.
    "num_keep",
    "num_ctx",
    "num_batch",
    "num_gpu",
    "main_gpu",
    "low_vram",
    "f16_kv",
    "vocab_only",
    "use_mmap",
    "use_mlock",
    "num_thread",
    "mirostat",
    "mirostat_tau",
    "mirostat_eta",
    "penalize_newline",
    "numa",
    "vocab_size",
    "logits_all",
    // Of `scripted` and `echo`.
    "rules",
    "turns",
    "responses",
    "reply",
    "replies",
    "default",
    "embeddings",
    "classifications",
    "moderations",
    "usage",
    "fail",
    "delay_ms",
];

/// Options of promptfoo's providers that are accepted, so that its suites stay without warnings. They concern services,
/// logins and agents that are not supported here, and have no effect.
const OF_PROMPTFOO: &[&str] = &[
    "basePath",
    "mcp",
    "label",
    "prompts",
    "transform",
    "delay",
    "inputs",
    "maxConcurrentRequests",
    "persistModel",
    "azureClientId",
    "azureClientSecret",
    "azureTenantId",
    "azureAuthorityHost",
    "azureTokenScope",
    "assistantId",
    "accessKeyId",
    "secretAccessKey",
    "sessionToken",
    "profile",
    "ssoProfile",
    "endpoint",
    "guardrailIdentifier",
    "guardrailVersion",
    "trace",
    "inferenceModelType",
    "inferenceProfileArn",
    "credentials",
    "keyFilename",
    "scopes",
    "googleAuthOptions",
    "vertexai",
    "expressMode",
    "accountId",
    "gatewayId",
    "cfAigToken",
    "provider",
    "providerOptions",
    "search_parameters",
    "search_recency_filter",
    "search_domain_filter",
    "return_citations",
    "web_search_options",
    "thinkingConfig",
    "responseModalities",
    "speechConfig",
    "imageConfig",
    "voice",
    "size",
    "quality",
    "style",
    "moderationModel",
    "modelUuid",
    "version",
    "input",
    "prompt",
    "repetitionPenalty",
    "maxLength",
    "task",
    "timeoutSec",
    "returnFullText",
    "cacheControl",
    "promptCaching",
    "costPerToken",
    "cached",
    "audioInputCost",
    "audioOutputCost",
    "cacheReadCost",
    "cacheWriteCost",
    "systemPrompt",
    "workingDirectory",
    "agentId",
    "headersProvider",
    "onError",
    "stateful",
    "modelPath",
    "device",
    "dtype",
    "pooling",
    "normalize",
    "quantization",
    "sandbox",
    "session",
    "websocketTimeout",
];

fn known() -> impl Iterator<Item = &'static str> {
    [KEY_KEYS, limits::KEYS, prices::KEYS, READ, OF_PROMPTFOO].into_iter().flatten().copied()
}

/// The options of a spec that no provider has. Of ids that no provider of Quintain answers to, nothing is known.
pub fn unknown_options(spec: &ModelSpec) -> Vec<UnknownOption> {
    if providers::find(&spec.id).is_none() {
        return Vec::new();
    }
    // Other letters in these are errors already.
    let is_error = |key: &str| ADDRESS_KEYS.iter().any(|name| name.eq_ignore_ascii_case(key));
    let unknown = spec.config.keys().filter(|key| !is_error(key));
    let unknown = unknown.filter(|key| !known().any(|known| known == *key));
    unknown.map(|key| UnknownOption { key: key.clone(), meant: closest(key, known()) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_provider_has_is_reported_with_what_was_meant() {
        let spec = ModelSpec::new("openai:chat:m")
            .with("temprature", 1)
            .with("zzzzqqq", 1)
            .with("temperature", 0)
            .with("passthrough", serde_json::json!({"anything": 1}));
        let found = unknown_options(&spec);
        let found: Vec<_> = found.iter().map(|one| (one.key.as_str(), one.meant)).collect();
        assert_eq!(found, [("temprature", Some("temperature")), ("zzzzqqq", None)]);
        assert_eq!(unknown_options(&ModelSpec::new("what:ever").with("x", 1)), []);
    }
}
