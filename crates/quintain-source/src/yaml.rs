//! YAML events into a [`Node`] tree, with limits on everything that a small file could expand.

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span as RawSpan, Tag};

use crate::builder::{Builder, Fatal, too_deep};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::file::{FileId, SourceFile, Sources, Span};
use crate::long_list::Long;
use crate::node::{Node, NodeKind, Origin, Scalar, ScalarValue, Style};
use crate::scalar::resolve;

/// Maximum size of a file: enough for several hundred thousand tests.
pub const MAX_BYTES: usize = 128 << 20;

/// Reads a YAML or (by its suffix) JSON file. Returns nothing if the text cannot be parsed;
/// minor mistakes such as duplicate keys are reported and the tree is returned.
pub fn read(sources: &Sources, id: FileId, dx: &mut Diagnostics) -> Option<Node> {
    read_long(sources, id, Long::Nothing, dx)
}

/// Reads a file in which one list may have more items than fit into memory as trees.
pub fn read_long(sources: &Sources, id: FileId, long: Long, dx: &mut Diagnostics) -> Option<Node> {
    let file = sources.get(id)?;
    if let Some(diagnostic) = unreadable(file, id) {
        dx.push(diagnostic);
        return None;
    }
    if std::path::Path::new(file.name()).extension().is_some_and(|e| e.eq_ignore_ascii_case("json"))
    {
        return crate::json::read(file.text(), id, long, dx);
    }
    let text = Text { file, id, chars: char_offsets(file.text()) };
    let mut builder = Builder::new(long);
    match feed(&text, &mut builder, dx) {
        Ok(()) => Some(builder.finish(Span::new(id, 0..0))),
        Err(fatal) => {
            fatal.report(dx);
            None
        }
    }
}

pub(crate) fn unreadable(file: &SourceFile, id: FileId) -> Option<Diagnostic> {
    if file.text().len() > MAX_BYTES {
        let title = format!("`{}` is larger than {} MiB", file.name(), MAX_BYTES >> 20);
        return Some(Diagnostic::error("config::too-large", title));
    }
    let forbidden = |c: &char| c.is_ascii_control() && !matches!(c, '\t' | '\n' | '\r' | '\x7f');
    let (at, c) = file.text().char_indices().find(|(_, c)| forbidden(c))?;
    let title = format!("control character U+{:04X} in the file", c as u32);
    Some(
        Diagnostic::error("config::bad-character", title)
            .at(Span::new(id, at..at + 1), "not allowed in YAML or JSON")
            .help("write it as an escape in double quotes, such as `\"\\x1b\"`"),
    )
}

/// A text for a parser that counts in characters.
struct Text<'f> {
    file: &'f SourceFile,
    id: FileId,
    /// Byte offsets of the characters; absent if they are the same.
    chars: Option<Vec<usize>>,
}

fn char_offsets(text: &str) -> Option<Vec<usize>> {
    (!text.is_ascii()).then(|| text.char_indices().map(|(at, _)| at).collect())
}

impl Text<'_> {
    fn offset(&self, chars: usize) -> usize {
        let len = self.file.text().len();
        match &self.chars {
            None => chars.min(len),
            Some(offsets) => offsets.get(chars).copied().unwrap_or(len),
        }
    }

    fn span(&self, raw: RawSpan) -> Span {
        Span::new(self.id, self.offset(raw.start.index())..self.offset(raw.end.index()))
    }

    fn slice(&self, span: Span) -> &str {
        self.file.slice(span.range())
    }
}

