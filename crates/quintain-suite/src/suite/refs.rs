//! `$ref: '#/assertionTemplates/short'`: references to parts of the same document.

use quintain_content::json_value;
use quintain_source::{Diagnostic, Diagnostics, Key, Node, NodeKind, Packed, Span, closest};

/// Maximum number of nodes in the resolved document.
const BUDGET: usize = 1 << 18;
/// The diagnostic code of a reference that leads nowhere.
const UNKNOWN: &str = "config::unknown-reference";
/// Maximum length of a chain of references.
const MAX_CHAIN: usize = 32;

/// Replaces references in a document by the nodes they point to. References that point nowhere stay as they
/// are, since JSON Schemas have their own references. Returns none if the references never end.
pub(super) fn resolved(node: Node, dx: &mut Diagnostics) -> Option<Node> {
    if !has_reference(&node) {
        return Some(node);
    }
    let node = unpacked(node);
    let mut resolver =
        Resolver { root: &node, budget: BUDGET, exhausted: None, dangling: Vec::new() };
    let resolved = resolver.copy(&node, 0);
    resolver.dangling.drain(..).for_each(|diagnostic| dx.push(diagnostic));
    let Some(at) = resolver.exhausted else { return Some(resolved) };
    let title = "the references in this file are circular or expand without end";
    dx.push(Diagnostic::error("config::endless-reference", title).at(at, "stopped here"));
    None
}

fn has_reference(node: &Node) -> bool {
    let mut found = false;
    node.walk(&mut |node| {
        found |= reference(node).is_some();
        if let NodeKind::Pile(items) = &node.kind {
            found |= items.iter().any(|item| has_reference(&item.unpack()));
        }
    });
    found
}

/// Unpacks long lists, since references may point into them and out of them.
fn unpacked(mut node: Node) -> Node {
    let spread = |node: &mut Node| {
        if let NodeKind::Pile(items) = &node.kind {
            node.kind = NodeKind::Seq(items.iter().map(Packed::unpack).collect());
        }
    };
    spread(&mut node);
    if let NodeKind::Map(entries) = &mut node.kind {
        entries.iter_mut().for_each(|(_, node)| spread(node));
    }
    node
}

struct Resolver<'n> {
    root: &'n Node,
    budget: usize,
    /// Where resolving stopped.
    exhausted: Option<Span>,
    /// References into a list of named parts that has no such part.
    dangling: Vec<Diagnostic>,
}

impl Resolver<'_> {
    fn copy(&mut self, node: &Node, chain: usize) -> Node {
        if self.budget == 0 || chain > MAX_CHAIN {
            self.exhausted.get_or_insert(node.span);
            return Node { span: node.span, kind: NodeKind::Null };
        }
        self.budget -= 1;
        let pointer = reference(node);
        self.dangling.extend(pointer.and_then(|pointer| dangling(self.root, node, pointer)));
        if let Some(target) = pointer.and_then(|pointer| pointed(self.root, pointer)) {
            let target = self.copy(target, chain + 1);
            return self.extended(target, node, chain);
        }
        let kind = match &node.kind {
            NodeKind::Seq(items) => {
                NodeKind::Seq(items.iter().map(|item| self.copy(item, chain)).collect())
            }
            NodeKind::Map(entries) => {
                let entries = entries.iter();
                NodeKind::Map(entries.map(|(key, node)| self.entry(key, node, chain)).collect())
            }
            other => other.clone(),
        };
        Node { span: node.span, kind }
    }

    fn entry(&mut self, key: &Key, node: &Node, chain: usize) -> (Key, Node) {
        (key.clone(), self.copy(node, chain))
    }

    /// Keys next to `$ref` override those of its target.
    fn extended(&mut self, mut target: Node, node: &Node, chain: usize) -> Node {
        let NodeKind::Map(entries) = &mut target.kind else { return target };
        for (key, value) in node.as_map().unwrap_or_default() {
            if key.text != "$ref" {
                entries.retain(|(existing, _)| existing.text != key.text);
                entries.push(self.entry(key, value, chain));
            }
        }
        target
    }
}

fn reference(node: &Node) -> Option<&str> {
    node.get("$ref")?.as_str()?.strip_prefix("#/")
}

/// Whether a reference was reported as leading nowhere.
pub(super) fn is_reported(reference: Option<&Node>, dx: &Diagnostics) -> bool {
    let at = reference.map(|node| node.span);
    at.is_some() && dx.iter().any(|found| found.code == UNKNOWN && found.span() == at)
}

/// The mistake of a reference whose last part is missing in a part of the suite that exists. References of JSON Schemas
/// point to other roots.
fn dangling(root: &Node, node: &Node, pointer: &str) -> Option<Diagnostic> {
    let (parent, name) = pointer.rsplit_once('/')?;
    let named = pointed(root, parent).filter(|_| pointed(root, pointer).is_none())?.as_map()?;
    let name = json_value::pointer_key(name);
    let title = format!("`{parent}` has no entry `{name}`");
    let at = node.get("$ref").map_or(node.span, |reference| reference.span);
    let diagnostic = Diagnostic::error(UNKNOWN, title).at(at, "not found");
    let names = named.iter().map(|(key, _)| key.text.as_str());
    let help = if let Some(meant) = closest(&name, names.clone()) {
        format!("did you mean `#/{parent}/{meant}`?")
    } else {
        let all: Vec<String> = names.map(|name| format!("`{name}`")).collect();
        format!("`{parent}` has {}", all.join(", "))
    };
    Some(diagnostic.help(help))
}

fn pointed<'n>(root: &'n Node, pointer: &str) -> Option<&'n Node> {
    pointer.split('/').try_fold(root, |node, step| {
        let step = json_value::pointer_key(step);
        match &node.kind {
            NodeKind::Seq(items) => items.get(step.parse::<usize>().ok()?),
            _ => node.get(&step),
        }
    })
}
