//! Reads the definition of an attack in a suite and reports all errors.

use std::path::Path;

use quintain_evidence::demands::{Demands, ReadDemands};
use quintain_evidence::finding::Severity;
use quintain_evidence::frameworks::FRAMEWORKS;
use quintain_evidence::probe::{self, PlannedStep};
use quintain_evidence::tool_call;
use quintain_source::{
    Diagnostic, Diagnostics, Fields, Node, Severity as Weight, closest, wrong_type,
};
use regex::Regex;
use serde_json::Value;

use super::proof::{Fault, Proof, Sign};
use super::reach::{KINDS, Reach};
use super::shape::{self, Shape};
use super::text::Name;
use super::{AttackBody, CallForm, Defined, Payload};
use crate::attack::{Attack, Kind, Need};
use crate::attacks;
use crate::suits::Receiver;

/// Proofs that are a single word.
pub(crate) const WORDS: [&str; 5] = ["listener", "file", "exit", "accepted", "differs"];

/// What reading orders needs.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    /// The folder that relative paths start from.
    pub base_dir: &'a Path,
    pub strictness: Weight,
    /// Who is attacked.
    pub receiver: Receiver,
    /// The judge that is named outside of `redteam`, if any.
    pub judge: Option<&'a Value>,
    /// Compiles the assertions that are proofs.
    pub demands: &'a dyn ReadDemands,
}

/// The whole calls of an attack.
#[derive(Default)]
pub(crate) struct Probes(pub(crate) Vec<CallForm>);

impl Defined {
    /// Reads one attack. `listens` is true if the user configured the listener.
    pub(crate) fn read(
        node: &Node,
        reading: &Reading<'_>,
        listens: bool,
        dx: &mut Diagnostics,
    ) -> Option<Self> {
        let mut fields = Fields::of(node, "an attack", dx)?;
        let id = fields.required("id", dx).and_then(|node| id(node, dx));
        fields.get("numTests");
        let summary = fields.string("summary", dx);
        let description = fields.string("description", dx).unwrap_or_default();
        let severity = fields.choice("severity", &Severity::WORDS, dx);
        let cwe = fields.get("cwe").map(|node| weaknesses(node, dx)).unwrap_or_default();
        let frameworks = fields.scalars("frameworks", dx).unwrap_or_default();
        let frameworks = frameworks.into_iter().filter_map(|node| framework(node, dx)).collect();
        let body = body(&mut fields, dx);
        let proof = fields.one_of(&["proof", "oracle"], Weight::Error, dx);
        if proof.is_none() {
            fields.missing("proof", dx);
        }
        let proofs = proof.map(|(_, node)| proofs(node, reading, dx)).unwrap_or_default();
        let span = fields.span();
        fields.finish(Weight::Error, dx);
        let (id, body) = (id?, body?);
        let mut defined = Self {
            summary: summary.unwrap_or_else(|| id.clone()),
            docs: String::new(),
            severity: severity.unwrap_or(Severity::Medium),
            cwe,
            frameworks,
            needs: Vec::new(),
            body,
            proofs,
            unwanted: Vec::new(),
            id,
        };
        defined.docs = docs(&defined, &description);
        defined.check(span, dx);
        defined.needs = defined.needs(listens);
        Some(defined)
    }

    fn sent(&self) -> Vec<Vec<Name>> {
        match &self.body {
            AttackBody::Payloads { payloads, .. } => {
                payloads.iter().map(|one| one.shape.names()).collect()
            }
            AttackBody::Probes(probes) | AttackBody::Again(probes) => {
                probes.iter().map(|one| one.shape.names()).collect()
            }
        }
    }

    /// Reports proofs that nothing in the payloads can cause.
    fn check(&self, span: quintain_source::Span, dx: &mut Diagnostics) {
        let names: Vec<Name> = self.sent().into_iter().flatten().collect();
        let has = |wanted: &[Name]| names.iter().any(|name| wanted.contains(name));
        let mut unprovable = |what: &str, lacks: &str| {
            let title = format!("{what} can prove nothing, because no payload contains {lacks}");
            let diagnostic =
                Diagnostic::error("config::unprovable", title).at(span, "of this attack");
            dx.push(diagnostic.help(
                "add it to a payload, to distinguish effects of the attempt from other activity",
            ));
        };
        for sign in self.proofs.iter().flat_map(|proof| &proof.signs) {
            match sign {
                Sign::Listener if !has(&[Name::Listener]) => {
                    unprovable("`listener`", "`{{listener}}`");
                }
                Sign::File(_) if !has(&[Name::Marker, Name::Drop]) => {
                    unprovable("`file`", "`{{marker}}` or `{{drop}}`");
                }
                Sign::Program { .. } if !has(&[Name::Nonce, Name::Marker, Name::Listener]) => {
                    unprovable("`program`", "`{{nonce}}`");
                }
                _ => {}
            }
        }
    }

