//! Builds the tree from events: duplicate keys, anchors, merge keys, and their bounds.

use std::collections::HashMap;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::file::Span;
use crate::long_list::{Items, Long};
use crate::node::{Key, Node, NodeKind};

/// Deeper documents would overflow the stack of later readers.
pub(crate) const MAX_DEPTH: usize = 100;
/// Maximum size in bytes to which anchors and aliases may expand a file.
const MAX_EXPANSION: usize = 32 << 20;

/// An error after which nothing more can be read.
pub(crate) struct Fatal(Box<Diagnostic>);

impl From<Diagnostic> for Fatal {
    fn from(diagnostic: Diagnostic) -> Self {
        Self(Box::new(diagnostic))
    }
}

impl Fatal {
    pub(crate) fn report(self, dx: &mut Diagnostics) {
        dx.push(*self.0);
    }
}

pub(crate) struct Builder {
    long: Long,
    stack: Vec<Frame>,
    root: Option<Node>,
    anchors: HashMap<usize, Anchored>,
    expansion: usize,
}

struct Frame {
    anchor: usize,
    start: Span,
    collection: Collection,
}

enum Collection {
    Seq(Items),
    Map(Mapping),
}

#[derive(Default)]
struct Mapping {
    entries: Vec<(Key, Node)>,
    seen: HashMap<String, Span>,
    merged: Vec<Node>,
    pending: Option<Pending>,
}

/// A key that waits for its value.
enum Pending {
    Key(Key),
    Merge(Span),
    /// A key that was already reported; its value is dropped.
    Bad,
}

struct Anchored {
    node: Node,
    weight: Weight,
}

/// The cost of copying a node.
#[derive(Clone, Copy)]
struct Weight {
    bytes: usize,
    height: usize,
}

impl Builder {
    pub(crate) fn new(long: Long) -> Self {
        Self { long, stack: Vec::new(), root: None, anchors: HashMap::new(), expansion: 0 }
    }

    pub(crate) fn finish(self, empty: Span) -> Node {
        self.root.unwrap_or(Node { span: empty, kind: NodeKind::Null })
    }

    /// A scalar with its text as written, which is used if it is a key.
    pub(crate) fn scalar(
        &mut self,
        (node, raw): (Node, String),
        anchor: usize,
        dx: &mut Diagnostics,
    ) -> Result<(), Fatal> {
        let plain = node.as_scalar().is_none_or(|s| s.style == crate::node::Style::Plain);
        self.remember(anchor, &node)?;
        if let Some(mapping) = self.awaits_key() {
            let merge = raw == "<<" && plain;
            let key = Key { text: raw, span: node.span };
            mapping.pending =
                Some(if merge { Pending::Merge(key.span) } else { Pending::Key(key) });
            return Ok(());
        }
        self.add(node, dx);
        Ok(())
    }

    pub(crate) fn alias(
        &mut self,
        anchor: usize,
        span: Span,
        dx: &mut Diagnostics,
    ) -> Result<(), Fatal> {
        let Some(anchored) = self.anchors.get(&anchor) else {
            let title = "this alias refers to a value that contains it";
            return Err(Diagnostic::error("config::recursive-alias", title).at(span, "").into());
        };
        let weight = anchored.weight;
        if self.stack.len() + weight.height > MAX_DEPTH {
            return Err(too_deep(span));
        }
        self.charge(weight.bytes, span)?;
        let node = self.anchors.get(&anchor).map(|anchored| anchored.node.clone());
        let Some(node) = node else { return Ok(()) };
        if let Some(mapping) = self.awaits_key() {
            let text = node.raw().map(str::to_owned);
            mapping.pending = Some(key_of(text, span, dx));
        } else {
            self.add(node, dx);
        }
        Ok(())
    }

    pub(crate) fn open_seq(&mut self, anchor: usize, start: Span) -> Result<(), Fatal> {
        let may_be_long = match &self.stack[..] {
            [] => self.long.is_document(),
            [Frame { collection: Collection::Map(mapping), .. }] => {
                matches!(&mapping.pending, Some(Pending::Key(key)) if self.long.is_key(&key.text))
            }
            _ => false,
        };
        self.open(anchor, start, Collection::Seq(Items::new(may_be_long)))
    }

    pub(crate) fn open_map(&mut self, anchor: usize, start: Span) -> Result<(), Fatal> {
        self.open(anchor, start, Collection::Map(Mapping::default()))
    }

    fn open(&mut self, anchor: usize, start: Span, collection: Collection) -> Result<(), Fatal> {
        if self.stack.len() >= MAX_DEPTH {
            return Err(too_deep(start));
        }
        self.stack.push(Frame { anchor, start, collection });
        Ok(())
    }

    /// Ends the innermost collection; `end` is known if it has a closing bracket.
    pub(crate) fn close(&mut self, end: Option<usize>, dx: &mut Diagnostics) -> Result<(), Fatal> {
        let Some(Frame { anchor, start, collection }) = self.stack.pop() else { return Ok(()) };
        let (kind, last) = match collection {
            Collection::Seq(items) => {
                let last = items.end();
                (items.finish(), last)
            }
            Collection::Map(mapping) => {
                let last =
                    mapping.entries.last().map(|(key, node)| node.span.end.max(key.span.end));
                (NodeKind::Map(mapping.finish()), last)
            }
        };
        let end = end.or(last).unwrap_or(start.end).max(start.start);
        let node = Node { span: Span { end, ..start }, kind };
        self.remember(anchor, &node)?;
        if let Some(mapping) = self.awaits_key() {
            mapping.pending = Some(key_of(None, node.span, dx));
        } else {
            self.add(node, dx);
        }
        Ok(())
    }

