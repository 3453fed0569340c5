//! The elements of a text that looks like XML, without regard to most rules of XML: closing tags
//! close whatever is open, and what is never closed ends with the text. Paths lead through it as
//! through the data that promptfoo makes of XML.

use std::collections::BTreeMap;
use std::slice::from_ref;

use super::names::is_space;
use crate::text::js;

/// Elements inside of elements, at most.
const MAX_DEPTH: usize = 100;
/// Names that JavaScript has another use for: no elements, and elements that get another name.
const FORBIDDEN: [&str; 3] = ["__proto__", "constructor", "prototype"];
const RENAMED: [&str; 7] = [
    "hasOwnProperty",
    "toString",
    "valueOf",
    "__defineGetter__",
    "__defineSetter__",
    "__lookupGetter__",
    "__lookupSetter__",
];

/// One element: its attributes as `@_name`, its text as `#text`, and its children. Nothing is in an
/// element that has only text.
#[derive(Debug, Default)]
pub struct Element {
    parts: BTreeMap<String, Vec<Element>>,
}

/// The elements at the top, as children of an element without a name.
///
/// # Errors
/// In the words of the parser that promptfoo uses.
pub fn parse(text: &str) -> Result<Element, String> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    Builder::default().read(&text)
}

impl Element {
    /// Whether there is something at a path: names of elements, and positions among elements of
    /// the same name.
    pub fn has(&self, path: &str) -> bool {
        let mut found = from_ref(self);
        for key in path.split('.') {
            let next = match found {
                [only] => only.parts.get(key).map(Vec::as_slice),
                several => position(key).and_then(|at| several.get(at)).map(from_ref),
            };
            let Some(next) = next else { return false };
            found = next;
        }
        true
    }

    fn put(&mut self, name: String, part: Self) {
        self.parts.entry(name).or_default().push(part);
    }

    fn set(&mut self, name: &str) {
        self.parts.insert(name.to_owned(), vec![Self::default()]);
    }

    /// An element with nothing but text is that text.
    fn settled(mut self) -> Self {
        if self.parts.len() == 1 {
            self.parts.remove("#text");
        }
        self
    }
}

/// A number as JavaScript writes it.
fn position(key: &str) -> Option<usize> {
    key.parse().ok().filter(|at: &usize| at.to_string() == key)
}

#[derive(Default)]
struct Builder {
    top: Element,
    /// What is not closed yet, with its name.
    open: Vec<(String, Element)>,
    text: String,
    saw_doctype: bool,
}

impl Builder {
    fn read(mut self, text: &str) -> Result<Element, String> {
        let mut rest = text;
        while let Some(at) = rest.find('<') {
            self.text.push_str(&rest[..at]);
            rest = self.markup(&rest[at..])?;
        }
        while let Some((name, element)) = self.open.pop() {
            self.current().put(name, element.settled());
        }
        Ok(self.top)
    }

    /// Reads what begins with `<`; returns what follows.
    fn markup<'t>(&mut self, text: &'t str) -> Result<&'t str, String> {
        if let Some(rest) = text.strip_prefix("</") {
            let (name, rest) = rest.split_once('>').ok_or("Closing Tag is not closed.")?;
            safe_name(js::trim(name))?;
            self.keep_text();
            if let Some((name, element)) = self.open.pop() {
                self.current().put(name, element.settled());
            }
            return Ok(rest);
        }
        if let Some(rest) = text.strip_prefix("<!--") {
            return Ok(rest.split_once("-->").ok_or("Comment is not closed.")?.1);
        }
        if text.starts_with("<!D") {
            return self.doctype(text);
        }
        if let Some(rest) = text.strip_prefix("<![") {
            let (content, after) = rest.split_once("]]>").ok_or("CDATA is not closed.")?;
            self.keep_text();
            if content.len() > "CDATA[".len() {
                self.current().set("#text");
            }
            return Ok(after);
        }
        if text.starts_with("<?") {
            let (inside, rest) = tag_end(&text[1..], "?>").ok_or("Pi Tag is not closed.")?;
            self.keep_text();
            let (name, attributes) = inside.split_once(js::is_space).unwrap_or((inside, ""));
            let mut element = Element::default();
            set_attributes(&mut element, attributes)?;
            self.current().put(name.to_owned(), element);
            return Ok(rest);
        }
        self.open_tag(text)
    }

    fn open_tag<'t>(&mut self, text: &'t str) -> Result<&'t str, String> {
        let (inside, rest) = tag_end(&text[1..], ">").ok_or("a tag is not closed")?;
        let (complete, inside) = match inside.strip_suffix('/') {
            Some(inside) => (true, inside),
            None => (false, inside),
        };
        let (name, attributes) = inside.split_once(js::is_space).unwrap_or((inside, ""));
        let name = safe_name(name)?;
        if name == "#text" {
            return Err(format!("Invalid tag name: {name}"));
        }
        // Text between the elements at the top is dropped.
        if self.open.is_empty() {
            self.text.clear();
        } else {
            self.keep_text();
        }
        let mut element = Element::default();
        set_attributes(&mut element, attributes)?;
        if complete {
            self.current().put(name, element);
        } else if self.open.len() > MAX_DEPTH {
            return Err("Maximum nested tags exceeded".to_owned());
        } else {
            self.open.push((name, element));
        }
        Ok(rest)
    }

    fn doctype<'t>(&mut self, text: &'t str) -> Result<&'t str, String> {
        let rest = text.strip_prefix("<!DOCTYPE").ok_or("Invalid Tag instead of DOCTYPE")?;
        if std::mem::replace(&mut self.saw_doctype, true) {
            return Err("Multiple DOCTYPE declarations found.".to_owned());
        }
        let (mut quote, mut depth) = (None, 0_usize);
        for (at, c) in rest.char_indices() {
            match (quote, c) {
                (Some(open), c) if c == open => quote = None,
                (None, '"' | '\'') => quote = Some(c),
                (None, '[') => depth += 1,
                (None, ']') => depth = depth.saturating_sub(1),
                (None, '>') if depth == 0 => return Ok(&rest[at + 1..]),
                _ => {}
            }
        }
        Err("Unclosed DOCTYPE".to_owned())
    }

    fn current(&mut self) -> &mut Element {
        self.open.last_mut().map_or(&mut self.top, |(_, element)| element)
    }

    fn keep_text(&mut self) {
        if !js::trim(&self.text).is_empty() {
            self.current().set("#text");
        }
        self.text.clear();
    }
}