    fn needs(&self, listens: bool) -> Vec<Need> {
        let elsewhere =
            |name: &Name| name.needs_canary_files() || (*name == Name::Listener && !listens);
        let sent = self.sent();
        let all_sent = !sent.is_empty() && sent.iter().all(|names| names.iter().any(elsewhere));
        let outside = |proof: &Proof| {
            let watched = |sign: &Sign| matches!(sign, Sign::File(_) | Sign::Program { .. });
            proof.signs.iter().any(watched) || proof.names().any(Name::needs_canary_files)
        };
        let all_proofs = !self.proofs.is_empty() && self.proofs.iter().all(outside);
        if all_sent || all_proofs { vec![Need::SameHost] } else { Vec::new() }
    }
}

fn docs(defined: &Defined, description: &str) -> String {
    let summary = &defined.summary;
    let what = if description.is_empty() { summary.as_str() } else { description.trim() };
    format!("# What it does\n{what}\n")
}

fn id(node: &Node, dx: &mut Diagnostics) -> Option<String> {
    let Some(id) = node.raw() else {
        wrong_type("id", "text", node, dx);
        return None;
    };
    let is_kebab = !id.is_empty()
        && id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if !is_kebab {
        let title = format!("`{id}` is not a valid name for an attack");
        let diagnostic = Diagnostic::error("config::unknown-value", title).at(node.span, "");
        dx.push(diagnostic.help("use lowercase letters, digits and hyphens"));
        return None;
    }
    if super::super::plugins::is_known(id) {
        let title = format!("the name `{id}` is already taken by a built-in attack");
        let diagnostic = Diagnostic::error("config::taken-name", title).at(node.span, "");
        dx.push(diagnostic.help("choose another name, for instance with a prefix"));
        return None;
    }
    Some(id.to_owned())
}

/// `22`, `CWE-22`, or a list of these.
fn weaknesses(node: &Node, dx: &mut Diagnostics) -> Vec<u32> {
    let items = node.as_seq().unwrap_or(std::slice::from_ref(node));
    let number = |item: &Node| {
        let text = item.raw()?;
        let digits = text.strip_prefix("CWE-").or_else(|| text.strip_prefix("cwe-"));
        digits.unwrap_or(text).parse().ok()
    };
    let mut found = Vec::new();
    for item in items {
        match number(item) {
            Some(number) => found.push(number),
            None => wrong_type("cwe", "a number such as 22 or CWE-22", item, dx),
        }
    }
    found
}

/// The ids of all framework entries.
pub(crate) fn framework_ids() -> impl Iterator<Item = &'static str> + Clone {
    let named = FRAMEWORKS.iter().filter(|framework| framework.id != "cwe");
    named.flat_map(|framework| framework.entries.iter().map(|entry| entry.id))
}

fn framework(node: &Node, dx: &mut Diagnostics) -> Option<&'static str> {
    let id = node.raw().unwrap_or_default();
    let found = framework_ids().find(|known| known.eq_ignore_ascii_case(id));
    if found.is_none() {
        let title = format!("unknown framework entry `{id}`");
        let diagnostic = Diagnostic::error("config::unknown-value", title).at(node.span, "");
        dx.push(match closest(id, framework_ids()) {
            Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")),
            None => diagnostic.help("write entries as MCP05, ASI02, LLM01, API1, AML.T0051"),
        });
    }
    found
}

fn body(fields: &mut Fields<'_>, dx: &mut Diagnostics) -> Option<AttackBody> {
    let aim = fields.get("aim");
    let body = fields.one_of(&["payloads", "probes"], Weight::Error, dx);
    match body {
        Some(("payloads", node)) => {
            let reach = aim.map(|node| reach(node, dx)).unwrap_or_default();
            Some(AttackBody::Payloads { reach, payloads: payloads(node, dx) })
        }
        Some((_, node)) => {
            if let Some(aim) = aim {
                let title = "`aim` has no effect with `probes`, which are whole calls";
                dx.push(Diagnostic::error("config::useless-key", title).at(aim.span, ""));
            }
            Some(AttackBody::Probes(Probes::read(node, dx).0))
        }
        None => {
            fields.missing("payloads", dx);
            None
        }
    }
}

