//! Whether a URI is an expansion of a template (RFC 6570), as far as that can be decided backwards.

use regex::Regex;

/// Longer templates match nothing; nobody writes them.
const MAX_TEMPLATE: usize = 2000;

/// Whether the URI can come from the template. A simple value has no slash.
pub(crate) fn matches(template: &str, uri: &str) -> bool {
    if template.len() > MAX_TEMPLATE {
        return false;
    }
    pattern(template)
        .and_then(|pattern| Regex::new(&pattern).ok())
        .is_some_and(|regex| regex.is_match(uri))
}

fn pattern(template: &str) -> Option<String> {
    let mut pattern = String::from("^");
    let mut rest = template;
    while let Some((fixed, after)) = rest.split_once('{') {
        let (expression, after) = after.split_once('}')?;
        pattern.push_str(&regex::escape(fixed));
        // Operators other than `+` put a character of their own before the values, which may all be absent.
        pattern.push_str(match expression.chars().next()? {
            '+' => ".+",
            '#' => "(#.*)?",
            '/' => "(/.*)?",
            '.' => r"(\.[^/]*)?",
            ';' => "(;[^/]*)?",
            '?' => r"(\?[^/]*)?",
            '&' => "(&[^/]*)?",
            _ => "[^/]+",
        });
        rest = after;
    }
    pattern.push_str(&regex::escape(rest));
    pattern.push('$');
    Some(pattern)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn values_fill_expressions() {
        assert!(matches("file:///{path}", "file:///notes.txt"));
        assert!(!matches("file:///{path}", "file:///a/b"), "a simple value has no slash");
        assert!(matches("file:///{+path}", "file:///a/b"));
        assert!(matches("db://{table}/{id}", "db://users/7"));
        assert!(!matches("db://{table}/{id}", "db://users/"));
        assert!(matches("search://items{?q,limit}", "search://items?q=a&limit=2"));
        assert!(matches("search://items{?q,limit}", "search://items"));
        assert!(!matches("search://items{?q}", "search://itemsq=a"));
        assert!(matches("a://b", "a://b") && !matches("a://b", "a://bc"));
        assert!(!matches("a://{b", "a://x"), "an expression that does not end");
    }
}
