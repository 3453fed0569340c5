//! Language models, by the ids of promptfoo: which model a suite names, with its options. The engine sends to them; what an
//! id means and which options it takes is decided there.

use std::collections::BTreeMap;

use quintain_content::registry::Meta;
use quintain_content::secret::{Secret, names_a_secret, of_named, of_url};
use quintain_evidence::effects::Contact;
use quintain_source::Scope;
use serde_json::{Map, Value, json};

use super::{Entry, TargetKind, file_suffix, word};
use crate::target::{Reach, Settings, bare};

const META: Meta = Meta {
    id: "model",
    aliases: &[],
    summary: "A language model, by the id that promptfoo gives it",
    docs: "\
# What it does
Sends every prompt to a language model and takes its text, JSON or tool calls as the response, with tokens and cost. A prompt is
text, or chat messages as a JSON or YAML list. `config` has the options of the model: `apiKey` or `apiKeyEnvar`, `apiBaseUrl`,
`temperature`, `max_tokens`, `tools`, `response_format` and others. The keys of well-known services are read from their usual
environment variables, such as `OPENAI_API_KEY`.

Any server with OpenAI's API works as `openai:chat:NAME` with `apiBaseUrl`: vLLM, llama.cpp, LM Studio and many more. Services
that need what Quintain does not support are an error before anything is sent. `quintain doctor` shows which models answer.

# Example
```yaml
targets:
  - openai:chat:gpt-5
  - id: openai:chat:local
    config: {apiBaseUrl: 'http://127.0.0.1:8080/v1', temperature: 0.2}
```
",
    since: "0.1.0",
};

/// Prefixes of models and related services, then of other providers: the part of the id before the first colon.
const WORDS: &[&str] = &[
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
    // Of Quintain.
    "client-sampling",
    "gemini",
    "llamacpp",
    "llamafile",
    "lmstudio",
    "openai-compatible",
    "scripted",
];

/// A language model, or another provider of promptfoo.
pub struct ModelKind;

impl TargetKind for ModelKind {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn words(&self) -> &'static [&'static str] {
        WORDS
    }

    fn answers_to(&self, id: &str) -> bool {
        file_suffix(id) == Some("go") || self.words().contains(&word(id))
    }

    fn read(&self, entry: &mut Entry<'_>) -> Option<Box<dyn Settings>> {
        let (id, env) = (entry.id.to_owned(), entry.env.clone());
        Some(Box::new(ModelTarget { id, config: entry.config_map(), env }))
    }

    /// Every provider has options of its own.
    fn is_lenient(&self) -> bool {
        true
    }
}

/// A model with its options.
#[derive(Debug)]
pub struct ModelTarget {
    /// As written, such as `openai:chat:gpt-5`.
    pub id: String,
    /// `config`, with environment variables expanded.
    pub config: Map<String, Value>,
    /// Variables that replace those of the environment for this model.
    pub env: BTreeMap<String, String>,
}

/// Options that change where a request goes.
const ADDRESSES: [&str; 4] = ["apiBaseUrl", "apiHost", "url", "baseUrl"];

impl Settings for ModelTarget {
    fn secrets(&self) -> Vec<Secret> {
        let mut found = secrets_of(&self.config);
        found.extend(self.env.iter().flat_map(|(name, value)| of_named(name, value)));
        found
    }

    fn reach(&self, reach: &mut Reach<'_>) {
        let model = json!({"id": self.id, "config": self.config});
        let Address { url, variables, files } = address_of_model(&model);
        let config = Value::Object(self.config.clone()).to_string();
        let mut receives = reach.variables([config.as_str()], Scope::Env).with(reach.content);
        receives.names.extend(variables);
        let what = reach.what.clone();
        reach.contact(Contact { what, url, receives, files });
    }
}

/// Where a model is, as far as the suite says, and what contains its key.
pub(crate) struct Address {
    pub(crate) url: String,
    pub(crate) variables: Vec<String>,
    pub(crate) files: Vec<String>,
}

pub(crate) fn address_of_model(model: &Value) -> Address {
    let config = model.get("config");
    let text = |name: &str| config.and_then(|config| config.get(name)).and_then(Value::as_str);
    let id = model.as_str().or_else(|| model.get("id")?.as_str()).unwrap_or("the model");
    let address = ADDRESSES.iter().find_map(|name| text(name)).unwrap_or(id);
    let named = |option: &str| text(option).map(str::to_owned).into_iter().collect();
    Address { url: bare(address), variables: named("apiKeyEnvar"), files: named("apiKeyFile") }
}

/// The secrets in the options of a model.
fn secrets_of(config: &Map<String, Value>) -> Vec<Secret> {
    let mut found = Vec::new();
    for (name, value) in config {
        match value {
            Value::String(text) if ADDRESSES.contains(&name.as_str()) => found.extend(of_url(text)),
            // The name of a variable or of a file is not the key.
            Value::String(_) if ["apiKeyEnvar", "apiKeyFile"].contains(&name.as_str()) => {}
            Value::String(text) if names_a_secret(name) => found.extend(of_named(name, text)),
            Value::Object(inner) => found.extend(secrets_of(inner)),
            _ => {}
        }
    }
    found
}