fn payloads(node: &Node, dx: &mut Diagnostics) -> Vec<Payload> {
    let items = node.as_seq().unwrap_or(std::slice::from_ref(node));
    let mut payloads = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let form = format!("payload {}", at + 1);
        let is_described = item.get("value").is_some() || item.get("text").is_some();
        if !is_described {
            payloads.push(Payload { form, shape: Shape::read(item, dx) });
            continue;
        }
        let Some(mut fields) = Fields::of(item, "a payload", dx) else { continue };
        let form = fields.string("form", dx).unwrap_or(form);
        let value = fields.one_of(&["text", "value"], Weight::Error, dx);
        fields.finish(Weight::Error, dx);
        let shape = value.map(|(_, value)| Shape::read(value, dx));
        payloads.extend(shape.map(|shape| Payload { form, shape }));
    }
    if items.is_empty() {
        let title = "`payloads` is empty";
        dx.push(Diagnostic::error("config::empty-value", title).at(node.span, ""));
    }
    payloads
}

impl Probes {
    /// Reads calls: maps, JSON texts, or lists of them as steps.
    pub(crate) fn read(node: &Node, dx: &mut Diagnostics) -> Self {
        let mut probes = Vec::new();
        let items = node.as_seq().unwrap_or(std::slice::from_ref(node));
        for (at, item) in items.iter().enumerate() {
            let form = item.get("form").and_then(Node::raw).map(str::to_owned);
            let form = form.unwrap_or_else(|| format!("call {}", at + 1));
            match Self::one(form, item, dx) {
                Ok(call_form) => probes.push(call_form),
                Err(why) => {
                    let title = "expected a tool call or a request";
                    let diagnostic = Diagnostic::error("config::no-probe", title);
                    let example = "write it as `{tool: NAME, args: {...}}`, `{method: NAME, params: \
                                   {...}}` or `{steps: [...]}`";
                    dx.push(diagnostic.at(item.span, why).help(example));
                }
            }
        }
        Self(probes)
    }

    /// Reads one call, or several in sequence.
    pub(crate) fn one(form: String, node: &Node, dx: &mut Diagnostics) -> Result<CallForm, String> {
        let of_text = node.as_str().map(|text| {
            let read = tool_call::read(text).map_err(|why| why.to_string())?;
            Ok::<_, String>(Shape::of_json(&in_steps(read.clone()), node, dx)).map(|it| (read, it))
        });
        let (value, shape) = match of_text {
            Some(read) => {
                let (value, shape) = read?;
                (in_steps(value), shape)
            }
            None if node.as_seq().is_some() => {
                let steps = vec![("steps".to_owned(), Shape::read(node, dx))];
                (in_steps(node.to_json()), Shape::Map(steps))
            }
            None => (node.to_json(), Shape::read(node, dx)),
        };
        let planned = probe::steps(&value).map_err(|why| why.to_string())?;
        if planned.iter().any(|one| !one.capture.is_empty()) {
            return Err("`capture` is not supported in steps of an attack".to_owned());
        }
        let last = planned.into_iter().next_back().map(|PlannedStep { step, .. }| step);
        let last = last.ok_or_else(|| "it contains no step".to_owned())?;
        Ok(CallForm { form, shape, last, own: Vec::new() })
    }
}

/// Turns a list of calls into steps.
fn in_steps(value: Value) -> Value {
    if value.is_array() { serde_json::json!({"steps": value}) } else { value }
}

/// Reads `all`, or a map that selects places.
fn reach(node: &Node, dx: &mut Diagnostics) -> Reach {
    if node.raw() == Some("all") {
        return Reach::default();
    }
    let Some(mut fields) = Fields::of(node, "`aim`", dx) else { return Reach::default() };
    let reach = Reach {
        tools: patterns(&mut fields, "tools", dx),
        resources: patterns(&mut fields, "resources", dx),
        prompts: patterns(&mut fields, "prompts", dx),
        arguments: patterns(&mut fields, "arguments", dx),
        kinds: kinds(&mut fields, dx),
    };
    fields.finish(Weight::Error, dx);
    reach
}

/// Patterns of names; `true` selects all.
fn patterns(
    fields: &mut Fields<'_>,
    name: &'static str,
    dx: &mut Diagnostics,
) -> Option<Vec<String>> {
    match fields.get(name)?.as_bool() {
        Some(true) => Some(vec!["*".to_owned()]),
        Some(false) => None,
        None => fields.strings(name, dx),
    }
}

fn kinds(fields: &mut Fields<'_>, dx: &mut Diagnostics) -> Vec<Kind> {
    let words = fields.scalars("kinds", dx).unwrap_or_default();
    let mut kinds = Vec::new();
    for node in words {
        let found = KINDS.iter().find(|(word, _)| Some(*word) == node.raw());
        if let Some((_, kind)) = found {
            kinds.push(*kind);
        } else {
            let words = KINDS.iter().map(|(word, _)| *word);
            dx.push(quintain_source::unknown_word("kinds", node, words));
        }
    }
    kinds
}

