//! Regular expressions over words. They are compiled for ASCII classes, which takes a fraction of the time that Unicode
//! classes take; other letters are matched where they are written.

use std::sync::LazyLock;

use regex::Regex;

/// A pattern that is compiled when it is first used. A pattern that does not compile matches nothing; tests compile all.
pub(crate) type Pattern = LazyLock<Option<Regex>>;

/// Compiles a pattern whose `\w`, `\d`, `\s` and `\b` mean ASCII.
pub(crate) fn compile(pattern: &str) -> Option<Regex> {
    let mut ascii = String::with_capacity(pattern.len() * 2);
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            ascii.push(c);
            continue;
        }
        match chars.next() {
            Some('w') => ascii.push_str("[0-9A-Za-z_]"),
            Some('W') => ascii.push_str("[^0-9A-Za-z_]"),
            Some('d') => ascii.push_str("[0-9]"),
            Some('s') => ascii.push_str("[ \\t\\r\\n]"),
            Some('S') => ascii.push_str("[^ \\t\\r\\n]"),
            Some('b') => ascii.push_str("(?-u:\\b)"),
            Some(other) => ascii.extend(['\\', other]),
            None => ascii.push('\\'),
        }
    }
    Regex::new(&ascii).ok()
}

pub(crate) fn is_match(pattern: &Pattern, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

#[cfg(test)]
mod tests {
    use super::compile;

    #[test]
    fn classes_mean_ascii() {
        let pattern = compile(r"^[\w'-]+\s\d\b").unwrap();
        assert!(pattern.is_match("it's 7"));
        assert!(!pattern.is_match("it's 77"));
        assert!(compile(r"\bunable\b").unwrap().is_match("I am unable."));
        assert!(compile(r"失败").unwrap().is_match("请求失败"));
    }
}