    fn awaits_key(&mut self) -> Option<&mut Mapping> {
        match self.stack.last_mut() {
            Some(Frame { collection: Collection::Map(mapping), .. }) => {
                mapping.pending.is_none().then_some(mapping)
            }
            _ => None,
        }
    }

    fn add(&mut self, node: Node, dx: &mut Diagnostics) {
        match self.stack.last_mut().map(|frame| &mut frame.collection) {
            None => self.root = Some(node),
            Some(Collection::Seq(items)) => items.push(node),
            Some(Collection::Map(mapping)) => mapping.value(node, dx),
        }
    }

    fn remember(&mut self, anchor: usize, node: &Node) -> Result<(), Fatal> {
        // The parser numbers anchors from one.
        if anchor == 0 {
            return Ok(());
        }
        let weight = weigh(node);
        self.charge(weight.bytes, node.span)?;
        self.anchors.insert(anchor, Anchored { node: node.clone(), weight });
        Ok(())
    }

    fn charge(&mut self, bytes: usize, span: Span) -> Result<(), Fatal> {
        self.expansion = self.expansion.saturating_add(bytes);
        if self.expansion <= MAX_EXPANSION {
            return Ok(());
        }
        let title = "anchors and aliases expand this file beyond the limit";
        let diagnostic = Diagnostic::error("config::alias-bomb", title)
            .at(span, "the limit is exceeded here")
            .note(format!("the limit is {} MiB", MAX_EXPANSION >> 20));
        Err(diagnostic.into())
    }
}

impl Mapping {
    fn value(&mut self, node: Node, dx: &mut Diagnostics) {
        match self.pending.take() {
            None | Some(Pending::Bad) => {}
            Some(Pending::Merge(span)) => self.merge(node, span, dx),
            Some(Pending::Key(key)) => {
                if let Some(first) = self.seen.get(&key.text) {
                    dx.push(duplicate(&key, *first));
                    return;
                }
                self.seen.insert(key.text.clone(), key.span);
                self.entries.push((key, node));
            }
        }
    }

    fn merge(&mut self, node: Node, key: Span, dx: &mut Diagnostics) {
        let maps = match node.kind {
            NodeKind::Seq(items) => items,
            _ => vec![node],
        };
        for map in maps {
            if map.as_map().is_some() {
                self.merged.push(map);
                continue;
            }
            let title = format!("`<<` merges maps, not {}", map.describe());
            dx.push(Diagnostic::error("config::bad-merge", title).at(key, "merged here"));
        }
    }

    /// A key of the map itself overrides merged keys, an earlier merge overrides a later one.
    fn finish(mut self) -> Vec<(Key, Node)> {
        for merged in std::mem::take(&mut self.merged) {
            let NodeKind::Map(entries) = merged.kind else { continue };
            for (key, node) in entries {
                if !self.seen.contains_key(&key.text) {
                    self.seen.insert(key.text.clone(), key.span);
                    self.entries.push((key, node));
                }
            }
        }
        self.entries.shrink_to_fit();
        self.entries
    }
}

pub(crate) fn duplicate(key: &Key, first: Span) -> Diagnostic {
    Diagnostic::error("config::duplicate-key", format!("the key `{}` is given twice", key.text))
        .context(first, "first given here")
        .at(key.span, "given again")
        .help("remove one of them")
}

pub(crate) fn too_deep(span: Span) -> Fatal {
    let title = format!("nested deeper than {MAX_DEPTH} levels");
    Diagnostic::error("config::too-deep", title).at(span, "one level too many").into()
}

fn key_of(text: Option<String>, span: Span, dx: &mut Diagnostics) -> Pending {
    if let Some(text) = text {
        return Pending::Key(Key { text, span });
    }
    let title = "a key must be text, not a list or a map";
    dx.push(
        Diagnostic::error("config::bad-key", title)
            .at(span, "used as a key")
            .help("a text that starts with `{` or `[`, such as a template, needs quotes"),
    );
    Pending::Bad
}

fn weigh(node: &Node) -> Weight {
    let own = size_of::<Node>() + node.raw().map_or(0, str::len);
    let mut weight = Weight { bytes: own, height: 0 };
    let mut add = |child: &Node, key: usize| {
        let below = weigh(child);
        weight.bytes = weight.bytes.saturating_add(below.bytes).saturating_add(key);
        weight.height = weight.height.max(below.height + 1);
    };
    match &node.kind {
        NodeKind::Null | NodeKind::Scalar(_) => {}
        NodeKind::Seq(_) | NodeKind::Pile(_) => node.items().for_each(|item| add(&item, 0)),
        NodeKind::Map(entries) => {
            for (key, item) in entries {
                add(item, size_of::<Key>() + key.text.len());
            }
        }
    }
    weight
}
