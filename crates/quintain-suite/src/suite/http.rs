//! Reads an HTTP target, with the configuration of promptfoo's `http` provider.

use quintain_evidence::connection::Auth;
use quintain_source::{
    Diagnostic, Diagnostics, Fields, Node, NodeKind, Scope, Severity, Span, wrong_type,
};
use secrecy::SecretString;
use serde_json::Value;

use super::auth;
use super::reader::Reader;
use crate::files::{FileValue, code};
use crate::target::HttpTarget;

/// Keys of promptfoo that Quintain does not support. Ignoring them would test something else.
const UNSUPPORTED: [&str; 6] =
    ["multipart", "signatureAuth", "tls", "session", "sessionParser", "sessionSource"];

/// Reads `config` of an HTTP target whose id is `id`.
pub(super) fn read(
    id: &str,
    config: Option<&Node>,
    span: Span,
    reader: &Reader<'_>,
    dx: &mut Diagnostics,
) -> Option<HttpTarget> {
    let Some(node) = config else {
        missing(id, span, dx);
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
    };
    for name in ["maxRetries", "tokenEstimation", "tools", "tool_choice", "toolFormat"] {
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
