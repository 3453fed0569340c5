//! Strict JSON into the same tree. The YAML reader accepts most JSON, but not `\ud83d\ude00`,
//! which many programs write.

use std::collections::HashMap;

use crate::builder::{Fatal, MAX_DEPTH, duplicate, too_deep};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::file::{FileId, Span};
use crate::long_list::{Items, Long};
use crate::node::{Key, Node, NodeKind, Origin, Scalar, ScalarValue, Style};
use crate::scalar::resolve;

pub(crate) fn read(text: &str, id: FileId, long: Long, dx: &mut Diagnostics) -> Option<Node> {
    Reader { text, at: 0, id, long, relaxed: false, dx }.read()
}

/// The same with comments and trailing commas, as editors allow in their settings.
pub(crate) fn read_relaxed(text: &str, id: FileId, dx: &mut Diagnostics) -> Option<Node> {
    Reader { text, at: 0, id, long: Long::Nothing, relaxed: true, dx }.read()
}

/// The values of a text with one JSON value per line, each with the diagnostics of its line. Empty
/// lines are skipped.
pub fn lines(text: &str, id: FileId) -> impl Iterator<Item = (Option<Node>, Diagnostics)> {
    let mut end = 0;
    let ranges = text.split_inclusive('\n').map(move |line| {
        let start = end;
        end += line.len();
        (start, end, line.trim().is_empty())
    });
    ranges.filter(|(_, _, empty)| !empty).map(move |(start, end, _)| {
        let mut dx = Diagnostics::new();
        let text = &text[..end];
        let mut reader =
            Reader { text, at: start, id, long: Long::Nothing, relaxed: false, dx: &mut dx };
        let node = reader.document();
        let node = node.map_err(|fatal| fatal.report(&mut dx)).ok();
        (node, dx)
    })
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    id: FileId,
    long: Long,
    /// Whether comments and trailing commas are allowed.
    relaxed: bool,
    dx: &'t mut Diagnostics,
}

impl<'t> Reader<'t> {
    fn read(mut self) -> Option<Node> {
        self.document().map_err(|fatal| fatal.report(self.dx)).ok()
    }

    fn document(&mut self) -> Result<Node, Fatal> {
        let node = self.value(0)?;
        self.skip_space();
        if self.at < self.text.len() {
            return Err(self.unexpected("the end of the file"));
        }
        Ok(node)
    }

