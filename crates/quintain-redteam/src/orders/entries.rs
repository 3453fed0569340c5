//! `redteam.plugins` and `redteam.attacks`: names of attacks and collections with their options, definitions, policies,
//! intents.

use std::sync::Arc;

use quintain_evidence::finding::Severity;
use quintain_evidence::redteam_node::DEFINITION;
use quintain_evidence::redteam_report::NotRun;
use quintain_source::{Diagnostic, Diagnostics, Fields, Node, wrong_type};

use super::defined::{Defined, Reading};
use super::policy::Ordered;
use super::read::count;
use super::{Orders, PluginOrder, intent, policy};
use crate::attack::{AnyAttack, Attack};

/// Keys that make a map a definition instead of a reference.
const DEFINING: [&str; 2] = ["payloads", "probes"];

/// Options of one entry.
#[derive(Clone, Copy, Default)]
struct Options {
    num_tests: Option<usize>,
    severity: Option<Severity>,
}

impl Orders {
    /// Reads definitions: one, or a list.
    pub(super) fn define(&mut self, node: &Node, reading: &Reading<'_>, dx: &mut Diagnostics) {
        let items = node.as_seq().unwrap_or(std::slice::from_ref(node));
        for item in items {
            self.define_one(item, reading, dx);
        }
    }

    fn define_one(
        &mut self,
        node: &Node,
        reading: &Reading<'_>,
        dx: &mut Diagnostics,
    ) -> Option<Arc<Defined>> {
        let defined = Defined::read(node, reading, self.listener.is_some(), dx)?;
        if self.defined.iter().any(|known| known.meta().id == defined.meta().id) {
            let title = format!("duplicate attack `{}`", defined.meta().id);
            let at = node.get("id").unwrap_or(node).span;
            let diagnostic = Diagnostic::error("config::taken-name", title).at(at, "the second");
            dx.push(diagnostic.help("rename one of them"));
            return None;
        }
        let defined = Arc::new(defined);
        self.defined.push(defined.clone());
        Some(defined)
    }

    pub(super) fn read_plugins(
        &mut self,
        node: &Node,
        num_tests: Option<usize>,
        reading: &Reading<'_>,
        dx: &mut Diagnostics,
    ) {
        let Some(items) = node.as_seq() else {
            wrong_type("plugins", "a list", node, dx);
            return;
        };
        for item in items {
            let plain = Options { num_tests, severity: None };
            if let Some(name) = item.raw() {
                self.mention(name, item, plain, reading, dx);
                continue;
            }
            let defines = DEFINING.iter().any(|key| item.get(key).is_some());
            if defines {
                let own = item.get("numTests").and_then(|node| count("numTests", node, dx));
                let defined = self.define_one(item, reading, dx);
                if let Some(attack) = defined {
                    self.order(AnyAttack::Defined(attack), own.or(num_tests), None);
                }
                continue;
            }
            self.entry(item, plain, reading, dx);
        }
    }

    /// A name with options.
    fn entry(&mut self, item: &Node, plain: Options, reading: &Reading<'_>, dx: &mut Diagnostics) {
        let Some(mut fields) = Fields::of(item, "a plugin", dx) else { return };
        let own = fields.get("numTests").and_then(|node| count("numTests", node, dx));
        let severity = fields.choice("severity", &Severity::WORDS, dx);
        let config = fields.get("config");
        let file = fields.get(DEFINITION);
        let id = fields.required("id", dx);
        fields.finish(reading.strictness, dx);
        let Some(id) = id else { return };
        let Some(name) = id.raw() else {
            wrong_type("id", "text", id, dx);
            return;
        };
        let options = Options { num_tests: own.or(plain.num_tests), severity };
        match (name, file) {
            (_, Some(file)) => self.of_file(name, file, options, reading, dx),
            ("policy", _) => {
                let is_policy =
                    |plugin: &&PluginOrder| plugin.attack.meta().id.starts_with("policy");
                let ordered = self.plugins.iter().filter(is_policy).count();
                let number = self.defined.len().max(ordered);
                let known = (number, self.judge.is_some());
                let (ordered, not_run) = policy::read(config.unwrap_or(item), known, reading, dx);
                self.not_run.extend(not_run);
                self.take(ordered, options);
            }
            ("intent", _) => {
                let has_judge = self.judge.is_some();
                let intents = intent::read(config.unwrap_or(item), has_judge, reading, dx);
                self.not_run.extend(intents.not_run);
                self.goals.extend(intents.goals);
                self.take(intents.ordered, options);
            }
            _ => self.mention(name, id, options, reading, dx),
        }
    }

    /// Adds a policy or intents.
    fn take(&mut self, ordered: impl IntoIterator<Item = Ordered>, options: Options) {
        for one in ordered {
            let attack: Arc<dyn Attack> = match one {
                Ordered::Defined(defined) => {
                    let defined = Arc::new(defined);
                    self.defined.push(defined.clone());
                    defined
                }
                Ordered::Judged(judged) => Arc::new(judged),
            };
            self.order(AnyAttack::Defined(attack), options.num_tests, options.severity);
        }
    }

    /// Adds a file: attacks of the user, or a promptfoo plugin.
    fn of_file(
        &mut self,
        name: &str,
        file: &Node,
        options: Options,
        reading: &Reading<'_>,
        dx: &mut Diagnostics,
    ) {
        if file.get("generator").is_some() || file.get("grader").is_some() {
            let why = "needs a model: its generator and its grader are prompts";
            self.not_run.push(NotRun { what: name.to_owned(), why: why.to_owned() });
            return;
        }
        let items = file.as_seq().unwrap_or(std::slice::from_ref(file));
        for item in items {
            if let Some(attack) = self.define_one(item, reading, dx) {
                self.order(AnyAttack::Defined(attack), options.num_tests, options.severity);
            }
        }
    }

    fn mention(
        &mut self,
        name: &str,
        at: &Node,
        options: Options,
        reading: &Reading<'_>,
        dx: &mut Diagnostics,
    ) {
        if matches!(name, "policy" | "intent") {
            let title = format!("`{name}` needs a `config`");
            let diagnostic = Diagnostic::new(reading.strictness, "config::missing-key", title);
            let help = format!("write it as `{{id: {name}, config: {{{name}: ...}}}}`");
            dx.push(diagnostic.at(at.span, "`config` is missing").help(help));
            return;
        }
        let Err(meant) = self.add(name, options.num_tests, options.severity) else { return };
        let title = format!("there is no attack `{name}`");
        let diagnostic = Diagnostic::new(reading.strictness, "config::unknown-plugin", title);
        let diagnostic = diagnostic.at(at.span, "");
        dx.push(match meant {
            Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")),
            None => diagnostic.help("`quintain redteam plugins` shows all of them"),
        });
    }
}
