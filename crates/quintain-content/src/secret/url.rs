//! The secret parts of a URL: the password, every value of the query, and what looks random in the path.
//! Texts are split by hand, since a URL that is none is quoted in an error, and its password with it.

use std::ops::Range;

use super::rule::{is_credential, is_secret, looks_random};
use super::{Secret, names_a_secret};

const MASK: &str = "***";
/// Names of folders and ids are shorter than keys.
const RANDOM_SEGMENT: usize = 16;
/// A part of a query that is shorter is found everywhere.
const SHORTEST_PAIR: usize = 6;

/// The secrets in a URL: the URL itself, with what can be shown of it, and its parts as far as they are
/// secrets wherever they appear. Templates are none.
pub fn of_url(url: &str) -> Vec<Secret> {
    let Some(parts) = Parts::of(url) else { return Vec::new() };
    let mut found = Vec::new();
    let mut whole = |text: String, shown: String| {
        if text != shown {
            found.push(Secret { value: text.into(), shown: Some(shown) });
        }
    };
    whole(url.to_owned(), parts.shown());
    if let Some(query) = parts.query {
        // Servers log the path and the query without the rest.
        let path = parts.path;
        whole(format!("{path}?{query}"), format!("{}?{}", shown_path(path), shown_query(query)));
        for pair in query.split('&').filter(|pair| pair.len() >= SHORTEST_PAIR) {
            whole(pair.to_owned(), shown_query(pair));
        }
    }
    let mut add = |text: &str| {
        found.push(Secret::new(text));
        found.extend(decoded(text).map(Secret::new));
    };
    if let Some((user, password)) = parts.login {
        password.into_iter().filter(|text| !is_template(text)).for_each(&mut add);
        if hides_user(user, password) {
            add(user);
        }
    }
    for (name, value) in parts.query.into_iter().flat_map(pairs) {
        if is_secret(name, value) && !is_template(value) {
            add(value);
        }
    }
    parts.path.split('/').filter(|segment| is_random(segment)).for_each(&mut add);
    found
}

/// Names in queries that mean a credential, or that do where the value looks random.
const QUERY_NAMES: [&str; 6] = ["apikey", "accesskey", "token", "secret", "password", "pwd"];
/// Tokens that say where a list continues.
const POSITIONS: [&str; 4] = ["pagetoken", "nexttoken", "continuationtoken", "synctoken"];
const QUERY_NAMES_OF_RANDOM: [&str; 5] = ["code", "key", "sig", "signature", "jwt"];

/// The places of credentials in the queries of URLs inside a text: `?api_key=...&mode=fast`.
pub fn in_queries(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices('=') {
        let name_length =
            text[..at].bytes().rev().take(MAX_NAME).take_while(|&byte| is_of_name(byte)).count();
        let before = text[..at - name_length].bytes().next_back();
        if name_length == 0 || !before.is_some_and(|byte| b"?&;#".contains(&byte)) {
            continue;
        }
        let name = &text[at - name_length..at];
        let start = at + 1;
        let ends = |c: char| c.is_whitespace() || c.is_control() || "&#\"'<>\\)]}`,;|".contains(c);
        let end = text[start..].find(ends).map_or(text.len(), |length| start + length);
        let value = &text[start..end];
        let is_reference = value.starts_with(['{', '$', '*', '%']) && !value.starts_with("%2");
        if is_credential_in_query(name, value) && !is_reference {
            found.push(start..end);
        }
    }
    found
}

/// Longer texts are no names.
const MAX_NAME: usize = 64;

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.".contains(&byte)
}

fn is_credential_in_query(name: &str, value: &str) -> bool {
    let plain = name.replace(['-', '_', '.'], "").to_ascii_lowercase();
    let ends_with = |names: &[&str]| names.iter().any(|ending| plain.ends_with(ending));
    if ends_with(&POSITIONS) {
        return false;
    }
    if is_credential(name) || ends_with(&QUERY_NAMES) {
        return is_secret("secret", value);
    }
    ends_with(&QUERY_NAMES_OF_RANDOM) && looks_random(value)
}

/// A URL as it can be shown: `https://user:***@host/path?key=***`.
pub fn shown_url(url: &str) -> String {
    Parts::of(url).map_or_else(|| url.to_owned(), |parts| parts.shown())
}

struct Parts<'a> {
    scheme: &'a str,
    /// User and password.
    login: Option<(&'a str, Option<&'a str>)>,
    host: &'a str,
    path: &'a str,
    query: Option<&'a str>,
    fragment: Option<&'a str>,
}

impl<'a> Parts<'a> {
    fn of(url: &'a str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        let (rest, fragment) = match rest.split_once('#') {
            Some((rest, fragment)) => (rest, Some(fragment)),
            None => (rest, None),
        };
        let (rest, query) = match rest.split_once('?') {
            Some((rest, query)) => (rest, Some(query)),
            None => (rest, None),
        };
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (login, host) = match authority.rsplit_once('@') {
            Some((login, host)) => {
                let (user, password) = match login.split_once(':') {
                    Some((user, password)) => (user, Some(password)),
                    None => (login, None),
                };
                (Some((user, password)), host)
            }
            None => (None, authority),
        };
        Some(Self { scheme, login, host, path, query, fragment })
    }

    fn shown(&self) -> String {
        let mut shown = format!("{}://", self.scheme);
        if let Some((user, password)) = self.login {
            shown += if hides_user(user, password) { MASK } else { user };
            shown += if password.is_some() { ":***@" } else { "@" };
        }
        shown += self.host;
        shown += &shown_path(self.path);
        if let Some(query) = self.query {
            shown.push('?');
            shown += &shown_query(query);
        }
        if let Some(fragment) = self.fragment {
            shown.push('#');
            shown +=
                &if fragment.contains('=') { shown_query(fragment) } else { fragment.to_owned() };
        }
        shown
    }
}

