//! HTTP targets, with the configuration of promptfoo's `http` provider.

use std::collections::BTreeSet;

use quintain_content::registry::Meta;
use quintain_content::schema::build::{
    any, code as code_schema, flag, keys, map_of, refer, scalar, url,
};
use quintain_content::secret::{Secret, names_a_secret, of_named, of_url};
use quintain_evidence::code::Code;
use quintain_evidence::connection::{Auth, of_auth, of_pairs};
use quintain_evidence::effects::Contact;
use quintain_source::{
    Diagnostic, Diagnostics, Fields, Node, NodeKind, Scope, Severity, Span, is_template, wrong_type,
};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use super::{ConfigSchema, Entry, TargetKind};
use crate::files::{FileValue, code};
use crate::suite::auth;
use crate::suite::reader::Reader;
use crate::target::{Reach, Settings, bare};

const META: Meta = Meta {
    id: "http",
    aliases: &["https"],
    summary: "An HTTP endpoint that takes the prompt in a request",
    docs: "\
# What it does
Sends one request for every prompt. `{{prompt}}` and the variables of the test are filled in wherever they occur in
address, headers, parameters and body; `request` is the whole request as text instead. The response is the JSON or the
text of the reply, or what `transformResponse` makes of it. Every status is a response unless `validateStatus` rejects it.

# Example
```yaml
targets:
  - id: https://assistant.example.com/chat
    config:
      method: POST
      headers: {Authorization: 'Bearer {{env.ASSISTANT_TOKEN}}'}
      body: {message: '{{prompt}}'}
      transformResponse: json.reply
```
",
    since: "0.1.0",
};

pub struct HttpKind;

impl TargetKind for HttpKind {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn words(&self) -> &'static [&'static str] {
        &["http", "https"]
    }

    fn read(&self, entry: &mut Entry<'_>) -> Option<Box<dyn Settings>> {
        Some(Box::new(read(entry)?))
    }

    fn schema(&self) -> Option<ConfigSchema> {
        Some(ConfigSchema { ids: "^https?($|:)", config: schema() })
    }
}

/// The request to an HTTP endpoint. All texts are templates in which environment variables are expanded already.
#[derive(Debug)]
pub struct HttpTarget {
    pub url: String,
    /// The default is `GET`.
    pub method: Option<String>,
    pub headers: Vec<(String, SecretString)>,
    pub query: Vec<(String, SecretString)>,
    pub body: Option<Value>,
    /// The raw request as text, which replaces all of the above.
    pub request: Option<String>,
    pub use_https: bool,
    /// Credentials sent with every request: bearer, basic or API key.
    pub auth: Auth,
    /// Computes what is sent instead of the prompt, from `prompt`, `vars` and `context`.
    pub transform_request: Option<Code>,
    /// Computes the output from `json`, `text` and `context`.
    pub transform_response: Option<Code>,
    /// Decides whether a status is a success; without it, every status is.
    pub validate_status: Option<Code>,
    /// Retries of a request that the endpoint refuses with status 429.
    pub max_retries: u32,
}

impl Settings for HttpTarget {
    fn secrets(&self) -> Vec<Secret> {
        let mut found = of_url(&self.url);
        let pairs = self.headers.iter().chain(&self.query);
        found.extend(of_pairs(pairs.map(|(name, value)| (name, value))));
        found.extend(of_auth(&self.auth));
        let lines = self.request.iter().flat_map(|request| request.lines());
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            if names_a_secret(name) && !is_template(value) {
                found.extend(of_named(name, value.trim()));
            }
        }
        found
    }

    fn reach(&self, reach: &mut Reach<'_>) {
        let named = self.headers.iter().chain(&self.query).map(|(_, value)| value.expose_secret());
        let body = self.body.as_ref().map(Value::to_string).unwrap_or_default();
        let texts = named.chain([self.url.as_str(), &body]).chain(self.request.as_deref());
        let mut receives = reach.variables(texts, Scope::Env).with(reach.content);
        receives = receives.with(&reach.credentials(&self.auth));
        // The code can put any variable into a request.
        receives.any |= self.transform_request.is_some();
        let url = match &self.request {
            Some(request) => host_of(request, self.use_https),
            None => bare(&self.url),
        };
        reach.contact(Contact { what: reach.what.clone(), url, receives, files: Vec::new() });
        for (code, what) in [
            (&self.transform_request, "transforms requests"),
            (&self.transform_response, "transforms responses"),
            (&self.validate_status, "validates the status"),
        ] {
            code.iter().for_each(|code| reach.code(code, what));
        }
    }
}

