//! Tags with their attributes and namespaces.

use std::collections::HashSet;

use super::{Checked, Checker, Open, XML, XMLNS};
use crate::markup::names::{is_name, is_name_start, is_space};
use crate::text::js;

impl Checker<'_> {
    pub(super) fn open_tag(&mut self) -> Checked {
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

    fn attribute(&mut self, first: char, tag: &mut Tag) -> Checked {
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
    fn qualified<'n>(&self, name: &'n str) -> Checked<Option<(&'n str, &'n str)>> {
        let Some((prefix, local)) = name.split_once(':') else { return Ok(None) };
        let proper = !prefix.is_empty() && !local.is_empty() && !local.contains(':');
        self.ensure(proper, format!("malformed name: {name}."))?;
        Ok(Some((prefix, local)))
    }

    fn bind(&mut self, tag: &mut Tag, prefix: &str, uri: &str) -> Checked {
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
    fn opened(&mut self, tag: Tag) -> Checked<Open> {
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

    pub(super) fn close_tag(&mut self) -> Checked {
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
