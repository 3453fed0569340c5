//! OpenAI: chat completions, responses, text completions, embeddings, moderation.

use quintain_content::registry::Meta;
use url::{Host, Url};

use super::{Provider, rest};
use crate::config::{ConfigError, KeySource, Options};
use crate::dialects::chat_completions::Flavor;
use crate::environment::Environment;
use crate::exchange::Connection;
use crate::hosted::bearer;
use crate::hosted::openai_kind::{self, Kind, read_id};
use crate::model::Model;
use crate::prices::Pricing;
use crate::spec::ModelSpec;

const META: Meta = Meta {
    id: "openai",
    aliases: &[],
    summary: "Models of OpenAI, and of servers that speak its dialect",
    docs: "\
# What it does
Sends prompts to `/chat/completions` (`openai:chat:NAME` or `openai:NAME`), `/responses` (`openai:responses:NAME`) or `/completions`
(`openai:completion:NAME`) of OpenAI or of the server that `apiBaseUrl` names, computes embeddings (`openai:embedding:NAME`) and moderates
texts (`openai:moderation:NAME`).

The key comes from `apiKey`, `apiKeyFile`, the variable that `apiKeyEnvar` names, or `OPENAI_API_KEY`. `OPENAI_BASE_URL` replaces the
address. As in promptfoo, `temperature` is 0 and `max_tokens` 1024 by default; models that reason get neither. `passthrough` is merged
into the body.

# Example
```yaml
providers:
  - id: openai:chat:gpt-4o-mini
    config:
      temperature: 0.2
      apiBaseUrl: https://models.example/v1
```
",
    since: "0.1.0",
};

pub(super) struct OpenAi;
pub(super) static OPENAI: OpenAi = OpenAi;

impl Provider for OpenAi {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn words(&self) -> &'static [&'static str] {
        &["openai"]
    }

    fn key_variables(&self) -> &'static [&'static str] {
        KEYS
    }

    fn configure(
        &self,
        spec: &ModelSpec,
        env: &dyn Environment,
    ) -> Result<Box<dyn Model>, Vec<ConfigError>> {
        let mut options = Options::new(spec, env);
        let base = base(&mut options);
        // A server on this machine rarely asks for a key.
        let is_own = base.as_ref().is_some_and(is_loopback);
        let required = options.flag("apiKeyRequired").unwrap_or(!is_own);
        let source = KeySource { variables: KEYS, required, service: "OpenAI" };
        let auth = options.key(&source).as_ref().map(bearer);
        let organization =
            options.text("organization").or_else(|| options.variable("OPENAI_ORGANIZATION"));
        let id = read_id(&mut options, "openai", rest(&spec.id));
        let model = base.zip(id).map(|(base, (kind, name))| {
            let mut connection = Connection::read(&mut options, base, auth);
            if let Some(organization) = organization {
                connection = connection.header("openai-organization", &organization);
            }
            let pricing = Pricing::read(&mut options, Some("openai"));
            openai_kind::model(
                &mut options,
                "openai",
                connection,
                pricing,
                (preferred(kind, &name), &name),
                Flavor::OPENAI,
            )
        });
        options.finish(model)
    }
}

const KEYS: &[&str] = &["OPENAI_API_KEY"];

/// Whether a URL names this machine.
fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// `apiHost`, `apiBaseUrl`, their variables, then OpenAI itself.
fn base(options: &mut Options<'_>) -> Option<Url> {
    if let Some(host) = options.text("apiHost") {
        return options.url(Some("apiHost"), &format!("https://{host}/v1"));
    }
    if let Some(base) = options.text("apiBaseUrl") {
        return options.url(Some("apiBaseUrl"), &base);
    }
    if let Some(host) = options.variable("OPENAI_API_HOST") {
        return options.url(None, &format!("https://{host}/v1"));
    }
    let set = options.first_variable(&["OPENAI_API_BASE_URL", "OPENAI_BASE_URL"]);
    options.url(None, set.as_deref().unwrap_or("https://api.openai.com/v1"))
}

/// Some models are offered as responses or as text completions only; an id without a kind means what works.
fn preferred(kind: Kind, name: &str) -> Kind {
    let is_responses_only =
        ["-codex", "-deep-research", "computer-use-"].iter().any(|part| name.contains(part))
            || (name.contains("-pro") && (name.starts_with("gpt-5") || name.starts_with('o')));
    let completes = name.starts_with("gpt-3.5-turbo-instruct")
        || ["babbage-002", "davinci-002"].contains(&name);
    match kind {
        Kind::Chat if is_responses_only => Kind::Responses,
        Kind::Chat if completes => Kind::Completion,
        other => other,
    }
}
