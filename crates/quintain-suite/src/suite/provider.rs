//! Reads the entries of `providers` or `targets`, in all forms that promptfoo allows.

use std::collections::BTreeMap;
use std::time::Duration;

use quintain_evidence::code::Code;
use quintain_source::{Diagnostic, Diagnostics, Fields, Key, Node, Span, Templates, wrong_type};
use serde_json::Map;

use super::reader::Reader;
use super::targets::{self, Kinds, McpKind, TargetKind, file_of_targets, find, meant};
use super::{Target, referred};
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
                id.is_some_and(|id| McpKind.answers_to(id)) && wanted.is_none_or(is_wanted)
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
    pub(super) kinds: Kinds<'a>,
}

impl TargetReader<'_> {
    /// Reads one entry or a list of them.
    pub(super) fn read(&self, node: &Node, dx: &mut Diagnostics) -> Vec<Target> {
        let entries = node.as_seq().unwrap_or(std::slice::from_ref(node));
        let read = |entry| {
            let reader = if self.chosen.is(entry) { self.filled } else { self.written };
            One { env: self.env, reader, kinds: self.kinds }.target(entry, dx)
        };
        entries.iter().filter_map(read).collect()
    }
}

/// What one entry is read with.
struct One<'a> {
    env: &'a Env,
    reader: &'a Reader<'a>,
    kinds: Kinds<'a>,
}

impl One<'_> {
    fn target(&self, node: &Node, dx: &mut Diagnostics) -> Option<Target> {
        if let Some(id) = node.raw() {
            return self.finish(Written::bare(id, None, node.span), self.reader, dx);
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
            return self.options(id.to_owned(), node, dx);
        }
        if let [(key, value)] = entries
            && !OWN_KEYS.contains(&key.text.as_str())
        {
            return self.by_key(key, value, dx);
        }
        dx.push(
            Diagnostic::error("config::missing-key", "missing key `id` in a target")
                .at(node.span, "`id` belongs here")
                .help("for an MCP server, write `id: mcp`"),
        );
        None
    }

    /// `{mcp: {config: {...}}}`, or `{mcp: {...}}` with the configuration itself instead of the options.
    fn by_key(&self, key: &Key, node: &Node, dx: &mut Diagnostics) -> Option<Target> {
        let is_config = node.get("server").or(node.get("servers")).is_some();
        if node.is_null() || is_config {
            let written = Written::bare(&key.text, is_config.then_some(node), key.span);
            return self.finish(written, self.reader, dx);
        }
        self.options(key.text.clone(), node, dx)
    }

    /// `{id: mcp, label: ..., config: {...}}`
    fn options(&self, id: String, node: &Node, dx: &mut Diagnostics) -> Option<Target> {
        let reader = self.reader;
        let mut fields = Fields::of(node, format!("the target `{id}`"), dx)?;
        let own: Env = reader.pairs(&mut fields, "env", dx).into_iter().collect();
        let transform = fields.get("transform");
        let written = Written {
            label: reader.text(&mut fields, "label", dx),
            config: fields.get("config"),
            prompts: fields.strings("prompts", dx),
            transform: transform
                .and_then(|node| code("transform", node, reader.base_dir, reader.files, dx)),
            delay: fields.millis("delay", dx).filter(|delay| !delay.is_zero()),
            env: if reader.templates.leaves_all() { own.clone() } else { Env::new() },
            own: own.clone(),
            span: node.span,
            id,
        };
        // Keys of promptfoo without an effect here; `inputs` describes variables for its generators.
        for name in ["id", "inputs", "description"] {
            fields.get(name);
        }
        let is_strict = match find(self.kinds, &written.id) {
            Some(kind) => !kind.is_lenient(),
            None => file_of_targets(&written.id).is_some(),
        };
        if is_strict {
            fields.finish(reader.strictness, dx);
        }
        if own.is_empty() || reader.templates.leaves_all() {
            return self.finish(written, reader, dx);
        }
        let templates = Templates::new(self.env.clone().into_iter().chain(own).collect());
        self.finish(written, &Reader { templates: &templates, ..*reader }, dx)
    }

    fn finish(
        &self,
        written: Written<'_>,
        reader: &Reader<'_>,
        dx: &mut Diagnostics,
    ) -> Option<Target> {
        let Written { id, label, config, prompts, transform, delay, env, own, span } = written;
        let Some(kind) = find(self.kinds, &id) else {
            dx.push(match file_of_targets(&id) {
                Some(_) => {
                    let title = "a file with targets takes no options";
                    Diagnostic::error("config::wrong-type", title).at(span, "")
                }
                None => unknown(self.kinds, &id, span),
            });
            return None;
        };
        let settings =
            kind.read(&mut targets::Entry { id: &id, config, env: &own, span, reader, dx })?;
        let mut target = Target {
            kind: kind.meta(),
            settings,
            id,
            label,
            offered: Map::new(),
            prompts,
            transform,
            delay,
            env,
            span,
        };
        // `tools` of an MCP target is a filter of tool names.
        let config = config.filter(|_| target.as_mcp().is_none());
        let offered = OFFERED.iter().filter_map(|name| {
            let node = config?.get(name)?;
            Some(((*name).to_owned(), referred::offered(node, reader, dx)))
        });
        target.offered = offered.collect();
        Some(target)
    }
}

/// Keys of a target, so none of them is the id of one.
const OWN_KEYS: [&str; 6] = ["config", "label", "prompts", "transform", "delay", "env"];

/// The keys with functions that a model is offered.
const OFFERED: [&str; 2] = ["functions", "tools"];

/// An entry in a common form.
struct Written<'n> {
    id: String,
    label: Option<String>,
    config: Option<&'n Node>,
    prompts: Option<Vec<String>>,
    transform: Option<Code>,
    delay: Option<Duration>,
    /// As written, if the suite is only read.
    env: Env,
    /// The same for its kind.
    own: Env,
    span: Span,
}

impl<'n> Written<'n> {
    fn bare(id: &str, config: Option<&'n Node>, span: Span) -> Self {
        let (label, prompts, transform, delay) = (None, None, None, None);
        let (env, own) = (Env::new(), Env::new());
        Self { id: id.to_owned(), label, config, prompts, transform, delay, env, own, span }
    }
}

fn unknown(kinds: Kinds<'_>, id: &str, span: Span) -> Diagnostic {
    let title = format!("unknown target type `{id}`");
    let diagnostic = Diagnostic::error("config::unknown-target", title).at(span, "");
    diagnostic.help(match meant(kinds, id) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "use `mcp`, `http`, `exec:COMMAND`, `file://provider.py` or `echo`".to_owned(),
    })
}
