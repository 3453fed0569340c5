//! A value whose texts contain placeholders.

use quintain_source::{Diagnostic, Diagnostics, Node, NodeKind, closest};
use serde_json::{Map, Value};

use super::text::{Name, Text, Values};

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    Text(Text),
    /// A number, a boolean or null.
    Plain(Value),
    List(Vec<Self>),
    Map(Vec<(String, Self)>),
}

impl Shape {
    /// Reads a value and reports unknown placeholders.
    pub(crate) fn read(node: &Node, dx: &mut Diagnostics) -> Self {
        match &node.kind {
            NodeKind::Seq(items) => {
                Self::List(items.iter().map(|item| Self::read(item, dx)).collect())
            }
            NodeKind::Map(entries) => {
                let entries = entries.iter();
                Self::Map(
                    entries.map(|(key, one)| (key.text.clone(), Self::read(one, dx))).collect(),
                )
            }
            _ => match node.as_str() {
                Some(_) => Self::Text(text(node, dx)),
                None => Self::Plain(node.to_json()),
            },
        }
    }

    /// The same for JSON inside a text.
    pub(crate) fn of_json(value: &Value, at: &Node, dx: &mut Diagnostics) -> Self {
        match value {
            Value::String(text) => Self::Text(parsed(text, at, dx)),
            Value::Array(items) => {
                Self::List(items.iter().map(|item| Self::of_json(item, at, dx)).collect())
            }
            Value::Object(entries) => {
                let entries = entries.iter();
                Self::Map(
                    entries.map(|(key, one)| (key.clone(), Self::of_json(one, at, dx))).collect(),
                )
            }
            other => Self::Plain(other.clone()),
        }
    }

    pub(crate) fn fill(&self, values: &Values) -> Option<Value> {
        Some(match self {
            Self::Text(text) => Value::String(text.fill(values)?),
            Self::Plain(value) => value.clone(),
            Self::List(items) => {
                items.iter().map(|item| item.fill(values)).collect::<Option<Vec<_>>>()?.into()
            }
            Self::Map(entries) => {
                let filled =
                    entries.iter().map(|(key, one)| Some((key.clone(), one.fill(values)?)));
                Value::Object(filled.collect::<Option<Map<_, _>>>()?)
            }
        })
    }

    pub(crate) fn names(&self) -> Vec<Name> {
        match self {
            Self::Text(text) => text.names().collect(),
            Self::Plain(_) => Vec::new(),
            Self::List(items) => items.iter().flat_map(Self::names).collect(),
            Self::Map(entries) => entries.iter().flat_map(|(_, one)| one.names()).collect(),
        }
    }
}

/// Reads a text and reports unknown placeholders at their position.
pub(crate) fn text(node: &Node, dx: &mut Diagnostics) -> Text {
    parsed(node.raw().unwrap_or_default(), node, dx)
}

fn parsed(text: &str, node: &Node, dx: &mut Diagnostics) -> Text {
    let unknown = match Text::parse(text) {
        Ok(text) => return text,
        Err(unknown) => unknown,
    };
    for range in unknown {
        let word = text[range.clone()].trim_matches(['{', '}', ' ']).to_owned();
        let span = node.as_scalar().filter(|scalar| scalar.raw == text);
        let span = span.map_or(node.span, |scalar| scalar.locate(node.span, range));
        let title = format!("unknown placeholder `{word}`");
        let diagnostic = Diagnostic::error("config::unknown-placeholder", title).at(span, "");
        let known: Vec<&str> = Name::ALL.iter().map(|(known, ..)| *known).collect();
        dx.push(match closest(&word, known.iter().copied()) {
            Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")),
            None => diagnostic.help(format!(
                "known placeholders: {}; write `{{{{open}}}}` and `{{{{close}}}}` for literal braces",
                known.join(", ")
            )),
        });
    }
    Text::default()
}
