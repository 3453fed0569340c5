//! The kind of a target, as determined by its id.

use quintain_source::closest;

/// The kind of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind<'i> {
    Mcp,
    Echo,
    Http,
    /// The command line.
    Exec(&'i str),
    /// The path of a file with a provider, optionally with the name of a function.
    Code(&'i str),
    /// The path of a file with more entries.
    File(&'i str),
    /// A provider of promptfoo that Quintain does not support.
    Elsewhere,
    Unknown,
}

/// Prefixes of models and related services: the part of the id before the first colon.
const MODELS: [&str; 83] = [
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
];
/// Other providers of promptfoo.
const OTHERS: [&str; 10] = [
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
const OURS: [&str; 8] = ["mcp", "echo", "http", "https", "exec", "python", "ruby", "file"];

pub(super) fn kind(id: &str) -> Kind<'_> {
    if let Some(path) = id.strip_prefix("file://") {
        let (file, _) = crate::files::split_function(path);
        let suffix = file.rsplit_once('.').map_or("", |(_, suffix)| suffix);
        return match suffix {
            "yaml" | "yml" | "json" => Kind::File(path),
            "go" => Kind::Elsewhere,
            _ => Kind::Code(path),
        };
    }
    let (word, rest) = id.split_once(':').unwrap_or((id, ""));
    match word {
        "mcp" => Kind::Mcp,
        "echo" => Kind::Echo,
        "http" | "https" => Kind::Http,
        "exec" if id.len() > word.len() => Kind::Exec(rest),
        "python" | "ruby" if !rest.is_empty() => Kind::Code(rest),
        word if MODELS.contains(&word) || OTHERS.contains(&word) => Kind::Elsewhere,
        _ => Kind::Unknown,
    }
}

/// The valid id that is closest to a misspelt one.
pub(super) fn meant(id: &str) -> Option<String> {
    let (word, rest) = match id.split_once(':') {
        Some((word, rest)) => (word, Some(rest)),
        None => (id, None),
    };
    let word = closest(word, OURS.into_iter().chain(MODELS).chain(OTHERS))?;
    Some(match rest {
        Some(rest) => format!("{word}:{rest}"),
        None => word.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_told_apart() {
        for (id, wanted) in [
            ("mcp:payments", Kind::Mcp),
            ("echo", Kind::Echo),
            ("https://h/a", Kind::Http),
            ("exec: python3 x.py", Kind::Exec(" python3 x.py")),
            ("python:p.py:ask", Kind::Code("p.py:ask")),
            ("file://p.mjs", Kind::Code("p.mjs")),
            ("file://p.yaml", Kind::File("p.yaml")),
            ("openai:gpt-5", Kind::Elsewhere),
            ("ws://h", Kind::Elsewhere),
            ("nonsense:model", Kind::Unknown),
            ("", Kind::Unknown),
        ] {
            assert_eq!(kind(id), wanted, "{id}");
        }
        assert_eq!(meant("openia:gpt-5").as_deref(), Some("openai:gpt-5"));
        assert_eq!(meant("ehco").as_deref(), Some("echo"));
        assert_eq!(meant("nonsense:model"), None);
    }
}
