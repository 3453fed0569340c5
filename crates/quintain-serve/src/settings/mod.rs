//! The settings of the server. Each has a key in the `serve:` section of the configuration file and an environment variable;
//! a flag wins over the variable, the variable over the file.

mod table;
mod unsafe_choices;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value};

pub use table::{SETTINGS, Setting};
pub use unsafe_choices::warnings;

/// Where the server listens when nothing else is said.
pub const DEFAULT_ADDRESS: &str = "127.0.0.1:8765";

/// All settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    pub name: String,
    pub version: String,
    pub description: String,
    pub transport: Transport,
    pub address: SocketAddr,
    pub public_url: Option<String>,
    pub tls_cert: Option<PathBuf>,
    pub tls_key: Option<PathBuf>,
    pub sse_endpoint: String,
    pub toolset: Toolset,
    pub enable_tools: bool,
    pub enable_resources: bool,
    pub enable_prompts: bool,
    pub enable_sampling: bool,
    /// Only HTTP asks for tokens.
    pub require_auth: bool,
    pub issuer: Option<String>,
    /// Accepted values of `aud` of external tokens. Without one, the URL of this server.
    pub audience: Option<String>,
    /// The client of this server at the external issuer, for the proxy at `/mcp/oauth`.
    pub oauth_client_id: Option<String>,
    pub oauth_client_secret: Option<String>,
    pub allowed_origins: Vec<String>,
    pub allowed_hosts: Vec<String>,
    pub allow_targets: Vec<String>,
    /// `None`: any command on stdio, none over HTTP.
    pub allow_commands: Option<Vec<String>>,
    pub tool_timeout: Duration,
    pub max_tool_results: usize,
    pub page_size: usize,
    pub resource_cache_ttl: Duration,
    pub max_resource_size: usize,
    pub max_body_size: usize,
    /// Requests of one principal per minute; 0 does not limit.
    pub rate_limit: u32,
    pub prompt_template_dir: Option<PathBuf>,
    pub sampling_max_tokens: u32,
    pub sampling_default_temperature: f64,
    pub validation_errors: ValidationErrors,
}

/// How clients reach the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    Stdio,
    /// Streamable HTTP and HTTP+SSE.
    Http,
}

/// Which tools are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Toolset {
    Core,
    Full,
}

/// How invalid arguments are reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValidationErrors {
    /// As the error -32602.
    Rpc,
    /// As a tool error, which hosts show to their model.
    Tool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            name: "quintain".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            description: "Tests, attacks and grades MCP servers, agents and language models"
                .to_owned(),
            transport: Transport::Stdio,
            address: SocketAddr::from(([127, 0, 0, 1], 8765)),
            public_url: None,
            tls_cert: None,
            tls_key: None,
            sse_endpoint: "/mcp/sse".to_owned(),
            toolset: Toolset::Full,
            enable_tools: true,
            enable_resources: true,
            enable_prompts: true,
            enable_sampling: true,
            require_auth: true,
            issuer: None,
            audience: None,
            oauth_client_id: None,
            oauth_client_secret: None,
            allowed_origins: vec![
                "http://localhost:*".to_owned(),
                "http://127.0.0.1:*".to_owned(),
                "http://[::1]:*".to_owned(),
            ],
            allowed_hosts: Vec::new(),
            allow_targets: Vec::new(),
            allow_commands: None,
            tool_timeout: Duration::from_mins(5),
            max_tool_results: 100,
            page_size: 50,
            resource_cache_ttl: Duration::from_hours(1),
            max_resource_size: 10 * 1024 * 1024,
            max_body_size: 4 * 1024 * 1024,
            rate_limit: 1200,
            prompt_template_dir: None,
            sampling_max_tokens: 2000,
            sampling_default_temperature: 0.7,
            validation_errors: ValidationErrors::Rpc,
        }
    }
}

/// Where the value of a setting comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    Default,
    File(String),
    Variable(&'static str),
    Flag(String),
}

impl std::fmt::Display for Origin {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Default => out.write_str("default"),
            Self::File(path) => out.write_str(path),
            Self::Variable(name) => out.write_str(name),
            Self::Flag(name) => out.write_str(name),
        }
    }
}

/// Settings with the origin of each.
#[derive(Debug, Clone, PartialEq)]
pub struct Effective {
    pub settings: Settings,
    origins: BTreeMap<&'static str, Origin>,
}

/// A value that is not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid value of {place}: {why}")]
pub struct InvalidSetting {
    pub place: String,
    pub why: String,
}

