//! What begins with `<!` or `<?`: comments, CDATA, document types, instructions, the XML declaration.

use super::{Checked, Checker, Fault, Stop};
use crate::markup::doctype::{Doctype, has_internal_subset};
use crate::markup::names::{is_plain, is_plain_start, is_space};

impl Checker<'_> {
    pub(super) fn declaration(&mut self) -> Checked {
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

    fn comment(&mut self) -> Checked {
        loop {
            self.until(|c| c == '-')?;
            if self.next()? == '-' {
                let closed = self.next()? == '>';
                return self.ensure(closed, "malformed comment.");
            }
        }
    }

    fn cdata(&mut self) -> Checked {
        let mut brackets = 0;
        loop {
            brackets = match self.next()? {
                ']' => brackets + 1,
                '>' if brackets >= 2 => return Ok(()),
                _ => 0,
            };
        }
    }

    fn doctype(&mut self) -> Checked {
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
    fn internal_subset(&mut self) -> Checked {
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
    pub(super) fn instruction(&mut self) -> Checked {
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
    fn xml_declaration(&mut self, over: bool) -> Checked {
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
    fn declared(&mut self, name: &str, value: &str) -> Checked<&'static [&'static str]> {
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
}
