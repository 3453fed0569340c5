//! Whether a text is a well-formed XML document with namespaces, and where it is not. The words are
//! those of the parser that promptfoo uses.

use std::collections::{HashMap, HashSet};
use std::str::Chars;

use super::doctype::{Doctype, has_internal_subset};
use super::names::{is_name, is_name_start, is_plain, is_plain_start, is_space};
use crate::text::js;

const XML: &str = "http://www.w3.org/XML/1998/namespace";
const XMLNS: &str = "http://www.w3.org/2000/xmlns/";
const ENTITIES: [&str; 5] = ["amp", "gt", "lt", "quot", "apos"];

/// Why a text is no document.
#[derive(Debug, PartialEq, Eq)]
pub enum Fault {
    Malformed(String),
    /// A document type with declarations of its own: entities in there are dangerous.
    InternalSubset,
}

/// # Errors
/// The first fault, with line and column.
pub fn check(text: &str) -> Result<(), Fault> {
    let mut checker = Checker::new(text);
    match checker.document() {
        Ok(()) => Ok(()),
        Err(Stop::Fault(fault)) => Err(fault),
        Err(Stop::End { between }) => checker.end(between),
    }
}

enum Stop {
    Fault(Fault),
    /// The text is over, between two tags or inside of something.
    End {
        between: bool,
    },
}

type Step<T = ()> = Result<T, Stop>;

struct Checker<'a> {
    rest: Chars<'a>,
    line: usize,
    column: usize,
    /// XML 1.1 allows other characters.
    newer: bool,
    open: Vec<Open>,
    /// What each prefix stands for, innermost last.
    bound: HashMap<String, Vec<String>>,
    saw_root: bool,
    closed_root: bool,
    saw_doctype: bool,
    /// Nothing was read yet that an XML declaration may not follow.
    at_start: bool,
    standalone: bool,
    /// Entities may be defined elsewhere.
    foreign_entities: bool,
}

/// An element that is not closed yet.
struct Open {
    name: String,
    /// The prefixes it binds.
    binds: Vec<String>,
}

impl<'a> Checker<'a> {
    fn new(text: &'a str) -> Self {
        let bound = [("xml", XML), ("xmlns", XMLNS)];
        Self {
            rest: text.chars(),
            line: 1,
            column: 0,
            newer: false,
            open: Vec::new(),
            bound: bound.map(|(prefix, uri)| (prefix.to_owned(), vec![uri.to_owned()])).into(),
            saw_root: false,
            closed_root: false,
            saw_doctype: false,
            at_start: true,
            standalone: false,
            foreign_entities: false,
        }
    }

    fn fault(&self, what: impl AsRef<str>) -> Fault {
        Fault::Malformed(format!("{}:{}: {}", self.line, self.column, what.as_ref()))
    }

    fn fail<T>(&self, what: impl AsRef<str>) -> Step<T> {
        Err(Stop::Fault(self.fault(what)))
    }

    fn ensure(&self, holds: bool, what: impl AsRef<str>) -> Step {
        if holds { Ok(()) } else { self.fail(what) }
    }

    fn end(&mut self, between: bool) -> Result<(), Fault> {
        if !self.saw_root {
            return Err(self.fault("document must contain a root element."));
        }
        if let Some(last) = self.open.last() {
            return Err(self.fault(format!("unclosed tag: {}", last.name)));
        }
        if between { Ok(()) } else { Err(self.fault("unexpected end.")) }
    }

    /// The next character; all line ends are line feeds.
    fn next(&mut self) -> Step<char> {
        let Some(c) = self.rest.next() else { return Err(Stop::End { between: false }) };
        self.column += 1;
        match c {
            '\n' => Ok(self.line_end()),
            '\r' => {
                let mut after = self.rest.clone();
                if matches!(after.next(), Some('\n')) {
                    self.rest = after;
                }
                Ok(self.line_end())
            }
            '\u{85}' | '\u{2028}' if self.newer => Ok(self.line_end()),
            '\t' => Ok(c),
            '\u{7f}'..='\u{9f}' if self.newer => self.fail("disallowed character."),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => self.fail("disallowed character."),
            _ => Ok(c),
        }
    }

