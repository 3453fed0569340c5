//! One MCP server of a target: how to start or reach it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use quintain_content::secret::names_a_secret;
use quintain_evidence::connection::Auth;
use quintain_evidence::connection::Launch;
use quintain_evidence::connection::Runtime;
use quintain_evidence::connection::Server;
use quintain_evidence::connection::Transport;
use quintain_source::{
    Diagnostic, Diagnostics, Fields, Node, Scope, Severity, Span, closest, env_names,
};
use secrecy::SecretString;

use super::auth;
use super::http_url::check_url;
use super::reader::Reader;

pub(super) const TRANSPORTS: [(&str, Transport); 4] = [
    ("auto", Transport::Auto),
    ("streamable-http", Transport::StreamableHttp),
    ("http", Transport::StreamableHttp),
    ("sse", Transport::Sse),
];
/// In order of priority.
pub(super) const WAYS: [&str; 3] = ["command", "path", "url"];
const PROCESS_KEYS: [&str; 3] = ["args", "env", "cwd"];
const REMOTE_KEYS: [&str; 3] = ["headers", "auth", "transport"];

/// Reads one server. Its name may not be unique yet.
pub(super) fn read(node: &Node, reader: &Reader<'_>, dx: &mut Diagnostics) -> Option<Server> {
    let mut fields = Fields::of(node, "a server", dx)?;
    let name = reader.text(&mut fields, "name", dx).filter(|name| !name.is_empty());
    let launch = match fields.one_of(&WAYS, reader.strictness, dx) {
        None if misspelt(node, reader) => None,
        None => {
            let title = "a server needs one of `command`, `path` and `url`";
            dx.push(
                Diagnostic::error("config::no-launch", title).at(node.span, "none of them is set"),
            );
            None
        }
        Some((way, value)) => {
            let useless = if way == "url" { PROCESS_KEYS } else { REMOTE_KEYS };
            for key in useless {
                report_useless(&mut fields, key, way, dx);
            }
            match way {
                "command" => command(&mut fields, value, reader, dx),
                "path" => path(&mut fields, value, reader, dx),
                _ => url(&mut fields, value, reader, dx),
            }
        }
    };
    for key in PROCESS_KEYS.iter().chain(&REMOTE_KEYS) {
        fields.get(key);
    }
    fields.finish(reader.strictness, dx);
    let launch = launch?;
    let name = name.unwrap_or_else(|| key(node, reader));
    Some(Server { name, launch, span: node.span })
}

/// The default name of a server, with the same priorities as in promptfoo.
fn key(node: &Node, reader: &Reader<'_>) -> String {
    let written = ["url", "path", "command"].iter().find_map(|way| node.get(way));
    // Errors are reported already.
    let filled =
        written.and_then(|node| reader.templates.fill(node, Scope::Env, &mut Diagnostics::new()));
    filled.unwrap_or_else(|| "default".to_owned())
}

/// Whether an unknown key, which is reported anyway, is probably the missing one misspelt.
fn misspelt(node: &Node, reader: &Reader<'_>) -> bool {
    let mut keys = node.as_map().unwrap_or_default().iter().map(|(key, _)| key.text.as_str());
    reader.strictness == Severity::Error && keys.any(|key| closest(key, WAYS).is_some())
}

fn report_useless(fields: &mut Fields<'_>, key: &'static str, way: &str, dx: &mut Diagnostics) {
    if let Some((key, _)) = fields.entry(key) {
        let title = format!("`{}` has no effect on a server with `{way}`", key.text);
        dx.push(Diagnostic::warning("config::useless-key", title).at(key.span, "is ignored"));
    }
}

fn command(
    fields: &mut Fields<'_>,
    value: &Node,
    reader: &Reader<'_>,
    dx: &mut Diagnostics,
) -> Option<Launch> {
    let command = reader.fill("command", value, dx);
    let Process { args, env, cwd } = process(fields, reader, dx);
    let command = command?;
    if command.trim().is_empty() {
        dx.push(Diagnostic::error("config::empty-value", "`command` is empty").at(value.span, ""));
        return None;
    }
    Some(Launch::Command { command, args, env, cwd })
}

