//! Reads `redteam` of a suite into [`Orders`].

use std::sync::Arc;
use std::time::Duration;

use quintain_evidence::finding::Severity;
use quintain_evidence::redteam_report::NotRun;
use quintain_source::{Diagnostics, Fields, Node, Severity as Weight, closest, wrong_type};
use secrecy::SecretString;

use super::defined::Reading;
use super::destructive::Destructive;
use super::plugins::{collections, known_names, unavailable};
use super::{DEFAULT_PROPOSALS, Orders, PluginOrder, PromptOrder, groups, identities, provider};
use crate::attack::{AnyAttack, Attack, Given};
use crate::judged;
use crate::strategies;
use crate::suits::Receiver;

/// Accepted without an effect: settings of promptfoo's service and models.
pub(crate) const IGNORED: [&str; 15] = [
    "contexts",
    "delay",
    "entities",
    "excludeTargetOutputFromAgenticAttackGeneration",
    "frameworks",
    "graderExamples",
    "language",
    "maxCharsPerMessage",
    "sharing",
    "tags",
    "targetPurpose",
    "testGenerationInstructions",
    "tracing",
    "verbose",
    "adversary",
];

impl Orders {
    /// Reads `redteam` of a suite and reports all errors.
    pub fn read(node: Option<&Node>, reading: &Reading<'_>, dx: &mut Diagnostics) -> Self {
        let mut orders = Self { receiver: reading.receiver, ..Self::default() };
        let Some(mut fields) = node.and_then(|node| Fields::of(node, "`redteam`", dx)) else {
            orders.judge = reading.judge.cloned();
            orders.everything();
            return orders;
        };
        orders.purpose = fields.string("purpose", dx);
        orders.listener = fields.string("listener", dx).map(address);
        orders.model = fields.get("provider").and_then(|node| provider::read(node, dx));
        orders.read_judge(&mut fields, dx);
        orders.judge = orders.judge.take().or_else(|| reading.judge.cloned());
        orders.prompts = PromptOrder {
            variable: fields.string("injectVar", dx),
            system: fields.string("systemPrompt", dx),
            is_stateful: flag("stateful", &mut fields, dx),
            repeat: fields.get("repeat").and_then(|node| count("repeat", node, dx)),
            time_limit: None,
        };
        let num_tests = fields.get("numTests").and_then(|node| count("numTests", node, dx));
        orders.num_tests = num_tests;
        orders.proposals = num_tests.unwrap_or(DEFAULT_PROPOSALS);
        if let Some(node) = fields.get("attacks") {
            orders.define(node, reading, dx);
        }
        if let Some(node) = fields.get("plugins") {
            orders.read_plugins(node, num_tests, reading, dx);
        } else {
            orders.everything();
            orders.plugins.iter_mut().for_each(|plugin| plugin.num_tests = num_tests);
        }
        // An attack that is defined is also ordered.
        for attack in orders.defined.clone() {
            orders.order(AnyAttack::Defined(attack), num_tests, None);
        }
        if let Some(node) = fields.get("strategies") {
            orders.strategies = strategies::read(node, dx).into();
        }
        if let Some(node) = fields.get("seed") {
            let seed = node.as_u64();
            if seed.is_none() {
                wrong_type("seed", "a whole number, zero or more", node, dx);
            }
            orders.seed = seed.unwrap_or_default();
        }
        if let Some(node) = fields.get("destructive") {
            orders.destructive = Destructive::read(node, dx);
        }
        orders.fail_on = fields.choice("failOn", &Severity::WORDS, dx);
        if let Some(node) = fields.get("budget") {
            orders.read_budget(node, dx);
        }
        if let Some(node) = fields.get("tokens") {
            orders.tokens = tokens(node, dx);
        }
        if let Some(node) = fields.get("maxConcurrency") {
            orders.concurrency = count("maxConcurrency", node, dx).unwrap_or(4);
        }
        if let Some(node) = fields.get("identities") {
            orders.identities = identities::read(node, dx);
        }
        for name in IGNORED {
            fields.get(name);
        }
        fields.finish(reading.strictness, dx);
        orders
    }