fn feed(text: &Text<'_>, builder: &mut Builder, dx: &mut Diagnostics) -> Result<(), Fatal> {
    let mut documents = 0;
    for event in Parser::new_from_str(text.file.text()) {
        let (event, raw_span) = event.map_err(|error| syntax(text, &error))?;
        let span = text.span(raw_span);
        match event {
            Event::DocumentStart(_) => {
                documents += 1;
                if documents > 1 {
                    dx.push(several_documents(span));
                    return Ok(());
                }
            }
            Event::Scalar(value, style, anchor, tag) => {
                let node = scalar(text, value.into_owned(), style, tag.as_deref(), span, dx);
                builder.scalar(node, anchor, dx)?;
            }
            Event::Alias(anchor) => builder.alias(anchor, span, dx)?,
            Event::SequenceStart(anchor, _) => builder.open_seq(anchor, span)?,
            Event::MappingStart(anchor, _) => builder.open_map(anchor, span)?,
            Event::SequenceEnd | Event::MappingEnd => {
                // Only a flow collection has a closing bracket; a block ends with its last child.
                let closes = text.slice(span).starts_with([']', '}']);
                builder.close(closes.then_some(span.start + 1), dx)?;
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
        }
    }
    Ok(())
}

fn syntax(text: &Text<'_>, error: &ScanError) -> Fatal {
    let at = text.offset(error.marker().index());
    let next = text.file.text()[at..].chars().next().map_or(0, char::len_utf8);
    let span = Span::new(text.id, at..at + next);
    // The parser has its own limit, which it may reach before the tree does.
    if error.info().contains("recursion limit") {
        return too_deep(span);
    }
    let diagnostic = Diagnostic::error("config::syntax", "this is not valid YAML");
    let diagnostic = diagnostic.at(span, error.info());
    if error.info().contains("quoted scalar") {
        return diagnostic.help("text in quotes ends with the same quote").into();
    }
    diagnostic.into()
}

fn several_documents(span: Span) -> Diagnostic {
    Diagnostic::error("config::several-documents", "the file contains more than one YAML document")
        .at(span, "a second document starts here")
        .help("move it to a separate file and name both files")
}

fn scalar(
    text: &Text<'_>,
    raw: String,
    style: ScalarStyle,
    tag: Option<&Tag>,
    span: Span,
    dx: &mut Diagnostics,
) -> (Node, String) {
    let style = match style {
        ScalarStyle::Plain => Style::Plain,
        ScalarStyle::SingleQuoted => Style::SingleQuoted,
        ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
        ScalarStyle::Literal => Style::Literal,
        ScalarStyle::Folded => Style::Folded,
    };
    let span = trimmed(text, span);
    let bare = if style == Style::Plain { resolve(&raw) } else { Some(ScalarValue::Text) };
    let value = match tag {
        None => bare,
        Some(tag) => tagged(tag, &raw, bare, span, dx),
    };
    let kind = match value {
        None => NodeKind::Null,
        Some(value) => {
            let origin = origin(text, &raw, style, span);
            NodeKind::Scalar(Scalar { raw: raw.clone(), style, value, origin })
        }
    };
    (Node { span, kind }, raw)
}

/// Applies an explicit tag to a scalar. Unknown tags change nothing, but are reported.
fn tagged(
    tag: &Tag,
    raw: &str,
    bare: Option<ScalarValue>,
    span: Span,
    dx: &mut Diagnostics,
) -> Option<ScalarValue> {
    let core = tag.is_yaml_core_schema().then_some(tag.suffix.as_str());
    let resolved = resolve(raw);
    match (core, resolved) {
        (Some("str"), _) => Some(ScalarValue::Text),
        (Some("null"), None)
        | (Some("bool"), Some(ScalarValue::Bool(_)))
        | (Some("int"), Some(ScalarValue::Int(_) | ScalarValue::Unsigned(_)))
        | (Some("float"), Some(ScalarValue::Float(_))) => resolved,
        (Some("float"), Some(ScalarValue::Int(value))) => Some(ScalarValue::Float(value as f64)),
        _ => {
            let title = format!("the tag `{tag}` is not supported");
            let diagnostic = Diagnostic::warning("config::unknown-tag", title);
            dx.push(diagnostic.at(span, "read without the tag"));
            bare
        }
    }
}

/// The parser includes trailing white space in plain and block scalars.
fn trimmed(text: &Text<'_>, span: Span) -> Span {
    let kept = text.slice(span).trim_end().len();
    Span { end: span.start + kept, ..span }
}

fn origin(text: &Text<'_>, raw: &str, style: Style, span: Span) -> Origin {
    let written = text.slice(span);
    let quote = usize::from(matches!(style, Style::SingleQuoted | Style::DoubleQuoted));
    if written.get(quote..).is_some_and(|rest| rest.starts_with(raw)) {
        return Origin::Verbatim(span.start + quote);
    }
    if style == Style::Literal { lines(raw, written, span.start) } else { Origin::Rewritten }
}

/// Pairs the lines of a literal block with the indented lines of the file.
fn lines(raw: &str, written: &str, start: usize) -> Origin {
    let mut pairs = Vec::new();
    let (mut in_raw, mut in_file) = (0, start);
    // The span starts with the first line that is not empty; it excludes empty lines before it.
    if raw.starts_with('\n') {
        return Origin::Rewritten;
    }
    for (line, source) in raw.split_inclusive('\n').zip(written.split_inclusive('\n')) {
        let content = line.trim_end_matches('\n');
        let source_content = source.trim_end_matches(['\n', '\r']);
        if !source_content.ends_with(content) {
            return Origin::Rewritten;
        }
        pairs.push((in_raw, in_file + source_content.len() - content.len()));
        in_raw += line.len();
        in_file += source.len();
    }
    Origin::Lines(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{parse, parse_as, tree};
    use serde_json::json;
    use std::fmt::Write;

    /// The texts that the spans of all nodes and keys point at.
    fn spans(text: &str) -> Vec<String> {
        let node = tree(text);
        let mut found = Vec::new();
        node.walk(&mut |node| {
            found.push(text[node.span.range()].to_owned());
            let keys = node.as_map().unwrap_or_default().iter();
            found.extend(keys.map(|(key, _)| text[key.span.range()].to_owned()));
        });
        found
    }

    #[test]
    fn values_keep_what_was_written() {
        let node =
            tree("a: no\nb: 012\nc: 1.10\nd: 'true'\ne: ~\nf: [1, x]\ng: |\n  two\n  lines\n");
        assert_eq!(
            node.to_json(),
            json!({"a": "no", "b": "012", "c": 1.1, "d": "true", "e": null, "f": [1, "x"],
                "g": "two\nlines\n"})
        );
        assert_eq!(node.get("c").and_then(Node::raw), Some("1.10"));
        assert_eq!(tree("18446744073709551615").to_json(), json!(u64::MAX));
    }

    #[test]
    fn spans_cover_exactly_the_text() {
        assert_eq!(spans("é: ü # c\nb:  'x'  \n"), ["é: ü # c\nb:  'x'", "é", "b", "ü", "'x'"]);
        assert_eq!(
            spans("a: [1, {b: 2} ]\n\n"),
            ["a: [1, {b: 2} ]", "a", "[1, {b: 2} ]", "1", "{b: 2}", "b", "2"]
        );
        assert_eq!(spans("- a\n- b: c\n\n"), ["- a\n- b: c", "a", "b: c", "b", "c"]);
    }

    #[test]
    fn parts_of_scalars_are_located() {
        for (text, part) in [
            ("k: a {{b}}", "{{b}}"),
            ("k: 'a {{b}}'", "{{b}}"),
            ("k: \"a {{b}}\"", "{{b}}"),
            ("k: |\n   a\n   x {{b}}\n   c\n", "{{b}}"),
            ("k: |\r\n   a\r\n   x {{b}}\r\n", "{{b}}"),
            ("k: \"a\\t{{b}}\"", "\"a\\t{{b}}\""),
            ("k: >\n  a\n  {{b}}\n", "a\n  {{b}}"),
            ("k: |\n\n  {{b}}\n", "{{b}}"),
        ] {
            let node = tree(text);
            let value = node.get("k").expect("k");
            let scalar = value.as_scalar().expect("scalar");
            let at = scalar.raw.find("{{b}}").expect("part");
            let span = scalar.locate(value.span, at..at + 5);
            assert_eq!(&text[span.range()], part, "{text:?}");
        }
    }

    #[test]
    fn aliases_and_merges_are_expanded() {
        let node = tree(
            "base: &b {x: 1, y: 2}\nuse:\n  <<: *b\n  y: 3\nlist:\n  <<: [*b, {z: 4}]\nsame: *b\n",
        );
        assert_eq!(
            node.to_json(),
            json!({"base": {"x": 1, "y": 2}, "use": {"y": 3, "x": 1},
                "list": {"x": 1, "y": 2, "z": 4}, "same": {"x": 1, "y": 2}})
        );
        assert_eq!(parse("a: {<<: 5}").codes(), ["config::bad-merge"]);
        assert_eq!(tree("\"<<\": 5").to_json(), json!({"<<": 5}));
    }

    #[test]
    fn bombs_are_defused() {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..12 {
            let below = vec![format!("*a{}", level - 1); 10].join(", ");
            writeln!(text, "a{level}: &a{level} [{below}]").unwrap();
        }
        assert_eq!(parse(&text).codes(), ["config::alias-bomb"]);
        let long = format!("a: &a {}\nb: [{}]", "x".repeat(1 << 20), "*a, ".repeat(100));
        assert_eq!(parse(&long).codes(), ["config::alias-bomb"]);
        assert_eq!(parse(&"[".repeat(5000)).codes(), ["config::too-deep"]);
        let mut chain = "a0: &a0 [x]\n".to_owned();
        for level in 1..200 {
            writeln!(chain, "a{level}: &a{level} [*a{}]", level - 1).unwrap();
        }
        assert_eq!(parse(&chain).codes(), ["config::too-deep"]);
        assert_eq!(parse("a: &a [*a]").codes(), ["config::recursive-alias"]);
        assert_eq!(parse("a: *nowhere").codes(), ["config::syntax"]);
    }

    #[test]
    fn faults_of_the_document_are_reported() {
        let twice = parse("a: 1\nb: 2\na: 3\na: 4\n");
        assert_eq!(twice.codes(), ["config::duplicate-key"; 2]);
        assert_eq!(twice.node.map(|node| node.to_json()), Some(json!({"a": 1, "b": 2})));
        let two = parse("a: 1\n---\nb: 2\n");
        assert_eq!((two.codes(), two.culprits()), (vec!["config::several-documents"], vec!["---"]));
        assert_eq!(parse("a: {{env.X}}").codes(), ["config::bad-key"]);
        assert_eq!(parse("a: [1").codes(), ["config::syntax"]);
        assert_eq!(parse("a: \"\x1b[0m\"").codes(), ["config::bad-character"]);
        assert_eq!(parse("a: !mine 5").codes(), ["config::unknown-tag"]);
        assert_eq!(tree("a: !!str 5").to_json(), json!({"a": "5"}));
        assert!(tree("# nothing\n").is_null());
    }

    #[test]
    fn json_files_are_read_as_json() {
        let text = "{\"a\": \"\\ud83d\\ude00\", \"b\": [1, -2.5e3, true, null],\r\n\t\"c\": {}}";
        let parsed = parse_as("suite.json", text);
        assert!(parsed.dx.is_empty(), "{}", parsed.drawn());
        let expected = json!({"a": "😀", "b": [1, -2500.0, true, null], "c": {}});
        assert_eq!(parsed.node.map(|node| node.to_json()), Some(expected));
        for bad in [
            "{a: 1}",
            "{\"a\": 01}",
            "[1,]",
            "[1 2]",
            "{\"a\": yes}",
            "\"a",
            "[",
            "",
            "1 2",
            "{\"a\": 0x1}",
            "[\"\\u12\"]",
            "{\"a\"}",
            "nul",
        ] {
            assert_eq!(parse_as("x.json", bad).codes(), ["config::syntax"], "{bad}");
        }
        assert_eq!(parse_as("x.json", &"[".repeat(5000)).codes(), ["config::too-deep"]);
        assert_eq!(parse_as("x.json", "{\"a\":1,\"a\":2}").codes(), ["config::duplicate-key"]);
    }
}
