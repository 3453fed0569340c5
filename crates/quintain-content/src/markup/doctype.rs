//! The content between `<!DOCTYPE` and `>`.

use super::names::{is_space, leading_name};

/// Whether it contains declarations: `[...]`.
pub fn has_internal_subset(doctype: &str) -> bool {
    let mut quote = None;
    for c in doctype.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            None if c == '"' || c == '\'' => quote = Some(c),
            None if c == '[' => return true,
            _ => {}
        }
    }
    false
}

/// A document type without declarations of its own.
#[derive(Debug, PartialEq, Eq)]
pub struct Doctype {
    /// It refers to declarations elsewhere, which may define entities.
    pub external: bool,
}

impl Doctype {
    /// Nothing if it is malformed.
    pub fn read(text: &str) -> Option<Self> {
        let rest = after_space(text)?;
        let name = leading_name(rest)?;
        let rest = &rest[name.len()..];
        if rest.trim_start_matches(is_space).is_empty() {
            return Some(Self { external: false });
        }
        let rest = after_space(rest)?;
        let system = match rest.strip_prefix("PUBLIC") {
            Some(rest) => {
                let (id, rest) = literal(after_space(rest)?)?;
                id.chars().all(is_public).then_some(rest)?
            }
            None => rest.strip_prefix("SYSTEM")?,
        };
        let (id, rest) = literal(after_space(system)?)?;
        let complete = !id.contains('#') && rest.trim_start_matches(is_space).is_empty();
        complete.then_some(Self { external: true })
    }
}

/// What follows white space, of which there must be some.
fn after_space(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(is_space);
    (rest.len() < text.len()).then_some(rest)
}

/// A text in quotes, and what follows.
fn literal(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| *c == '"' || *c == '\'')?;
    text[1..].split_once(quote)
}

fn is_public(c: char) -> bool {
    c.is_ascii_alphanumeric() || " \r\n'()+,./:=?;!*#@$_%-".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn document_types_are_read() {
        let external = |text| Doctype::read(text).map(|doctype| doctype.external);
        assert_eq!(external(" a"), Some(false));
        assert_eq!(external(" a "), Some(false));
        assert_eq!(external(" a SYSTEM \"a.dtd\""), Some(true));
        assert_eq!(external(" a PUBLIC '-//X//Y' \"a.dtd\" "), Some(true));
        for bad in ["a", "", " ", " a NONSENSE", " a SYSTEM", " a SYSTEM 'a#b'", " a PUBLIC 'x'"] {
            assert_eq!(external(bad), None, "{bad}");
        }
        assert!(has_internal_subset(" a [<!ENTITY b 'c'>]"));
        assert!(!has_internal_subset(" a SYSTEM '[]'"));
    }
}
