//! Whether a text is a well-formed XML document with namespaces, and where it is not. The words are
//! those of the parser that promptfoo uses.

mod declarations;
mod tags;

use std::collections::HashMap;
use std::str::Chars;

use super::names::{is_name, is_name_start, is_plain, is_plain_start, is_space};

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

type Checked<T = ()> = Result<T, Stop>;

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

    fn fail<T>(&self, what: impl AsRef<str>) -> Checked<T> {
        Err(Stop::Fault(self.fault(what)))
    }

    fn ensure(&self, holds: bool, what: impl AsRef<str>) -> Checked {
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
    fn next(&mut self) -> Checked<char> {
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

    fn next_but_spaces(&mut self) -> Checked<char> {
        loop {
            let c = self.next()?;
            if !is_space(c) {
                return Ok(c);
            }
        }
    }

    /// What comes before one of these characters, and which one it was.
    fn until(&mut self, ends: impl Fn(char) -> bool) -> Checked<(String, char)> {
        let mut text = String::new();
        loop {
            let c = self.next()?;
            if ends(c) {
                return Ok((text, c));
            }
            text.push(c);
        }
    }

    fn document(&mut self) -> Checked {
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
    fn text_outside(&mut self) -> Checked {
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

    fn text_inside(&mut self) -> Checked {
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
    fn entity(&mut self) -> Checked {
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
    fn markup(&mut self) -> Checked {
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