    fn line_end(&mut self) -> char {
        self.line += 1;
        self.column = 0;
        '\n'
    }

    fn peek(&self) -> Option<char> {
        self.rest.clone().next()
    }

    fn next_but_spaces(&mut self) -> Step<char> {
        loop {
            let c = self.next()?;
            if !is_space(c) {
                return Ok(c);
            }
        }
    }

    /// What comes before one of these characters, and which one it was.
    fn until(&mut self, ends: impl Fn(char) -> bool) -> Step<(String, char)> {
        let mut text = String::new();
        loop {
            let c = self.next()?;
            if ends(c) {
                return Ok((text, c));
            }
            text.push(c);
        }
    }

    fn document(&mut self) -> Step {
        if self.peek() == Some('\u{feff}') {
            self.rest.next();
            self.column += 1;
        }
        while self.peek().is_some_and(is_space) {
            self.next()?;
            self.at_start = false;
        }
        loop {
            if self.open.is_empty() {
                self.text_outside()?;
            } else {
                self.text_inside()?;
            }
            self.markup()?;
        }
    }

    /// Up to the next `<`.
    fn text_outside(&mut self) -> Step {
        let mut blank = true;
        loop {
            if self.peek().is_none() {
                self.ensure(blank, "text data outside of root node.")?;
                return Err(Stop::End { between: true });
            }
            let c = self.next()?;
            self.at_start &= c == '<';
            if c == '<' || c == '&' {
                return self.ensure(blank && c == '<', "text data outside of root node.");
            }
            blank &= is_space(c);
        }
    }

    fn text_inside(&mut self) -> Step {
        let mut brackets = 0;
        loop {
            if self.peek().is_none() {
                return Err(Stop::End { between: true });
            }
            let c = self.next()?;
            brackets = match c {
                '<' => return Ok(()),
                '&' => {
                    self.entity()?;
                    0
                }
                ']' => brackets + 1,
                '>' if brackets >= 2 => {
                    return self.fail("the string \"]]>\" is disallowed in char data.");
                }
                _ => 0,
            };
        }
    }

    /// What follows `&`.
    fn entity(&mut self) -> Step {
        let (name, _) = self.until(|c| c == ';')?;
        if name.is_empty() {
            return self.fail("empty entity name.");
        }
        if let Some(number) = name.strip_prefix('#') {
            return self.ensure(self.is_char(number), "malformed character entity.");
        }
        let full = |start: fn(char) -> bool, rest: fn(char) -> bool| {
            name.starts_with(start) && name.chars().all(rest)
        };
        if ENTITIES.contains(&name.as_str())
            || self.foreign_entities && full(is_name_start, is_name)
        {
            return Ok(());
        }
        self.fail(if full(is_plain_start, is_plain) {
            "undefined entity."
        } else {
            "disallowed character in entity name."
        })
    }

    /// Whether this is the number of a character that may occur.
    fn is_char(&self, number: &str) -> bool {
        let (digits, base) = match number.strip_prefix('x') {
            Some(digits) => (digits, 16),
            None => (number, 10),
        };
        let digits_only = digits.chars().all(|c| c.is_digit(base));
        let Ok(code) = u32::from_str_radix(digits, base) else { return false };
        digits_only
            && match code {
                9 | 10 | 13 => true,
                0 | 0xfffe | 0xffff => false,
                1..=0x1f => self.newer,
                _ => char::from_u32(code).is_some(),
            }
    }

    /// What follows `<`.
    fn markup(&mut self) -> Step {
        let first = self.peek();
        if first == Some('?') {
            self.next()?;
            return self.instruction();
        }
        self.at_start = false;
        match first {
            Some(c) if is_name_start(c) => return self.open_tag(),
            None => return Err(Stop::End { between: false }),
            Some(_) => {}
        }
        match self.next()? {
            '/' => self.close_tag(),
            '!' => self.declaration(),
            _ => self.fail("disallowed character in tag name"),
        }
    }

