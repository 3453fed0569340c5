//! Helpers for the tests of this crate.

use crate::{Diagnostics, Long, Node, Renderer, SourceFile, Sources};

pub(crate) struct Parsed {
    pub(crate) sources: Sources,
    pub(crate) node: Option<Node>,
    pub(crate) dx: Diagnostics,
}

pub(crate) fn parse_as(name: &str, text: &str) -> Parsed {
    parse_long(name, text, Long::Nothing)
}

fn parse_long(name: &str, text: &str, long: Long) -> Parsed {
    let mut sources = Sources::new();
    let id = sources.add(SourceFile::new(name, text));
    let mut dx = Diagnostics::new();
    let node = crate::read_long(&sources, id, long, &mut dx);
    Parsed { sources, node, dx }
}

pub(crate) fn parse(text: &str) -> Parsed {
    parse_as("quintain.yaml", text)
}

/// The tree of a valid text.
pub(crate) fn tree(text: &str) -> Node {
    let parsed = parse(text);
    assert!(parsed.dx.is_empty(), "{}", parsed.drawn());
    parsed.node.expect("a tree")
}

/// The same for a text with a list that may be long.
pub(crate) fn read_long(name: &str, text: &str, long: Long) -> Node {
    let parsed = parse_long(name, text, long);
    assert!(parsed.dx.is_empty(), "{}", parsed.drawn());
    parsed.node.expect("a tree")
}

impl Parsed {
    pub(crate) fn drawn(&self) -> String {
        Renderer::plain().render_all(&self.sources, &self.dx)
    }

    pub(crate) fn codes(&self) -> Vec<&'static str> {
        self.dx.iter().map(|diagnostic| diagnostic.code).collect()
    }

    /// The texts that the first labels point at.
    pub(crate) fn culprits(&self) -> Vec<&str> {
        let spans = self.dx.iter().filter_map(crate::Diagnostic::span);
        spans.filter_map(|span| Some(self.sources.get(span.file)?.slice(span.range()))).collect()
    }
}
