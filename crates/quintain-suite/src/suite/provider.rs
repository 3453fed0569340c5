//! Reads the entries of `providers` or `targets`, in all forms that promptfoo allows.

use std::collections::BTreeMap;
use std::time::Duration;

use quintain_evidence::code::Code;
use quintain_evidence::connection::McpTarget;
use quintain_source::{Diagnostic, Diagnostics, Fields, Key, Node, Span, Templates, wrong_type};

use super::kinds::{Kind, kind, meant};
use super::reader::Reader;
use super::target::read_mcp;
use super::{Target, TargetKind, http, program, referred};
use crate::files::code;
use crate::purpose::{Needed, Purpose};

/// The environment for the templates of a target.
pub(super) type Env = BTreeMap<String, String>;

/// The entries whose environment variables are expanded.
pub(super) enum Chosen<'a> {
    All,
    None,
    /// MCP targets of this name; all of them without a name.
    Mcp(Option<&'a str>),
}

impl<'a> Chosen<'a> {
    pub(super) fn of<'n>(purpose: Purpose<'a>, entries: impl Iterator<Item = &'n Node>) -> Self {
        let name = match purpose {
            Purpose::Run(_) => return Self::All,
            Purpose::Read(Needed::Nothing) => return Self::None,
            Purpose::Read(Needed::Target(name) | Needed::TargetAndIdentities(name)) => name,
        };
        let chosen = Self::Mcp(name);
        // With several targets, the name is required.
        let is_clear = name.is_some() || entries.filter(|entry| chosen.is(entry)).count() == 1;
        if is_clear { chosen } else { Self::None }
    }

    pub(super) fn is(&self, entry: &Node) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Mcp(wanted) => {
                let (id, label) = names(entry);
                let is_wanted = |wanted| label.or(id) == Some(wanted);
                id.is_some_and(|id| kind(id) == Kind::Mcp) && wanted.is_none_or(is_wanted)
            }
        }
    }
}

/// The id and the label of an entry, as written.
fn names(entry: &Node) -> (Option<&str>, Option<&str>) {
    if let Some(id) = entry.raw() {
        return (Some(id), None);
    }
    if let Some(id) = entry.get("id") {
        return (id.raw(), entry.get("label").and_then(Node::raw));
    }
    match entry.as_map() {
        Some([(key, value)]) => (Some(&key.text), value.get("label").and_then(Node::raw)),
        _ => (None, None),
    }
}

/// Reads the targets of one document.
pub(super) struct TargetReader<'a> {
    pub(super) chosen: &'a Chosen<'a>,
    /// The environment for the entries that are expanded.
    pub(super) env: &'a Env,
    pub(super) filled: &'a Reader<'a>,
    pub(super) written: &'a Reader<'a>,
}

impl TargetReader<'_> {
    /// Reads one entry or a list of them.
    pub(super) fn read(&self, node: &Node, dx: &mut Diagnostics) -> Vec<Target> {
        let entries = node.as_seq().unwrap_or(std::slice::from_ref(node));
        let read = |entry| {
            let reader = if self.chosen.is(entry) { self.filled } else { self.written };
            target(entry, self.env, reader, dx)
        };
        entries.iter().filter_map(read).collect()
    }
}

fn target(node: &Node, env: &Env, reader: &Reader<'_>, dx: &mut Diagnostics) -> Option<Target> {
    if let Some(id) = node.raw() {
        return Entry::bare(id, None, node.span).finish(reader, dx);
    }
    let Some(entries) = node.as_map() else {
        wrong_type("targets", "a list of ids and maps", node, dx);
        return None;
    };
    if let Some(id) = node.get("id") {
        let Some(id) = id.raw() else {
            wrong_type("id", "text", id, dx);
            return None;
        };
        return options(id.to_owned(), node, env, reader, dx);
    }
    if let [(key, value)] = entries {
        return by_key(key, value, env, reader, dx);
    }
    dx.push(
        Diagnostic::error("config::missing-key", "missing key `id` in a target")
            .at(node.span, "add `id`")
            .help("for an MCP server, write `id: mcp`"),
    );
    None
}

/// `{mcp: {config: {...}}}`, or `{mcp: {...}}` with the configuration itself instead of the options.
fn by_key(
    key: &Key,
    node: &Node,
    env: &Env,
    reader: &Reader<'_>,
    dx: &mut Diagnostics,
) -> Option<Target> {
    let id = key.text.clone();
    let is_config = node.get("server").or(node.get("servers")).is_some();
    if node.is_null() || is_config {
        return Entry::bare(&id, is_config.then_some(node), key.span).finish(reader, dx);
    }
    options(id, node, env, reader, dx)
}

