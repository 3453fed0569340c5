//! Masks secrets in what a capture contains. What passes the proxy is not touched.
//!
//! Strings are compared decoded: an escape such as `\/` or `\u002b` would hide a secret from a search of the bytes.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::HeaderMap;
use secrecy::{ExposeSecret, SecretString};

use super::json_text::{self, Kind, Token, decoded, quoted};
use crate::redact::{MASK, Redactor};

/// Maximum number of secrets that are learned from traffic: a peer could send any number of them.
const MAX_LEARNED: usize = 200;
/// Shorter values of members are masked where they are, not everywhere.
const SHORTEST_LEARNED: usize = 8;
/// Strings are searched together in pieces of about this size.
const PIECE: usize = 256 << 10;
/// Separates strings that are searched together. No secret contains it.
const BETWEEN: char = '\0';

/// Decides what is a secret. The caller provides it: this crate does not know the forms of credentials.
pub trait SecretRules: Send + Sync {
    /// The places in a text that look like credentials.
    fn find(&self, text: &str) -> Vec<Range<usize>>;

    /// The secrets in a value of this name in a JSON object.
    fn of_member(&self, name: &str, value: &str) -> Vec<SecretString>;

    /// Whether everything in an object or array of this name can be a secret.
    fn is_container(&self, _name: &str) -> bool {
        false
    }

    /// The secrets in a value of this name somewhere in such an object or array. The name is empty in an array.
    fn of_contained(&self, _name: &str, _value: &str) -> Vec<SecretString> {
        Vec::new()
    }

    /// The secrets in a header, or in a value of a query.
    fn of_header(&self, name: &str, value: &str) -> Vec<SecretString>;
}

/// Masks known secrets, and those that the rules find. Clones share what they know.
#[derive(Clone)]
pub struct Masking {
    redactor: Redactor,
    rules: Arc<dyn SecretRules>,
    learned: Arc<AtomicUsize>,
}

impl Masking {
    pub fn new(redactor: Redactor, rules: Arc<dyn SecretRules>) -> Self {
        Self { redactor, rules, learned: Arc::default() }
    }

    /// A text that is not JSON.
    pub(super) fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let known = self.redactor.text(text);
        let mut found = self.rules.find(&known);
        if found.is_empty() {
            return known;
        }
        found.sort_by_key(|place| place.start);
        let mut masked = String::with_capacity(known.len());
        let mut at = 0;
        for place in found {
            if place.start >= at {
                masked.push_str(known.get(at..place.start).unwrap_or_default());
                masked.push_str(MASK);
            }
            at = at.max(place.end);
        }
        masked.push_str(known.get(at..).unwrap_or_default());
        Cow::Owned(masked)
    }

    /// A frame that is not JSON: a text, or the fields of a form.
    pub(super) fn plain_frame<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if text.contains(char::is_whitespace) || !text.contains('=') {
            return self.text(text);
        }
        Cow::Owned(self.pairs(text))
    }

    /// A valid JSON text. Only strings and numbers that contain a secret change.
    pub(super) fn json<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if !self.is_suspicious(text) {
            return Cow::Borrowed(text);
        }
        let mut edits = Vec::new();
        let mut members = Members::default();
        for token in json_text::tokens(text) {
            let plain = decoded(&text[token.place.clone()]);
            let secrets = members.secrets(&token, &plain, &*self.rules);
            self.learn_values(&secrets);
            let masked = if secrets.is_empty() { self.text(&plain) } else { Cow::Borrowed(MASK) };
            if masked != plain {
                edits.push((token.place, quoted(&masked)));
            }
        }
        if edits.is_empty() { Cow::Borrowed(text) } else { json_text::edited(text, &edits).into() }
    }

    /// Whether a JSON text may contain a secret. Searches many strings at once, because most frames contain none.
    fn is_suspicious(&self, text: &str) -> bool {
        let mut joined = String::new();
        let mut members = Members::default();
        for token in json_text::tokens(text) {
            let plain = decoded(&text[token.place.clone()]);
            if !members.secrets(&token, &plain, &*self.rules).is_empty() {
                return true;
            }
            if plain.len() > PIECE {
                if self.contains_secret(&plain) {
                    return true;
                }
            } else {
                joined.push_str(&plain);
                joined.push(BETWEEN);
            }
            if joined.len() > PIECE {
                if self.contains_secret(&joined) {
                    return true;
                }
                joined.clear();
            }
        }
        self.contains_secret(&joined)
    }

    fn contains_secret(&self, text: &str) -> bool {
        matches!(self.redactor.text(text), Cow::Owned(_)) || !self.rules.find(text).is_empty()
    }

    /// Masks the values of members elsewhere from now on, unless they are words.
    fn learn_values(&self, secrets: &[SecretString]) {
        for secret in secrets {
            let text = secret.expose_secret();
            let is_word = text.chars().all(|c| c.is_ascii_lowercase() || c == '-' || c == ' ');
            if text.len() >= SHORTEST_LEARNED && !is_word {
                self.learn(secret);
            }
        }
    }

    fn learn(&self, secret: &SecretString) {
        let is_known = matches!(self.redactor.text(secret.expose_secret()), Cow::Owned(_));
        if !is_known && self.learned.fetch_add(1, Ordering::Relaxed) < MAX_LEARNED {
            self.redactor.learn(secret);
        }
    }

    /// Learns the secrets of headers and of a query before anything with them is written.
    pub(super) fn learn_head(&self, headers: &HeaderMap, query: &str) {
        for (name, value) in headers {
            let value = String::from_utf8_lossy(value.as_bytes());
            self.rules
                .of_header(name.as_str(), &value)
                .iter()
                .for_each(|secret| self.learn(secret));
        }
        for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
            self.rules.of_header(&name, &value).iter().for_each(|secret| self.learn(secret));
        }
    }

    /// The value of a header without what its name shows to be secret. Notes are masked as a whole later.
    pub(super) fn header<'a>(&self, name: &str, value: &'a str) -> &'a str {
        if self.rules.of_header(name, value).is_empty() { value } else { MASK }
    }

    /// A path with its query, masked part by part, so that a secret value does not hide what follows it.
    pub(super) fn path(&self, path: &str) -> String {
        match path.split_once('?') {
            Some((front, query)) => format!("{}?{}", self.text(front), self.pairs(query)),
            None => self.text(path).into_owned(),
        }
    }

    /// The pairs of a query or a form, with secret values and the values of secret names masked.
    fn pairs(&self, pairs: &str) -> String {
        let shown = pairs.split('&').map(|pair| match pair.split_once('=') {
            Some((name, value)) if !self.rules.of_header(name, value).is_empty() => {
                format!("{name}={MASK}")
            }
            _ => self.text(pair).into_owned(),
        });
        shown.collect::<Vec<_>>().join("&")
    }
}