/// Who logs in without a password logs in with a token.
fn hides_user(user: &str, password: Option<&str>) -> bool {
    !user.is_empty()
        && !is_template(user)
        && (password.is_none_or(str::is_empty) || looks_random(user))
}

fn shown_path(path: &str) -> String {
    let shown = |segment| if is_random(segment) { MASK } else { segment };
    path.split('/').map(shown).collect::<Vec<_>>().join("/")
}

fn shown_query(query: &str) -> String {
    let shown = |pair: &str| match pair.split_once('=') {
        Some((_, value)) if value.is_empty() || is_template(value) => pair.to_owned(),
        Some((name, _)) => format!("{name}={MASK}"),
        None if looks_random(pair) || names_a_secret(pair) => MASK.to_owned(),
        None => pair.to_owned(),
    };
    query.split('&').map(shown).collect::<Vec<_>>().join("&")
}

fn pairs(query: &str) -> impl Iterator<Item = (&str, &str)> {
    query.split('&').map(|pair| pair.split_once('=').unwrap_or(("", pair)))
}

fn is_random(segment: &str) -> bool {
    segment.len() >= RANDOM_SEGMENT && !is_template(segment) && looks_random(segment)
}

fn is_template(text: &str) -> bool {
    text.contains("{{")
}

/// Without percent-escapes, if there are any.
fn decoded(text: &str) -> Option<String> {
    if !text.contains(['%', '+']) {
        return None;
    }
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = bytes.get(at + 1..at + 3).and_then(|hex| std::str::from_utf8(hex).ok());
        let byte =
            hex.filter(|_| bytes[at] == b'%').and_then(|hex| u8::from_str_radix(hex, 16).ok());
        at += if byte.is_some() { 3 } else { 1 };
        plain
            .push(byte.unwrap_or_else(|| if bytes[at - 1] == b'+' { b' ' } else { bytes[at - 1] }));
    }
    String::from_utf8(plain).ok()
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret as _;

    use super::*;

    #[test]
    fn user_information_and_values_of_the_query_are_masked() {
        for (url, shown) in [
            ("https://host/mcp", "https://host/mcp"),
            ("https://user:pw@host/mcp", "https://user:***@host/mcp"),
            ("https://token@host/mcp", "https://***@host/mcp"),
            ("https://u:p@s@host:8/m?key=a&v=1#x", "https://u:***@host:8/m?key=***&v=***#x"),
            ("http://host?key=&flag", "http://host?key=&flag"),
            ("http://host/#access_token=abc", "http://host/#access_token=***"),
            ("http://host/s/NDk3kX9vQ2mL7pR4tZ8w/mcp", "http://host/s/***/mcp"),
            ("htp://u:p@nowhere", "htp://u:***@nowhere"),
            ("http://host/?q={{prompt}}&k=v", "http://host/?q={{prompt}}&k=***"),
            ("http://host/{{prompt}}?q={{prompt}}", "http://host/{{prompt}}?q={{prompt}}"),
            ("no address", "no address"),
        ] {
            assert_eq!(shown_url(url), shown, "{url}");
            assert_eq!(of_url(url).is_empty(), url == shown, "{url}");
        }
    }

    #[test]
    fn credentials_in_queries_inside_text_are_found() {
        let found = |text: &str| -> Vec<String> {
            in_queries(text).into_iter().map(|place| text[place].to_owned()).collect()
        };
        for (text, secret) in [
            ("get https://h/x?api_key=queryval12345 now", "queryval12345"),
            ("https://h/x?a=1&token=sunshine99", "sunshine99"),
            ("(https://h/x?code=4%2F0AX4XfWh9k2LmQpRtZ8wAb3)", "4%2F0AX4XfWh9k2LmQpRtZ8wAb3"),
            (
                "/b?sv=2022&sig=9f8e7d6c5b4a39281706f5e4d3c2b1a0ZxYwVu%3D&se=1",
                "9f8e7d6c5b4a39281706f5e4d3c2b1a0ZxYwVu%3D",
            ),
            ("/cb#access_token=sunshine99", "sunshine99"),
        ] {
            assert_eq!(found(text), [secret], "{text}");
        }
        for text in [
            "https://h/x?code=404&key=name&q=token",
            "https://h/x?page_token=Qx7f9Zk2mP4rT6&mode=fast",
            "https://h/x?token={{env.TOKEN}}&api_key=$KEY&token=",
            "if a && token=b then token = sunshine99",
            "?token=true",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
        assert!(in_queries(&"?=".repeat(100_000)).is_empty());
    }

    #[test]
    fn parts_of_a_url_are_secrets_wherever_they_appear() {
        let found =
            of_url("https://u:p%40ssword@host/mcp?api_key=abcd&mode=fast&x=kX9vQ2mL7pR4tZ8w");
        let texts: Vec<_> = found.iter().map(|secret| secret.value.expose_secret()).collect();
        for wanted in ["p%40ssword", "p@ssword", "abcd", "kX9vQ2mL7pR4tZ8w", "mode=fast"] {
            assert!(texts.contains(&wanted), "{wanted}: {texts:?}");
        }
        assert!(!texts.contains(&"fast") && !texts.contains(&"u"), "{texts:?}");
    }
}