    fn value(&mut self, depth: usize) -> Result<Node, Fatal> {
        self.skip_space();
        let start = self.at;
        if depth > MAX_DEPTH {
            return Err(too_deep(self.span(start)));
        }
        let kind = match self.peek() {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth, depth == 0 && self.long.is_document())?,
            Some(b'"') => {
                let (raw, origin) = self.string()?;
                let (style, value) = (Style::DoubleQuoted, ScalarValue::Text);
                NodeKind::Scalar(Scalar { raw, style, value, origin })
            }
            _ => self.word()?,
        };
        Ok(Node { span: self.span(start), kind })
    }

    fn object(&mut self, depth: usize) -> Result<NodeKind, Fatal> {
        let mut entries: Vec<(Key, Node)> = Vec::new();
        let mut seen: HashMap<String, Span> = HashMap::new();
        self.items(b'}', |reader| {
            reader.skip_space();
            let start = reader.at;
            if reader.peek() != Some(b'"') {
                return Err(reader.unexpected("a key in double quotes"));
            }
            let key = Key { text: reader.string()?.0, span: reader.span(start) };
            reader.skip_space();
            reader.expect(b':', "`:`")?;
            let may_be_long = depth == 0 && reader.long.is_key(&key.text);
            let node = reader.member(depth + 1, may_be_long)?;
            if let Some(first) = seen.get(&key.text) {
                reader.dx.push(duplicate(&key, *first));
            } else {
                seen.insert(key.text.clone(), key.span);
                entries.push((key, node));
            }
            Ok(())
        })?;
        // Trees of large files consist mostly of small maps.
        entries.shrink_to_fit();
        Ok(NodeKind::Map(entries))
    }

    /// The value of a key.
    fn member(&mut self, depth: usize, may_be_long: bool) -> Result<Node, Fatal> {
        self.skip_space();
        if !may_be_long || self.peek() != Some(b'[') {
            return self.value(depth);
        }
        let start = self.at;
        let kind = self.array(depth, true)?;
        Ok(Node { span: self.span(start), kind })
    }

    fn array(&mut self, depth: usize, may_be_long: bool) -> Result<NodeKind, Fatal> {
        let mut nodes = Items::new(may_be_long);
        self.items(b']', |reader| {
            nodes.push(reader.value(depth + 1)?);
            Ok(())
        })?;
        Ok(nodes.finish())
    }

    /// The comma-separated rest of a collection, from its opening to its closing bracket.
    fn items(
        &mut self,
        close: u8,
        mut item: impl FnMut(&mut Self) -> Result<(), Fatal>,
    ) -> Result<(), Fatal> {
        self.at += 1;
        self.skip_space();
        if self.peek() == Some(close) {
            self.at += 1;
            return Ok(());
        }
        loop {
            item(self)?;
            self.skip_space();
            let comma = self.at;
            match self.peek() {
                Some(byte) if byte == close => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b',') => self.at += 1,
                _ => return Err(self.unexpected(&format!("`,` or `{}`", char::from(close)))),
            }
            self.skip_space();
            if self.peek() == Some(close) {
                if self.relaxed {
                    self.at += 1;
                    return Ok(());
                }
                let span = Span::new(self.id, comma..comma + 1);
                return Err(syntax(span, "trailing comma is not allowed in JSON"));
            }
        }
    }

    fn string(&mut self) -> Result<(String, Origin), Fatal> {
        let start = self.at;
        self.at += 1;
        let body = self.at;
        loop {
            match self.peek() {
                None => return Err(syntax(Span::new(self.id, start..start + 1), "never closed")),
                Some(b'"') => break,
                Some(b'\\') => {
                    self.at += 1;
                    self.at += self.rest().chars().next().map_or(0, char::len_utf8);
                }
                Some(_) => self.at += 1,
            }
        }
        let raw = &self.text[body..self.at];
        self.at += 1;
        if !raw.contains(['\\', '\n', '\r', '\t']) {
            return Ok((raw.to_owned(), Origin::Verbatim(body)));
        }
        let quoted = &self.text[start..self.at];
        match serde_json::from_str(quoted) {
            Ok(text) => Ok((text, Origin::Rewritten)),
            Err(_) => Err(syntax(self.span(start), "not a valid JSON string")),
        }
    }

    fn word(&mut self) -> Result<NodeKind, Fatal> {
        let start = self.at;
        let ends =
            |c: char| c.is_whitespace() || ",:]}[{\"".contains(c) || (self.relaxed && c == '/');
        let raw = self.rest().split(ends).next().unwrap_or_default();
        self.at += raw.len();
        // `resolve` accepts more words and numbers than JSON does.
        let valid =
            !raw.is_empty() && serde_json::from_str::<&serde_json::value::RawValue>(raw).is_ok();
        if !valid {
            self.at = start;
            return Err(self.unexpected("a JSON value"));
        }
        let origin = Origin::Verbatim(start);
        Ok(match resolve(raw) {
            None => NodeKind::Null,
            Some(value) => {
                NodeKind::Scalar(Scalar { raw: raw.to_owned(), style: Style::Plain, value, origin })
            }
        })
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip_space(&mut self) {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
            if !self.relaxed {
                return;
            }
            let rest = self.rest();
            let comment = if rest.starts_with("//") {
                rest.find('\n')
            } else if rest.starts_with("/*") {
                rest.find("*/").map(|end| end + 2)
            } else {
                return;
            };
            self.at += comment.unwrap_or(rest.len());
        }
    }

    fn expect(&mut self, byte: u8, what: &str) -> Result<(), Fatal> {
        if self.peek() != Some(byte) {
            return Err(self.unexpected(what));
        }
        self.at += 1;
        Ok(())
    }

    fn span(&self, start: usize) -> Span {
        Span::new(self.id, start..self.at)
    }

    fn unexpected(&self, wanted: &str) -> Fatal {
        let len = self.rest().chars().next().map_or(0, char::len_utf8);
        let span = Span::new(self.id, self.at..self.at + len);
        syntax(span, &format!("expected {wanted}"))
    }
}

fn syntax(span: Span, label: &str) -> Fatal {
    Diagnostic::error("config::syntax", "this is not valid JSON").at(span, label).into()
}
