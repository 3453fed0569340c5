//! A generator: a target or a model, as an entry of a suite's `targets`.

use quintain_engine::store::{Entity, EntityKind};
use serde_json::{Map, Value, json};
use url::{Host, Url};

use super::Platform;
use super::credentials::{hide, reveal};
use crate::error::{ErrorCode, ToolError};
use crate::principal::Principal;

/// Kinds of generators that are not the name of a provider.
pub const OWN_TYPES: [&str; 12] = [
    "mcp",
    "http",
    "openai",
    "anthropic",
    "ollama",
    "azure_openai",
    "open_webui",
    "openai_compatible",
    "command",
    "client_sampling",
    "echo",
    "scripted",
];

/// A generator with its credentials.
#[derive(Debug, Clone)]
pub struct Generator {
    pub id: String,
    pub name: String,
    /// What the user configured: `provider_type`, `model_name`, `connection`, `parameters`, `system_prompt` ...
    pub body: Value,
}

impl Generator {
    pub fn provider_type(&self) -> &str {
        self.body["provider_type"].as_str().unwrap_or_default()
    }

    pub fn is_mcp(&self) -> bool {
        self.provider_type() == "mcp"
    }

    fn connection(&self, key: &str) -> Option<&Value> {
        self.body.get("connection")?.get(key).filter(|value| !value.is_null())
    }

    /// The program that it starts.
    pub fn command(&self) -> Option<String> {
        Some(self.connection("command")?.as_str()?.to_owned())
    }

    /// The folder that its program starts in.
    pub fn folder(&self) -> Option<std::path::PathBuf> {
        Some(self.connection("cwd")?.as_str()?.into())
    }

    /// The address that it contacts, as far as the user names one.
    pub fn url(&self) -> Option<String> {
        self.urls().into_iter().next()
    }

    /// Every address that the user names; which of them is used depends on the provider.
    pub fn urls(&self) -> Vec<String> {
        let in_parameters = ["apiBaseUrl", "base_url", "api_base"];
        let parameters = &self.body["parameters"];
        let named = in_parameters.iter().filter_map(|key| parameters.get(key));
        let named = self.connection("url").into_iter().chain(named);
        named.filter_map(|url| Some(url.as_str()?.to_owned())).collect()
    }

    /// Whether it is a model at the address of its provider, which the caller did not choose.
    pub fn is_at_provider(&self) -> bool {
        const WORDS: [&str; 6] = ["url", "host", "endpoint", "base", "proxy", "request"];
        let chooses = |key: &String| {
            let key = key.to_ascii_lowercase();
            WORDS.iter().any(|word| key.contains(word))
        };
        let parameters = self.body["parameters"].as_object();
        let is_chosen = parameters.is_some_and(|all| all.keys().any(chooses));
        let is_model = !matches!(self.provider_type(), "mcp" | "http" | "command");
        is_model && !is_chosen && self.urls().is_empty()
    }

    /// Whether it is a fixture that contacts nothing.
    pub fn is_offline(&self) -> bool {
        matches!(self.provider_type(), "echo" | "scripted")
    }

    /// Whether it is on this machine.
    pub fn is_local(&self) -> bool {
        // The host shows its user every request to its own model.
        let is_host = self.provider_type() == "client_sampling";
        if self.is_offline() || is_host || self.command().is_some() {
            return true;
        }
        let urls = self.urls();
        if urls.is_empty() {
            return self.provider_type() == "ollama" && self.is_at_provider();
        }
        urls.iter().all(|url| Url::parse(url).is_ok_and(|url| is_loopback(&url)))
    }

    /// Where it is, for people.
    pub fn place(&self) -> String {
        match (self.command(), self.url()) {
            (Some(command), _) => format!("the program `{command}`"),
            (None, Some(url)) => quintain_content::secret::shown_url(&url),
            (None, None) => format!("{} {}", self.provider_type(), self.model_name()),
        }
    }

    pub fn model_name(&self) -> &str {
        self.body["model_name"].as_str().unwrap_or_default()
    }

    pub fn system_prompt(&self) -> Option<&str> {
        self.body["system_prompt"].as_str().filter(|text| !text.is_empty())
    }