impl Effective {
    /// Reads the file's section first and then the variables.
    ///
    /// # Errors
    /// All invalid values and unknown keys.
    pub fn read(
        section: Option<(&str, &Map<String, Value>)>,
        variables: &BTreeMap<String, String>,
    ) -> Result<Self, Vec<InvalidSetting>> {
        let mut effective = Self { settings: Settings::default(), origins: BTreeMap::new() };
        let mut wrong = Vec::new();
        if let Some((file, section)) = section {
            for (key, value) in section {
                let place = format!("`serve.{key}` in {file}");
                let done = match SETTINGS.iter().find(|setting| setting.key == key) {
                    Some(setting) => effective.set(setting, value, Origin::File(file.to_owned())),
                    None => Err(unknown_key(key)),
                };
                wrong.extend(done.err().map(|why| InvalidSetting { place, why }));
            }
        }
        for setting in SETTINGS {
            let Some(text) = variables.get(setting.variable).filter(|text| !text.is_empty()) else {
                continue;
            };
            let origin = Origin::Variable(setting.variable);
            let done = setting.parse(text).and_then(|value| effective.set(setting, &value, origin));
            let place = setting.variable.to_owned();
            wrong.extend(done.err().map(|why| InvalidSetting { place, why }));
        }
        if wrong.is_empty() { Ok(effective) } else { Err(wrong) }
    }

    /// Changes a setting by its key, for a flag.
    ///
    /// # Errors
    /// If the value is not accepted.
    pub fn set_flag(&mut self, key: &str, flag: &str, value: &Value) -> Result<(), InvalidSetting> {
        let setting = SETTINGS.iter().find(|setting| setting.key == key);
        let done = match setting {
            Some(setting) => self.set(setting, value, Origin::Flag(flag.to_owned())),
            None => Err(unknown_key(key)),
        };
        done.map_err(|why| InvalidSetting { place: flag.to_owned(), why })
    }

    fn set(
        &mut self,
        setting: &'static Setting,
        value: &Value,
        origin: Origin,
    ) -> Result<(), String> {
        (setting.set)(&mut self.settings, value)?;
        self.origins.insert(setting.key, origin);
        Ok(())
    }

    pub fn origin(&self, setting: &Setting) -> &Origin {
        self.origins.get(setting.key).unwrap_or(&Origin::Default)
    }
}

fn unknown_key(key: &str) -> String {
    let keys = SETTINGS.iter().map(|setting| setting.key);
    match quintain_source::closest(key, keys) {
        Some(near) => format!("unknown key; did you mean `{near}`?"),
        None => "unknown key".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn variables(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn the_variables_of_the_reference_are_read_as_it_writes_them() {
        let env = variables(&[
            ("MCP_SERVER_NAME", "ViolentUTF MCP Server"),
            ("MCP_TRANSPORT_TYPE", "sse"),
            ("MCP_SSE_ENDPOINT", "/events"),
            ("MCP_ENABLE_PROMPTS", "false"),
            ("MCP_REQUIRE_AUTH", "true"),
            ("MCP_ALLOWED_ORIGINS", r#"["http://localhost:*"]"#),
            ("MCP_TOOL_TIMEOUT", "5"),
            ("MCP_RESOURCE_CACHE_TTL", "0"),
        ]);
        let read = Effective::read(None, &env).unwrap().settings;
        assert_eq!(read.name, "ViolentUTF MCP Server");
        assert_eq!(read.transport, Transport::Http);
        assert_eq!(read.sse_endpoint, "/events");
        assert!(!read.enable_prompts && read.enable_tools && read.require_auth);
        assert_eq!(read.allowed_origins, ["http://localhost:*"]);
        assert_eq!(read.tool_timeout, Duration::from_secs(5));
        assert_eq!(read.resource_cache_ttl, Duration::ZERO);
    }

    #[test]
    fn a_variable_wins_over_the_file_and_a_flag_over_both() {
        let section = json!({"toolTimeout": 7, "toolset": "core"});
        let file = Some(("quintain.yaml", section.as_object().unwrap()));
        let mut read = Effective::read(file, &variables(&[("MCP_TOOL_TIMEOUT", "9")])).unwrap();
        assert_eq!(read.settings.tool_timeout, Duration::from_secs(9));
        assert_eq!(read.settings.toolset, Toolset::Core);
        read.set_flag("toolset", "--toolset", &json!("full")).unwrap();
        assert_eq!(read.settings.toolset, Toolset::Full);
    }

    #[test]
    fn all_invalid_values_are_reported() {
        let section = json!({"tooltimeout": 7, "toolset": "some"});
        let file = Some(("quintain.yaml", section.as_object().unwrap()));
        let wrong = Effective::read(file, &variables(&[("MCP_TOOL_TIMEOUT", "soon")])).unwrap_err();
        let lines: Vec<String> = wrong.iter().map(ToString::to_string).collect();
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert!(lines[0].contains("did you mean `toolTimeout`?"), "{lines:?}");
    }

    #[test]
    fn every_setting_accepts_what_it_shows() {
        for setting in SETTINGS {
            let mut settings = Settings::default();
            let shown = (setting.show)(&settings);
            if !shown.is_null() {
                (setting.set)(&mut settings, &shown)
                    .unwrap_or_else(|why| panic!("{}: {why}", setting.key));
            }
            assert_eq!(settings, Settings::default(), "{}", setting.key);
        }
    }
}
