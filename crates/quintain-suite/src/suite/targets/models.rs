//! Models and other providers of promptfoo that Quintain does not support. Suites that name them are read; nothing is sent
//! to them.

use quintain_content::registry::Meta;

use super::{Entry, TargetKind, file_suffix, word};
use crate::target::Settings;

const META: Meta = Meta {
    id: "model",
    aliases: &[],
    summary: "A language model or another provider of promptfoo; not supported yet",
    docs: "\
# What it does
Suites that name a provider of promptfoo, such as `openai:gpt-5`, are read, so that the same file serves both. Tests of
such a target end with an error: Quintain sends nothing to models yet.

# Example
```yaml
targets:
  - openai:gpt-5
```
",
    since: "0.1.0",
};

/// Prefixes of models and related services, then of other providers: the part of the id before the first colon.
const WORDS: [&str; 93] = [
    "a2a",
    "abliteration",
    "adaline",
    "ai21",
    "aimlapi",
    "alibaba",
    "alicloud",
    "aliyun",
    "anthropic",
    "atlascloud",
    "azure",
    "azureopenai",
    "bam",
    "bedrock",
    "bedrock-agent",
    "cerebras",
    "cloudera",
    "cloudflare-ai",
    "cloudflare-gateway",
    "cohere",
    "cometapi",
    "dashscope",
    "databricks",
    "deepseek",
    "docker",
    "elevenlabs",
    "envoy",
    "f5",
    "fal",
    "fireworks",
    "github",
    "google",
    "groq",
    "helicone",
    "hf",
    "huggingface",
    "hyperbolic",
    "ibm",
    "jfrog",
    "litellm",
    "llama",
    "llamaapi",
    "localai",
    "meta",
    "minimax",
    "mistral",
    "mlflow-gateway",
    "modelslab",
    "moonshot",
    "n8n",
    "novita",
    "nscale",
    "nvidia",
    "ollama",
    "openai",
    "openclaw",
    "opencode",
    "openinterpreter",
    "openllm",
    "openrouter",
    "orcarouter",
    "palm",
    "perplexity",
    "portkey",
    "promptfoo",
    "quiverai",
    "qwak",
    "replicate",
    "sagemaker",
    "slack",
    "snowflake",
    "text-generation-inference",
    "together",
    "togetherai",
    "transformers",
    "truefoundry",
    "vercel",
    "vertex",
    "vllm",
    "voyage",
    "watsonx",
    "xai",
    "zhipu",
    "browser",
    "golang",
    "package",
    "sequence",
    "simulated-user",
    "manual-input",
    "webhook",
    "websocket",
    "ws",
    "wss",
];

/// A provider of promptfoo that Quintain does not support.
pub struct ModelKind;

impl TargetKind for ModelKind {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn words(&self) -> &'static [&'static str] {
        &WORDS
    }

    fn answers_to(&self, id: &str) -> bool {
        file_suffix(id) == Some("go") || self.words().contains(&word(id))
    }

    fn read(&self, _: &mut Entry<'_>) -> Option<Box<dyn Settings>> {
        Some(Box::new(ModelTarget))
    }

    /// Every provider has options of its own.
    fn is_lenient(&self) -> bool {
        true
    }
}

#[derive(Debug)]
pub struct ModelTarget;

impl Settings for ModelTarget {}
