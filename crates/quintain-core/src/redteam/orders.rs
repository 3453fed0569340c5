//! `redteam` of a suite: which attacks, how many, as whom.

use std::collections::BTreeMap;
use std::time::Duration;

use quintain_source::{
    Diagnostic, Diagnostics, Fields, Node, Severity as Weight, closest, wrong_type,
};
use secrecy::SecretString;
use serde_json::{Map, Value};

use super::plugins::{collections, known_names, unavailable};
use super::report::NotRun;
use super::suppress::Suppression;
use crate::attack::{AnyAttack, Attack, Given};
use crate::attacks;
use crate::finding::Severity;
use crate::strategies::{self, Tactic};

/// Understood, and of no use here: promptfoo asks its service or a model for words.
const IGNORED: [&str; 17] = [
    "contexts",
    "delay",
    "entities",
    "excludeTargetOutputFromAgenticAttackGeneration",
    "frameworks",
    "graderExamples",
    "injectVar",
    "language",
    "maxCharsPerMessage",
    "provider",
    "sharing",
    "tags",
    "targetPurpose",
    "testGenerationInstructions",
    "tracing",
    "verbose",
    "adversary",
];

/// What a red-team run shall do.
pub struct Orders {
    pub plugins: Vec<PluginOrder>,
    pub strategies: Vec<Tactic>,
    pub purpose: Option<String>,
    pub identities: Vec<IdentityOrder>,
    /// Tokens that the target should refuse.
    pub tokens: BTreeMap<Given, SecretString>,
    /// Where to listen, if not on a free port of the loopback.
    pub listener: Option<(String, u16)>,
    pub seed: u64,
    pub budget_calls: Option<usize>,
    pub budget_time: Option<Duration>,
    pub concurrency: usize,
    /// Tools that destroy may be called.
    pub destructive: bool,
    /// Targets that are not on this machine may be attacked.
    pub allow_remote: bool,
    /// Only the place with this key is attacked.
    pub only: Option<String>,
    /// How often a hit is tried again.
    pub confirmations: usize,
    /// Findings that are accepted, and the day on which that is asked.
    pub suppressions: Vec<Suppression>,
    pub today: String,
    /// What was asked for and cannot be done.
    pub not_run: Vec<NotRun>,
}

/// One attack that shall be run.
pub struct PluginOrder {
    pub attack: AnyAttack,
    /// At most so many places are attacked.
    pub num_tests: Option<usize>,
    /// In the place of that of the attack.
    pub severity: Option<Severity>,
}

/// Somebody whose credentials are used.
#[derive(Clone, Default)]
pub struct IdentityOrder {
    pub name: String,
    pub role: Option<String>,
    pub env: BTreeMap<String, SecretString>,
    pub headers: Vec<(String, SecretString)>,
    pub default_args: Map<String, Value>,
}

impl Default for Orders {
    fn default() -> Self {
        Self {
            plugins: Vec::new(),
            strategies: Vec::new(),
            purpose: None,
            identities: Vec::new(),
            tokens: BTreeMap::new(),
            listener: None,
            seed: 0,
            budget_calls: None,
            budget_time: None,
            concurrency: 4,
            destructive: false,
            allow_remote: false,
            only: None,
            confirmations: 2,
            suppressions: Vec::new(),
            today: String::new(),
            not_run: Vec::new(),
        }
    }
}