    fn declaration(&mut self) -> Step {
        let mut word = String::new();
        loop {
            word.push(self.next()?);
            match word.as_str() {
                "--" => return self.comment(),
                "[CDATA[" => {
                    let inside = self.saw_root && !self.closed_root;
                    self.ensure(inside, "text data outside of root node.")?;
                    return self.cdata();
                }
                "DOCTYPE" => {
                    let located = !self.saw_doctype && !self.saw_root;
                    self.ensure(located, "inappropriately located doctype declaration.")?;
                    return self.doctype();
                }
                _ if word.encode_utf16().count() >= 7 => return self.fail("incorrect syntax."),
                _ => {}
            }
        }
    }

    fn comment(&mut self) -> Step {
        loop {
            self.until(|c| c == '-')?;
            if self.next()? == '-' {
                let closed = self.next()? == '>';
                return self.ensure(closed, "malformed comment.");
            }
        }
    }

    fn cdata(&mut self) -> Step {
        let mut brackets = 0;
        loop {
            brackets = match self.next()? {
                ']' => brackets + 1,
                '>' if brackets >= 2 => return Ok(()),
                _ => 0,
            };
        }
    }

    fn doctype(&mut self) -> Step {
        let mut text = String::new();
        loop {
            let (part, end) = self.until(|c| matches!(c, '"' | '\'' | '[' | '>'))?;
            text.push_str(&part);
            match end {
                '>' => break,
                '[' => {
                    self.internal_subset()?;
                    text.push_str("[]");
                }
                quote => {
                    let (quoted, _) = self.until(|c| c == quote)?;
                    text.extend([quote.to_string(), quoted, quote.to_string()]);
                }
            }
        }
        if has_internal_subset(&text) {
            return Err(Stop::Fault(Fault::InternalSubset));
        }
        let Some(doctype) = Doctype::read(&text) else {
            let what = "Malformed DOCTYPE declaration".to_owned();
            return Err(Stop::Fault(Fault::Malformed(what)));
        };
        self.foreign_entities = doctype.external && !self.standalone;
        self.saw_doctype = true;
        Ok(())
    }

    /// Only the end of it is looked for.
    fn internal_subset(&mut self) -> Step {
        loop {
            match self.next()? {
                ']' => return Ok(()),
                quote @ ('"' | '\'') => drop(self.until(|c| c == quote)?),
                '<' => match self.next()? {
                    '?' => {
                        self.until(|c| c == '?')?;
                        self.until(|c| c == '>')?;
                    }
                    '!' if self.next()? == '-' && self.next()? == '-' => self.comment()?,
                    _ => {}
                },
                _ => {}
            }
        }
    }

    /// What follows `<?`.
    fn instruction(&mut self) -> Step {
        let disallowed = "disallowed character in processing instruction name.";
        let first = self.next()?;
        if first == '?' || is_space(first) {
            return self.fail("processing instruction without a target.");
        }
        self.ensure(is_plain_start(first), disallowed)?;
        let (rest, end) = self.until(|c| !is_plain(c))?;
        self.ensure(end == '?' || is_space(end), disallowed)?;
        let target = format!("{first}{rest}");
        if target == "xml" {
            let misplaced = "an XML declaration must be at the start of the document.";
            self.ensure(self.at_start, misplaced)?;
            return self.xml_declaration(end == '?');
        }
        self.at_start = false;
        let mut question = end == '?';
        loop {
            let c = self.next()?;
            if question && c == '>' {
                let misplaced = "the XML declaration must appear at the start of the document.";
                return self.ensure(!target.eq_ignore_ascii_case("xml"), misplaced);
            }
            question = c == '?';
        }
    }

