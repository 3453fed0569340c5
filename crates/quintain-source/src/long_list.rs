//! Long lists while they are read: a suite may have more tests than fit into memory as trees, so the nodes
//! of such a list are packed.

use crate::node::{Node, NodeKind, Packed};

/// From this number of items on, a list that may be long stores them packed.
pub(crate) const LONG: usize = 2048;

/// Which list of a document may be too long for a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Long {
    Nothing,
    /// The document itself.
    Document,
    /// The value of this key of the document.
    Key(&'static str),
}

impl Long {
    pub(crate) fn is_document(self) -> bool {
        self == Self::Document
    }

    /// Whether it is the value of this key of the document.
    pub(crate) fn is_key(self, key: &str) -> bool {
        matches!(self, Self::Key(long) if long == key)
    }
}

/// A list while it is read.
pub(crate) enum Items {
    Few {
        nodes: Vec<Node>,
        may_be_long: bool,
    },
    /// With the end of the last item.
    Many(Vec<Packed>, usize),
}

impl Items {
    pub(crate) fn new(may_be_long: bool) -> Self {
        Self::Few { nodes: Vec::new(), may_be_long }
    }

    pub(crate) fn push(&mut self, node: Node) {
        match self {
            Self::Few { nodes, may_be_long } => {
                nodes.push(node);
                if *may_be_long && nodes.len() >= LONG {
                    let packed = nodes.iter().map(Packed::new).collect();
                    *self = Self::Many(packed, nodes.last().map_or(0, |node| node.span.end));
                }
            }
            Self::Many(packed, end) => {
                packed.push(Packed::new(&node));
                *end = node.span.end;
            }
        }
    }

    /// The end of the last item.
    pub(crate) fn end(&self) -> Option<usize> {
        match self {
            Self::Few { nodes, .. } => nodes.last().map(|node| node.span.end),
            Self::Many(_, end) => Some(*end),
        }
    }

    pub(crate) fn finish(self) -> NodeKind {
        match self {
            Self::Few { mut nodes, .. } => {
                // Trees of large files consist mostly of small lists.
                nodes.shrink_to_fit();
                NodeKind::Seq(nodes)
            }
            Self::Many(packed, _) => NodeKind::Pile(packed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{read_long, tree};
    use std::fmt::Write;

    #[test]
    fn a_packed_node_is_the_same_when_unpacked() {
        let node =
            tree("a: [1, -2.5, x, 'é', ~, true, 18446744073709551615]\nb: |\n  two\n  lines\n");
        assert_eq!(format!("{:?}", Packed::new(&node).unpack()), format!("{node:?}"));
    }

    #[test]
    fn only_the_list_that_may_be_long_is_packed() {
        for suffix in ["yaml", "json"] {
            let items: Vec<String> = (0..LONG).map(|at| format!("{{\"n\": {at}}}")).collect();
            let list = format!("[{}]", items.join(", "));
            let both = format!("{{\"long\": {list}, \"short\": {list}}}");
            let name = format!("x.{suffix}");
            let node = read_long(&name, &both, Long::Key("long"));
            assert!(matches!(node.get("long").map(|node| &node.kind), Some(NodeKind::Pile(_))));
            assert_eq!(node.get("long").map(Node::to_json), node.get("short").map(Node::to_json));
            assert_eq!(node.get("short").and_then(Node::as_seq).map(<[_]>::len), Some(LONG));
            let node = read_long(&name, &list, Long::Document);
            assert_eq!(node.items().nth(7).map(|item| item.span), {
                let tree = read_long(&name, &list, Long::Nothing);
                tree.items().nth(7).map(|item| item.span)
            });
        }
    }

    #[test]
    fn aliases_into_a_long_list_still_work() {
        let mut text = "tests:\n  - &first {a: 1}\n".to_owned();
        (0..LONG).for_each(|_| writeln!(text, "  - *first").unwrap());
        let node = read_long("x.yaml", &text, Long::Key("tests"));
        let last = node.get("tests").and_then(|tests| tests.items().last());
        assert_eq!(last.map(|node| node.to_json()), Some(serde_json::json!({"a": 1})));
    }
}
