//! Warns about variables that prompts and calls use and that nothing in the suite sets, because they are sent as empty text.

use std::collections::{BTreeMap, BTreeSet};

use quintain_source::{Diagnostic, Diagnostics, Node, Span, closest, plain_names};
use serde_json::Value;

/// Names that Quintain sets itself.
const OWN: [&str; 5] = ["env", "_conversation", "sessionId", "canary", "planted"];
/// Maximum number of names to remember; a suite with more has no typing mistake.
const MAX_NAMES: usize = 10_000;

/// The variables of a suite: which ones its tests set, and which ones its prompts and calls use.
#[derive(Default)]
pub(super) struct Variables {
    set: BTreeSet<String>,
    /// With the first place of each.
    used: BTreeMap<String, Span>,
    /// Code may set any variable.
    pub(super) any: bool,
}

impl Variables {
    pub(super) fn set(&mut self, name: &str) {
        if !self.set.contains(name) && self.set.len() < MAX_NAMES {
            self.set.insert(name.to_owned());
        }
    }

    /// Notes what the texts of a call use, and which values of earlier steps it captures.
    pub(super) fn used_by(&mut self, node: &Node) {
        node.walk(&mut |node| {
            let captured = node.get("capture").and_then(Node::as_map).unwrap_or_default();
            captured.iter().for_each(|(key, _)| self.set(&key.text));
            let Some(scalar) = node.as_scalar().filter(|scalar| scalar.raw.contains("{{")) else {
                return;
            };
            for (name, range) in plain_names(&scalar.raw) {
                self.used(name, scalar.locate(node.span, range));
            }
        });
    }

    /// Notes what the text of a prompt uses.
    pub(super) fn used_in(&mut self, text: &str, span: Span) {
        for (name, _) in plain_names(text) {
            self.used(name, span);
        }
        if text.contains("\"capture\"")
            && let Ok(call) = serde_json::from_str::<Value>(text)
        {
            self.captured_by(&call);
        }
    }

    fn captured_by(&mut self, call: &Value) {
        let captured = call.get("capture").and_then(Value::as_object);
        captured.into_iter().flat_map(|entries| entries.keys()).for_each(|name| self.set(name));
        let steps = call.get("steps").and_then(Value::as_array);
        steps.into_iter().flatten().for_each(|step| self.captured_by(step));
    }

    fn used(&mut self, name: &str, span: Span) {
        if !self.used.contains_key(name) && self.used.len() < MAX_NAMES {
            self.used.insert(name.to_owned(), span);
        }
    }

    /// Reports names that nothing sets. `may_be_set` means that something besides the tests may set variables, so that only
    /// names close to a known one are reported.
    pub(super) fn check(&self, may_be_set: bool, dx: &mut Diagnostics) {
        if self.any || self.set.len() >= MAX_NAMES {
            return;
        }
        let is_known = |name: &str| self.set.contains(name) || OWN.contains(&name);
        for (name, span) in self.used.iter().filter(|(name, _)| !is_known(name)) {
            let meant = closest(name, self.set.iter().map(String::as_str));
            if may_be_set && meant.is_none() {
                continue;
            }
            let title = format!("no test sets the variable `{name}`");
            let diagnostic = Diagnostic::warning("config::unknown-variable", title)
                .at(*span, "sent as empty text");
            dx.push(diagnostic.help(match meant {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!(
                    "add `{name}` to `vars` of a test or of `defaultTest`, or give a default: `{{{{{name} | default(\"...\")}}}}`"
                ),
            }));
        }
    }
}
