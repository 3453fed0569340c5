//! Finds the environment variables that the templates of a text read, without expanding anything.

use std::collections::BTreeSet;

use crate::template::Scope;

/// The variables that templates mention.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EnvNames {
    pub names: BTreeSet<String>,
    /// A template computes the name, or uses the whole environment.
    pub any: bool,
}

impl EnvNames {
    pub fn add(&mut self, other: &Self) {
        self.names.extend(other.names.iter().cloned());
        self.any |= other.any;
    }
}

/// The variables that the templates of a text read: `{{env.X}}`, `{{env['X']}}`, `{% if env.X %}`, and with the
/// bare scope `{{X}}` too.
pub fn env_names(text: &str, scope: Scope) -> EnvNames {
    let mut found = EnvNames::default();
    let mut rest = text;
    while let Some(at) = rest.find("{{").into_iter().chain(rest.find("{%")).min() {
        let is_value = rest[at..].starts_with("{{");
        let body = &rest[at + 2..];
        let end = end_of(body, if is_value { b'}' } else { b'%' });
        let expression = body[..end].trim_matches(|c: char| c.is_whitespace() || c == '-');
        read(expression, &mut found);
        if scope == Scope::Bare && is_value && is_name(expression) {
            found.names.insert(expression.to_owned());
        }
        rest = &body[end..];
    }
    found
}

/// The end of an expression: before `}}` or `%}` outside quotes. An expression without an end extends to the end of the text.
fn end_of(text: &str, first: u8) -> usize {
    let mut quote = None;
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match (quote, *byte) {
            (Some(_), b'\\') => at += 1,
            (Some(open), byte) if open == byte => quote = None,
            (None, byte @ (b'"' | b'\'')) => quote = Some(byte),
            (None, byte) if byte == first && bytes.get(at + 1) == Some(&b'}') => return at,
            _ => {}
        }
        at += 1;
    }
    text.len()
}

fn read(expression: &str, found: &mut EnvNames) {
    for (at, word) in expression.match_indices("env") {
        let before = expression[..at].chars().next_back();
        let after = &expression[at + word.len()..];
        if before.is_some_and(is_part) || after.starts_with(is_part) {
            continue;
        }
        let after = after.trim_start();
        let name = if let Some(rest) = after.strip_prefix('.') {
            rest.trim_start().split(|c| !is_part(c)).next().unwrap_or_default()
        } else if let Some(rest) = after.strip_prefix('[') {
            let rest = rest.trim_start();
            let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
            let inner = quote.and_then(|quote| rest[1..].split_once(quote));
            let closed = inner.filter(|(_, after)| after.trim_start().starts_with(']'));
            closed.map_or("", |(name, _)| name)
        } else {
            ""
        };
        if name.is_empty() {
            found.any = true;
        } else {
            found.names.insert(name.to_owned());
        }
    }
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_part) && !text.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> (Vec<String>, bool) {
        let EnvNames { names, any } = env_names(text, Scope::Env);
        (names.into_iter().collect(), any)
    }

    #[test]
    fn names_are_found_however_they_are_written() {
        for text in [
            "{{env.KEY}}",
            "a {{ env.KEY | upper }} b",
            "{{env['KEY']}}",
            "{{ env[ \"KEY\" ] }}",
            "{% if env.KEY %}x{% endif %}",
            "{{ '}}' ~ env.KEY }}",
            "{{- env.KEY -}}",
            "{{ x }}{{ 'env' if env.KEY }}",
            "{% if '%}' == env.KEY %}x{% endif %}",
            "{{ 'é }} {{ env.KEY }}",
            "é {{ é }} {{ env.KEY }}",
        ] {
            assert!(found(text).0.contains(&"KEY".to_owned()), "{text}: {:?}", found(text));
        }
        assert_eq!(found("{{ env.A }}{{ env.B }}"), (vec!["A".to_owned(), "B".to_owned()], false));
    }

    #[test]
    fn names_that_are_computed_mean_any() {
        for text in
            ["{{ env[name] }}", "{{ env | dump }}", "{% for k in env %}", "{% set e = env %}"]
        {
            assert!(found(text).1, "{text}");
        }
    }

    #[test]
    fn other_words_are_none() {
        for text in ["env.KEY", "{{ environment.KEY }}", "{{ my_env.KEY }}", "{{ x }}", "{{"] {
            assert_eq!(found(text), (Vec::new(), false), "{text}");
        }
        let bare = env_names("{{KEY}} {{ x.y }}", Scope::Bare);
        assert_eq!(bare.names.into_iter().collect::<Vec<_>>(), ["KEY"]);
    }
}
