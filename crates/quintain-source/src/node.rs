//! A parsed document in which every value has its place in the file and its style.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map as JsonMap, Number, Value};

use crate::file::Span;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Node {
    pub span: Span,
    pub kind: NodeKind,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub enum NodeKind {
    #[default]
    Null,
    Scalar(Scalar),
    Seq(Vec<Node>),
    Map(Vec<(Key, Node)>),
    /// A list that is too long for a tree; only if the reader allows one.
    #[serde(skip)]
    Pile(Vec<Packed>),
}

/// A key of a map. Keys are always text, whatever they look like.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    pub text: String,
    pub span: Span,
}

/// A scalar with its text as written (escapes and folding resolved) and its value.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Scalar {
    pub raw: String,
    pub style: Style,
    pub value: ScalarValue,
    pub(crate) origin: Origin,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Style {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    Literal,
    Folded,
}

/// What a scalar means by the YAML 1.2 core schema.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum ScalarValue {
    Text,
    Bool(bool),
    Int(i64),
    /// A whole number above the signed range.
    Unsigned(u64),
    Float(f64),
}

/// The places of a scalar's characters in the file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Origin {
    /// The text is in the file unchanged, from this byte on.
    Verbatim(usize),
    /// Each line is in the file unchanged: (offset in the text, offset in the file).
    Lines(Vec<(usize, usize)>),
    /// Escapes or folding prevent a mapping.
    Rewritten,
}

/// A node in a tenth of the memory; unpack it before use.
#[derive(Debug, Clone)]
pub struct Packed(Box<[u8]>);

impl Packed {
    pub fn new(node: &Node) -> Self {
        // Writing plain data into memory cannot fail; an empty text unpacks to nothing.
        Self(postcard::to_allocvec(node).unwrap_or_default().into())
    }

    pub fn unpack(&self) -> Node {
        postcard::from_bytes(&self.0).unwrap_or_default()
    }
}

impl Scalar {
    /// The place of a part of the text; the whole scalar if the part cannot be located.
    pub fn locate(&self, whole: Span, part: std::ops::Range<usize>) -> Span {
        let start = match &self.origin {
            Origin::Verbatim(start) => Some(start + part.start),
            Origin::Lines(lines) => {
                let line = lines.partition_point(|(offset, _)| *offset <= part.start);
                let next = lines.get(line).map_or(usize::MAX, |(offset, _)| *offset);
                let found = line.checked_sub(1).and_then(|line| lines.get(line));
                let inside = found.filter(|_| part.end <= next);
                inside.map(|(offset, file)| file + part.start - offset)
            }
            Origin::Rewritten => None,
        };
        let found = start.map(|start| start..start + part.len());
        match found.filter(|range| whole.start <= range.start && range.end <= whole.end) {
            Some(range) if part.end <= self.raw.len() => Span::new(whole.file, range),
            _ => whole,
        }
    }

    fn to_json(&self) -> Value {
        match self.value {
            ScalarValue::Text => Value::String(self.raw.clone()),
            ScalarValue::Bool(value) => Value::Bool(value),
            ScalarValue::Int(value) => value.into(),
            ScalarValue::Unsigned(value) => value.into(),
            ScalarValue::Float(value) => {
                // JSON has no infinity; the text is the closest value.
                Number::from_f64(value).map_or_else(|| self.raw.clone().into(), Value::Number)
            }
        }
    }
}

impl Node {
    /// Text that has another form in the file: a cell of a table, an expanded template.
    pub fn text(raw: impl Into<String>, span: Span) -> Self {
        let (style, value) = (Style::DoubleQuoted, ScalarValue::Text);
        let scalar = Scalar { raw: raw.into(), style, value, origin: Origin::Rewritten };
        Self { span, kind: NodeKind::Scalar(scalar) }
    }

    /// A number that has another form in the file.
    pub fn number(value: f64, span: Span) -> Self {
        let (raw, style) = (value.to_string(), Style::Plain);
        let value = ScalarValue::Float(value);
        let scalar = Scalar { raw, style, value, origin: Origin::Rewritten };
        Self { span, kind: NodeKind::Scalar(scalar) }
    }

    pub fn seq(items: Vec<Self>, span: Span) -> Self {
        Self { span, kind: NodeKind::Seq(items) }
    }

    pub fn map(entries: Vec<(Key, Self)>, span: Span) -> Self {
        Self { span, kind: NodeKind::Map(entries) }
    }

    pub fn is_null(&self) -> bool {
        matches!(self.kind, NodeKind::Null)
    }