    /// The attributes of `<?xml ...?>`, which have a fixed order.
    fn xml_declaration(&mut self, over: bool) -> Step {
        let incomplete = "XML declaration is incomplete.";
        let mut expected: &[&str] = &["version"];
        let mut over = over;
        while !over {
            let first = self.next_but_spaces()?;
            if first == '?' {
                break;
            }
            let (rest, mut end) = self.until(|c| c == '=' || c == '?' || is_space(c))?;
            self.ensure(end != '?', incomplete)?;
            let name = format!("{first}{rest}");
            if !expected.contains(&name.as_str()) {
                return self.fail(if rest.is_empty() {
                    format!("expected the name {}.", expected.first().unwrap_or(&"undefined"))
                } else {
                    format!("expected one of {}", expected.join(", "))
                });
            }
            if end != '=' {
                end = self.next_but_spaces()?;
                self.ensure(end != '?', incomplete)?;
                self.ensure(end == '=', "value required.")?;
            }
            let quote = self.next_but_spaces()?;
            self.ensure(quote != '?', incomplete)?;
            self.ensure(quote == '"' || quote == '\'', "value must be quoted.")?;
            let (value, end) = self.until(|c| c == quote || c == '?')?;
            self.ensure(end != '?', incomplete)?;
            expected = self.declared(&name, &value)?;
            let after = self.next()?;
            over = after == '?';
            self.ensure(over || is_space(after), "whitespace required.")?;
        }
        let closed = self.next()? == '>';
        self.ensure(closed, "The character ? is disallowed anywhere in XML declarations.")?;
        self.ensure(!expected.contains(&"version"), "XML declaration must contain a version.")?;
        self.at_start = false;
        Ok(())
    }

