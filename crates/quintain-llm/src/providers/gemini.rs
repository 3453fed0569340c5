//! Google's Gemini with a key of AI Studio.

use http::HeaderName;
use quintain_content::registry::Meta;
use secrecy::ExposeSecret as _;
use url::Url;

use super::{Provider, rest, word};
use crate::config::{ConfigError, KeySource, Options};
use crate::environment::Environment;
use crate::exchange::Connection;
use crate::hosted::Hosted;
use crate::hosted::gemini::{GeminiEmbedding, GeminiModel};
use crate::model::Model;
use crate::prices::Pricing;
use crate::spec::ModelSpec;

const META: Meta = Meta {
    id: "gemini",
    aliases: &["google", "palm"],
    summary: "Google's Gemini models, with a key of AI Studio",
    docs: "\
# What it does
Sends prompts to `generateContent` of the Gemini API: `google:NAME`; `google:embedding:NAME` computes embeddings. The key comes from
`apiKey`, `GOOGLE_API_KEY` or `GEMINI_API_KEY`. `temperature`, `maxOutputTokens`, `topP`, `topK`, `stopSequences`, `generationConfig`,
`safetySettings`, `systemInstruction` and `responseSchema` are options. Models on Vertex AI are not supported.

# Example
```yaml
providers:
  - id: google:gemini-2.5-flash
    config:
      maxOutputTokens: 1000
```
",
    since: "0.1.0",
};

const OTHER_KINDS: &[&str] = &["live", "image", "video", "audio", "interactions"];

pub(super) struct Gemini;
pub(super) static GEMINI: Gemini = Gemini;

impl Provider for Gemini {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn words(&self) -> &'static [&'static str] {
        &["google", "gemini", "palm"]
    }

    fn configure(
        &self,
        spec: &ModelSpec,
        env: &dyn Environment,
    ) -> Result<Box<dyn Model>, Vec<ConfigError>> {
        let mut options = Options::new(spec, env);
        let rest = rest(&spec.id);
        let (kind, name) = rest.split_once(':').unwrap_or(("chat", rest));
        if OTHER_KINDS.contains(&kind) {
            let error = ConfigError::new(format!("`{}:{kind}` is not supported", word(&spec.id)));
            options.fail(error.help("supported are chat and embedding"));
        } else if name.is_empty() {
            let error = ConfigError::new("the id needs the name of a model");
            options.fail(error.help("write `google:NAME`"));
        }
        let variables = &["GOOGLE_API_KEY", "GEMINI_API_KEY", "PALM_API_KEY"];
        let key = options.key(&KeySource { variables, required: true, service: "Gemini" });
        let auth = key
            .map(|key| (HeaderName::from_static("x-goog-api-key"), key.expose_secret().to_owned()));
        let version = options.text("apiVersion").unwrap_or_else(|| "v1beta".to_owned());
        let base = base(&mut options);
        let model = base.map(|base| {
            let connection = Connection::read(&mut options, base, auth);
            let pricing = Pricing::read(&mut options, Some("google"));
            let url = |method: &str| connection.url(&format!("{version}/models/{name}:{method}"));
            if matches!(kind, "embedding" | "embeddings") {
                let (one, many) = (url("embedContent"), url("batchEmbedContents"));
                let hosted = Hosted { provider: "gemini", url: one, connection, pricing };
                return Box::new(GeminiEmbedding::read(&mut options, hosted, many, name))
                    as Box<dyn Model>;
            }
            let mut stream = url("streamGenerateContent");
            stream.query_pairs_mut().append_pair("alt", "sse");
            let url = url("generateContent");
            let hosted = Hosted { provider: "gemini", url, connection, pricing };
            Box::new(GeminiModel::read(&mut options, hosted, stream, name)) as Box<dyn Model>
        });
        options.finish(model)
    }
}

fn base(options: &mut Options<'_>) -> Option<Url> {
    let host = options.text("apiHost");
    if let Some(host) =
        host.or_else(|| options.first_variable(&["GOOGLE_API_HOST", "PALM_API_HOST"]))
    {
        return options.url(Some("apiHost"), &format!("https://{host}"));
    }
    let base = options.text("apiBaseUrl").or_else(|| options.variable("GOOGLE_API_BASE_URL"));
    options.url(None, base.as_deref().unwrap_or("https://generativelanguage.googleapis.com"))
}