    /// The entry in `targets` of a suite.
    pub fn target(&self) -> Value {
        let mut target = match self.provider_type() {
            "mcp" => self.mcp_target(),
            "echo" => json!({"id": "echo"}),
            "command" => json!({"id": self.exec_id()}),
            "http" => self.http_target(),
            _ => self.model(),
        };
        target["label"] = json!(self.name);
        target
    }

    /// The model, as suites name one.
    pub fn model(&self) -> Value {
        let model = self.model_name();
        let id = match self.provider_type() {
            "openai" | "openai_compatible" | "open_webui" => format!("openai:chat:{model}"),
            "anthropic" => format!("anthropic:messages:{model}"),
            "ollama" => format!("ollama:chat:{model}"),
            "azure_openai" => format!("azure:chat:{model}"),
            "client_sampling" => "client-sampling".to_owned(),
            "echo" => "echo".to_owned(),
            other if model.is_empty() => other.replace('_', "-"),
            other => format!("{}:{model}", other.replace('_', "-")),
        };
        let mut config = self.body["parameters"].as_object().cloned().unwrap_or_default();
        if let Some(url) = self.connection("url") {
            config.entry("apiBaseUrl").or_insert_with(|| url.clone());
        }
        if let Some(headers) = self.connection("headers") {
            config.insert("headers".to_owned(), headers.clone());
        }
        let auth = self.connection("auth");
        let key = auth
            .and_then(|auth| ["token", "value", "api_key"].iter().find_map(|key| auth.get(key)));
        if let Some(key) = key {
            config.entry("apiKey").or_insert_with(|| key.clone());
        }
        if let Some(key) = config.remove("api_key") {
            config.entry("apiKey").or_insert(key);
        }
        if let Some(timeout) = self.connection("timeout_ms") {
            config.insert("timeoutMs".to_owned(), timeout.clone());
        }
        json!({"id": id, "config": config})
    }

    fn mcp_target(&self) -> Value {
        let mut server = Map::from_iter([("name".to_owned(), json!(self.name))]);
        for key in ["command", "args", "env", "cwd", "url", "headers", "auth", "transport"] {
            if let Some(value) = self.connection(key) {
                server.insert(key.to_owned(), value.clone());
            }
        }
        let mut config = Map::from_iter([("server".to_owned(), Value::Object(server))]);
        let others = [
            ("tools", "tools"),
            ("exclude_tools", "exclude_tools"),
            ("default_args", "defaultArgs"),
            ("timeout_ms", "timeout"),
            ("protocol", "protocol"),
        ];
        for (ours, suite) in others {
            if let Some(value) = self.connection(ours) {
                config.insert(suite.to_owned(), value.clone());
            }
        }
        json!({"id": "mcp", "config": config})
    }

    fn http_target(&self) -> Value {
        let mut config = self.body["parameters"].as_object().cloned().unwrap_or_default();
        for (ours, suite) in [("url", "url"), ("headers", "headers")] {
            if let Some(value) = self.connection(ours) {
                config.insert(suite.to_owned(), value.clone());
            }
        }
        json!({"id": "http", "config": config})
    }

    fn exec_id(&self) -> String {
        let args = self.connection("args").and_then(Value::as_array).cloned().unwrap_or_default();
        let words = self
            .command()
            .into_iter()
            .chain(args.iter().filter_map(|arg| Some(arg.as_str()?.to_owned())));
        let quoted = words.map(|word| {
            if word.contains(char::is_whitespace) { format!("\"{word}\"") } else { word }
        });
        format!("exec:{}", quoted.collect::<Vec<_>>().join(" "))
    }
}

/// Whether a URL names this machine.
fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

impl Platform {
    /// A generator with its credentials, by id or name.
    pub async fn generator(
        &self,
        principal: &Principal,
        wanted: &str,
    ) -> Result<Generator, ToolError> {
        let entity = self.entity(principal, EntityKind::Generator, wanted).await?;
        let hidden = self.credentials.get(&principal.owner, &entity.id).await?;
        let Entity { id, name, mut body, .. } = entity;
        reveal(&mut body, &hidden);
        let generator = Generator { id, name, body };
        if generator.body["enabled"] == false {
            let what = format!("the generator `{}` is not enabled", generator.name);
            return Err(ToolError::new(ErrorCode::InvalidConfiguration, what)
                .with_hint("update_generator with `enabled: true`"));
        }
        // What was allowed when it was created may no longer be.
        self.check_generator(principal, &generator)?;
        Ok(generator)
    }