    /// Takes note of an attribute; returns which ones may follow.
    fn declared(&mut self, name: &str, value: &str) -> Step<&'static [&'static str]> {
        match name {
            "version" => {
                let minor = value.strip_prefix("1.").unwrap_or_default();
                let numeric = !minor.is_empty() && minor.bytes().all(|c| c.is_ascii_digit());
                self.ensure(numeric, "version number must match /^1\\.[0-9]+$/.")?;
                self.newer = value != "1.0";
                Ok(&["encoding", "standalone"])
            }
            "encoding" => {
                let fits = value.starts_with(|c: char| c.is_ascii_alphabetic())
                    && value.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
                let wrong = "encoding value must match /^[A-Za-z0-9][A-Za-z0-9._-]*$/.";
                self.ensure(fits, wrong)?;
                Ok(&["standalone"])
            }
            _ => {
                let known = value == "yes" || value == "no";
                self.ensure(known, "standalone value must match \"yes\" or \"no\".")?;
                self.standalone = value == "yes";
                Ok(&[])
            }
        }
    }

    fn open_tag(&mut self) -> Step {
        let (name, mut end) = self.until(|c| !is_name(c))?;
        self.saw_root = true;
        self.ensure(!self.closed_root, "documents may contain only one root.")?;
        let known = end == '>' || end == '/' || is_space(end);
        self.ensure(known, "disallowed character in tag name.")?;
        let mut tag = Tag { open: Open { name, binds: Vec::new() }, attributes: Vec::new() };
        loop {
            match end {
                '>' => {
                    let open = self.opened(tag)?;
                    self.open.push(open);
                    return Ok(());
                }
                '/' => {
                    let closed = self.next()? == '>';
                    self.ensure(closed, "forward-slash in opening tag not followed by >.")?;
                    let open = self.opened(tag)?;
                    self.closed(&open);
                    return Ok(());
                }
                _ => {}
            }
            let c = self.next_but_spaces()?;
            if c == '>' || c == '/' {
                end = c;
                continue;
            }
            self.ensure(is_name_start(c), "disallowed character in attribute name.")?;
            self.attribute(c, &mut tag)?;
            end = self.next()?;
            if end == '>' || end == '/' || is_space(end) {
                continue;
            }
            return self.fail(if is_name_start(end) {
                "no whitespace between attributes."
            } else {
                "disallowed character in attribute name."
            });
        }
    }

    fn attribute(&mut self, first: char, tag: &mut Tag) -> Step {
        let (rest, end) = self.until(|c| !is_name(c))?;
        let name = format!("{first}{rest}");
        if is_space(end) {
            let equals = self.next_but_spaces()? == '=';
            self.ensure(equals, "attribute without value.")?;
        } else if end != '=' {
            return self.fail(match end {
                '>' => "attribute without value.",
                _ => "disallowed character in attribute name.",
            });
        }
        let quote = self.next_but_spaces()?;
        self.ensure(quote == '"' || quote == '\'', "unquoted attribute value.")?;
        let mut value = String::new();
        loop {
            let (part, end) = self.until(|c| c == quote || c == '&' || c == '<')?;
            value.push_str(&part);
            match end {
                '&' => {
                    self.entity()?;
                    // What it stands for matters only in that it is something.
                    value.push('&');
                }
                '<' => return self.fail("disallowed character."),
                _ => break,
            }
        }
        let prefixed = self.qualified(&name)?;
        if name == "xmlns" {
            self.bind(tag, "", js::trim(&value))?;
        } else if let Some(("xmlns", local)) = prefixed {
            let uri = js::trim(&value);
            let undefined = "invalid attempt to undefine prefix in XML 1.0";
            self.ensure(self.newer || !uri.is_empty(), undefined)?;
            self.bind(tag, local, uri)?;
        }
        tag.attributes.push(name);
        Ok(())
    }

    /// Prefix and local name, if there is a prefix.
    fn qualified<'n>(&self, name: &'n str) -> Step<Option<(&'n str, &'n str)>> {
        let Some((prefix, local)) = name.split_once(':') else { return Ok(None) };
        let proper = !prefix.is_empty() && !local.is_empty() && !local.contains(':');
        self.ensure(proper, format!("malformed name: {name}."))?;
        Ok(Some((prefix, local)))
    }

    fn bind(&mut self, tag: &mut Tag, prefix: &str, uri: &str) -> Step {
        self.ensure(prefix != "xml" || uri == XML, format!("xml prefix must be bound to {XML}."))?;
        let taken = format!("xmlns prefix must be bound to {XMLNS}.");
        self.ensure(prefix != "xmlns" || uri == XMLNS, taken)?;
        match (uri, prefix) {
            (XMLNS | XML, "") => {
                return self.fail(format!("the default namespace may not be set to {uri}."));
            }
            (XMLNS, _) => {
                let what = "may not assign a prefix (even \"xmlns\") to the URI";
                return self.fail(format!("{what} {XMLNS}."));
            }
            (XML, prefix) if prefix != "xml" => {
                return self.fail("may not assign the xml namespace to another prefix.");
            }
            _ => {}
        }
        self.bound.entry(prefix.to_owned()).or_default().push(uri.to_owned());
        tag.open.binds.push(prefix.to_owned());
        Ok(())
    }

    fn resolve(&self, prefix: &str) -> Option<&str> {
        self.bound.get(prefix)?.last().map(String::as_str)
    }

    /// The start tag is complete.
    fn opened(&mut self, tag: Tag) -> Step<Open> {
        let unbound = |prefix: &str| format!("unbound namespace prefix: \"{prefix}\".");
        if let Some((prefix, _)) = self.qualified(&tag.open.name)? {
            self.ensure(prefix != "xmlns", "tags may not have \"xmlns\" as prefix.")?;
            let bound = self.resolve(prefix).is_some_and(|uri| !uri.is_empty());
            self.ensure(bound, unbound(prefix))?;
        }
        let mut seen = HashSet::new();
        for name in &tag.attributes {
            let full = match self.qualified(name)? {
                None => name.clone(),
                Some((prefix, local)) => match self.resolve(prefix) {
                    Some(uri) => format!("{{{uri}}}{local}"),
                    None => return self.fail(unbound(prefix)),
                },
            };
            let twice = format!("duplicate attribute: {full}.");
            self.ensure(seen.insert(full), twice)?;
        }
        Ok(tag.open)
    }

    /// An element is over.
    fn closed(&mut self, element: &Open) {
        for prefix in &element.binds {
            if let Some(uris) = self.bound.get_mut(prefix) {
                uris.pop();
            }
        }
        self.closed_root |= self.open.is_empty();
    }

    fn close_tag(&mut self) -> Step {
        let disallowed = "disallowed character in closing tag.";
        let (name, end) = self.until(|c| !is_name(c))?;
        if is_space(end) {
            let closed = self.next_but_spaces()? == '>';
            self.ensure(closed, disallowed)?;
        } else {
            self.ensure(end == '>', disallowed)?;
        }
        self.ensure(!name.is_empty(), "weird empty close tag.")?;
        let Some(element) = self.open.pop() else {
            return self.fail(format!("unmatched closing tag: {name}."));
        };
        self.ensure(element.name == name, "unexpected close tag.")?;
        self.closed(&element);
        Ok(())
    }
}