fn path(
    fields: &mut Fields<'_>,
    value: &Node,
    reader: &Reader<'_>,
    dx: &mut Diagnostics,
) -> Option<Launch> {
    let text = reader.fill("path", value, dx);
    let Process { args, env, cwd } = process(fields, reader, dx);
    let text = text?;
    if reader.is_unfilled(&text) {
        // The suffix, which determines the runtime, is not known yet.
        return Some(Launch::Command { command: text, args, env, cwd });
    }
    let path = reader.path(&text);
    let suffix = path.extension().and_then(|suffix| suffix.to_str()).unwrap_or_default();
    let runtime = match suffix.to_ascii_lowercase().as_str() {
        "js" | "mjs" | "cjs" => Runtime::Node,
        "py" => Runtime::Python,
        _ => {
            let title = "unknown file type of `path`";
            dx.push(
                Diagnostic::error("config::unknown-runtime", title)
                    .at(value.span, "expected `.js`, `.mjs`, `.cjs` or `.py`")
                    .help("use `command: ...` and `args: [...]` instead"),
            );
            return None;
        }
    };
    Some(Launch::Path { path, runtime, args, env, cwd })
}

struct Process {
    args: Vec<String>,
    env: BTreeMap<String, SecretString>,
    cwd: Option<PathBuf>,
}

fn process(fields: &mut Fields<'_>, reader: &Reader<'_>, dx: &mut Diagnostics) -> Process {
    let args = reader.texts(fields, "args", dx).unwrap_or_default();
    if let Some(nodes) = fields.get("args").and_then(Node::as_seq) {
        nodes.iter().for_each(|node| warn_of_secret(node, dx));
    }
    let env = reader.pairs(fields, "env", dx).into_iter();
    let env = env.map(|(name, value)| (name, SecretString::from(value))).collect();
    let cwd = reader.text(fields, "cwd", dx).map(|cwd| reader.path(&cwd));
    Process { args, env, cwd }
}

/// Warns about a secret in an argument: every user of the machine can read the arguments of a process.
fn warn_of_secret(node: &Node, dx: &mut Diagnostics) {
    let names = env_names(node.raw().unwrap_or_default(), Scope::Env).names;
    if let Some(name) = names.iter().find(|name| names_a_secret(name)) {
        let title = format!("other users of this machine can read `{name}` in this argument");
        let diagnostic = Diagnostic::warning("config::secret-in-arguments", title);
        dx.push(diagnostic.at(node.span, "").help("pass it to the server in `env`"));
    }
}

fn url(
    fields: &mut Fields<'_>,
    value: &Node,
    reader: &Reader<'_>,
    dx: &mut Diagnostics,
) -> Option<Launch> {
    let url = reader.fill("url", value, dx);
    let is_sound = |url: &str| reader.is_unfilled(url) || check_url("url", url, value, dx);
    let sound = url.as_deref().is_some_and(is_sound);
    let headers = reader.pairs(fields, "headers", dx);
    if let Some(entries) = fields.get("headers").and_then(Node::as_map) {
        for (name, value) in &headers {
            let key = entries.iter().find(|(key, _)| key.text == *name);
            let span = key.map_or(fields.span(), |(key, _)| key.span);
            check_header(name, value, span, dx);
        }
    }
    let headers = headers.into_iter().map(|(name, value)| (name, value.into())).collect();
    let auth = match fields.get("auth") {
        None => Some(Auth::None),
        Some(node) => auth::read(node, reader, dx),
    };
    let transport = fields.choice("transport", &TRANSPORTS, dx).unwrap_or_default();
    let url = url.filter(|_| sound)?;
    Some(Launch::Url { url, headers, auth: auth?, transport })
}

fn check_header(name: &str, value: &str, span: Span, dx: &mut Diagnostics) {
    let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    let good_name = !name.is_empty() && name.chars().all(token);
    let good_value = !value.contains(|c: char| c.is_control() && c != '\t');
    if !good_name || !good_value {
        let what = if good_name { "value" } else { "name" };
        let title = format!("invalid {what} of the header `{name}`");
        dx.push(Diagnostic::error("config::bad-header", title).at(span, ""));
    }
}

/// Makes names unique as promptfoo does: the second `x` is `x:1`, the third `x:2`.
pub(super) fn distinguish(servers: &mut [Server]) {
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    for server in servers {
        let mut name = server.name.clone();
        while let Some(count) = taken.get_mut(&name) {
            *count += 1;
            name = format!("{}:{count}", server.name);
        }
        taken.insert(name.clone(), 0);
        server.name = name;
    }
}
