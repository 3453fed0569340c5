//! Regular expressions over words. They are compiled for ASCII classes, which takes a fraction of the time that Unicode
//! classes take; other letters are matched where they are written.

use std::sync::LazyLock;

use regex::{Regex, bytes};

/// A pattern that is compiled when it is first used. A pattern that does not compile matches nothing; tests compile all.
pub(crate) type Pattern = LazyLock<Option<Regex>>;

/// A pattern that is only tested. Without Unicode it has far fewer states, so it is compiled and tested faster.
pub(crate) type Test = LazyLock<Option<bytes::Regex>>;

/// Compiles a test whose `\w`, `\d`, `\s` and `\b` mean ASCII.
pub(crate) fn compile_test(pattern: &str) -> Option<bytes::Regex> {
    if pattern.is_ascii() {
        return bytes::RegexBuilder::new(pattern).unicode(false).build().ok();
    }
    bytes::Regex::new(&ascii(pattern)).ok()
}

/// Compiles a pattern whose `\w`, `\d`, `\s` and `\b` mean ASCII.
pub(crate) fn compile(pattern: &str) -> Option<Regex> {
    Regex::new(&ascii(pattern)).ok()
}

/// The same pattern with classes that mean ASCII.
fn ascii(pattern: &str) -> String {
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
    ascii
}

pub(crate) fn is_match(test: &Test, text: &str) -> bool {
    test.as_ref().is_some_and(|test| test.is_match(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::{compile, compile_test};

    #[test]
    fn classes_mean_ascii() {
        let pattern = compile(r"^[\w'-]+\s\d\b").unwrap();
        assert!(pattern.is_match("it's 7"));
        assert!(!pattern.is_match("it's 77"));
        assert!(compile(r"\bunable\b").unwrap().is_match("I am unable."));
        assert!(compile(r"失败").unwrap().is_match("请求失败"));
        for pattern in [r"(?i)^\w+\W\S+\b", r"(?i)^\w+\W\S+\b|失败"] {
            assert!(compile_test(pattern).unwrap().is_match("Abc éx".as_bytes()), "{pattern}");
        }
    }
}
