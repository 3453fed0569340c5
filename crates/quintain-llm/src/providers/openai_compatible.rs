//! Services and local servers that speak OpenAI's dialect. What distinguishes them is data.

mod table;

use http::HeaderName;
use quintain_content::registry::Meta;
use secrecy::ExposeSecret as _;
use url::Url;

use self::table::{Base, SERVICES, Service, WORDS};
use super::{Provider, rest, word};
use crate::config::{ConfigError, KeySource, Options};
use crate::environment::Environment;
use crate::exchange::Connection;
use crate::hosted::bearer;
use crate::hosted::openai_kind::{self, read_id};
use crate::model::Model;
use crate::prices::Pricing;
use crate::spec::ModelSpec;

const META: Meta = Meta {
    id: "openai-compatible",
    aliases: &[],
    summary: "Services and local servers that speak OpenAI's dialect, such as groq, openrouter, mistral, vllm, llama.cpp",
    docs: "\
# What it does
Sends prompts to the service that the id starts with: `groq:NAME`, `openrouter:NAME`, `mistral:NAME`, `vllm:NAME`. The kinds of
`openai` work as far as the service offers them (`mistral:embedding:NAME`). Options are those of `openai`.

Every service has its own variable for the key, such as `GROQ_API_KEY`; an error names it. Servers on this machine (`vllm`, `lmstudio`,
`localai`, `llama.cpp`, `llamafile`, `litellm`, `text-generation-inference`, `docker`) need none. `apiBaseUrl` replaces the address.

# Example
```yaml
providers:
  - id: groq:llama-3.3-70b-versatile
  - id: vllm:Qwen/Qwen2.5-7B-Instruct
    config:
      apiBaseUrl: http://gpu.example:8000/v1
```
",
    since: "0.1.0",
};

pub(super) struct OpenAiCompatible;
pub(super) static OPENAI_COMPATIBLE: OpenAiCompatible = OpenAiCompatible;

impl Provider for OpenAiCompatible {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn words(&self) -> &'static [&'static str] {
        WORDS
    }

    fn configure(
        &self,
        spec: &ModelSpec,
        env: &dyn Environment,
    ) -> Result<Box<dyn Model>, Vec<ConfigError>> {
        let word = word(&spec.id);
        let Some(service) = SERVICES.iter().find(|service| service.words.contains(&word)) else {
            return Err(vec![super::unknown(&spec.id)]);
        };
        let mut options = Options::new(spec, env);
        let id = read_id(&mut options, word, rest(&spec.id));
        let needs = options.flag("apiKeyRequired").unwrap_or(service.needs_key);
        let source =
            KeySource { variables: service.key_variables, required: needs, service: service.title };
        let key = options.key(&source);
        let auth = key.as_ref().map(|key| match service.key_header {
            Some(name) => (HeaderName::from_static(name), key.expose_secret().to_owned()),
            None => bearer(key),
        });
        let base = base(&mut options, service);
        let model = base.zip(id).map(|(base, (kind, name))| {
            let connection = Connection::read(&mut options, base, auth);
            let pricing = Pricing::read(&mut options, service.prices);
            openai_kind::model(
                &mut options,
                service.words[0],
                connection,
                pricing,
                (kind, &name),
                service.flavor,
            )
        });
        options.finish(model)
    }
}

/// `apiBaseUrl`, `apiHost`, the variables of the service, then its address.
fn base(options: &mut Options<'_>, service: &Service) -> Option<Url> {
    if let Some(base) = options.text("apiBaseUrl") {
        return options.url(Some("apiBaseUrl"), &base);
    }
    if let Some(host) = options.text("apiHost") {
        return options.url(Some("apiHost"), &format!("https://{host}/v1"));
    }
    let joined = |base: &str| format!("{}{}", base.trim_end_matches('/'), service.suffix);
    let named = service.base_option.and_then(|key| options.text(key));
    if let Some(base) = named.or_else(|| options.first_variable(service.base_variables)) {
        return options.url(service.base_option, &joined(&base));
    }
    match service.base {
        Base::Fixed(base) => options.url(None, base),
        Base::Account { before, option, variable, after } => {
            let account = options.text(option).or_else(|| options.variable(variable));
            let Some(account) = account else {
                let error = ConfigError::of(option, format!("{} needs `{option}`", service.title));
                options.fail(error.help(format!("set `config.{option}` or `{variable}`")));
                return None;
            };
            options.url(Some(option), &format!("{before}{account}{after}"))
        }
        Base::Needed => {
            let key = service.base_option.unwrap_or("apiBaseUrl");
            let error =
                ConfigError::of(key, format!("{} needs the address of the server", service.title));
            let options_and_variables = std::iter::once(format!("`config.{key}`"))
                .chain(service.base_variables.iter().map(|name| format!("`{name}`")));
            let places: Vec<String> = options_and_variables.collect();
            options.fail(error.help(format!("set {}", places.join(" or "))));
            None
        }
    }
}
