//! The table of settings: key, variable, meaning, and how a value is read and shown.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Settings, Toolset, Transport, ValidationErrors};

/// One setting.
pub struct Setting {
    /// Its key in the `serve:` section.
    pub key: &'static str,
    /// Its environment variable.
    pub variable: &'static str,
    pub what: &'static str,
    kind: Kind,
    pub(super) set: fn(&mut Settings, &Value) -> Result<(), String>,
    pub show: fn(&Settings) -> Value,
}

/// How the text of a variable becomes a value.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    Flag,
    Number,
    /// A JSON list, or texts separated by commas.
    List,
}

impl Setting {
    /// The value that the text of a variable means.
    pub(super) fn parse(&self, text: &str) -> Result<Value, String> {
        match self.kind {
            Kind::Text => Ok(json!(text)),
            Kind::Flag => match text.to_ascii_lowercase().as_str() {
                "true" | "1" | "yes" | "on" => Ok(json!(true)),
                "false" | "0" | "no" | "off" => Ok(json!(false)),
                _ => Err("expected true or false".to_owned()),
            },
            Kind::Number => serde_json::from_str(text).map_err(|_| "expected a number".to_owned()),
            Kind::List if text.trim_start().starts_with('[') => {
                serde_json::from_str(text).map_err(|error| format!("not a JSON list: {error}"))
            }
            Kind::List => Ok(json!(text.split(',').map(str::trim).collect::<Vec<_>>())),
        }
    }
}

fn text(value: &Value) -> Result<String, String> {
    value.as_str().map(str::to_owned).ok_or_else(|| "expected a text".to_owned())
}

fn flag(value: &Value) -> Result<bool, String> {
    value.as_bool().ok_or_else(|| "expected true or false".to_owned())
}

fn whole(value: &Value) -> Result<u64, String> {
    value.as_u64().ok_or_else(|| "expected a whole number, 0 or above".to_owned())
}

fn seconds(value: &Value) -> Result<Duration, String> {
    let wrong = || "expected a number of seconds, 0 or above".to_owned();
    let seconds = value.as_f64().ok_or_else(wrong)?;
    Duration::try_from_secs_f64(seconds).map_err(|_| wrong())
}

fn list(value: &Value) -> Result<Vec<String>, String> {
    let items = value.as_array().ok_or("expected a list")?;
    items.iter().map(text).collect()
}

fn url(value: &Value) -> Result<String, String> {
    let text = text(value)?;
    let valid = url::Url::parse(&text).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
    if valid {
        Ok(text.trim_end_matches('/').to_owned())
    } else {
        Err("expected a URL that starts with http:// or https://".to_owned())
    }
}

fn shown_path(path: Option<&PathBuf>) -> Value {
    path.map_or(Value::Null, |path| json!(path.to_string_lossy()))
}

macro_rules! setting {
    ($key:literal, $variable:literal, $kind:ident, $what:literal, |$to:ident, $value:ident| $set:expr, |$from:ident| $show:expr) => {
        Setting {
            key: $key,
            variable: $variable,
            what: $what,
            kind: Kind::$kind,
            set: |$to, $value| {
                $set;
                Ok(())
            },
            show: |$from| $show,
        }
    };
}