    fn read_budget(&mut self, node: &Node, dx: &mut Diagnostics) {
        let Some(mut fields) = Fields::of(node, "`budget`", dx) else { return };
        self.budget_calls = fields.get("calls").and_then(|node| count("calls", node, dx));
        let seconds = fields.get("seconds").and_then(|node| count("seconds", node, dx));
        let seconds = seconds.map(|seconds| Duration::from_secs(seconds as u64));
        self.budget_time = seconds.or(self.budget_time);
        self.budget_tokens =
            fields.get("tokens").and_then(|node| count("tokens", node, dx)).map(|n| n as u64);
        if let Some(node) = fields.get("cost") {
            self.budget_cost = node.as_f64().filter(|cost| *cost > 0.0);
            if self.budget_cost.is_none() {
                wrong_type("cost", "a number above zero (US dollars)", node, dx);
            }
        }
        fields.finish(Weight::Error, dx);
    }

    /// `judge`: a model, or a map with `provider` and `samples`. Without it, the model of the adversary judges.
    fn read_judge(&mut self, fields: &mut Fields<'_>, dx: &mut Diagnostics) {
        self.judge.clone_from(&self.model);
        let Some(node) = fields.get("judge") else { return };
        if node.get("provider").is_none() && node.get("samples").is_none() {
            self.judge = provider::read(node, dx).or_else(|| self.judge.take());
            return;
        }
        let Some(mut own) = Fields::of(node, "`judge`", dx) else { return };
        if let Some(node) = own.get("provider") {
            self.judge = provider::read(node, dx).or_else(|| self.judge.take());
        }
        if let Some(node) = own.get("samples") {
            self.judge_samples = count("samples", node, dx).unwrap_or(self.judge_samples);
        }
        own.finish(Weight::Error, dx);
    }

    /// Replaces the ordered attacks by those of `names`, with the limits and severities that the suite sets.
    ///
    /// # Errors
    /// The names that nothing has, each with the closest known name.
    pub fn select(&mut self, names: &[String]) -> Result<(), Vec<(String, Option<String>)>> {
        let before = std::mem::take(&mut self.plugins);
        self.not_run.clear();
        let mut unknown = Vec::new();
        for name in names.iter().map(|name| name.trim()) {
            if let Err(meant) = self.add(name, self.num_tests, None) {
                unknown.push((name.to_owned(), meant));
            }
        }
        for order in &mut self.plugins {
            let id = order.attack.meta().id;
            if let Some(known) = before.iter().find(|known| known.attack.meta().id == id) {
                order.num_tests = known.num_tests;
                order.severity = known.severity;
            }
        }
        if unknown.is_empty() { Ok(()) } else { Err(unknown) }
    }

    /// Adds the attacks of one name.
    ///
    /// # Errors
    /// If nothing has this name; contains the closest known name.
    pub fn add(
        &mut self,
        name: &str,
        num_tests: Option<usize>,
        severity: Option<Severity>,
    ) -> Result<(), Option<String>> {
        let defined: Vec<AnyAttack> = self.named(name).map(AnyAttack::Defined).collect();
        let found = if defined.is_empty() { collections(name) } else { Some(defined) };
        if let Some(mut found) = found {
            found.retain(|attack| attack.suits().includes(self.receiver));
            if found.is_empty() {
                let needed = match self.receiver {
                    Receiver::Arguments => Receiver::Model,
                    Receiver::Model => Receiver::Arguments,
                };
                let why = format!("needs {}", needed.needed());
                self.not_run.push(NotRun { what: name.to_owned(), why });
            }
            found.into_iter().for_each(|attack| self.order(attack, num_tests, severity));
            return Ok(());
        }
        if let Some(members) = groups::members(name) {
            self.add_members(name, members, num_tests, severity);
            return Ok(());
        }
        if self.receiver == Receiver::Model && self.judge.is_some() {
            let mut judged = judged::group(name);
            judged.extend(judged::find(name));
            let is_known = !judged.is_empty();
            for attack in judged {
                self.order(AnyAttack::Defined(Arc::new(attack.clone())), num_tests, severity);
            }
            if is_known {
                return Ok(());
            }
        }
        if let Some(known) = unavailable(name, self.receiver) {
            let why = format!("needs {}", known.needs);
            self.not_run.push(NotRun { what: name.to_owned(), why });
            return Ok(());
        }
        let mut names: Vec<&str> = self.defined.iter().map(|attack| attack.meta().id).collect();
        known_names().for_each(|name| names.push(name));
        Err(closest(name, names).map(str::to_owned))
    }

