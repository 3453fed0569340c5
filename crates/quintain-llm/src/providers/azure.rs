//! Azure OpenAI: OpenAI's dialect with deployments, versions and a header of its own.

use http::HeaderName;
use quintain_content::registry::Meta;
use secrecy::ExposeSecret as _;
use url::Url;

use super::{Provider, rest, word};
use crate::config::{ConfigError, KeySource, Options};
use crate::dialects::chat_completions::Flavor;
use crate::environment::Environment;
use crate::exchange::Connection;
use crate::hosted::Hosted;
use crate::hosted::openai_kind::{self, Kind, read_id};
use crate::model::Model;
use crate::prices::Pricing;
use crate::spec::ModelSpec;

const META: Meta = Meta {
    id: "azure",
    aliases: &["azureopenai"],
    summary: "Deployments of Azure OpenAI",
    docs: "\
# What it does
Sends prompts to a deployment: `azure:chat:DEPLOYMENT`, `azure:responses:DEPLOYMENT`, `azure:completion:DEPLOYMENT`,
`azure:embedding:DEPLOYMENT`. `apiHost` (or
`AZURE_API_HOST`) or `apiBaseUrl` names the resource, `apiVersion` the version. The key comes from `apiKey`, `AZURE_API_KEY` or
`AZURE_OPENAI_API_KEY`; logins with Entra ID are not supported.

# Example
```yaml
providers:
  - id: azure:chat:my-deployment
    config:
      apiHost: my-resource.openai.azure.com
```
",
    since: "0.1.0",
};

const API_VERSION: &str = "2024-12-01-preview";

pub(super) struct Azure;
pub(super) static AZURE: Azure = Azure;

impl Provider for Azure {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn words(&self) -> &'static [&'static str] {
        &["azure", "azureopenai"]
    }

    fn configure(
        &self,
        spec: &ModelSpec,
        env: &dyn Environment,
    ) -> Result<Box<dyn Model>, Vec<ConfigError>> {
        let mut options = Options::new(spec, env);
        let id = read_id(&mut options, word(&spec.id), rest(&spec.id));
        if let Some((Kind::Moderation, _)) = id {
            let error = ConfigError::new("moderation by Azure Content Safety is not supported");
            options.fail(error.help("use `openai:moderation:omni-moderation-latest`"));
        }
        let variables = &["AZURE_API_KEY", "AZURE_OPENAI_API_KEY"];
        let key = options.key(&KeySource { variables, required: true, service: "Azure" });
        let auth =
            key.map(|key| (HeaderName::from_static("api-key"), key.expose_secret().to_owned()));
        let version = options.text("apiVersion").unwrap_or_else(|| API_VERSION.to_owned());
        let base = base(&mut options);
        let model = base.zip(id).map(|(base, (kind, deployment))| {
            let deployment = deployment.as_str();
            let connection = Connection::read(&mut options, base, auth);
            let pricing = Pricing::read(&mut options, Some("openai"));
            let url = url(&connection, kind, deployment, &version);
            let hosted = Hosted { provider: "azure", url, connection, pricing };
            openai_kind::of_kind(&mut options, hosted, (kind, deployment), Flavor::OPENAI)
        });
        options.finish(model)
    }
}

fn base(options: &mut Options<'_>) -> Option<Url> {
    let host = options
        .text("apiHost")
        .or_else(|| options.first_variable(&["AZURE_API_HOST", "AZURE_OPENAI_API_HOST"]));
    if let Some(host) = host {
        let host = host.trim_start_matches("https://").trim_end_matches('/');
        return options.url(Some("apiHost"), &format!("https://{host}"));
    }
    let variables = ["AZURE_API_BASE_URL", "AZURE_OPENAI_API_BASE_URL", "AZURE_OPENAI_BASE_URL"];
    if let Some(base) = options.text("apiBaseUrl").or_else(|| options.first_variable(&variables)) {
        return options.url(Some("apiBaseUrl"), &base);
    }
    let error = ConfigError::of("apiHost", "Azure needs the host of the resource");
    let help = "set `config.apiHost` or `AZURE_API_HOST`, such as `NAME.openai.azure.com`";
    options.fail(error.help(help));
    None
}

/// The newer interface has one path for all deployments and no dated versions.
fn url(connection: &Connection, kind: Kind, deployment: &str, version: &str) -> Url {
    let is_v1 = connection.base().path().trim_end_matches('/').ends_with("/v1");
    let mut url = match kind {
        Kind::Responses if is_v1 => return connection.url("responses"),
        Kind::Responses => return connection.url("openai/v1/responses"),
        Kind::Completion if is_v1 => return connection.url("completions"),
        Kind::Chat if is_v1 => return connection.url("chat/completions"),
        Kind::Embedding if is_v1 => return connection.url("embeddings"),
        Kind::Chat | Kind::Moderation => {
            connection.url(&format!("openai/deployments/{deployment}/chat/completions"))
        }
        Kind::Completion => connection.url(&format!("openai/deployments/{deployment}/completions")),
        Kind::Embedding => connection.url(&format!("openai/deployments/{deployment}/embeddings")),
    };
    url.query_pairs_mut().append_pair("api-version", version);
    url
}
