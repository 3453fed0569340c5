//! Providers of promptfoo that Quintain does not support, each with what it needs instead. Naming one is one clear error.

use quintain_content::registry::Meta;

use super::{Provider, word};
use crate::config::ConfigError;
use crate::environment::Environment;
use crate::model::Model;
use crate::spec::ModelSpec;

const META: Meta = Meta {
    id: "unsupported",
    aliases: &[],
    summary: "Providers of promptfoo that Quintain does not support, with what to use instead",
    docs: "\
# What it does
Reports what a provider of promptfoo needs that Quintain does not have: signatures, logins, other protocols, programs. Most of their
models are also behind gateways that speak OpenAI's dialect; use `openai` with `apiBaseUrl`.

# Example
```yaml
providers:
  - bedrock:us.amazon.nova-lite-v1:0
```
",
    since: "0.1.0",
};

const GATEWAY: &str = "use a gateway that speaks OpenAI's dialect, such as LiteLLM: `openai:chat:NAME` with `apiBaseUrl`";

/// Word, what is missing, and what to do.
const TABLE: &[(&str, &str, &str)] = &[
    ("a2a", "needs the agent-to-agent protocol", "test the agent through `https://` or `exec:`"),
    (
        "adaline",
        "needs the gateway of Adaline",
        "name the provider behind it, such as `openai:chat:NAME`",
    ),
    ("bam", "needs a service of IBM that was retired", GATEWAY),
    ("bedrock", "needs AWS signatures", GATEWAY),
    ("bedrock-agent", "needs AWS signatures", GATEWAY),
    ("sagemaker", "needs AWS signatures", GATEWAY),
    (
        "cloudflare-gateway",
        "needs the paths of Cloudflare's gateway",
        "use `openai:chat:NAME` with `apiBaseUrl` set to the gateway",
    ),
    (
        "cohere",
        "needs a dialect of its own",
        "use `openai:chat:NAME` with `apiBaseUrl: https://api.cohere.ai/compatibility/v1`",
    ),
    ("browser", "needs a browser", "test the endpoint behind the page through `https://`"),
    ("golang", "needs a Go toolchain", "build the program and test it through `exec:`"),
    ("package", "needs a JavaScript package", "test it through `exec:`"),
    ("sequence", "needs a fixed list of inputs", "write the inputs as tests"),
    ("webhook", "needs a target, not a model", "test it through `https://`"),
    ("websocket", "needs web sockets", "test it through `https://`"),
    ("ws", "needs web sockets", "test it through `https://`"),
    ("wss", "needs web sockets", "test it through `https://`"),
    ("elevenlabs", "is about speech", "only text models are supported"),
    ("fal", "is about images", "only text models are supported"),
    ("modelslab", "is about images", "only text models are supported"),
    ("quiverai", "is about images", "only text models are supported"),
    ("github", "was retired on 30 July 2026", "name another provider"),
    ("ibm", "needs logins at IBM Cloud", GATEWAY),
    ("watsonx", "needs logins at IBM Cloud", GATEWAY),
    ("n8n", "needs the webhooks of n8n", "test the workflow through `https://`"),
    ("openclaw", "needs a local agent", "test the agent through `exec:`"),
    ("opencode", "needs a local agent", "test the agent through `exec:`"),
    ("openinterpreter", "needs a local agent", "test the agent through `exec:`"),
    ("promptfoo", "needs the service of promptfoo", "name a model, such as `openai:chat:NAME`"),
    ("replicate", "needs a dialect with polling", GATEWAY),
    ("slack", "needs people on Slack", "there is no replacement"),
    ("snowflake", "needs a dialect of its own", GATEWAY),
    (
        "transformers",
        "needs models inside of a JavaScript process",
        "use a local server, such as `ollama:chat:NAME`",
    ),
    (
        "transformers.js",
        "needs models inside of a JavaScript process",
        "use a local server, such as `ollama:chat:NAME`",
    ),
    ("vertex", "needs logins at Google Cloud", "use `google:NAME` with a key of Google AI Studio"),
    (
        "voyage",
        "needs a dialect of its own",
        "use `openai:embedding:NAME` with `apiBaseUrl: https://api.voyageai.com/v1`",
    ),
];

const WORDS: [&str; TABLE.len()] = {
    let mut words = [""; TABLE.len()];
    let mut at = 0;
    while at < TABLE.len() {
        words[at] = TABLE[at].0;
        at += 1;
    }
    words
};

pub(super) struct Unsupported;
pub(super) static UNSUPPORTED: Unsupported = Unsupported;

impl Provider for Unsupported {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn words(&self) -> &'static [&'static str] {
        &WORDS
    }

    fn is_supported(&self) -> bool {
        false
    }

    fn configure(
        &self,
        spec: &ModelSpec,
        _: &dyn Environment,
    ) -> Result<Box<dyn Model>, Vec<ConfigError>> {
        let named = TABLE.iter().find(|(name, ..)| *name == word(&spec.id));
        let error = named.map(|(name, needs, instead)| {
            let message = if needs.starts_with("needs ") {
                format!("`{name}` {needs}, which Quintain does not support")
            } else {
                format!("`{name}` {needs}")
            };
            ConfigError::new(message).help(*instead)
        });
        Err(vec![error.unwrap_or_else(|| super::unknown(&spec.id))])
    }
}
