//! What the parser of HTML makes of a text: just enough to find the places of text and elements.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    BufferQueue, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use html5ever::tree_builder::{
    ElemName, ElementFlags, NodeOrText, QuirksMode, TreeBuilder, TreeBuilderOpts, TreeSink,
};
use html5ever::{Attribute, LocalName, Namespace, QualName, TokenizerResult};

use crate::text::js;

/// Elements within elements within elements make every tag expensive. This is what all tags together
/// may cost; documents that people write stay far below.
const MAX_WORK: usize = 25_000_000;

const DOCUMENT: usize = 0;

/// A document after all repairs.
pub(super) struct Dom {
    nodes: RefCell<Vec<Node>>,
    /// The start tag that is looked at.
    tag: RefCell<Option<LocalName>>,
    /// How deep the parser is.
    depth: Cell<usize>,
    work: Cell<usize>,
}

struct Node {
    name: Option<QualName>,
    /// The author wrote its tag; the parser adds some elements by itself.
    written: bool,
    parent: Option<usize>,
    children: Vec<Child>,
    depth: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Child {
    Node(usize),
    Text { blank: bool },
}

impl Dom {
    /// Nothing if the elements lie too deep within each other.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let dom = Self {
            nodes: RefCell::default(),
            tag: RefCell::default(),
            depth: Cell::new(0),
            work: Cell::new(0),
        };
        dom.add(None, false);
        let builder = TreeBuilder::new(dom, TreeBuilderOpts::default());
        let tokenizer = Tokenizer::new(Watched(builder), TokenizerOpts::default());
        let input = BufferQueue::default();
        input.push_back(StrTendril::from(text));
        while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
        tokenizer.end();
        let dom = tokenizer.sink.0.sink;
        (!dom.is_exhausted()).then_some(dom)
    }

    /// Whether there is such an element in the document; it is asked by name in lower case, and
    /// whether the author wrote it.
    pub(super) fn any(&self, mut wanted: impl FnMut(&str, bool) -> bool) -> bool {
        self.find(|node| {
            let name = node.name.as_ref().map(|name| name.local.to_ascii_lowercase());
            name.is_some_and(|name| wanted(&name, node.written))
        })
        .is_some()
    }

    /// Whether there is text right in the body, if the author wrote no tag for it.
    pub(super) fn has_bare_text(&self) -> bool {
        let is_body = |node: &Node| node.name.as_ref().is_some_and(|name| &*name.local == "body");
        let nodes = self.nodes.borrow();
        let body = self.find(is_body).and_then(|at| nodes.get(at));
        body.is_some_and(|body| {
            !body.written && body.children.contains(&Child::Text { blank: false })
        })
    }

    fn find(&self, mut wanted: impl FnMut(&Node) -> bool) -> Option<usize> {
        let nodes = self.nodes.borrow();
        let mut pending = vec![DOCUMENT];
        while let Some(at) = pending.pop() {
            let node = nodes.get(at)?;
            if wanted(node) {
                return Some(at);
            }
            pending.extend(node.children.iter().rev().filter_map(|child| match child {
                Child::Node(at) => Some(*at),
                Child::Text { .. } => None,
            }));
        }
        None
    }

    fn is_exhausted(&self) -> bool {
        self.work.get() > MAX_WORK
    }

    fn spend(&self, steps: usize) {
        self.work.set(self.work.get().saturating_add(steps));
    }

    fn add(&self, name: Option<QualName>, written: bool) -> usize {
        let mut nodes = self.nodes.borrow_mut();
        nodes.push(Node { name, written, parent: None, children: Vec::new(), depth: 0 });
        nodes.len() - 1
    }

    /// Puts something into a node, before one of its children or at the end.
    fn insert(&self, parent: usize, before: Option<usize>, child: NodeOrText<usize>) {
        let child = match child {
            NodeOrText::AppendNode(node) => {
                self.remove_from_parent(&node);
                Child::Node(node)
            }
            NodeOrText::AppendText(text) => Child::Text { blank: js::trim(&text).is_empty() },
        };
        let mut nodes = self.nodes.borrow_mut();
        let Some(depth) = nodes.get(parent).map(|node| node.depth + 1) else { return };
        if let Child::Node(at) = child
            && let Some(node) = nodes.get_mut(at)
        {
            node.parent = Some(parent);
            node.depth = depth;
            self.depth.set(depth);
        }
        let Some(parent) = nodes.get_mut(parent) else { return };
        let count = parent.children.len();
        let place = before
            .and_then(|at| parent.children.iter().rposition(|child| *child == Child::Node(at)))
            .unwrap_or(count);
        self.spend(depth + count - place);
        parent.children.insert(place, child);
    }

    fn parent(&self, node: usize) -> Option<usize> {
        self.nodes.borrow().get(node)?.parent
    }
}

