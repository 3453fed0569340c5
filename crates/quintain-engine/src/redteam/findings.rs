//! From hits to findings: one per fault and place, with all its proofs.

use std::collections::BTreeMap;

use quintain_core::attack::Hit;
use quintain_core::evidence::Evidence;
use quintain_core::finding::{Finding, Place, Proof, fingerprint};
use quintain_core::probe::Step;
use quintain_core::redteam::PluginOrder;

use super::arena::Struck;

/// Findings in the making, by attack, place and fault.
#[derive(Default)]
pub(super) struct Findings {
    all: BTreeMap<(String, String, &'static str), Finding>,
}

/// How a step is done again by hand.
pub type Reproduce<'a> = &'a dyn Fn(&Step) -> Option<String>;

impl Findings {
    /// Adds what an attack struck at a place.
    pub(super) fn add(
        &mut self,
        plugin: &PluginOrder,
        place: &Place,
        baseline: Option<Evidence>,
        struck: Struck,
        target: &str,
        reproduce: Reproduce<'_>,
    ) {
        let Struck { hit, tried } = struck;
        let place = hit.place.clone().unwrap_or_else(|| place.clone());
        let rule = plugin.attack.rule();
        let first = tried.last();
        let steps: Vec<Step> = first.map(|one| steps_of(&one.attempt.action)).unwrap_or_default();
        let attempt = join(tried.iter().map(|one| &one.evidence));
        let proof = Proof {
            form: first.map_or_else(|| "as listed".to_owned(), |one| one.attempt.form.clone()),
            what: hit.what.clone(),
            payload: first.and_then(|one| one.attempt.payload.clone()),
            baseline,
            attempt,
            pointer: hit.pointer.clone(),
        };
        let key = (rule.to_owned(), place.key(), hit.fault);
        if let Some(known) = self.all.get_mut(&key) {
            // The more certain proof gives the finding its name.
            if hit.confidence > known.confidence {
                known.title = hit.title;
                known.confidence = hit.confidence;
                known.proofs.insert(0, proof);
            } else {
                known.proofs.push(proof);
            }
            return;
        }
        let finding = finding(plugin, place, hit, proof, steps, target, reproduce);
        self.all.insert(key, finding);
    }

    /// The worst first.
    pub(super) fn sorted(self) -> Vec<Finding> {
        let mut findings: Vec<Finding> = self.all.into_values().collect();
        findings.sort_by(|a, b| {
            let rank = |one: &Finding| (one.severity, one.confidence);
            rank(b)
                .cmp(&rank(a))
                .then_with(|| a.rule.cmp(&b.rule))
                .then_with(|| a.place.cmp(&b.place))
        });
        findings
    }
}

fn finding(
    plugin: &PluginOrder,
    place: Place,
    hit: Hit,
    proof: Proof,
    steps: Vec<Step>,
    target: &str,
    reproduce: Reproduce<'_>,
) -> Finding {
    let (rule, facts) = (plugin.attack.rule(), plugin.attack.facts());
    let fingerprint = fingerprint(&[rule, &place.key(), hit.fault]);
    let severity = hit.severity.or(plugin.severity).unwrap_or(facts.severity);
    Finding {
        id: format!("F-{}", &fingerprint[..8]),
        rule: rule.to_owned(),
        title: hit.title,
        severity,
        confidence: hit.confidence,
        target: target.to_owned(),
        tool: place.tool().map(str::to_owned),
        argument: place.argument(),
        place,
        cwe: facts.cwe.to_vec(),
        owasp: facts.frameworks.iter().map(|id| (*id).to_owned()).collect(),
        proofs: vec![proof],
        reproduce: steps.last().and_then(reproduce),
        fingerprint,
        strategies: Vec::new(),
        note: hit.note,
        steps,
        metadata: serde_json::Map::new(),
    }
}

pub(super) fn steps_of(action: &quintain_core::attack::Action) -> Vec<Step> {
    match action {
        quintain_core::attack::Action::Steps { steps, .. }
        | quintain_core::attack::Action::Alone { steps, .. }
        | quintain_core::attack::Action::Until { steps, .. } => steps.clone(),
        _ => Vec::new(),
    }
}

fn join<'e>(all: impl Iterator<Item = &'e Evidence>) -> Evidence {
    let mut joined = Evidence::default();
    for evidence in all {
        joined.exchanges.extend(evidence.exchanges.iter().cloned());
        joined.observations.extend(evidence.observations.iter().cloned());
    }
    joined
}
