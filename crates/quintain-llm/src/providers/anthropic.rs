//! Anthropic's messages.

use http::HeaderName;
use quintain_content::registry::Meta;
use secrecy::ExposeSecret as _;
use serde_json::Value;

use super::{Provider, rest};
use crate::config::{ConfigError, KeySource, Options};
use crate::environment::Environment;
use crate::exchange::Connection;
use crate::hosted::Hosted;
use crate::hosted::messages::MessagesModel;
use crate::model::Model;
use crate::prices::Pricing;
use crate::spec::ModelSpec;

const META: Meta = Meta {
    id: "anthropic",
    aliases: &[],
    summary: "Models of Anthropic, and of servers that speak its dialect",
    docs: "\
# What it does
Sends prompts to `/v1/messages` of Anthropic or of the server that `apiBaseUrl` or `ANTHROPIC_BASE_URL` names. The system message of a
conversation in JSON is sent apart from the others.

The key comes from `apiKey`, `apiKeyFile`, the variable that `apiKeyEnvar` names, or `ANTHROPIC_API_KEY`. As in promptfoo, `temperature`
is 0 and `max_tokens` 1024 by default; models that think get more, and no temperature. `extra_body` is merged into the body.

# Example
```yaml
providers:
  - id: anthropic:messages:claude-haiku-4-5
    config:
      max_tokens: 2000
```
",
    since: "0.1.0",
};

const VERSION: &str = "2023-06-01";
/// Structured output in the options needs it on older endpoints.
const STRUCTURED: &str = "structured-outputs-2025-11-13";

pub(super) struct Anthropic;
pub(super) static ANTHROPIC: Anthropic = Anthropic;

impl Provider for Anthropic {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn words(&self) -> &'static [&'static str] {
        &["anthropic"]
    }

    fn key_variables(&self) -> &'static [&'static str] {
        &["ANTHROPIC_API_KEY"]
    }

    fn configure(
        &self,
        spec: &ModelSpec,
        env: &dyn Environment,
    ) -> Result<Box<dyn Model>, Vec<ConfigError>> {
        let mut options = Options::new(spec, env);
        let name = rest(&spec.id);
        let name = name.strip_prefix("messages:").unwrap_or(name);
        if let Some(old) = name.strip_prefix("completion:") {
            let message =
                format!("text completions are no longer offered; use `anthropic:messages:{old}`");
            options.fail(ConfigError::new(message));
        } else if name.is_empty() || name == "messages" {
            let error = ConfigError::new("the id needs the name of a model");
            options.fail(error.help("write `anthropic:messages:NAME`"));
        }
        let required = options.flag("apiKeyRequired").unwrap_or(true);
        let source =
            KeySource { variables: &["ANTHROPIC_API_KEY"], required, service: "Anthropic" };
        let key = options.key(&source);
        let auth =
            key.map(|key| (HeaderName::from_static("x-api-key"), key.expose_secret().to_owned()));
        let own = options.text("apiBaseUrl");
        let base = own.clone().or_else(|| options.variable("ANTHROPIC_BASE_URL"));
        let base = base.unwrap_or_else(|| "https://api.anthropic.com".to_owned());
        let base = options.url(own.as_ref().map(|_| "apiBaseUrl"), &base);
        let beta = betas(&options);
        let model = base.map(|base| {
            let mut connection =
                Connection::read(&mut options, base, auth).header("anthropic-version", VERSION);
            if !beta.is_empty() {
                connection = connection.header("anthropic-beta", &beta.join(","));
            }
            let pricing = Pricing::read(&mut options, Some("anthropic"));
            // The address of a gateway often ends with the version.
            let path =
                if connection.base().path().ends_with("/v1") { "messages" } else { "v1/messages" };
            let url = connection.url(path);
            let hosted = Hosted { provider: "anthropic", url, connection, pricing };
            Box::new(MessagesModel::read(&mut options, hosted, name)) as Box<dyn Model>
        });
        options.finish(model)
    }
}

fn betas(options: &Options<'_>) -> Vec<String> {
    let listed = options.get("beta").and_then(Value::as_array).into_iter().flatten();
    let mut betas: Vec<String> = listed.filter_map(Value::as_str).map(str::to_owned).collect();
    if options.get("output_format").is_some() {
        betas.push(STRUCTURED.to_owned());
    }
    betas
}
