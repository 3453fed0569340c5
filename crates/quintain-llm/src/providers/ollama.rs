//! Ollama, a server for models on the user's machine.

use quintain_content::registry::Meta;

use super::{Provider, rest};
use crate::config::{ConfigError, KeySource, Options};
use crate::dialects::ollama::OllamaKind;
use crate::environment::Environment;
use crate::exchange::Connection;
use crate::hosted::ollama::{OllamaEmbedding, OllamaModel};
use crate::hosted::{Hosted, bearer};
use crate::model::Model;
use crate::prices::Pricing;
use crate::spec::ModelSpec;

const META: Meta = Meta {
    id: "ollama",
    aliases: &[],
    summary: "Models of an Ollama server",
    docs: "\
# What it does
Sends prompts to an Ollama server: `ollama:chat:NAME`, `ollama:completion:NAME` (also `ollama:NAME`), and computes embeddings with
`ollama:embeddings:NAME`. The server is `http://localhost:11434`, `OLLAMA_BASE_URL` or `apiBaseUrl`. Options of the model such as
`temperature`, `num_ctx`, `num_predict` and `seed` are options here.

# Example
```yaml
providers:
  - id: ollama:chat:llama3.2
    config:
      num_ctx: 8192
```
",
    since: "0.1.0",
};

pub(super) struct Ollama;
pub(super) static OLLAMA: Ollama = Ollama;

impl Provider for Ollama {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn words(&self) -> &'static [&'static str] {
        &["ollama"]
    }

    fn key_variables(&self) -> &'static [&'static str] {
        &["OLLAMA_API_KEY"]
    }

    fn configure(
        &self,
        spec: &ModelSpec,
        env: &dyn Environment,
    ) -> Result<Box<dyn Model>, Vec<ConfigError>> {
        let mut options = Options::new(spec, env);
        let rest = rest(&spec.id);
        let (kind, name) = match rest.split_once(':') {
            Some((kind @ ("chat" | "completion" | "embedding" | "embeddings"), name)) => {
                (kind, name)
            }
            // Names have tags: `llama3.2:1b`.
            _ => ("completion", rest),
        };
        if name.is_empty() {
            let error = ConfigError::new("the id needs the name of a model");
            options.fail(error.help("write `ollama:chat:NAME`"));
        }
        let source =
            KeySource { variables: &["OLLAMA_API_KEY"], required: false, service: "Ollama" };
        let auth = options.key(&source).as_ref().map(bearer);
        let own = options.text("apiBaseUrl");
        let base = own.clone().or_else(|| options.variable("OLLAMA_BASE_URL"));
        let base = base.unwrap_or_else(|| "http://localhost:11434".to_owned());
        let base = options.url(own.as_ref().map(|_| "apiBaseUrl"), &base);
        let model = base.map(|base| {
            let connection = Connection::read(&mut options, base, auth);
            let pricing = Pricing::read(&mut options, None);
            let path = match kind {
                "chat" => "api/chat",
                "completion" => "api/generate",
                _ => "api/embed",
            };
            let url = connection.url(path);
            let hosted = Hosted { provider: "ollama", url, connection, pricing };
            match kind {
                "chat" => Box::new(OllamaModel::read(&mut options, hosted, name, OllamaKind::Chat)),
                "completion" => {
                    Box::new(OllamaModel::read(&mut options, hosted, name, OllamaKind::Completion))
                }
                _ => Box::new(OllamaEmbedding::read(&mut options, hosted, name)) as Box<dyn Model>,
            }
        });
        options.finish(model)
    }
}