/// The hosts of a raw request.
fn host_of(request: &str, https: bool) -> String {
    let scheme = if https { "https" } else { "http" };
    let hosts = request.lines().filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.trim().eq_ignore_ascii_case("host").then(|| value.trim())
    });
    let hosts: BTreeSet<&str> = hosts.collect();
    let hosts: Vec<&str> = hosts.into_iter().collect();
    format!("{scheme}://{}", hosts.join(" or "))
}

/// Retries of a request that the endpoint refuses with status 429, as for models.
const DEFAULT_RETRIES: u32 = 3;

/// Keys of promptfoo that Quintain does not support. Ignoring them would test something else.
const UNSUPPORTED: [&str; 6] =
    ["multipart", "signatureAuth", "tls", "session", "sessionParser", "sessionSource"];

fn read(entry: &mut Entry<'_>) -> Option<HttpTarget> {
    let (id, reader, dx) = (entry.id, entry.reader, &mut *entry.dx);
    let Some(node) = entry.config else {
        missing(id, entry.span, dx);
        return None;
    };
    let mut fields = Fields::of(node, "`config` of an HTTP target", dx)?;
    for name in UNSUPPORTED {
        if let Some((key, _)) = fields.entry(name) {
            let title = format!("`{name}` of an HTTP target is not supported");
            dx.push(Diagnostic::error("config::unsupported", title).at(key.span, ""));
        }
    }
    let transforms = ["transformResponse", "responseParser"];
    let response = fields.one_of(&transforms, Severity::Warning, dx);
    let url = fields.get("url").and_then(|node| text("url", node, reader, dx));
    let target = HttpTarget {
        url: url.unwrap_or_else(|| id.to_owned()),
        method: fields.get("method").and_then(|node| text("method", node, reader, dx)),
        headers: pairs(&mut fields, "headers", reader, dx),
        query: pairs(&mut fields, "queryParams", reader, dx),
        body: fields.get("body").map(|node| payload(node, reader, dx)),
        request: fields.get("request").and_then(|node| request(node, reader, dx)),
        use_https: fields.bool("useHttps", dx).unwrap_or(false),
        auth: fields.get("auth").and_then(|node| auth::read(node, reader, dx)).unwrap_or_default(),
        transform_request: fields
            .get("transformRequest")
            .and_then(|node| code("transformRequest", node, reader.base_dir, reader.files, dx)),
        transform_response: response
            .and_then(|(name, node)| code(name, node, reader.base_dir, reader.files, dx)),
        validate_status: fields
            .get("validateStatus")
            .and_then(|node| code("validateStatus", node, reader.base_dir, reader.files, dx)),
        max_retries: fields
            .get("maxRetries")
            .and_then(|node| text("maxRetries", node, reader, dx))
            .and_then(|text| text.trim().parse().ok())
            .unwrap_or(DEFAULT_RETRIES),
    };
    for name in ["tokenEstimation", "tools", "tool_choice", "toolFormat"] {
        fields.get(name);
    }
    fields.finish(reader.strictness, dx);
    if matches!(target.auth, Auth::OAuth(_) | Auth::Stored) {
        let title = "an HTTP target supports only `bearer`, `basic` and `api_key` credentials";
        dx.push(Diagnostic::error("config::unsupported", title).at(node.span, ""));
    }
    if target.request.is_none() {
        let is_url = ["http://", "https://"].iter().any(|scheme| target.url.starts_with(scheme));
        if !is_url && !target.url.contains("{{") {
            missing(id, node.span, dx);
            return None;
        }
        let is_get = target.method.as_deref() == Some("GET");
        if target.body.is_none() && !is_get {
            let title = "an HTTP target needs a `body`, a `request` or `method: GET`";
            let help = "add a body with the prompt, for example `body: {prompt: \"{{prompt}}\"}`";
            dx.push(
                Diagnostic::error("config::missing-key", title)
                    .at(node.span, "none of them is set")
                    .help(help),
            );
        }
    }
    Some(target)
}