    pub fn as_scalar(&self) -> Option<&Scalar> {
        if let NodeKind::Scalar(scalar) = &self.kind { Some(scalar) } else { None }
    }

    /// The text of a scalar that is text; a bare `12` or `true` is not.
    pub fn as_str(&self) -> Option<&str> {
        self.as_scalar().filter(|s| s.value == ScalarValue::Text).map(|s| s.raw.as_str())
    }

    /// The text of any scalar as written.
    pub fn raw(&self) -> Option<&str> {
        self.as_scalar().map(|scalar| scalar.raw.as_str())
    }

    pub fn as_bool(&self) -> Option<bool> {
        match self.as_scalar()?.value {
            ScalarValue::Bool(value) => Some(value),
            _ => None,
        }
    }

    pub fn as_i64(&self) -> Option<i64> {
        match self.as_scalar()?.value {
            ScalarValue::Int(value) => Some(value),
            _ => None,
        }
    }

    pub fn as_u64(&self) -> Option<u64> {
        match self.as_scalar()?.value {
            ScalarValue::Int(value) => u64::try_from(value).ok(),
            ScalarValue::Unsigned(value) => Some(value),
            _ => None,
        }
    }

    pub fn as_f64(&self) -> Option<f64> {
        match self.as_scalar()?.value {
            ScalarValue::Int(value) => Some(value as f64),
            ScalarValue::Unsigned(value) => Some(value as f64),
            ScalarValue::Float(value) => Some(value),
            _ => None,
        }
    }

    pub fn as_seq(&self) -> Option<&[Self]> {
        if let NodeKind::Seq(items) = &self.kind { Some(items) } else { None }
    }

    /// The items of a list of any length.
    pub fn items(&self) -> impl Iterator<Item = Cow<'_, Self>> {
        let (few, many): (&[Self], &[Packed]) = match &self.kind {
            NodeKind::Seq(items) => (items, &[]),
            NodeKind::Pile(items) => (&[], items),
            _ => (&[], &[]),
        };
        let many = many.iter().map(|packed| Cow::Owned(packed.unpack()));
        few.iter().map(Cow::Borrowed).chain(many)
    }

    pub fn as_map(&self) -> Option<&[(Key, Self)]> {
        if let NodeKind::Map(entries) = &self.kind { Some(entries) } else { None }
    }

    pub fn get(&self, key: &str) -> Option<&Self> {
        self.as_map()?.iter().find(|(k, _)| k.text == key).map(|(_, node)| node)
    }

    /// Removes the value of a key from a map.
    pub fn take(&mut self, key: &str) -> Option<Self> {
        let NodeKind::Map(entries) = &mut self.kind else { return None };
        let (_, node) = entries.iter_mut().find(|(found, _)| found.text == key)?;
        Some(std::mem::take(node))
    }

    /// A description for error messages: `a list`, `the number 12`.
    pub fn describe(&self) -> String {
        match &self.kind {
            NodeKind::Null => "nothing".to_owned(),
            NodeKind::Seq(_) | NodeKind::Pile(_) => "a list".to_owned(),
            NodeKind::Map(_) => "a map".to_owned(),
            NodeKind::Scalar(scalar) => match scalar.value {
                ScalarValue::Text => "text".to_owned(),
                ScalarValue::Bool(value) => format!("the boolean `{value}`"),
                _ => format!("the number `{}`", scalar.raw),
            },
        }
    }

    pub fn to_json(&self) -> Value {
        match &self.kind {
            NodeKind::Null => Value::Null,
            NodeKind::Scalar(scalar) => scalar.to_json(),
            NodeKind::Seq(_) | NodeKind::Pile(_) => {
                self.items().map(|item| item.to_json()).collect()
            }
            NodeKind::Map(_) => Value::Object(self.to_json_map()),
        }
    }

    /// The entries of a map as JSON; empty for anything else.
    pub fn to_json_map(&self) -> JsonMap<String, Value> {
        let entries = self.as_map().unwrap_or_default().iter();
        entries.map(|(key, node)| (key.text.clone(), node.to_json())).collect()
    }

    /// Calls `visit` for this node and everything below it, in the order of the text; packed
    /// items must be unpacked first.
    pub fn walk<'n>(&'n self, visit: &mut dyn FnMut(&'n Self)) {
        visit(self);
        match &self.kind {
            NodeKind::Null | NodeKind::Scalar(_) | NodeKind::Pile(_) => {}
            NodeKind::Seq(items) => items.iter().for_each(|item| item.walk(visit)),
            NodeKind::Map(entries) => entries.iter().for_each(|(_, node)| node.walk(visit)),
        }
    }
}
