//! The services: a line is all that a new one needs.

use crate::dialects::chat_completions::{Flavor, JsonMode};

pub(super) struct Service {
    /// What ids start with. The first is the name in fingerprints.
    pub(super) words: &'static [&'static str],
    /// As messages name it.
    pub(super) title: &'static str,
    pub(super) base: Base,
    /// An option that gives the address, besides `apiBaseUrl`.
    pub(super) base_option: Option<&'static str>,
    pub(super) base_variables: &'static [&'static str],
    /// Follows the address of the option and the variables.
    pub(super) suffix: &'static str,
    pub(super) key_variables: &'static [&'static str],
    pub(super) needs_key: bool,
    /// Instead of `Authorization`.
    pub(super) key_header: Option<&'static str>,
    pub(super) flavor: Flavor,
    /// The section in the table of prices.
    pub(super) prices: Option<&'static str>,
}

pub(super) enum Base {
    Fixed(&'static str),
    /// A part of the address is an option.
    Account {
        before: &'static str,
        option: &'static str,
        variable: &'static str,
        after: &'static str,
    },
    /// The user has to give it.
    Needed,
}

const fn service(
    words: &'static [&'static str],
    title: &'static str,
    base: &'static str,
    key_variables: &'static [&'static str],
) -> Service {
    Service {
        words,
        title,
        base: Base::Fixed(base),
        base_option: None,
        base_variables: &[],
        suffix: "",
        key_variables,
        needs_key: true,
        key_header: None,
        flavor: Flavor::OPENAI,
        prices: None,
    }
}

/// A server on the user's machine.
const fn local(words: &'static [&'static str], title: &'static str, base: &'static str) -> Service {
    Service { needs_key: false, ..service(words, title, base, &[]) }
}

/// Services that return JSON, but do not know schemas.
const WITHOUT_SCHEMAS: Flavor = Flavor { json_mode: JsonMode::Object, ..Flavor::OPENAI };

/// All words, for the registry. A test compares them with the services.
pub(super) const WORDS: &[&str] = &[
    "abliteration",
    "ai21",
    "aimlapi",
    "alibaba",
    "alicloud",
    "aliyun",
    "dashscope",
    "atlascloud",
    "cerebras",
    "cloudera",
    "cloudflare-ai",
    "cometapi",
    "databricks",
    "deepseek",
    "envoy",
    "f5",
    "fireworks",
    "groq",
    "helicone",
    "hyperbolic",
    "jfrog",
    "qwak",
    "llamaapi",
    "meta",
    "minimax",
    "mistral",
    "mlflow-gateway",
    "moonshot",
    "novita",
    "nscale",
    "nvidia",
    "openrouter",
    "orcarouter",
    "perplexity",
    "portkey",
    "together",
    "togetherai",
    "truefoundry",
    "vercel",
    "xai",
    "zhipu",
    "docker",
    "litellm",
    "llama",
    "llama.cpp",
    "llamafile",
    "lmstudio",
    "localai",
    "openllm",
    "text-generation-inference",
    "vllm",
];

