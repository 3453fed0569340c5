//! Whether a URI is an expansion of a template (RFC 6570), as far as that can be decided backwards.

use std::collections::HashMap;

use regex::Regex;

/// Longer templates match nothing; nobody writes them.
const MAX_TEMPLATE: usize = 2000;

/// Templates that were compiled once for all calls of a trace.
#[derive(Default)]
pub(crate) struct Templates<'t> {
    compiled: HashMap<&'t str, Option<Regex>>,
}

impl<'t> Templates<'t> {
    /// Whether the URI can come from the template. A simple value has no slash.
    pub(crate) fn matches(&mut self, template: &'t str, uri: &str) -> bool {
        let compiled = self.compiled.entry(template).or_insert_with(|| compile(template));
        compiled.as_ref().is_some_and(|regex| regex.is_match(uri))
    }
}

fn compile(template: &str) -> Option<Regex> {
    if template.len() > MAX_TEMPLATE {
        return None;
    }
    pattern(template).and_then(|pattern| Regex::new(&pattern).ok())
}

fn pattern(template: &str) -> Option<String> {
    let mut pattern = String::from("^");
    let mut rest = template;
    while let Some((fixed, after)) = rest.split_once('{') {
        let (expression, after) = after.split_once('}')?;
        pattern.push_str(&regex::escape(fixed));
        pattern.push_str(&expanded(expression)?);
        rest = after;
    }
    pattern.push_str(&regex::escape(rest));
    pattern.push('$');
    Some(pattern)
}

/// What an expression may become. Operators other than `+` put a character of their own before the values, which may all
/// be absent.
fn expanded(expression: &str) -> Option<String> {
    let operator = expression.chars().next()?;
    let variables = expression.trim_start_matches(['+', '#', '/', '.', ';', '?', '&']);
    let variables: Vec<&str> = variables.split(',').map(str::trim).collect();
    let is_exploded = variables.iter().any(|variable| variable.ends_with('*'));
    let most = variables.len();
    // A list of values is separated by commas; a length counts an escape as one character.
    let lengths: Option<Vec<usize>> = variables
        .iter()
        .map(|variable| variable.split_once(':').and_then(|(_, length)| length.parse().ok()))
        .collect();
    let value = |of: &str| match lengths.as_deref() {
        Some([length]) if *length < 1000 => format!("(%[0-9A-Fa-f]{{2}}|{of}){{1,{length}}}"),
        _ => format!("{of}+"),
    };
    let named = |first: &str, next: &str| {
        let names: Vec<String> = variables
            .iter()
            .map(|one| regex::escape(one.split([':', '*']).next().unwrap_or_default()))
            .collect();
        let pair = format!("({})(=[^&;/]*)?", names.join("|"));
        if is_exploded {
            format!("({first}[^/]*)?")
        } else {
            format!("({first}{pair}({next}{pair}){{0,{}}})?", most - 1)
        }
    };
    Some(match operator {
        '+' => value("."),
        '#' => "(#.*)?".to_owned(),
        '/' if is_exploded => "(/.*)?".to_owned(),
        '/' => format!("(/{}){{0,{most}}}", value("[^/]")),
        '.' => r"(\.[^/]*)?".to_owned(),
        ';' => named(";", ";"),
        '?' => named(r"\?", "&"),
        '&' => named("&", "&"),
        _ => value("[^/]"),
    })
}

#[cfg(test)]
mod tests {
    use super::Templates;

    fn matches(template: &str, uri: &str) -> bool {
        Templates::default().matches(template, uri)
    }

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

    #[test]
    fn expressions_take_no_more_than_their_variables() {
        assert!(matches("x://h{/a,b}", "x://h/1/2") && matches("x://h{/a,b}", "x://h"));
        assert!(!matches("x://h{/a,b}", "x://h/1/2/3"));
        assert!(matches("x://h{/a*}", "x://h/1/2/3"));
        assert!(matches("x://s{?q,lang}", "x://s?lang=en") && !matches("x://s{?q}", "x://s?zz=1"));
        assert!(matches("x://s{?q*}", "x://s?zz=1"));
        assert!(matches("x://{id:3}", "x://abc") && !matches("x://{id:3}", "x://abcd"));
        assert!(matches("x://{id:3}", "x://a%20b"));
        assert!(matches("x://s?a=1{&b}", "x://s?a=1&b=2"));
    }
}