impl Orders {
    /// Reads `redteam` of a suite. What is wrong is reported, all of it.
    pub fn read(node: Option<&Node>, strictness: Weight, dx: &mut Diagnostics) -> Self {
        let mut orders = Self::default();
        let Some(mut fields) = node.and_then(|node| Fields::of(node, "`redteam`", dx)) else {
            orders.everything();
            return orders;
        };
        orders.purpose = fields.string("purpose", dx);
        let num_tests = fields.get("numTests").and_then(|node| count("numTests", node, dx));
        if let Some(node) = fields.get("plugins") {
            orders.read_plugins(node, num_tests, strictness, dx);
        } else {
            orders.everything();
            orders.plugins.iter_mut().for_each(|plugin| plugin.num_tests = num_tests);
        }
        if let Some(node) = fields.get("strategies") {
            orders.strategies = strategies::read(node, dx);
        }
        if let Some(node) = fields.get("seed") {
            orders.seed = node.as_u64().unwrap_or_default();
        }
        if let Some(node) = fields.get("maxConcurrency") {
            orders.concurrency = count("maxConcurrency", node, dx).unwrap_or(4);
        }
        if let Some(text) = fields.string("listener", dx) {
            let split = text
                .rsplit_once(':')
                .and_then(|(host, port)| Some((host.to_owned(), port.parse::<u16>().ok()?)));
            orders.listener = split.or(Some((text, 0)));
        }
        if let Some(node) = fields.get("identities") {
            orders.read_identities(node, dx);
        }
        if let Some(node) = fields.map("tokens", dx) {
            orders.tokens = tokens(node, dx);
        }
        for name in IGNORED {
            fields.get(name);
        }
        fields.finish(strictness, dx);
        orders
    }

    /// Every attack there is.
    pub fn everything(&mut self) {
        let order = |attack: &&'static dyn Attack| PluginOrder {
            attack: (*attack).into(),
            num_tests: None,
            severity: None,
        };
        self.plugins = attacks::all().iter().map(order).collect();
    }

    /// Adds the attacks of one name.
    ///
    /// # Errors
    /// When nothing has this name; a name that is close may be meant.
    pub fn add(
        &mut self,
        name: &str,
        num_tests: Option<usize>,
        severity: Option<Severity>,
    ) -> Result<(), Option<&'static str>> {
        if let Some(found) = collections(name) {
            for attack in found {
                let id = attack.meta().id;
                let attack = AnyAttack::from(attack);
                match self.plugins.iter_mut().find(|known| known.attack.meta().id == id) {
                    Some(known) => {
                        known.num_tests = num_tests.or(known.num_tests);
                        known.severity = severity.or(known.severity);
                    }
                    None => self.plugins.push(PluginOrder { attack, num_tests, severity }),
                }
            }
            return Ok(());
        }
        if let Some(known) = unavailable(name) {
            let why = format!("needs {}", known.needs);
            self.not_run.push(NotRun { what: name.to_owned(), why });
            return Ok(());
        }
        Err(closest(name, known_names()))
    }

    fn read_plugins(
        &mut self,
        node: &Node,
        num_tests: Option<usize>,
        strictness: Weight,
        dx: &mut Diagnostics,
    ) {
        let Some(items) = node.as_seq() else {
            wrong_type("plugins", "a list", node, dx);
            return;
        };
        for item in items {
            if let Some(name) = item.raw() {
                self.named(name, item, num_tests, None, strictness, dx);
                continue;
            }
            let Some(mut fields) = Fields::of(item, "a plugin", dx) else { continue };
            let own = fields.get("numTests").and_then(|node| count("numTests", node, dx));
            let severity = fields.choice("severity", &Severity::WORDS, dx);
            fields.get("config");
            let Some(id) = fields.required("id", dx) else { continue };
            let Some(name) = id.raw() else {
                wrong_type("id", "text", id, dx);
                continue;
            };
            self.named(name, id, own.or(num_tests), severity, strictness, dx);
            fields.finish(strictness, dx);
        }
    }

    fn named(
        &mut self,
        name: &str,
        at: &Node,
        num_tests: Option<usize>,
        severity: Option<Severity>,
        strictness: Weight,
        dx: &mut Diagnostics,
    ) {
        if name.starts_with("file://") || matches!(name, "policy" | "intent") {
            let why = "is judged by a model; write an attack with payloads and a proof instead";
            self.not_run.push(NotRun { what: name.to_owned(), why: why.to_owned() });
            return;
        }
        if let Err(meant) = self.add(name, num_tests, severity) {
            let title = format!("there is no attack `{name}`");
            let diagnostic = Diagnostic::new(strictness, "config::unknown-plugin", title);
            let diagnostic = diagnostic.at(at.span, "");
            dx.push(match meant {
                Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")),
                None => diagnostic.help("`quintain redteam plugins` shows all of them"),
            });
        }
    }

    fn read_identities(&mut self, node: &Node, dx: &mut Diagnostics) {
        let Some(items) = node.as_seq() else {
            wrong_type("identities", "a list", node, dx);
            return;
        };
        for item in items {
            let Some(mut fields) = Fields::of(item, "an identity", dx) else { continue };
            let Some(name) = fields.required("name", dx).and_then(Node::raw) else { continue };
            let mut identity = IdentityOrder { name: name.to_owned(), ..IdentityOrder::default() };
            identity.role = fields.string("role", dx);
            for (key, value) in pairs(fields.map("env", dx)) {
                identity.env.insert(key, value);
            }
            identity.headers = pairs(fields.map("headers", dx));
            if let Some(auth) = fields.map("auth", dx) {
                identity.headers.extend(authorization(auth));
            }
            if let Some(args) = fields.map("defaultArgs", dx) {
                identity.default_args = args.to_json_map();
            }
            fields.finish(Weight::Error, dx);
            self.identities.push(identity);
        }
    }
}