/// Every setting, in the order of lists.
pub static SETTINGS: &[Setting] = &[
    setting!(
        "name",
        "MCP_SERVER_NAME",
        Text,
        "Name of the server in `initialize`",
        |to, value| to.name = text(value)?,
        |from| json!(from.name)
    ),
    setting!(
        "version",
        "MCP_SERVER_VERSION",
        Text,
        "Version of the server in `initialize`",
        |to, value| to.version = text(value)?,
        |from| json!(from.version)
    ),
    setting!(
        "description",
        "MCP_SERVER_DESCRIPTION",
        Text,
        "Description of the server in `initialize`",
        |to, value| to.description = text(value)?,
        |from| json!(from.description)
    ),
    setting!(
        "transport",
        "MCP_TRANSPORT_TYPE",
        Text,
        "stdio, or http for streamable HTTP and HTTP+SSE (`sse` means http)",
        |to, value| to.transport = transport(value)?,
        |from| json!(transport_word(from.transport))
    ),
    setting!(
        "address",
        "QUINTAIN_SERVE_ADDRESS",
        Text,
        "Address to listen on over HTTP",
        |to, value| to.address =
            text(value)?.parse().map_err(|_| "expected an address such as 127.0.0.1:8765")?,
        |from| json!(from.address.to_string())
    ),
    setting!(
        "publicUrl",
        "QUINTAIN_SERVE_PUBLIC_URL",
        Text,
        "URL of this server as clients see it, behind a reverse proxy",
        |to, value| to.public_url = Some(url(value)?),
        |from| json!(from.public_url)
    ),
    setting!(
        "tlsCert",
        "QUINTAIN_SERVE_TLS_CERT",
        Text,
        "PEM file with the certificate chain",
        |to, value| to.tls_cert = Some(text(value)?.into()),
        |from| shown_path(from.tls_cert.as_ref())
    ),
    setting!(
        "tlsKey",
        "QUINTAIN_SERVE_TLS_KEY",
        Text,
        "PEM file with the private key",
        |to, value| to.tls_key = Some(text(value)?.into()),
        |from| shown_path(from.tls_key.as_ref())
    ),
    setting!(
        "sseEndpoint",
        "MCP_SSE_ENDPOINT",
        Text,
        "Path of the HTTP+SSE transport",
        |to, value| to.sse_endpoint = path(value)?,
        |from| json!(from.sse_endpoint)
    ),
    setting!(
        "toolset",
        "QUINTAIN_SERVE_TOOLSET",
        Text,
        "Which tools to list: core or full",
        |to, value| to.toolset = toolset(value)?,
        |from| json!(if from.toolset == Toolset::Core { "core" } else { "full" })
    ),
    setting!(
        "enableTools",
        "MCP_ENABLE_TOOLS",
        Flag,
        "Offer tools",
        |to, value| to.enable_tools = flag(value)?,
        |from| json!(from.enable_tools)
    ),
    setting!(
        "enableResources",
        "MCP_ENABLE_RESOURCES",
        Flag,
        "Offer resources",
        |to, value| to.enable_resources = flag(value)?,
        |from| json!(from.enable_resources)
    ),
    setting!(
        "enablePrompts",
        "MCP_ENABLE_PROMPTS",
        Flag,
        "Offer prompts",
        |to, value| to.enable_prompts = flag(value)?,
        |from| json!(from.enable_prompts)
    ),
    setting!(
        "enableSampling",
        "MCP_ENABLE_SAMPLING",
        Flag,
        "Let tools use the model of the client where it offers one",
        |to, value| to.enable_sampling = flag(value)?,
        |from| json!(from.enable_sampling)
    ),
    setting!(
        "requireAuth",
        "MCP_REQUIRE_AUTH",
        Flag,
        "Require a token over HTTP",
        |to, value| to.require_auth = flag(value)?,
        |from| json!(from.require_auth)
    ),
    setting!(
        "issuer",
        "QUINTAIN_SERVE_ISSUER",
        Text,
        "URL of an external OpenID Connect issuer, for example a Keycloak realm",
        |to, value| to.issuer = Some(url(value)?),
        |from| json!(from.issuer)
    ),
    setting!(
        "audience",
        "QUINTAIN_SERVE_AUDIENCE",
        Text,
        "Audience that external tokens must have",
        |to, value| to.audience = Some(text(value)?),
        |from| json!(from.audience)
    ),
    setting!(
        "oauthClientId",
        "QUINTAIN_SERVE_OAUTH_CLIENT_ID",
        Text,
        "Client id of this server at the external issuer",
        |to, value| to.oauth_client_id = Some(text(value)?),
        |from| json!(from.oauth_client_id)
    ),
    setting!(
        "oauthClientSecret",
        "QUINTAIN_SERVE_OAUTH_CLIENT_SECRET",
        Text,
        "Client secret of this server at the external issuer",
        |to, value| to.oauth_client_secret = Some(text(value)?),
        |from| from.oauth_client_secret.as_ref().map_or(Value::Null, |_| json!("(set)"))
    ),
    setting!(
        "allowedOrigins",
        "MCP_ALLOWED_ORIGINS",
        List,
        "Origins of web pages that may call; `:*` is any port",
        |to, value| to.allowed_origins = list(value)?,
        |from| json!(from.allowed_origins)
    ),
    setting!(
        "allowedHosts",
        "QUINTAIN_SERVE_ALLOWED_HOSTS",
        List,
        "Further values of the Host header",
        |to, value| to.allowed_hosts = list(value)?,
        |from| json!(from.allowed_hosts)
    ),
    setting!(
        "allowTargets",
        "QUINTAIN_SERVE_ALLOW_TARGETS",
        List,
        "Hosts and addresses that runs may reach besides loopback, which only an operator may name",
        |to, value| to.allow_targets = list(value)?,
        |from| json!(from.allow_targets)
    ),
    setting!(
        "allowCommands",
        "QUINTAIN_SERVE_ALLOW_COMMANDS",
        List,
        "Programs that an operator may start as target; by default any on stdio, none over HTTP",
        |to, value| to.allow_commands = Some(list(value)?),
        |from| json!(from.allow_commands)
    ),
    setting!(
        "toolTimeout",
        "MCP_TOOL_TIMEOUT",
        Number,
        "Seconds that a tool call may take",
        |to, value| to.tool_timeout = seconds(value)?,
        |from| json!(from.tool_timeout.as_secs_f64())
    ),
    setting!(
        "maxToolResults",
        "MCP_MAX_TOOL_RESULTS",
        Number,
        "Most entries of a list in a tool result",
        |to, value| to.max_tool_results = whole(value)?.max(1) as usize,
        |from| json!(from.max_tool_results)
    ),
    setting!(
        "pageSize",
        "QUINTAIN_SERVE_PAGE_SIZE",
        Number,
        "Entries per page of lists of tools, prompts and resources",
        |to, value| to.page_size = whole(value)?.max(1) as usize,
        |from| json!(from.page_size)
    ),
    setting!(
        "resourceCacheTtl",
        "MCP_RESOURCE_CACHE_TTL",
        Number,
        "Seconds that the contents of a resource are cached",
        |to, value| to.resource_cache_ttl = seconds(value)?,
        |from| json!(from.resource_cache_ttl.as_secs_f64())
    ),
    setting!(
        "maxResourceSize",
        "MCP_MAX_RESOURCE_SIZE",
        Number,
        "Most bytes of one resource",
        |to, value| to.max_resource_size = whole(value)? as usize,
        |from| json!(from.max_resource_size)
    ),
    setting!(
        "maxBodySize",
        "QUINTAIN_SERVE_MAX_BODY_SIZE",
        Number,
        "Most bytes of one HTTP request",
        |to, value| to.max_body_size = whole(value)? as usize,
        |from| json!(from.max_body_size)
    ),
    setting!(
        "rateLimit",
        "QUINTAIN_SERVE_RATE_LIMIT",
        Number,
        "Requests of one principal per minute over HTTP; 0 does not limit",
        |to, value| to.rate_limit = u32::try_from(whole(value)?).unwrap_or(u32::MAX),
        |from| json!(from.rate_limit)
    ),
    setting!(
        "promptTemplateDir",
        "MCP_PROMPT_TEMPLATE_DIR",
        Text,
        "Folder with further prompts",
        |to, value| to.prompt_template_dir = Some(text(value)?.into()),
        |from| shown_path(from.prompt_template_dir.as_ref())
    ),
    setting!(
        "samplingMaxTokens",
        "MCP_SAMPLING_MAX_TOKENS",
        Number,
        "Most tokens of one answer of the client's model",
        |to, value| to.sampling_max_tokens = u32::try_from(whole(value)?).unwrap_or(u32::MAX),
        |from| json!(from.sampling_max_tokens)
    ),
    setting!(
        "samplingDefaultTemperature",
        "MCP_SAMPLING_DEFAULT_TEMPERATURE",
        Number,
        "Temperature for the client's model",
        |to, value| to.sampling_default_temperature = value.as_f64().ok_or("expected a number")?,
        |from| json!(from.sampling_default_temperature)
    ),
    setting!(
        "validationErrors",
        "MCP_VALIDATION_ERRORS",
        Text,
        "How invalid arguments are reported: rpc (error -32602) or tool (tool error)",
        |to, value| to.validation_errors = validation_errors(value)?,
        |from| json!(if from.validation_errors == ValidationErrors::Rpc { "rpc" } else { "tool" })
    ),
];