fn safe_name(name: &str) -> Result<String, String> {
    if FORBIDDEN.contains(&name) {
        return Err(format!(
            "[SECURITY] Invalid name: \"{name}\" is a reserved JavaScript keyword that could cause \
             prototype pollution"
        ));
    }
    Ok(if RENAMED.contains(&name) { format!("__{name}") } else { name.to_owned() })
}

/// The text before the end of a tag, ignoring quoted parts, and the rest.
fn tag_end<'t>(text: &'t str, end: &str) -> Option<(&'t str, &'t str)> {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            None if c == '"' || c == '\'' => quote = Some(c),
            None if text[at..].starts_with(end) => {
                return Some((&text[..at], &text[at + end.len()..]));
            }
            _ => {}
        }
    }
    None
}

/// Every word is an attribute, with or without a value in quotes.
fn set_attributes(element: &mut Element, text: &str) -> Result<(), String> {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|c| js::is_space(c) || c == '=');
        let end = rest.find(|c| js::is_space(c) || c == '=').unwrap_or(rest.len());
        if end == 0 {
            return Ok(());
        }
        element.set(&safe_name(&format!("@_{}", &rest[..end]))?);
        rest = &rest[end..];
        if let Some(value) = rest.trim_start_matches(is_space).strip_prefix('=')
            && let Some(quote @ ('"' | '\'')) = value.trim_start_matches(is_space).chars().next()
            && let Some((_, after)) = value.trim_start_matches(is_space)[1..].split_once(quote)
        {
            rest = after;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_to_elements_attributes_and_text() {
        let root = parse(
            "<?xml version='1.0'?><a>t<b>1</b><b><c/></b><d e = 'x>y' f/><g></g><h i='1'>x</h></a>",
        )
        .unwrap();
        for path in [
            "a",
            "a.b",
            "a.b.0",
            "a.b.1.c",
            "a.#text",
            "a.d.@_e",
            "a.d.@_f",
            "a.g",
            "?xml.@_version",
            "a.h.#text",
        ] {
            assert!(root.has(path), "{path}");
        }
        for path in ["", "b", "a.b.c", "a.b.2", "a.b.01", "a.g.#text", "a.b.0.#text", "a.d.e", "t"]
        {
            assert!(!root.has(path), "{path}");
        }
    }

    #[test]
    fn rules_of_xml_are_of_no_concern() {
        let root = parse("<a>&nbsp; & <b></x> <c> text").unwrap();
        assert!(root.has("a.b") && root.has("a.c"));
        assert_eq!(parse("<a><!-- x").unwrap_err(), "Comment is not closed.");
        assert_eq!(parse(&"<a>".repeat(102)).unwrap_err(), "Maximum nested tags exceeded");
        assert!(parse(&"<a>".repeat(101)).is_ok());
        assert!(parse("<constructor/>").unwrap_err().starts_with("[SECURITY]"));
    }
}