/// `redteam.tokens`: by what is wrong with each.
fn tokens(node: &Node, dx: &mut Diagnostics) -> BTreeMap<Given, SecretString> {
    let mut found = BTreeMap::new();
    let Some(mut fields) = Fields::of(node, "`tokens`", dx) else { return found };
    for (word, given) in Given::WORDS {
        if let Some(token) = fields.string(word, dx) {
            found.insert(given, SecretString::from(token));
        }
    }
    fields.finish(Weight::Error, dx);
    found
}

fn pairs(node: Option<&Node>) -> Vec<(String, SecretString)> {
    let entries = node.and_then(Node::as_map).unwrap_or_default().iter();
    let pairs = entries.filter_map(|(key, value)| {
        Some((key.text.clone(), SecretString::from(value.raw()?.to_owned())))
    });
    pairs.collect()
}

/// The header that an `auth` map means.
fn authorization(auth: &Node) -> Vec<(String, SecretString)> {
    use base64::Engine as _;
    let text = |name: &str| auth.get(name).and_then(Node::raw).unwrap_or_default();
    match text("type") {
        "bearer" => vec![("Authorization".into(), format!("Bearer {}", text("token")).into())],
        "basic" => {
            let pair = format!("{}:{}", text("username"), text("password"));
            let coded = base64::engine::general_purpose::STANDARD.encode(pair);
            vec![("Authorization".into(), format!("Basic {coded}").into())]
        }
        "api_key" => {
            let name = Some(text("keyName")).filter(|name| !name.is_empty()).unwrap_or("X-API-Key");
            vec![(name.to_owned(), text("value").to_owned().into())]
        }
        _ => Vec::new(),
    }
}

fn count(name: &str, node: &Node, dx: &mut Diagnostics) -> Option<usize> {
    let count = node.as_u64().and_then(|count| usize::try_from(count).ok());
    let count = count.filter(|count| *count > 0);
    if count.is_none() {
        wrong_type(name, "a whole number above zero", node, dx);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use quintain_source::{SourceFile, Sources, read};

    fn orders(text: &str) -> (Orders, Vec<&'static str>) {
        let mut sources = Sources::new();
        let mut dx = Diagnostics::new();
        let id = sources.add(SourceFile::new("x.yaml", text));
        let node = read(&sources, id, &mut dx).unwrap();
        let orders = Orders::read(node.get("redteam"), Weight::Error, &mut dx);
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
    fn without_a_word_everything_is_ordered() {
        assert_eq!(orders("a: 1").0.plugins.len(), attacks::all().len());
    }
}