/// Where a walk through the tokens of a JSON text is.
#[derive(Default)]
struct Members {
    /// The key whose value comes next.
    name: String,
    /// The depth of the key of the outermost object or array that can contain secrets.
    container: Option<usize>,
}

impl Members {
    /// The secrets of the next token, by its name and the names around it.
    fn secrets(
        &mut self,
        token: &Token,
        plain: &str,
        rules: &dyn SecretRules,
    ) -> Vec<SecretString> {
        if self.container.is_some_and(|depth| token.depth < depth) {
            self.container = None;
        }
        if token.kind == Kind::Key {
            if self.container.is_none_or(|depth| token.depth <= depth) {
                self.container = rules.is_container(plain).then_some(token.depth);
            }
            plain.clone_into(&mut self.name);
            return Vec::new();
        }
        let name = std::mem::take(&mut self.name);
        let own = rules.of_member(&name, plain);
        match self.container {
            Some(depth) if own.is_empty() && token.depth > depth => {
                rules.of_contained(&name, plain)
            }
            _ => own,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Finds words that start with `sk-`, and members and headers named `password` or `x-key`.
    pub(in crate::recording) struct Simple;

    impl SecretRules for Simple {
        fn find(&self, text: &str) -> Vec<Range<usize>> {
            let ends = |c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '+' && c != '/';
            let end = |start: usize| text[start..].find(ends).map_or(text.len(), |end| start + end);
            text.match_indices("sk-").map(|(start, _)| start..end(start)).collect()
        }

        fn of_member(&self, name: &str, value: &str) -> Vec<SecretString> {
            if name == "password" { vec![value.into()] } else { Vec::new() }
        }

        fn is_container(&self, name: &str) -> bool {
            name == "secrets"
        }

        fn of_contained(&self, _: &str, value: &str) -> Vec<SecretString> {
            if value.starts_with("hid") { vec![value.into()] } else { Vec::new() }
        }

        fn of_header(&self, name: &str, value: &str) -> Vec<SecretString> {
            if name == "x-key" { vec![value.into()] } else { Vec::new() }
        }
    }

    pub(in crate::recording) fn masking() -> Masking {
        let redactor = Redactor::default();
        redactor.learn(&"known+secret/value".into());
        Masking::new(redactor, Arc::new(Simple))
    }

    #[test]
    fn secrets_are_masked_however_they_are_escaped_and_all_else_stays_as_written() {
        let masking = masking();
        for (text, expected) in [
            (r#"{ "a" : 1.50, "b":"x" }"#, r#"{ "a" : 1.50, "b":"x" }"#),
            (r#"{"a":"known\u002bsecret\/value","n":1E400}"#, r#"{"a":"***","n":1E400}"#),
            (r#"{"a":"say sk-1\/2 twice"}"#, r#"{"a":"say *** twice"}"#),
            (
                r#"{"password" : "hunter2hunter2","b":"hunter2hunter2"}"#,
                r#"{"password" : "***","b":"***"}"#,
            ),
            (r#"{"password":8877665544332,"n":8877665}"#, r#"{"password":"***","n":8877665}"#),
            (
                r#"{"password":{"type":"string"},"k\u006eown+secret/value":1}"#,
                r#"{"password":{"type":"string"},"***":1}"#,
            ),
        ] {
            assert_eq!(masking.json(text), expected);
        }
    }

    #[test]
    fn an_object_of_secrets_ends_where_it_ends() {
        for (text, expected) in [
            (
                r#"{"secrets":{"a":{"b":"hid1"}},"c":"hid2"}"#,
                r#"{"secrets":{"a":{"b":"***"}},"c":"hid2"}"#,
            ),
            (
                r#"{"secrets":["x","hid1",["hid2"]],"c":["hid3"]}"#,
                r#"{"secrets":["x","***",["***"]],"c":["hid3"]}"#,
            ),
            (r#"[{"secrets":{}},"hid1",{"a":"hid2"}]"#, r#"[{"secrets":{}},"hid1",{"a":"hid2"}]"#),
            (
                r#"{"secrets":{"secrets":"x","a":"hid1"},"b":{"a":"hid2"}}"#,
                r#"{"secrets":{"secrets":"x","a":"***"},"b":{"a":"hid2"}}"#,
            ),
        ] {
            assert_eq!(masking().json(text), expected);
        }
    }

    #[test]
    fn a_short_value_of_a_member_is_masked_only_there() {
        let text = r#"{"password":"test","b":"a test"}"#;
        assert_eq!(masking().json(text), r#"{"password":"***","b":"a test"}"#);
    }

    #[test]
    fn headers_and_queries_are_masked_and_learned() {
        let masking = masking();
        let mut headers = HeaderMap::new();
        headers.insert("x-key", "canary-0123".parse().unwrap());
        masking.learn_head(&headers, "x-key=query-4567&mode=fast");
        assert_eq!(masking.header("x-key", "canary-0123"), "***");
        assert_eq!(masking.text("canary-0123 query-4567 fast"), "*** *** fast");
        assert_eq!(masking.path("/m?x-key=other&mode=fast"), "/m?x-key=***&mode=fast");
        assert_eq!(masking.path("/sk-1?a=sk-2&mode=fast"), "/***?a=***&mode=fast");
        assert_eq!(masking.plain_frame("a=1&x-key=other&b=2"), "a=1&x-key=***&b=2");
        assert_eq!(masking.plain_frame("a text with x-key=other"), "a text with x-key=other");
    }

    proptest::proptest! {
        #[test]
        fn masked_json_stays_valid_and_contains_no_secret(
            texts in proptest::collection::vec(".{0,20}", 0..6),
            escaped in proptest::bool::ANY,
        ) {
            let secret = if escaped { r"known\u002bsecret\/value" } else { "known+secret/value" };
            let mut json = serde_json::json!({"texts": texts, "password": texts.first()}).to_string();
            json.insert_str(1, &format!(r#""a": "x {secret} y","#));
            let masked = masking().json(&json).into_owned();
            let value: serde_json::Value = serde_json::from_str(&masked).unwrap();
            proptest::prop_assert_eq!(&value["a"], "x *** y");
            proptest::prop_assert_eq!(value["texts"].as_array().map(Vec::len), Some(texts.len()));
        }
    }

    #[test]
    fn many_strings_are_searched_in_pieces() {
        let mut items: Vec<String> = (0..60_000).map(|n| format!("item {n}")).collect();
        items.push("sk-abc".into());
        let text = serde_json::to_string(&items).unwrap();
        assert!(masking().json(&text).ends_with(r#","***"]"#));
    }
}
