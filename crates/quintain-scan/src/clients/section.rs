//! The parts of a configuration that list servers.

use quintain_evidence::connection::Launch;
use quintain_source::{Node, Span};

use super::entry::Fields;
use super::{Config, Document, Entry};

/// A list of servers in a configuration, as a map by name or as a list.
pub struct Section<'n> {
    pub servers: &'n Node,
    /// The folder it counts for.
    pub project: Option<&'n str>,
    /// If it is one server rather than a list, its name.
    pub name: Option<&'n str>,
}

impl<'n> Section<'n> {
    pub(super) fn new(servers: &'n Node) -> Self {
        Self { servers, project: None, name: None }
    }

    /// A single server.
    pub(super) fn one(name: &'n str, server: &'n Node) -> Self {
        Self { name: Some(name), ..Self::new(server) }
    }

    /// The section at a way of keys, if it is there. An editor may also write the way as one key.
    pub(super) fn at(root: &'n Node, way: &[&str]) -> Vec<Self> {
        let nested = way.iter().try_fold(root, |node, key| node.get(key));
        let dotted = || root.get(&way.join("."));
        nested.or_else(dotted).filter(|node| !node.is_null()).map(Self::new).into_iter().collect()
    }

    /// A map that contains only servers, if it is one.
    pub(super) fn flat(root: &'n Node) -> Vec<Self> {
        let entries = root.as_map().unwrap_or_default();
        let servers = !entries.is_empty() && entries.iter().all(|(_, node)| looks_like_one(node));
        if servers { vec![Self::new(root)] } else { Vec::new() }
    }

    pub(super) fn read(&self, document: &Document, config: &mut Config) {
        if let Some(name) = self.name {
            config.entries.push(self.entry(name, self.servers.span, self.servers, document));
        } else if let Some(entries) = self.servers.as_map() {
            for (key, node) in entries {
                config.entries.push(self.entry(&key.text, key.span, node, document));
            }
        } else if let Some(nodes) = self.servers.as_seq() {
            for (at, node) in nodes.iter().enumerate() {
                let names = ["name", "identifier", "url"];
                let name = names.iter().find_map(|key| node.get(key).and_then(Node::raw));
                let name = name.map_or_else(|| format!("#{}", at + 1), str::to_owned);
                config.entries.push(self.entry(&name, node.span, node, document));
            }
        } else {
            let what = format!("the servers are {}, not a map", self.servers.describe());
            config.problems.push(document.problem(self.servers.span, what));
        }
    }

    fn entry(&self, name: &str, span: Span, node: &Node, document: &Document) -> Entry {
        let mut fields = Fields { node, document, problems: Vec::new() };
        let launch: Option<Launch> = fields.launch();
        let disabled = fields.is_disabled();
        let at = document.problem(span, "");
        Entry {
            name: name.to_owned(),
            project: self.project.map(str::to_owned),
            launch,
            disabled,
            problems: fields.problems,
            line: at.line,
            column: at.column,
        }
    }
}

/// Whether a node is what a server is: a map that says how to start or reach one.
pub(super) fn looks_like_one(node: &Node) -> bool {
    ["command", "cmd", "url", "serverUrl", "httpUrl"].iter().any(|key| node.get(key).is_some())
}

/// `mcpServers`, which most clients have agreed on.
pub(super) fn mcp_servers(root: &Node) -> Vec<Section<'_>> {
    Section::at(root, &["mcpServers"])
}

/// `mcpServers`, or the servers without anything around them.
pub(super) fn wrapped_or_flat(root: &Node) -> Vec<Section<'_>> {
    let wrapped = mcp_servers(root);
    if wrapped.is_empty() { Section::flat(root) } else { wrapped }
}
