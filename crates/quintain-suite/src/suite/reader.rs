//! The context for reading targets: the environment, the folder of the file, its strictness.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use quintain_source::{
    Diagnostic, Diagnostics, Fields, Key, Node, NodeKind, Scope, Severity, Templates, Yaml11,
    is_template, wrong_type,
};
use serde_json::{Map, Value};

use crate::files::Files;
use crate::purpose::{Consent, NotCalled};

pub struct Reader<'a> {
    pub(super) templates: &'a Templates,
    /// Relative paths in the suite start here.
    pub base_dir: &'a Path,
    /// The severity of unknown keys: an error in files of Quintain, a warning in files of promptfoo.
    pub strictness: Severity,
    pub files: &'a dyn Files,
    /// Needed to call scripts.
    pub(super) consent: Option<Consent>,
    /// Scripts that were not called because `consent` is missing.
    pub(super) not_called: &'a RefCell<Vec<NotCalled>>,
}

impl Reader<'_> {
    /// The text of a key, with `{{env.X}}` expanded.
    pub fn text(
        &self,
        fields: &mut Fields<'_>,
        name: &'static str,
        dx: &mut Diagnostics,
    ) -> Option<String> {
        let node = fields.get(name)?;
        self.fill(name, node, dx)
    }

    /// The text of a value, with `{{env.X}}` expanded.
    pub fn fill(&self, name: &str, node: &Node, dx: &mut Diagnostics) -> Option<String> {
        if node.raw().is_none() {
            wrong_type(name, "text", node, dx);
        }
        let filled = self.templates.fill(node, Scope::Env, dx)?;
        if let Some(word) = bare_template(&filled) {
            let title = format!("`{{{{{word}}}}}` is sent unchanged");
            dx.push(
                Diagnostic::warning("config::unfilled-template", title)
                    .at(node.span, "")
                    .help(format!("for the environment variable, write `{{{{env.{word}}}}}`")),
            );
        }
        Some(filled)
    }

    pub fn texts(
        &self,
        fields: &mut Fields<'_>,
        name: &'static str,
        dx: &mut Diagnostics,
    ) -> Option<Vec<String>> {
        let nodes = fields.scalars(name, dx)?;
        Some(nodes.into_iter().filter_map(|node| self.fill(name, node, dx)).collect())
    }

    /// The entries of a map of texts, in the order of the file. An empty value is empty text.
    pub fn pairs(
        &self,
        fields: &mut Fields<'_>,
        name: &'static str,
        dx: &mut Diagnostics,
    ) -> Vec<(String, String)> {
        self.pairs_if(fields, name, |_, _| true, dx)
    }

    /// The same for the entries that pass a filter.
    pub(super) fn pairs_if(
        &self,
        fields: &mut Fields<'_>,
        name: &'static str,
        is_wanted: impl Fn(&Key, &Node) -> bool,
        dx: &mut Diagnostics,
    ) -> Vec<(String, String)> {
        let entries = fields.map(name, dx).and_then(Node::as_map).unwrap_or_default();
        let wanted = entries.iter().filter(|(key, node)| is_wanted(key, node));
        let pair = |(key, node): &(Key, Node)| {
            let empty = node.is_null().then(String::new);
            Some((key.text.clone(), empty.or_else(|| self.fill(&key.text, node, dx))?))
        };
        wanted.filter_map(pair).collect()
    }

    /// Whether a text is a template that is not expanded, so that its meaning is not known yet.
    pub(super) fn is_unfilled(&self, text: &str) -> bool {
        self.templates.leaves_all() && is_template(text)
    }

    pub fn path(&self, text: &str) -> PathBuf {
        // Collecting the components removes `./`.
        self.base_dir.join(text).components().collect()
    }

    /// A payload is sent as written, so words that a YAML 1.1 parser would convert are reported.
    pub fn payload(&self, node: &Node, dx: &mut Diagnostics) -> Value {
        match &node.kind {
            NodeKind::Seq(_) | NodeKind::Pile(_) => {
                node.items().map(|item| self.payload(&item, dx)).collect()
            }
            NodeKind::Map(_) => Value::Object(self.payload_map(node, dx)),
            NodeKind::Null => Value::Null,
            NodeKind::Scalar(scalar) => {
                if let Some(looks) = scalar.yaml_11() {
                    dx.push(misread(node, &scalar.raw, looks));
                }
                if node.as_str().is_none() {
                    return node.to_json();
                }
                self.templates.fill(node, Scope::Env, dx).map_or(Value::Null, Value::String)
            }
        }
    }

    pub fn payload_map(&self, node: &Node, dx: &mut Diagnostics) -> Map<String, Value> {
        let entries = node.as_map().unwrap_or_default().iter();
        entries.map(|(key, value)| (key.text.clone(), self.payload(value, dx))).collect()
    }
}

/// Reports plain words of a payload that a YAML 1.1 parser would convert.
pub(super) fn warn_of_misread_words(node: &Node, dx: &mut Diagnostics) {
    if node.as_map().is_none() && node.as_seq().is_none() {
        return;
    }
    node.walk(&mut |node| {
        let Some(scalar) = node.as_scalar() else { return };
        if let Some(looks) = scalar.yaml_11() {
            dx.push(misread(node, &scalar.raw, looks));
        }
    });
}

fn misread(node: &Node, raw: &str, looks: Yaml11) -> Diagnostic {
    let (code, kind, instead) = match looks {
        Yaml11::Boolean(value) => ("config::yaml-boolean", "a boolean", value.to_string()),
        Yaml11::Number => ("config::yaml-number", "a number", "a plain decimal number".to_owned()),
    };
    let instead = if looks == Yaml11::Number { instead } else { format!("`{instead}`") };
    Diagnostic::warning(code, format!("`{raw}` is sent as the text \"{raw}\", not as {kind}"))
        .at(node.span, "")
        .help(format!("write {instead} or `\"{raw}\"`"))
}

/// A single name in braces, which another program would expand.
fn bare_template(text: &str) -> Option<&str> {
    text.split("{{").skip(1).find_map(|rest| {
        let word = rest.split_once("}}")?.0.trim();
        let name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        (!word.is_empty() && word.chars().all(name)).then_some(word)
    })
}