/// Reads one or several proofs; any one is enough.
pub(crate) fn proofs(node: &Node, reading: &Reading<'_>, dx: &mut Diagnostics) -> Vec<Proof> {
    let items = node.as_seq().unwrap_or(std::slice::from_ref(node));
    items.iter().filter_map(|item| proof(item, reading, dx)).collect()
}

fn proof(node: &Node, reading: &Reading<'_>, dx: &mut Diagnostics) -> Option<Proof> {
    // A single word: `listener`, `exit`.
    if let Some(word) = node.raw() {
        let sign = match word {
            "listener" => Some(Sign::Listener),
            "file" => Some(Sign::File(None)),
            "exit" => Some(Sign::Exit),
            "accepted" => Some(Sign::Accepted),
            "differs" => Some(Sign::Differs),
            _ => None,
        };
        if sign.is_none() {
            dx.push(quintain_source::unknown_word("proof", node, WORDS.into_iter()));
        }
        return Some(Proof { signs: vec![sign?], doubtful: false });
    }
    let mut fields = Fields::of(node, "a proof", dx)?;
    let before = dx.len();
    let mut signs = Vec::new();
    signs.extend(fields.get("answer").map(|node| Sign::Answer(shape::text(node, dx))));
    signs.extend(fields.get("matches").and_then(|node| pattern(node, dx)).map(Sign::Matches));
    let flags = [
        ("listener", Sign::Listener),
        ("exit", Sign::Exit),
        ("accepted", Sign::Accepted),
        ("differs", Sign::Differs),
    ];
    for (name, sign) in flags {
        signs.extend(fields.bool(name, dx).filter(|wanted| *wanted).map(|_| sign));
    }
    if let Some(node) = fields.get("file") {
        signs.push(Sign::File(node.as_bool().is_none().then(|| shape::text(node, dx))));
    }
    let argument = fields.get("argument").map(|node| shape::text(node, dx));
    match fields.get("program") {
        Some(node) => {
            let name = if node.as_bool() == Some(true) { "*" } else { node.raw().unwrap_or("*") };
            signs.push(Sign::Program { name: name.to_owned(), argument });
        }
        None if argument.is_some() => fields.missing("program", dx),
        None => {}
    }
    signs.extend(fields.get("detector").and_then(|node| detector(node, dx)).map(Sign::Detector));
    signs.extend(fields.get("error").and_then(|node| fault(node, dx)).map(Sign::Error));
    signs
        .extend(fields.get("assert").and_then(|node| demands(node, reading, dx)).map(Sign::Assert));
    let doubtful = fields.choice("confidence", &[("confirmed", false), ("suspected", true)], dx);
    fields.finish(Weight::Error, dx);
    if signs.is_empty() && dx.len() == before {
        let title = "this proof is empty";
        let diagnostic = Diagnostic::error("config::empty-value", title).at(node.span, "");
        dx.push(
            diagnostic.help("add what must be seen: `answer`, `matches`, `listener`, `file`, ..."),
        );
    }
    Some(Proof { signs, doubtful: doubtful.unwrap_or(false) })
}

pub(crate) fn pattern(node: &Node, dx: &mut Diagnostics) -> Option<Regex> {
    let text = node.raw().unwrap_or_default();
    match Regex::new(text) {
        Ok(pattern) => Some(pattern),
        Err(error) => {
            let title = format!("`{text}` is not a valid regular expression");
            let why = error.to_string();
            let why = why.lines().last().unwrap_or_default().trim().to_owned();
            dx.push(Diagnostic::error("config::bad-pattern", title).at(node.span, why));
            None
        }
    }
}

/// The built-in attack whose detection serves as proof.
fn detector(node: &Node, dx: &mut Diagnostics) -> Option<&'static dyn Attack> {
    let found = attacks::find(node.raw().unwrap_or_default());
    if found.is_none() {
        let names: Vec<&str> =
            attacks::suiting(Receiver::Arguments).map(|attack| attack.meta().id).collect();
        let names = names.into_iter();
        dx.push(quintain_source::unknown_word("detector", node, names));
    }
    found
}

fn fault(node: &Node, dx: &mut Diagnostics) -> Option<Fault> {
    if let Some(code) = node.as_i64() {
        return Some(Fault::Code(code));
    }
    let found = Fault::WORDS.iter().find(|(word, _)| Some(*word) == node.raw());
    if found.is_none() {
        let words = Fault::WORDS.iter().map(|(word, _)| *word);
        dx.push(quintain_source::unknown_word("error", node, words));
    }
    found.map(|(_, fault)| *fault)
}

/// Assertions that the evidence alone decides; others are reported as errors.
pub(crate) fn demands(
    node: &Node,
    reading: &Reading<'_>,
    dx: &mut Diagnostics,
) -> Option<Box<dyn Demands>> {
    reading.demands.read(node, reading.base_dir, reading.strictness, dx)
}