fn missing(id: &str, span: Span, dx: &mut Diagnostics) {
    let title = format!("the target `{id}` has no URL or no `config`");
    dx.push(
        Diagnostic::error("config::missing-key", title)
            .at(span, "")
            .help("write `config: {url: ..., method: POST, body: {prompt: \"{{prompt}}\"}}`"),
    );
}

/// Expands environment variables; other templates are expanded for every request.
fn text(name: &str, node: &Node, reader: &Reader<'_>, dx: &mut Diagnostics) -> Option<String> {
    if node.raw().is_none() {
        wrong_type(name, "text", node, dx);
        return None;
    }
    reader.templates.fill(node, Scope::Env, dx)
}

fn pairs(
    fields: &mut Fields<'_>,
    name: &'static str,
    reader: &Reader<'_>,
    dx: &mut Diagnostics,
) -> Vec<(String, SecretString)> {
    let entries = fields.map(name, dx).and_then(Node::as_map).unwrap_or_default();
    let pair = |(key, node): &(quintain_source::Key, Node)| {
        Some((key.text.clone(), SecretString::from(text(&key.text, node, reader, dx)?)))
    };
    entries.iter().filter_map(pair).collect()
}

/// Reads a body; the body or any part of it may be a `file://` reference.
fn payload(node: &Node, reader: &Reader<'_>, dx: &mut Diagnostics) -> Value {
    match &node.kind {
        NodeKind::Seq(items) => items.iter().map(|item| payload(item, reader, dx)).collect(),
        NodeKind::Map(entries) => {
            let entries = entries.iter();
            entries.map(|(key, node)| (key.text.clone(), payload(node, reader, dx))).collect()
        }
        _ => match node.raw().and_then(|text| text.strip_prefix("file://")) {
            Some(reference) => file(reference, node, reader, dx).unwrap_or_default(),
            None => reader.payload(node, dx),
        },
    }
}

fn request(node: &Node, reader: &Reader<'_>, dx: &mut Diagnostics) -> Option<String> {
    match node.raw().and_then(|text| text.strip_prefix("file://")) {
        Some(reference) => match file(reference, node, reader, dx)? {
            Value::String(text) => Some(text),
            other => Some(other.to_string()),
        },
        None => text("request", node, reader, dx),
    }
}

fn file(reference: &str, node: &Node, reader: &Reader<'_>, dx: &mut Diagnostics) -> Option<Value> {
    let why = match FileValue::read(reference, reader.base_dir, reader.files) {
        Ok(FileValue::Data(value)) => return Some(value),
        Ok(FileValue::Code(_)) => "expected data, not code".to_owned(),
        Err(why) => why,
    };
    let title = "this file cannot be used";
    dx.push(Diagnostic::error("config::unreadable-file", title).at(node.span, why));
    None
}

fn schema() -> Value {
    let entries = [
        ("url", url("The URL [default: the id]")),
        ("method", scalar("GET, POST, ... [default: GET]")),
        ("headers", map_of("Headers of every request", scalar(""))),
        ("queryParams", map_of("Query parameters of the URL", scalar(""))),
        ("body", any("The body of the request; may contain templates such as `{{prompt}}`")),
        ("request", scalar("The raw request as text, or `file://PATH`")),
        ("useHttps", flag("Send `request` over HTTPS")),
        ("auth", refer("auth")),
        ("transformRequest", code_schema("Computes what is sent, from `prompt` and `vars`.")),
        (
            "transformResponse",
            code_schema("Computes the output from `json`, `text` and `context`."),
        ),
        ("responseParser", code_schema("The same as `transformResponse`.")),
        (
            "validateStatus",
            code_schema("Decides whether a status is a success [default: every status]."),
        ),
        (
            "maxRetries",
            any("Retries of a request that the endpoint refuses with status 429 [default: 3]"),
        ),
        ("tokenEstimation", any("Has no effect")),
        ("tools", any("Tools that a model is offered")),
        ("tool_choice", any("Has no effect")),
        ("toolFormat", any("Has no effect")),
    ];
    keys("How to reach the endpoint, and how to read its responses", entries, &[])
}
