//! Masks values that change from response to response, before two responses are compared.

use std::borrow::Cow;
use std::sync::LazyLock;

use quintain_content::jsonpath::Path;
use quintain_source::{Diagnostic, unknown_word};
use regex::Regex;
use serde_json::Value;

use crate::check::Spec;

/// Replaces a masked value.
const MASKED: &str = "[masked]";

/// `mask` and `volatile` of an assertion.
#[derive(Debug, Clone, Default)]
pub struct Masks {
    paths: Vec<Path>,
    patterns: Vec<(Regex, &'static str)>,
    epochs: bool,
}

/// Kinds of volatile values, by the words of `volatile`. Longer kinds come first, since they contain shorter
/// ones.
const KINDS: [(&str, &str, &str); 8] = [
    (
        "timestamp",
        r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?(?:Z|[+-][0-9]{2}:?[0-9]{2}\b)?",
        "[timestamp]",
    ),
    ("date", r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}\b", "[date]"),
    ("uuid", r"(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "[uuid]"),
    ("hash", r"(?i)\b(?:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{32})\b", "[hash]"),
    ("epoch", r"\b1[0-9]{9}(?:[0-9]{3}|\.[0-9]+)?\b", "[epoch]"),
    ("address", r"\b(?:localhost|[0-9]{1,3}(?:\.[0-9]{1,3}){3}):[0-9]{2,5}\b", "[address]"),
    ("ip", r"\b[0-9]{1,3}(?:\.[0-9]{1,3}){3}\b", "[ip]"),
    ("duration", r"\b[0-9]+(?:\.[0-9]+)? ?(?:ns|µs|us|ms|s|seconds?|minutes?)\b", "[duration]"),
];

#[expect(clippy::unwrap_used, reason = "constants, compiled by every test below")]
static COMPILED: LazyLock<Vec<Regex>> =
    LazyLock::new(|| KINDS.iter().map(|(_, pattern, _)| Regex::new(pattern).unwrap()).collect());

impl Masks {
    /// Reads both options.
    pub(crate) fn read(spec: &mut Spec<'_, '_>) -> Self {
        let mut masks = Self::default();
        for node in spec.fields.scalars("mask", spec.dx).unwrap_or_default() {
            let text = node.raw().unwrap_or_default();
            let wrong = match text.strip_prefix("regex:") {
                Some(source) => match Regex::new(source) {
                    Ok(pattern) => {
                        masks.patterns.push((pattern, MASKED));
                        continue;
                    }
                    Err(error) => ("config::bad-pattern", "regular expression", error.to_string()),
                },
                None => match Path::new(text) {
                    Ok(path) => {
                        masks.paths.push(path);
                        continue;
                    }
                    Err(error) => ("config::bad-path", "JSONPath", error.why),
                },
            };
            let (code, what, why) = wrong;
            let title = format!("invalid {what}");
            spec.dx.push(Diagnostic::error(code, title).at(node.span, why));
        }
        let words = spec.fields.scalars("volatile", spec.dx).unwrap_or_default();
        let all = words.iter().any(|node| node.raw() == Some("all"));
        let names = KINDS.iter().map(|(name, ..)| *name).chain(["all"]);
        for node in &words {
            if !names.clone().any(|name| node.raw() == Some(name)) {
                spec.dx.push(unknown_word("volatile", node, names.clone()));
            }
        }
        for ((name, _, mark), pattern) in KINDS.iter().zip(COMPILED.iter()) {
            if all || words.iter().any(|node| node.raw() == Some(name)) {
                masks.patterns.push((pattern.clone(), mark));
                masks.epochs |= *name == "epoch";
            }
        }
        masks
    }

    /// Masks the values that the paths select.
    pub fn places(&self, value: &mut Value) {
        for path in &self.paths {
            let found: Vec<String> = path.locate(value).into_iter().map(|(at, _)| at).collect();
            for pointer in found {
                if let Some(place) = value.pointer_mut(&pointer) {
                    *place = MASKED.into();
                }
            }
        }
    }

    /// Masks what the patterns match, in all texts and numbers.
    pub fn forms(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(masked) = self.text(text) {
                    *text = masked;
                }
            }
            Value::Number(number) if self.epochs => {
                let text = number.to_string();
                if self.text(&text) == "[epoch]" {
                    *value = "[epoch]".into();
                }
            }
            Value::Array(items) => {
                for item in items {
                    self.forms(item);
                }
            }
            Value::Object(map) => {
                for value in map.values_mut() {
                    self.forms(value);
                }
            }
            _ => {}
        }
    }

    /// The same for text.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.patterns.iter().fold(Cow::Borrowed(text), |text, (pattern, mark)| {
            match pattern.replace_all(&text, regex::NoExpand(mark)) {
                Cow::Borrowed(_) => text,
                Cow::Owned(masked) => Cow::Owned(masked),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn all() -> Masks {
        let patterns = COMPILED.iter().cloned().zip(KINDS.iter().map(|(.., mark)| *mark));
        Masks { paths: Vec::new(), patterns: patterns.collect(), epochs: true }
    }

    #[test]
    fn volatile_values_are_recognised_by_their_form() {
        for (text, masked) in [
            ("at 2024-05-06T07:08:09.123Z.", "at [timestamp]."),
            ("at 2024-05-06 07:08:09+02:00", "at [timestamp]"),
            ("on 2024-05-06", "on [date]"),
            ("id 6F9619FF-8B86-D011-B42D-00C04FC964FF", "id [uuid]"),
            ("d41d8cd98f00b204e9800998ecf8427e", "[hash]"),
            ("since 1700000000 or 1700000000123", "since [epoch] or [epoch]"),
            ("from 127.0.0.1", "from [ip]"),
            ("to localhost:8080 and 10.0.0.1:99", "to [address] and [address]"),
            ("took 12.5 ms", "took [duration]"),
            ("order 42 of 7 items", "order 42 of 7 items"),
        ] {
            assert_eq!(all().text(text), masked);
        }
        let mut value = json!({"at": 1_700_000_000, "n": 5, "list": ["2024-05-06"]});
        all().forms(&mut value);
        assert_eq!(value, json!({"at": "[epoch]", "n": 5, "list": ["[date]"]}));
    }

    #[test]
    fn places_are_masked_by_path() {
        let masks = Masks { paths: vec![Path::new("$..id").unwrap()], ..Masks::default() };
        let mut value = json!({"id": 1, "items": [{"id": {"a": 1}, "n": 2}]});
        masks.places(&mut value);
        assert_eq!(value, json!({"id": MASKED, "items": [{"id": MASKED, "n": 2}]}));
    }
}