    /// Adds the members of a collection that can run; the others become one `not_run` entry.
    fn add_members(
        &mut self,
        name: &str,
        members: &[&str],
        num_tests: Option<usize>,
        severity: Option<Severity>,
    ) {
        let before = self.not_run.len();
        for member in members {
            // Every member is known, so this cannot fail.
            let _ = self.add(member, num_tests, severity);
        }
        let left: Vec<String> = self.not_run.drain(before..).map(|one| one.what).collect();
        if !left.is_empty() {
            let what = format!("{} of {name}", left.join(", "));
            let why = match self.receiver {
                Receiver::Arguments => "needs a model or agent as target",
                Receiver::Model => {
                    "needs a judge (`redteam.judge`), a data set or another kind of target"
                }
            };
            self.not_run.push(NotRun { what, why: why.to_owned() });
        }
    }

    /// Attacks of the suite with this name; `policy` selects all policies.
    fn named(&self, name: &str) -> impl Iterator<Item = Arc<dyn Attack>> {
        let group = format!("{name}:");
        let mine = self
            .defined
            .iter()
            .filter(move |attack| attack.meta().id == name || attack.meta().id.starts_with(&group));
        let mine: Vec<Arc<dyn Attack>> =
            mine.map(|attack| Arc::clone(attack) as Arc<dyn Attack>).collect();
        mine.into_iter()
    }

    /// Orders an attack; options of an ordered attack are replaced.
    pub(super) fn order(
        &mut self,
        attack: AnyAttack,
        num_tests: Option<usize>,
        severity: Option<Severity>,
    ) {
        let same = |known: &&mut PluginOrder| known.attack.meta().id == attack.meta().id;
        match self.plugins.iter_mut().find(same) {
            Some(known) => {
                known.num_tests = num_tests.or(known.num_tests);
                known.severity = severity.or(known.severity);
            }
            None => self.plugins.push(PluginOrder { attack, num_tests, severity }),
        }
    }
}

/// Tokens that the server must refuse, by what is wrong with them.
fn tokens(node: &Node, dx: &mut Diagnostics) -> Vec<(Given, SecretString)> {
    let Some(mut fields) = Fields::of(node, "`tokens`", dx) else { return Vec::new() };
    let mut tokens = Vec::new();
    for (word, given) in Given::WORDS {
        let token = fields.string(word, dx).filter(|token| !token.is_empty());
        tokens.extend(token.map(|token| (given, SecretString::from(token))));
    }
    fields.finish(Weight::Error, dx);
    tokens
}

fn flag(name: &'static str, fields: &mut Fields<'_>, dx: &mut Diagnostics) -> bool {
    let Some(node) = fields.get(name) else { return false };
    let flag = node.as_bool();
    if flag.is_none() {
        wrong_type(name, "`true` or `false`", node, dx);
    }
    flag.unwrap_or(false)
}

/// `host:port`, or a host alone.
fn address(text: String) -> (String, u16) {
    let split = text
        .rsplit_once(':')
        .and_then(|(host, port)| Some((host.to_owned(), port.parse::<u16>().ok()?)));
    split.unwrap_or((text, 0))
}

pub(super) fn count(name: &str, node: &Node, dx: &mut Diagnostics) -> Option<usize> {
    let count = node.as_u64().and_then(|count| usize::try_from(count).ok());
    let count = count.filter(|count| *count > 0);
    if count.is_none() {
        wrong_type(name, "a whole number above zero", node, dx);
    }
    count
}