/// A start tag while it is read.
struct Tag {
    open: Open,
    attributes: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> String {
        match check(text) {
            Ok(()) => String::new(),
            Err(Fault::Malformed(what)) => what,
            Err(Fault::InternalSubset) => "internal subset".to_owned(),
        }
    }

    #[test]
    fn documents_are_well_formed() {
        for text in [
            "<a/>",
            "\u{feff}<?xml version='1.0' encoding=\"UTF-8\" standalone='yes' ?>\r\n<a>&lt;&#x42;</a>\n",
            "<!DOCTYPE a SYSTEM \"a.dtd\"><a b='&c;'>&d;</a>",
            "<x:a xmlns:x='u' x:b='' b=''><x:c/></x:a>",
            "<a><!-- - --><![CDATA[]]]]><?go on?></a><!---->",
        ] {
            assert_eq!(fault(text), "", "{text}");
        }
    }

    #[test]
    fn the_first_fault_is_told_with_its_place() {
        for (text, told) in [
            ("<a><b></a>", "1:10: unexpected close tag."),
            ("<a><b/>", "1:7: unclosed tag: a"),
            ("<a/><b/>", "1:7: documents may contain only one root."),
            ("x <a/> y", "1:3: text data outside of root node."),
            ("plain", "1:5: text data outside of root node."),
            ("", "1:0: document must contain a root element."),
            ("<a b=1/>", "1:6: unquoted attribute value."),
            ("<a b=\"1\" b=\"2\"/>", "1:16: duplicate attribute: b."),
            ("<a b/>", "1:5: disallowed character in attribute name."),
            ("<a>&nbsp;</a>", "1:9: undefined entity."),
            ("<a>a & b</a>", "1:12: unclosed tag: a"),
            ("<x:a/>", "1:6: unbound namespace prefix: \"x\"."),
            (
                " <?xml version=\"1.0\"?><a/>",
                "1:7: an XML declaration must be at the start of the document.",
            ),
            ("<a></A>", "1:7: unexpected close tag."),
            ("<a/><b", "1:6: unexpected end."),
            ("<a>\r\n]]></a>", "2:3: the string \"]]>\" is disallowed in char data."),
            ("<!DOCTYPE a NONSENSE><a/>", "Malformed DOCTYPE declaration"),
            ("<!DOCTYPE a [<!ENTITY e \"x\"><!-- ] -->]><a>&e;</a>", "internal subset"),
            ("<a>\u{1}</a>", "1:4: disallowed character."),
            ("<a>&#0;</a>", "1:7: malformed character entity."),
            ("<a></a", "1:6: unclosed tag: a"),
            ("</a>", "1:4: unmatched closing tag: a."),
        ] {
            assert_eq!(fault(text), told, "{text}");
        }
    }

    #[test]
    fn depth_takes_bearable_time() {
        let deep = format!("<a xmlns:p='u'>{}", "<p:b>".repeat(200_000));
        assert!(fault(&deep).ends_with("unclosed tag: p:b"));
    }
}