/// `{id: mcp, label: ..., config: {...}}`
fn options(
    id: String,
    node: &Node,
    env: &Env,
    reader: &Reader<'_>,
    dx: &mut Diagnostics,
) -> Option<Target> {
    let mut fields = Fields::of(node, format!("the target `{id}`"), dx)?;
    let own: Env = reader.pairs(&mut fields, "env", dx).into_iter().collect();
    let transform = fields.get("transform");
    let entry = Entry {
        label: reader.text(&mut fields, "label", dx),
        config: fields.get("config"),
        prompts: fields.strings("prompts", dx),
        transform: transform
            .and_then(|node| code("transform", node, reader.base_dir, reader.files, dx)),
        delay: fields.millis("delay", dx).filter(|delay| !delay.is_zero()),
        env: if reader.templates.leaves_all() { own.clone() } else { Env::new() },
        span: node.span,
        id,
    };
    // Keys of promptfoo without an effect here; `inputs` describes variables for its generators.
    for name in ["id", "inputs", "description"] {
        fields.get(name);
    }
    if !matches!(kind(&entry.id), Kind::Elsewhere | Kind::Unknown) {
        fields.finish(reader.strictness, dx);
    }
    if own.is_empty() || reader.templates.leaves_all() {
        return entry.finish(reader, dx);
    }
    let templates = Templates::new(env.clone().into_iter().chain(own).collect());
    entry.finish(&Reader { templates: &templates, ..*reader }, dx)
}

/// The keys with functions that a model is offered.
const OFFERED: [&str; 2] = ["functions", "tools"];

/// An entry in a common form.
struct Entry<'n> {
    id: String,
    label: Option<String>,
    config: Option<&'n Node>,
    prompts: Option<Vec<String>>,
    transform: Option<Code>,
    delay: Option<Duration>,
    env: Env,
    span: Span,
}

impl<'n> Entry<'n> {
    fn bare(id: &str, config: Option<&'n Node>, span: Span) -> Self {
        let (label, prompts, transform, delay) = (None, None, None, None);
        let env = Env::new();
        Self { id: id.to_owned(), label, config, prompts, transform, delay, env, span }
    }

    fn finish(self, reader: &Reader<'_>, dx: &mut Diagnostics) -> Option<Target> {
        let Self { id, label, config, prompts, transform, delay, env, span } = self;
        let kind = match kind(&id) {
            Kind::Mcp => TargetKind::Mcp(Box::new(mcp(&id, config, span, reader, dx)?)),
            Kind::Echo => TargetKind::Echo,
            Kind::Http => TargetKind::Http(Box::new(http::read(&id, config, span, reader, dx)?)),
            Kind::Exec(line) => {
                TargetKind::Exec(Box::new(program::exec(line, config, span, reader, dx)?))
            }
            Kind::Code(path) => {
                TargetKind::Code(Box::new(program::code(path, config, span, reader, dx)?))
            }
            Kind::File(_) => {
                let title = "a file with targets takes no options";
                dx.push(Diagnostic::error("config::wrong-type", title).at(span, ""));
                return None;
            }
            Kind::Elsewhere => TargetKind::Other,
            Kind::Unknown => {
                dx.push(unknown(&id, span));
                return None;
            }
        };
        // `tools` of an MCP target is a filter of tool names.
        let config = config.filter(|_| !matches!(kind, TargetKind::Mcp(_)));
        let offered = OFFERED.iter().filter_map(|name| {
            let node = config?.get(name)?;
            Some(((*name).to_owned(), referred::offered(node, reader, dx)))
        });
        let offered = offered.collect();
        Some(Target { id, label, kind, offered, prompts, transform, delay, env, span })
    }
}

fn mcp(
    id: &str,
    config: Option<&Node>,
    span: Span,
    reader: &Reader<'_>,
    dx: &mut Diagnostics,
) -> Option<McpTarget> {
    let Some(config) = config else {
        let title = format!("the target `{id}` has no server");
        dx.push(
            Diagnostic::error("config::no-server", title)
                .at(span, "`config` is missing")
                .help("add how to reach it: `config: {server: {command: ...}}`"),
        );
        return None;
    };
    read_mcp(config, reader, dx)
}

fn unknown(id: &str, span: Span) -> Diagnostic {
    let title = format!("unknown target type `{id}`");
    let diagnostic = Diagnostic::error("config::unknown-target", title).at(span, "");
    diagnostic.help(match meant(id) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "use `mcp`, `http`, `exec:COMMAND`, `file://provider.py` or `echo`".to_owned(),
    })
}