/// The builder of the tree, with a look at each token before it gets there.
struct Watched(TreeBuilder<usize, Dom>);

impl TokenSink for Watched {
    type Handle = usize;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<usize> {
        let dom = &self.0.sink;
        dom.spend(dom.depth.get());
        if dom.is_exhausted() {
            return TokenSinkResult::Continue;
        }
        let name = match &token {
            Token::TagToken(tag) if tag.kind == html5ever::tokenizer::StartTag => {
                Some(tag.name.clone())
            }
            _ => None,
        };
        dom.tag.replace(name);
        self.0.process_token(token, line)
    }

    fn end(&self) {
        self.0.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.0.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

/// The name of an element; nodes that are none have an empty one.
#[derive(Debug)]
pub(crate) struct Named(QualName);

impl ElemName for Named {
    fn ns(&self) -> &Namespace {
        &self.0.ns
    }

    fn local_name(&self) -> &LocalName {
        &self.0.local
    }
}

impl TreeSink for Dom {
    type Handle = usize;
    type Output = Self;
    type ElemName<'a> = Named;

    fn finish(self) -> Self {
        self
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> usize {
        DOCUMENT
    }

    fn elem_name(&self, target: &usize) -> Named {
        let name = self.nodes.borrow().get(*target).and_then(|node| node.name.clone());
        Named(name.unwrap_or_else(|| QualName::new(None, "".into(), "".into())))
    }

    fn create_element(&self, name: QualName, _: Vec<Attribute>, _: ElementFlags) -> usize {
        let written = self.tag.borrow().as_ref() == Some(&name.local);
        self.add(Some(name), written)
    }

    fn create_comment(&self, _: StrTendril) -> usize {
        self.add(None, true)
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> usize {
        self.add(None, true)
    }

    fn append(&self, parent: &usize, child: NodeOrText<usize>) {
        self.insert(*parent, None, child);
    }

    fn append_based_on_parent_node(
        &self,
        element: &usize,
        previous: &usize,
        child: NodeOrText<usize>,
    ) {
        if self.parent(*element).is_some() {
            self.append_before_sibling(element, child);
        } else {
            self.append(previous, child);
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn pop(&self, node: &usize) {
        let depth = self.nodes.borrow().get(*node).map_or(0, |node| node.depth);
        self.depth.set(depth.saturating_sub(1));
    }

    /// What is in a template is not in the document.
    fn get_template_contents(&self, _: &usize) -> usize {
        self.add(None, true)
    }

    fn same_node(&self, a: &usize, b: &usize) -> bool {
        a == b
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &usize, child: NodeOrText<usize>) {
        if let Some(parent) = self.parent(*sibling) {
            self.insert(parent, Some(*sibling), child);
        }
    }

    fn add_attrs_if_missing(&self, _: &usize, _: Vec<Attribute>) {}

    fn remove_from_parent(&self, target: &usize) {
        let mut nodes = self.nodes.borrow_mut();
        let parent = nodes.get_mut(*target).and_then(|node| node.parent.take());
        let Some(parent) = parent.and_then(|parent| nodes.get_mut(parent)) else { return };
        let count = parent.children.len();
        if let Some(at) = parent.children.iter().rposition(|child| *child == Child::Node(*target)) {
            self.spend(count - at);
            parent.children.remove(at);
        }
    }

    fn reparent_children(&self, node: &usize, new_parent: &usize) {
        let mut nodes = self.nodes.borrow_mut();
        let Some(mut children) =
            nodes.get_mut(*node).map(|node| std::mem::take(&mut node.children))
        else {
            return;
        };
        self.spend(children.len());
        for child in &children {
            if let Child::Node(at) = child
                && let Some(child) = nodes.get_mut(*at)
            {
                child.parent = Some(*new_parent);
            }
        }
        if let Some(parent) = nodes.get_mut(*new_parent) {
            parent.children.append(&mut children);
        }
    }
}