pub(super) static SERVICES: &[Service] = &[
    Service {
        base_variables: &["ABLIT_API_BASE_URL"],
        ..service(
            &["abliteration"],
            "Abliteration",
            "https://api.abliteration.ai/v1",
            &["ABLIT_KEY"],
        )
    },
    Service {
        base_variables: &["AI21_API_BASE_URL"],
        flavor: Flavor { temperature: Some(0.1), ..WITHOUT_SCHEMAS },
        ..service(&["ai21"], "AI21", "https://api.ai21.com/studio/v1", &["AI21_API_KEY"])
    },
    service(&["aimlapi"], "AI/ML API", "https://api.aimlapi.com/v1", &["AIML_API_KEY"]),
    service(
        &["alibaba", "alicloud", "aliyun", "dashscope"],
        "Alibaba Cloud",
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        &["DASHSCOPE_API_KEY"],
    ),
    service(
        &["atlascloud"],
        "Atlas Cloud",
        "https://api.atlascloud.ai/v1",
        &["ATLASCLOUD_API_KEY"],
    ),
    service(&["cerebras"], "Cerebras", "https://api.cerebras.ai/v1", &["CEREBRAS_API_KEY"]),
    Service { base: Base::Needed, ..service(&["cloudera"], "Cloudera", "", &["CDP_TOKEN"]) },
    Service {
        base: Base::Account {
            before: "https://api.cloudflare.com/client/v4/accounts/",
            option: "accountId",
            variable: "CLOUDFLARE_ACCOUNT_ID",
            after: "/ai/v1",
        },
        ..service(&["cloudflare-ai"], "Cloudflare", "", &["CLOUDFLARE_API_KEY"])
    },
    service(&["cometapi"], "CometAPI", "https://api.cometapi.com/v1", &["COMETAPI_KEY"]),
    Service {
        base: Base::Needed,
        base_option: Some("workspaceUrl"),
        base_variables: &["DATABRICKS_WORKSPACE_URL"],
        suffix: "/serving-endpoints",
        ..service(&["databricks"], "Databricks", "", &["DATABRICKS_TOKEN"])
    },
    Service {
        flavor: WITHOUT_SCHEMAS,
        prices: Some("deepseek"),
        ..service(&["deepseek"], "DeepSeek", "https://api.deepseek.com/v1", &["DEEPSEEK_API_KEY"])
    },
    Service {
        base: Base::Needed,
        base_variables: &["ENVOY_API_BASE_URL"],
        needs_key: false,
        ..service(&["envoy"], "Envoy AI Gateway", "", &["ENVOY_API_KEY"])
    },
    Service { base: Base::Needed, ..service(&["f5"], "F5 AI Gateway", "", &["F5_API_KEY"]) },
    Service {
        base_variables: &["FIREWORKS_API_BASE_URL"],
        ..service(
            &["fireworks"],
            "Fireworks",
            "https://api.fireworks.ai/inference/v1",
            &["FIREWORKS_API_KEY"],
        )
    },
    Service {
        base_variables: &["GROQ_API_BASE_URL"],
        ..service(&["groq"], "Groq", "https://api.groq.com/openai/v1", &["GROQ_API_KEY"])
    },
    Service {
        base_option: Some("baseUrl"),
        suffix: "/ai",
        needs_key: false,
        ..service(&["helicone"], "Helicone", "http://localhost:8080/ai", &["HELICONE_API_KEY"])
    },
    Service {
        prices: Some("hyperbolic"),
        ..service(
            &["hyperbolic"],
            "Hyperbolic",
            "https://api.hyperbolic.xyz/v1",
            &["HYPERBOLIC_API_KEY"],
        )
    },
    Service { base: Base::Needed, ..service(&["jfrog", "qwak"], "JFrog ML", "", &["QWAK_TOKEN"]) },
    service(&["llamaapi"], "Llama API", "https://api.llama.com/compat/v1", &["LLAMA_API_KEY"]),
    service(&["meta"], "Meta", "https://api.meta.ai/v1", &["MODEL_API_KEY"]),
    Service {
        prices: Some("minimax"),
        ..service(&["minimax"], "MiniMax", "https://api.minimax.io/v1", &["MINIMAX_API_KEY"])
    },
    Service {
        base_variables: &["MISTRAL_API_BASE_URL"],
        flavor: Flavor { temperature: None, seed: "random_seed", ..Flavor::OPENAI },
        prices: Some("mistral"),
        ..service(&["mistral"], "Mistral", "https://api.mistral.ai/v1", &["MISTRAL_API_KEY"])
    },
    Service {
        base: Base::Needed,
        base_option: Some("gatewayUrl"),
        base_variables: &["MLFLOW_GATEWAY_URL"],
        suffix: "/gateway/mlflow/v1",
        needs_key: false,
        ..service(&["mlflow-gateway"], "MLflow", "", &["MLFLOW_GATEWAY_API_KEY"])
    },
    service(&["moonshot"], "Moonshot", "https://api.moonshot.ai/v1", &["MOONSHOT_API_KEY"]),
    service(&["novita"], "Novita", "https://api.novita.ai/openai/v1", &["NOVITA_API_KEY"]),
    service(
        &["nscale"],
        "Nscale",
        "https://inference.api.nscale.com/v1",
        &["NSCALE_SERVICE_TOKEN", "NSCALE_API_KEY"],
    ),
    Service {
        base_variables: &["NVIDIA_API_BASE_URL"],
        ..service(&["nvidia"], "NVIDIA", "https://integrate.api.nvidia.com/v1", &["NVIDIA_API_KEY"])
    },
    service(&["openrouter"], "OpenRouter", "https://openrouter.ai/api/v1", &["OPENROUTER_API_KEY"]),
    service(&["orcarouter"], "OrcaRouter", "https://api.orcarouter.ai/v1", &["ORCAROUTER_API_KEY"]),
    service(&["perplexity"], "Perplexity", "https://api.perplexity.ai", &["PERPLEXITY_API_KEY"]),
    Service {
        base_option: Some("portkeyApiBaseUrl"),
        base_variables: &["PORTKEY_API_BASE_URL"],
        key_header: Some("x-portkey-api-key"),
        ..service(&["portkey"], "Portkey", "https://api.portkey.ai/v1", &["PORTKEY_API_KEY"])
    },
    service(
        &["together", "togetherai"],
        "Together",
        "https://api.together.xyz/v1",
        &["TOGETHER_API_KEY"],
    ),
    service(
        &["truefoundry"],
        "TrueFoundry",
        "https://llm-gateway.truefoundry.com",
        &["TRUEFOUNDRY_API_KEY"],
    ),
    Service {
        base_option: Some("baseUrl"),
        base_variables: &["VERCEL_AI_GATEWAY_BASE_URL", "AI_GATEWAY_BASE_URL"],
        ..service(
            &["vercel"],
            "Vercel",
            "https://ai-gateway.vercel.sh/v1",
            &["VERCEL_AI_GATEWAY_API_KEY", "AI_GATEWAY_API_KEY"],
        )
    },
    Service {
        prices: Some("xai"),
        ..service(&["xai"], "xAI", "https://api.x.ai/v1", &["XAI_API_KEY"])
    },
    Service {
        flavor: WITHOUT_SCHEMAS,
        ..service(&["zhipu"], "Zhipu", "https://open.bigmodel.cn/api/paas/v4", &["ZHIPU_API_KEY"])
    },
    Service {
        base_variables: &["DOCKER_MODEL_RUNNER_BASE_URL"],
        suffix: "/engines/v1",
        key_variables: &["DOCKER_MODEL_RUNNER_API_KEY"],
        ..local(&["docker"], "Docker Model Runner", "http://localhost:12434/engines/v1")
    },
    Service {
        base_variables: &["LITELLM_API_BASE"],
        key_variables: &["LITELLM_API_KEY"],
        ..local(&["litellm"], "LiteLLM", "http://0.0.0.0:4000")
    },
    Service {
        base_variables: &["LLAMA_BASE_URL"],
        suffix: "/v1",
        ..local(&["llama", "llama.cpp", "llamafile"], "llama.cpp", "http://localhost:8080/v1")
    },
    local(&["lmstudio"], "LM Studio", "http://localhost:1234/v1"),
    Service {
        base_variables: &["LOCALAI_BASE_URL"],
        ..local(&["localai"], "LocalAI", "http://localhost:8080/v1")
    },
    local(&["openllm"], "OpenLLM", "http://localhost:3000/v1"),
    local(&["text-generation-inference"], "Text Generation Inference", "http://localhost:8080/v1"),
    Service {
        base_variables: &["VLLM_BASE_URL"],
        key_variables: &["VLLM_API_KEY"],
        ..local(&["vllm"], "vLLM", "http://localhost:8000/v1")
    },
];

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;

    #[test]
    fn words_are_those_of_the_services() {
        let words: Vec<&str> =
            SERVICES.iter().flat_map(|service| service.words.iter().copied()).collect();
        assert_eq!(words, WORDS);
    }

    #[test]
    fn addresses_are_valid_and_paid_services_have_a_key() {
        for service in SERVICES {
            if let Base::Fixed(base) = service.base {
                let url: Url = base.parse().expect(service.title);
                let is_local = matches!(url.host_str(), Some("localhost" | "0.0.0.0"));
                assert!(is_local || url.scheme() == "https", "{}", service.title);
                assert!(
                    !service.needs_key || !service.key_variables.is_empty(),
                    "{}",
                    service.title
                );
            }
        }
    }
}
