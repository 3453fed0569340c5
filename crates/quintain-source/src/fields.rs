//! Reads the keys of a map one by one, reports what is wrong with each, and at the end reports
//! unknown keys.

use std::time::Duration;

use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::file::Span;
use crate::node::{Key, Node, Scalar};
use crate::scalar::Yaml11;
use crate::suggest::closest;

/// A reader over one map. A key without a value counts as absent.
pub struct Fields<'n> {
    what: String,
    node: &'n Node,
    entries: &'n [(Key, Node)],
    known: Vec<&'static str>,
}

impl<'n> Fields<'n> {
    /// `what` names the map in messages: `a stdio server`.
    pub fn of(node: &'n Node, what: impl Into<String>, dx: &mut Diagnostics) -> Option<Self> {
        let what = what.into();
        let Some(entries) = node.as_map() else {
            let title = format!("{what} must be a map, not {}", node.describe());
            dx.push(Diagnostic::error("config::wrong-type", title).at(node.span, ""));
            return None;
        };
        Some(Self { what, node, entries, known: Vec::new() })
    }

    pub fn span(&self) -> Span {
        self.node.span
    }

    /// The value of a key, if it has one. Marks the key as known.
    pub fn get(&mut self, name: &'static str) -> Option<&'n Node> {
        self.entry(name).map(|(_, node)| node)
    }

    pub fn entry(&mut self, name: &'static str) -> Option<(&'n Key, &'n Node)> {
        self.known.push(name);
        let found = self.entries.iter().find(|(key, _)| key.text == name);
        found.filter(|(_, node)| !node.is_null()).map(|(key, node)| (key, node))
    }

    /// The value of a required key.
    pub fn required(&mut self, name: &'static str, dx: &mut Diagnostics) -> Option<&'n Node> {
        let found = self.get(name);
        if found.is_none() {
            self.missing(name, dx);
        }
        found
    }

    /// Reports a missing key.
    pub fn missing(&self, name: &str, dx: &mut Diagnostics) {
        let title = format!("missing key `{name}` in {}", self.what);
        let empty = self.entries.iter().find(|(key, _)| key.text == name);
        let diagnostic = Diagnostic::error("config::missing-key", title);
        dx.push(match empty {
            Some((key, _)) => diagnostic.at(key.span, "has no value"),
            None => diagnostic.at(self.node.span, format!("add `{name}`")),
        });
    }

    /// The values of those keys that are present. More than one is reported.
    pub fn one_of(
        &mut self,
        names: &[&'static str],
        severity: Severity,
        dx: &mut Diagnostics,
    ) -> Option<(&'static str, &'n Node)> {
        let mut found = Vec::new();
        for name in names {
            found.extend(self.entry(name).map(|(key, node)| (*name, key, node)));
        }
        let (name, key, node) = *found.first()?;
        for (other, other_key, _) in &found[1..] {
            let title = format!("{} has both `{name}` and `{other}`", self.what);
            let (first, second) = match severity {
                Severity::Error => ("first", "second"),
                Severity::Warning => ("this one is used", "this one is ignored"),
            };
            dx.push(
                Diagnostic::new(severity, "config::several-of", title)
                    .context(key.span, first)
                    .at(other_key.span, second)
                    .help("remove one of them"),
            );
        }
        Some((name, node))
    }

    /// Text; a bare number or boolean is taken as written.
    pub fn string(&mut self, name: &'static str, dx: &mut Diagnostics) -> Option<String> {
        let node = self.get(name)?;
        let text = node.raw();
        if text.is_none() {
            wrong_type(name, "text", node, dx);
        }
        text.map(str::to_owned)
    }

    pub fn bool(&mut self, name: &'static str, dx: &mut Diagnostics) -> Option<bool> {
        let node = self.get(name)?;
        let value = node.as_bool();
        if value.is_none() {
            wrong_type(name, "`true` or `false`", node, dx);
        }
        value
    }

    /// A duration in milliseconds. Zero is a duration; the caller decides what it means.
    pub fn millis(&mut self, name: &'static str, dx: &mut Diagnostics) -> Option<Duration> {
        let node = self.get(name)?;
        let value = node.as_f64().filter(|value| *value >= 0.0);
        let value = value.and_then(|millis| Duration::try_from_secs_f64(millis / 1000.0).ok());
        if value.is_none() {
            wrong_type(name, "a number of milliseconds", node, dx);
        }
        value
    }

    /// A list of texts; a single text is a list of one.
    pub fn strings(&mut self, name: &'static str, dx: &mut Diagnostics) -> Option<Vec<String>> {
        let items = self.scalars(name, dx)?;
        Some(items.into_iter().filter_map(Node::raw).map(str::to_owned).collect())
    }

    /// The same with the places of the texts.
    pub fn scalars(&mut self, name: &'static str, dx: &mut Diagnostics) -> Option<Vec<&'n Node>> {
        let node = self.get(name)?;
        if node.raw().is_some() {
            return Some(vec![node]);
        }
        let Some(items) = node.as_seq() else {
            wrong_type(name, "a list of texts", node, dx);
            return None;
        };
        let (good, bad): (Vec<_>, Vec<_>) = items.iter().partition(|item| item.raw().is_some());
        for item in bad {
            wrong_type(name, "a list of texts", item, dx);
        }
        Some(good)
    }

    pub fn map(&mut self, name: &'static str, dx: &mut Diagnostics) -> Option<&'n Node> {
        let node = self.get(name)?;
        if node.as_map().is_none() {
            wrong_type(name, "a map", node, dx);
            return None;
        }
        Some(node)
    }

    pub fn seq(&mut self, name: &'static str, dx: &mut Diagnostics) -> Option<&'n [Node]> {
        let node = self.get(name)?;
        if node.as_seq().is_none() {
            wrong_type(name, "a list", node, dx);
        }
        node.as_seq()
    }

    /// One of several words.
    pub fn choice<T: Clone>(
        &mut self,
        name: &'static str,
        choices: &[(&'static str, T)],
        dx: &mut Diagnostics,
    ) -> Option<T> {
        let node = self.get(name)?;
        let word = node.raw().unwrap_or_default();
        if let Some((_, value)) = choices.iter().find(|(choice, _)| *choice == word) {
            return Some(value.clone());
        }
        let words = || choices.iter().map(|(choice, _)| *choice).filter(|word| !word.is_empty());
        dx.push(unknown_word(name, node, words()));
        None
    }

    /// The keys that were read.
    pub fn known(&self) -> &[&'static str] {
        &self.known
    }

    /// Reports the keys that were not read.
    pub fn finish(self, severity: Severity, dx: &mut Diagnostics) {
        for (key, _) in self.entries.iter().filter(|(key, _)| !self.known.contains(&&*key.text)) {
            let title = format!("unknown key `{}` in {}", key.text, self.what);
            let diagnostic = Diagnostic::new(severity, "config::unknown-key", title)
                .at(key.span, "not a key here");
            let meant = closest(&key.text, self.known.iter().copied());
            dx.push(match meant {
                Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")),
                None => diagnostic,
            });
        }
    }
}

/// `value` of `name` is not one of the accepted words.
pub fn unknown_word<'c>(
    name: &str,
    node: &Node,
    words: impl Iterator<Item = &'c str> + Clone,
) -> Diagnostic {
    let word = node.raw().unwrap_or_default();
    let title = match node.raw() {
        Some(word) => format!("`{word}` is not a value of `{name}`"),
        None => format!("`{name}` must be a word, not {}", node.describe()),
    };
    let diagnostic = Diagnostic::error("config::unknown-value", title).at(node.span, "");
    if let Some(meant) = closest(word, words.clone()) {
        return diagnostic.help(format!("did you mean `{meant}`?"));
    }
    let all: Vec<_> = words.map(|word| format!("`{word}`")).collect();
    diagnostic.help(format!("use one of {}", all.join(", ")))
}

/// The value of a key is not one of those that `wanted` names. Shows a short value.
pub fn wrong_value(name: &str, wanted: &str, node: &Node, dx: &mut Diagnostics) {
    let short = node.raw().filter(|raw| !raw.is_empty() && raw.len() <= 60);
    let found = short.map_or_else(|| node.describe(), |raw| format!("`{raw}`"));
    push_wrong(format!("`{name}` must be {wanted}, not {found}"), node, dx);
}

/// The value of a key has the wrong type.
pub fn wrong_type(name: &str, wanted: &str, node: &Node, dx: &mut Diagnostics) {
    push_wrong(format!("`{name}` must be {wanted}, not {}", node.describe()), node, dx);
}

fn push_wrong(title: String, node: &Node, dx: &mut Diagnostics) {
    let diagnostic = Diagnostic::error("config::wrong-type", title).at(node.span, "");
    dx.push(match node.as_scalar().and_then(Scalar::yaml_11) {
        Some(Yaml11::Boolean(value)) => diagnostic.help(format!("write `{value}`")),
        _ => diagnostic,
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Parsed, parse, tree};

    fn with_fields(text: &str, read: impl FnOnce(&mut Fields<'_>, &mut Diagnostics)) -> Parsed {
        let mut parsed = parse(text);
        let node = parsed.node.clone().expect("a tree");
        let mut fields = Fields::of(&node, "a server", &mut parsed.dx).expect("a map");
        read(&mut fields, &mut parsed.dx);
        fields.finish(Severity::Error, &mut parsed.dx);
        parsed
    }

    #[test]
    fn typed_values_are_read() {
        let parsed = with_fields(
            "s: 8080\nb: true\nm: 1500\nl: [a, 1]\none: x\nnothing:\nc: post\n",
            |fields, dx| {
                assert_eq!(fields.string("s", dx).as_deref(), Some("8080"));
                assert_eq!(fields.bool("b", dx), Some(true));
                assert_eq!(fields.millis("m", dx), Some(Duration::from_millis(1500)));
                assert_eq!(fields.strings("l", dx), Some(vec!["a".into(), "1".into()]));
                assert_eq!(fields.strings("one", dx), Some(vec!["x".into()]));
                assert_eq!(fields.string("nothing", dx), None);
                assert_eq!(fields.choice("c", &[("get", 1), ("post", 2)], dx), Some(2));
            },
        );
        assert!(parsed.dx.is_empty(), "{}", parsed.drawn());
    }

    #[test]
    fn every_fault_is_reported_and_none_stops_the_reader() {
        let parsed = with_fields(
            "s: [1]\nb: yes\nm: -1\nl: {a: 1}\nmap: 3\nc: psot\ncomand: x\nempty:\n",
            |fields, dx| {
                fields.string("s", dx);
                fields.bool("b", dx);
                fields.millis("m", dx);
                fields.strings("l", dx);
                fields.map("map", dx);
                fields.choice("c", &[("get", 1), ("post", 2)], dx);
                fields.get("command");
                fields.required("name", dx);
                fields.required("empty", dx);
            },
        );
        assert_eq!(parsed.dx.len(), 9, "{}", parsed.drawn());
        let drawn = parsed.drawn();
        for part in [
            "`s` must be text, not a list",
            "`b` must be `true` or `false`, not text",
            "help: write `true`",
            "`psot` is not a value of `c`",
            "did you mean `post`?",
            "unknown key `comand` in a server",
            "did you mean `command`?",
            "missing key `name` in a server",
            "has no value",
        ] {
            assert!(drawn.contains(part), "{part}\n{drawn}");
        }
    }

    #[test]
    fn of_two_rivals_the_first_counts() {
        let parsed = with_fields("url: x\ncommand: y\n", |fields, dx| {
            let found = fields.one_of(&["command", "path", "url"], Severity::Warning, dx);
            assert_eq!(found.map(|(name, _)| name), Some("command"));
        });
        assert_eq!(parsed.codes(), ["config::several-of"]);
        assert!(!parsed.dx.has_errors());
    }

    #[test]
    fn a_list_is_no_map() {
        let mut dx = Diagnostics::new();
        assert!(Fields::of(&tree("[1]"), "a server", &mut dx).is_none());
        assert_eq!(dx.len(), 1);
    }
}