#[cfg(test)]
mod tests {
    use quintain_source::{SourceFile, Sources, read};

    use super::*;
    use crate::attacks;

    fn orders(text: &str) -> (Orders, Vec<&'static str>) {
        let mut sources = Sources::new();
        let mut dx = Diagnostics::new();
        let id = sources.add(SourceFile::new("x.yaml", text));
        let node = read(&sources, id, &mut dx).unwrap();
        let (base_dir, strictness) = (std::path::Path::new(""), quintain_source::Severity::Error);
        let demands =
            &quintain_suite::demands::DemandReader { files: &quintain_suite::suite::NoFiles };
        let receiver = Receiver::Arguments;
        let reading = Reading { base_dir, strictness, receiver, judge: None, demands };
        let orders = Orders::read(node.get("redteam"), &reading, &mut dx);
        (orders, dx.iter().map(|found| found.code).collect())
    }

    #[test]
    fn the_shapes_of_promptfoo_are_read() {
        let (orders, codes) = orders(
            "redteam:\n  purpose: A payments server\n  numTests: 5\n  plugins:\n    - shell-injection\n    - id: command-injection\n      numTests: 7\n      severity: low\n    - harmful:hate\n  strategies: [basic, {id: base64}]\n",
        );
        assert!(codes.is_empty(), "{codes:?}");
        assert_eq!(orders.plugins.len(), 1);
        assert_eq!(orders.plugins[0].num_tests, Some(7));
        let mut chosen = orders.clone();
        let names = ["command-injection", "ssrf"].map(str::to_owned);
        assert!(chosen.select(&names).is_ok());
        let limits: Vec<_> =
            chosen.plugins.iter().map(|one| (one.num_tests, one.severity)).collect();
        assert_eq!(limits, [(Some(7), Some(Severity::Low)), (Some(5), None)]);
        let unknown = chosen.select(&["command-injektion".to_owned()]);
        assert_eq!(
            unknown,
            Err(vec![("command-injektion".to_owned(), Some("command-injection".to_owned()))])
        );
        assert_eq!(orders.plugins[0].severity, Some(Severity::Low));
        assert_eq!(orders.not_run[0].what, "harmful:hate");
        assert_eq!(orders.strategies.len(), 2);
    }

    #[test]
    fn unknown_names_are_reported() {
        assert_eq!(orders("redteam: {plugins: [comand-injection]}").1, ["config::unknown-plugin"]);
        assert_eq!(orders("redteam: {plugins: 5}").1, ["config::wrong-type"]);
        assert_eq!(orders("redteam: {bogus: 5}").1, ["config::unknown-key"]);
    }

    #[test]
    fn tokens_are_known_by_what_is_wrong_with_them() {
        let (orders, codes) =
            orders("redteam: {tokens: {expired: a, otherAudience: b, readOnly: c}}");
        assert!(codes.is_empty(), "{codes:?}");
        assert_eq!(orders.tokens.len(), 3);
        assert_eq!(self::orders("redteam: {tokens: {old: a}}").1, ["config::unknown-key"]);
    }

    #[test]
    fn how_destructive_a_run_may_be_is_one_of_a_few_words() {
        let of = |text: &str| {
            let (orders, codes) = orders(&format!("redteam: {{destructive: {text}}}"));
            (orders.destructive, codes.len())
        };
        assert_eq!(of("true"), (Destructive::Own, 0));
        assert_eq!(of("own"), (Destructive::Own, 0));
        assert_eq!(of("all"), (Destructive::All, 0));
        assert_eq!(of("false"), (Destructive::Never, 0));
        assert_eq!(of("everything"), (Destructive::Never, 1));
    }

    #[test]
    fn without_a_word_everything_is_ordered() {
        assert_eq!(orders("a: 1").0.plugins.len(), attacks::suiting(Receiver::Arguments).count());
    }
}
