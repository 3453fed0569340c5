//! Findings tried again: the attacks that showed them, at their places alone.

use std::sync::Arc;

use quintain_evidence::evidence::Exchange;
use quintain_evidence::finding::Finding;
use quintain_evidence::probe::Step;
use quintain_evidence::tool_call::ToolCall;
use serde_json::Value;

use super::Orders;
use super::intent::{PURPOSE, proposed};
use crate::attack::AnyAttack;
use crate::strategies;

impl Orders {
    /// Orders what showed these findings, and nothing else; whom to speak as, what may be destroyed
    /// and the like stay as they are. Findings are left out whose attack nobody knows here.
    #[must_use]
    pub fn again<'f>(mut self, findings: &[&'f Finding]) -> (Self, Vec<&'f Finding>) {
        self.plugins.clear();
        self.not_run.clear();
        self.only = Some(findings.iter().map(|finding| trial_of(finding)).collect());
        // Calls that a model proposed are made as they were; it is not asked again.
        let calls: Vec<_> = findings.iter().flat_map(|finding| proposals(finding)).collect();
        if !calls.is_empty() {
            self.order(AnyAttack::Defined(Arc::new(proposed(&calls))), None, None);
        }
        let mut unknown = Vec::new();
        for finding in findings.iter().filter(|finding| finding.rule != PURPOSE) {
            let attack = trial_of(finding).0;
            // The rule, too, where another attack showed it: it gives the finding its name.
            if self
                .add(&attack, None, None)
                .and_then(|()| self.add(&finding.rule, None, None))
                .is_err()
            {
                unknown.push(*finding);
            }
        }
        let mut wanted: Vec<&str> =
            findings.iter().flat_map(|finding| &finding.strategies).map(String::as_str).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let ordered = |name: &&str| self.strategies.iter().any(|tactic| tactic.id() == *name);
        if wanted.is_empty() || !wanted.iter().all(ordered) {
            let names: Vec<Value> = wanted.into_iter().map(Value::from).collect();
            self.strategies = strategies::parse_all(&names).unwrap_or_default().into();
        }
        (self, unknown)
    }
}

/// Attack and place of the trial that showed a finding.
pub fn trial_of(finding: &Finding) -> (String, String) {
    match &finding.bout {
        Some(bout) => (bout.attack.clone(), bout.place.clone()),
        None => (finding.rule.clone(), finding.place.key()),
    }
}

/// The calls that a finding of proposals is about.
fn proposals(finding: &Finding) -> Vec<ToolCall> {
    if finding.rule != PURPOSE {
        return Vec::new();
    }
    let sent = finding.proofs.iter().flat_map(|proof| &proof.attempt.exchanges);
    let steps = finding.steps.iter().cloned().chain(sent.map(Exchange::step));
    let mut calls = Vec::new();
    for step in steps {
        if let Step::Call(call) = step
            && !calls.contains(&call)
        {
            calls.push(call);
        }
    }
    calls
}
