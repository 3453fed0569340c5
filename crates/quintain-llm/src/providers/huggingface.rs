//! Hugging Face: classification, embeddings, similarity and text over its inference interface.

use quintain_content::registry::Meta;
use url::Url;

use super::{Provider, rest};
use crate::config::{ConfigError, KeySource, Options};
use crate::dialects::chat_completions::Flavor;
use crate::environment::Environment;
use crate::exchange::Connection;
use crate::hosted::inference::{InferenceModel, Task};
use crate::hosted::openai_kind::{self, Kind};
use crate::hosted::{Hosted, bearer};
use crate::model::Model;
use crate::prices::Pricing;
use crate::spec::ModelSpec;

const META: Meta = Meta {
    id: "huggingface",
    aliases: &["hf"],
    summary: "Models on Hugging Face: classifiers, embeddings, similarity, text",
    docs: "\
# What it does
Asks a model behind the inference interface of Hugging Face: `huggingface:text-classification:NAME` and
`huggingface:token-classification:NAME` classify, `huggingface:feature-extraction:NAME` computes embeddings,
`huggingface:sentence-similarity:NAME` compares sentences, `huggingface:text-generation:NAME` continues a text, and
`huggingface:chat:NAME` speaks OpenAI's dialect. `apiEndpoint` names another server; the key comes from `apiKey`, `HF_TOKEN` or
`HF_API_TOKEN` and is not required.

# Example
```yaml
providers:
  - huggingface:text-classification:protectai/deberta-v3-base-prompt-injection
```
",
    since: "0.1.0",
};

const INFERENCE: &str = "https://router.huggingface.co/hf-inference";
const CHAT: &str = "https://router.huggingface.co/v1";

pub(super) struct HuggingFace;
pub(super) static HUGGING_FACE: HuggingFace = HuggingFace;

impl Provider for HuggingFace {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn words(&self) -> &'static [&'static str] {
        &["huggingface", "hf"]
    }

    fn configure(
        &self,
        spec: &ModelSpec,
        env: &dyn Environment,
    ) -> Result<Box<dyn Model>, Vec<ConfigError>> {
        let mut options = Options::new(spec, env);
        let (kind, name) = rest(&spec.id).split_once(':').unwrap_or((rest(&spec.id), ""));
        let task = match kind {
            "text-classification" => Some(Task::TextClassification),
            "token-classification" => Some(Task::TokenClassification),
            "feature-extraction" => Some(Task::FeatureExtraction),
            "sentence-similarity" => Some(Task::SentenceSimilarity),
            "text-generation" => Some(Task::TextGeneration),
            "chat" => None,
            _ => {
                let error = ConfigError::new(format!("`huggingface:{kind}` is not a task"));
                options.fail(error.help(
                    "expected text-classification, token-classification, feature-extraction, \
                     sentence-similarity, text-generation or chat",
                ));
                None
            }
        };
        if name.is_empty() {
            let error = ConfigError::new("the id needs the name of a model");
            options.fail(error.help("write `huggingface:TASK:OWNER/NAME`"));
        }
        let variables = &["HF_TOKEN", "HF_API_TOKEN"];
        let source = KeySource { variables, required: false, service: "Hugging Face" };
        let auth = options.key(&source).as_ref().map(bearer);
        let endpoint = options.text("apiEndpoint").or_else(|| options.text("apiBaseUrl"));
        let model = base(&mut options, endpoint.as_deref(), task.is_none()).map(|base| {
            let connection = Connection::read(&mut options, base, auth);
            let pricing = Pricing::read(&mut options, None);
            let Some(task) = task else {
                let id = (Kind::Chat, name);
                return openai_kind::model(
                    &mut options,
                    "huggingface",
                    connection,
                    pricing,
                    id,
                    Flavor::OPENAI,
                );
            };
            let url = match &endpoint {
                Some(_) => connection.base().clone(),
                None => connection.url(&format!("models/{name}")),
            };
            let hosted = Hosted { provider: "huggingface", url, connection, pricing };
            Box::new(InferenceModel::read(&mut options, hosted, task, name)) as Box<dyn Model>
        });
        options.finish(model)
    }
}

fn base(options: &mut Options<'_>, endpoint: Option<&str>, is_chat: bool) -> Option<Url> {
    match endpoint {
        // The endpoint of a chat may be given with its path.
        Some(endpoint) if is_chat => {
            let base = endpoint.trim_end_matches('/').trim_end_matches("/chat/completions");
            options.url(Some("apiEndpoint"), base)
        }
        Some(endpoint) => options.url(Some("apiEndpoint"), endpoint),
        None => options.url(None, if is_chat { CHAT } else { INFERENCE }),
    }
}