    /// Stores a new generator.
    pub async fn add_generator(
        &self,
        principal: &Principal,
        name: Option<&str>,
        mut body: Value,
    ) -> Result<Entity, ToolError> {
        check_body(&body)?;
        let draft = Generator { id: String::new(), name: String::new(), body: body.clone() };
        self.check_generator(principal, &draft)?;
        let hidden = hide(&mut body, &super::credentials::Hidden::new());
        let entity = self.add_entity(principal, EntityKind::Generator, name, &body).await?;
        self.credentials.put(&principal.owner, &entity.id, hidden).await?;
        Ok(entity)
    }

    /// Replaces a generator as it was read.
    pub async fn change_generator(
        &self,
        principal: &Principal,
        read: &Entity,
        name: &str,
        mut body: Value,
    ) -> Result<Entity, ToolError> {
        check_body(&body)?;
        let earlier = self.credentials.get(&principal.owner, &read.id).await?;
        let hidden = hide(&mut body, &earlier);
        let mut whole = body.clone();
        reveal(&mut whole, &hidden);
        let draft = Generator { id: read.id.clone(), name: name.to_owned(), body: whole };
        self.check_generator(principal, &draft)?;
        let kind = EntityKind::Generator;
        let changed = self.change_entity(principal, kind, read, name, &body).await?;
        self.credentials.put(&principal.owner, &read.id, hidden).await?;
        Ok(changed)
    }
}

/// Refuses a generator that cannot work: the schema cannot express these rules.
pub fn check_body(body: &Value) -> Result<(), ToolError> {
    let invalid =
        |what: &str| Err(ToolError::new(ErrorCode::InvalidConfiguration, what.to_owned()));
    let kind = body["provider_type"].as_str().unwrap_or_default();
    let connection = &body["connection"];
    let has = |key: &str| connection.get(key).is_some_and(|value| !value.is_null());
    let has_model = body["model_name"].as_str().is_some_and(|name| !name.is_empty());
    if !OWN_TYPES.contains(&kind) && !is_provider(kind) {
        return invalid(&format!("there is no provider `{kind}`"));
    }
    match kind {
        "mcp" if !has("command") && !has("url") => {
            invalid("an MCP server needs `connection.command` or `connection.url`")
        }
        "mcp" if has("command") && has("url") => {
            invalid("an MCP server needs either `connection.command` or `connection.url`, not both")
        }
        "http" | "open_webui" | "openai_compatible" if !has("url") => {
            invalid(&format!("`{kind}` needs `connection.url`"))
        }
        "command" if !has("command") => invalid("`command` needs `connection.command`"),
        "mcp" | "http" | "command" | "client_sampling" | "echo" | "scripted" => Ok(()),
        _ if !has_model => invalid("model_name is required for this provider_type"),
        _ => Ok(()),
    }
}

/// Whether suites know a provider of this name.
fn is_provider(name: &str) -> bool {
    let name = name.replace('_', "-");
    let kinds = quintain_engine::target_kinds();
    let models = kinds.iter().filter(|kind| kind.meta().id == "model");
    models.flat_map(|kind| kind.words()).any(|word| *word == name)
}

/// Every accepted `provider_type`, providers of models with dashes also in the notation with underscores.
pub fn provider_types() -> Vec<String> {
    let mut types: Vec<String> = OWN_TYPES.iter().map(|name| (*name).to_owned()).collect();
    for name in providers() {
        for form in [name.to_owned(), name.replace('-', "_")] {
            if !types.contains(&form) {
                types.push(form);
            }
        }
    }
    types
}

/// The names of providers of models.
pub fn providers() -> Vec<&'static str> {
    let kinds = quintain_engine::target_kinds();
    kinds
        .iter()
        .filter(|kind| kind.meta().id == "model")
        .flat_map(|kind| kind.words().to_vec())
        .collect()
}
