//! Findings that need no call: of configurations, of what a server lists, of what it listed before.

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::attack::{Attack, Facts, Field, Hit};
use crate::evidence::Evidence;
use crate::finding::{Confidence, Finding, Place, Proof, Severity};

/// What a finding says.
pub struct Told {
    pub title: String,
    pub what: String,
    /// What to do about it.
    pub help: Option<String>,
    /// If it is not that of the rule.
    pub severity: Option<Severity>,
    pub confidence: Confidence,
    /// By design, in words.
    pub note: Option<String>,
    /// Findings of one fault share it.
    pub fault: &'static str,
}

impl Told {
    fn of(hit: Hit) -> (Self, Option<Place>) {
        let Hit { place, title, what, confidence, severity, note, fault, .. } = hit;
        (Self { title, what, help: None, severity, confidence, note, fault }, place)
    }
}

/// Makes a finding that cites what it saw.
pub fn finding(rule: &str, facts: &Facts, target: &str, place: Place, told: Told) -> Finding {
    let fingerprint = fingerprint(&[target, rule, place.server(), &place.key(), told.fault]);
    let mut metadata = Map::new();
    if let Some(help) = told.help {
        metadata.insert("help".to_owned(), Value::String(help));
    }
    Finding {
        id: format!("F-{}", &fingerprint[..8]),
        rule: rule.to_owned(),
        title: told.title,
        severity: told.severity.unwrap_or(facts.severity),
        confidence: told.confidence,
        target: target.to_owned(),
        tool: place.tool().map(str::to_owned),
        argument: place.argument(),
        place,
        cwe: facts.cwe.to_vec(),
        owasp: facts.frameworks.iter().map(|id| (*id).to_owned()).collect(),
        proofs: vec![Proof {
            form: "static".to_owned(),
            what: told.what,
            payload: None,
            baseline: None,
            attempt: Evidence::default(),
            pointer: None,
        }],
        reproduce: None,
        fingerprint,
        strategies: Vec::new(),
        note: told.note,
        steps: Vec::new(),
        metadata,
    }
}

/// What attacks see in the surface alone.
pub fn inspect(attacks: &[&dyn Attack], target: &str, field: &Field<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for attack in attacks {
        for hit in attack.inspect(field) {
            let (told, place) = Told::of(hit);
            let whole = || Place::Server { server: String::new() };
            let place = place.unwrap_or_else(whole);
            findings.push(finding(attack.meta().id, attack.facts(), target, place, told));
        }
    }
    findings
}

fn fingerprint(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}