fn transport(value: &Value) -> Result<Transport, String> {
    match text(value)?.as_str() {
        "stdio" => Ok(Transport::Stdio),
        "http" | "sse" | "streamable-http" | "streamable_http" => Ok(Transport::Http),
        _ => Err("expected stdio, http or sse".to_owned()),
    }
}

fn transport_word(transport: Transport) -> &'static str {
    match transport {
        Transport::Stdio => "stdio",
        Transport::Http => "http",
    }
}

fn toolset(value: &Value) -> Result<Toolset, String> {
    match text(value)?.as_str() {
        "core" => Ok(Toolset::Core),
        "full" => Ok(Toolset::Full),
        _ => Err("expected core or full".to_owned()),
    }
}

fn validation_errors(value: &Value) -> Result<ValidationErrors, String> {
    match text(value)?.as_str() {
        "rpc" => Ok(ValidationErrors::Rpc),
        "tool" => Ok(ValidationErrors::Tool),
        _ => Err("expected rpc or tool".to_owned()),
    }
}

fn path(value: &Value) -> Result<String, String> {
    let text = text(value)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "/-_.".contains(c);
    if text.starts_with('/') && text.len() > 1 && text.chars().all(plain) {
        Ok(text.trim_end_matches('/').to_owned())
    } else {
        Err("expected a path such as /mcp/sse".to_owned())
    }
}
