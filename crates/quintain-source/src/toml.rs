//! TOML into the same tree. Keeps what the parser could read and reports the rest.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::builder::MAX_DEPTH;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::file::{FileId, Span};
use crate::node::{Key, Node, NodeKind, Origin, Scalar, ScalarValue, Style};
use crate::scalar::resolve;

pub(crate) fn read(text: &str, id: FileId, dx: &mut Diagnostics) -> Node {
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let span = Span::new(id, error.span().unwrap_or_default());
        dx.push(
            Diagnostic::error("config::syntax", "this is not valid TOML").at(span, error.message()),
        );
    }
    let span = Span::new(id, table.span());
    Node { span, kind: self::table(table.get_ref(), id, 0) }
}

fn table(table: &DeTable<'_>, id: FileId, depth: usize) -> NodeKind {
    let mut entries: Vec<(Key, Node)> = table
        .iter()
        .map(|(key, value)| {
            let span = Span::new(id, key.span());
            let key = Key { text: key.get_ref().to_string(), span };
            (key, node(value, id, depth + 1))
        })
        .collect();
    // The parser sorts by name.
    entries.sort_by_key(|(key, _)| key.span.start);
    NodeKind::Map(entries)
}

fn node(value: &Spanned<DeValue<'_>>, id: FileId, depth: usize) -> Node {
    let span = Span::new(id, value.span());
    let scalar = |raw: &str, value: ScalarValue, style: Style| {
        NodeKind::Scalar(Scalar { raw: raw.to_owned(), style, value, origin: Origin::Rewritten })
    };
    let number = |raw: &str| {
        let raw = raw.replace('_', "");
        let value = resolve(&raw).unwrap_or(ScalarValue::Text);
        scalar(&raw, value, Style::Plain)
    };
    let kind = match value.get_ref() {
        _ if depth > MAX_DEPTH => NodeKind::Null,
        DeValue::String(text) => scalar(text, ScalarValue::Text, Style::DoubleQuoted),
        DeValue::Integer(integer) => number(integer.as_str()),
        DeValue::Float(float) => number(float.as_str()),
        DeValue::Boolean(truth) => {
            scalar(&truth.to_string(), ScalarValue::Bool(*truth), Style::Plain)
        }
        DeValue::Datetime(time) => scalar(&time.to_string(), ScalarValue::Text, Style::Plain),
        DeValue::Array(items) => {
            NodeKind::Seq(items.iter().map(|item| node(item, id, depth + 1)).collect())
        }
        DeValue::Table(inner) => table(inner, id, depth),
    };
    Node { span, kind }
}
