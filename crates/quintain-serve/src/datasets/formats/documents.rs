//! JSON and YAML documents as trees with lines, and the lists of records in them. Depth and aliases are limited by the
//! reader of trees.

use quintain_source::{Diagnostics, Node, NodeKind, SourceFile, Sources, read};
use serde_json::{Map, Value};

use crate::datasets::entry::Entry;
use crate::datasets::fields;
use crate::datasets::import_error::ImportError;
use crate::datasets::sink::Sink;

/// Keys under which documents have their records.
const LISTS: [&str; 8] =
    ["entries", "seeds", "data", "prompts", "examples", "records", "items", "rows"];

/// Fields next to the list that its records inherit.
const INHERITED: [&str; 4] = ["harm_categories", "data_type", "source", "license"];

/// A parsed document.
pub(super) struct Document {
    pub(super) root: Node,
    sources: Sources,
}

impl Document {
    /// Parses a text; mistakes that do not prevent reading are listed.
    pub(super) fn parse(
        text: &str,
        format: &'static str,
        is_json: bool,
        sink: &mut Sink<'_>,
    ) -> Result<Self, ImportError> {
        let name = if is_json { "import.json" } else { "import.yaml" };
        let mut sources = Sources::new();
        let id = sources.add(SourceFile::new(name, text));
        let mut diagnostics = Diagnostics::new();
        let root = read(&sources, id, &mut diagnostics);
        let line = |span: Option<quintain_source::Span>| {
            let span = span?;
            Some(sources.get(span.file)?.position(span.start).line)
        };
        let Some(root) = root else {
            let first = diagnostics.iter().next();
            let reason = first.map_or_else(
                || "it cannot be parsed".to_owned(),
                quintain_source::Diagnostic::text,
            );
            return Err(ImportError::Syntax {
                format,
                line: line(first.and_then(quintain_source::Diagnostic::span)),
                reason,
            });
        };
        for diagnostic in &diagnostics {
            sink.remark(line(diagnostic.span()), diagnostic.text());
        }
        Ok(Self { root, sources })
    }

    /// The line on which a node starts.
    pub(super) fn line(&self, node: &Node) -> Option<usize> {
        Some(self.sources.get(node.span.file)?.position(node.span.start).line)
    }

    /// Adds every record. Fields next to the list are defaults of its records.
    pub(super) fn records(&self, sink: &mut Sink<'_>) {
        if let Some(items) = self.root.as_seq() {
            return self.list(items, &Map::new(), sink);
        }
        let list = LISTS.iter().find_map(|key| Some((*key, self.root.get(key)?.as_seq()?)));
        let Some((key, items)) = list else {
            return self.item(&self.root, &Map::new(), sink);
        };
        let mut header = self.root.to_json_map();
        header.remove(key);
        header.retain(|name, _| INHERITED.contains(&name.as_str()));
        self.list(items, &header, sink);
    }

    fn list(&self, items: &[Node], header: &Map<String, Value>, sink: &mut Sink<'_>) {
        items.iter().for_each(|item| self.item(item, header, sink));
    }

    fn item(&self, item: &Node, header: &Map<String, Value>, sink: &mut Sink<'_>) {
        let line = self.line(item);
        match &item.kind {
            NodeKind::Map(_) => {
                let mut record = item.to_json_map();
                for (name, value) in header {
                    if !record.keys().any(|own| fields::ours(own) == fields::ours(name)) {
                        record.insert(name.clone(), value.clone());
                    }
                }
                sink.record(line, record);
            }
            NodeKind::Scalar(scalar) => {
                let mut record = header.clone();
                record.insert("value".to_owned(), Value::String(scalar.raw.clone()));
                sink.record(line, record);
            }
            NodeKind::Seq(_) | NodeKind::Pile(_) => match fields::as_turns(&item.to_json()) {
                Some(turns) if !turns.is_empty() => {
                    let mut entry =
                        Entry::new(turns.last().map(|turn| turn.text.clone()).unwrap_or_default());
                    entry.turns = turns;
                    sink.entry(line, entry);
                }
                _ => sink.bad(line, "expected a text, an object or a list of messages".to_owned()),
            },
            NodeKind::Null => sink.bad(line, "the record is empty".to_owned()),
        }
    }
}

/// Whether a text starts like JSON.
pub(super) fn looks_like_json(text: &str) -> bool {
    text.trim_start().starts_with(['[', '{'])
}

/// Whether a line of the text, not indented, starts with this key of a YAML map.
pub(super) fn has_yaml_key(text: &str, key: &str) -> bool {
    text.lines().any(|line| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(':')))
}
