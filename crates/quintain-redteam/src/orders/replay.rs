//! Repeats findings: only the attacks that showed them, only at their places.

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
    /// Orders only what showed these findings; identities, permissions and other settings stay. Returns the findings
    /// whose attack is known.
    #[must_use]
    pub fn only_for<'f>(mut self, findings: &[&'f Finding]) -> (Self, Vec<&'f Finding>) {
        self.plugins.clear();
        self.not_run.clear();
        self.only = Some(findings.iter().map(|finding| trial_of(finding)).collect());
        // Calls that a model proposed are repeated; the model is not asked again.
        let calls: Vec<_> = findings.iter().flat_map(|finding| proposals(finding)).collect();
        if !calls.is_empty() {
            self.order(AnyAttack::Defined(Arc::new(proposed(&calls))), None, None);
        }
        let mut unknown = Vec::new();
        for finding in findings.iter().filter(|finding| finding.rule != PURPOSE) {
            let attack = trial_of(finding).0;
            // If another attack showed it, the rule runs too: it names the finding.
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
    match &finding.trial {
        Some(trial) => (trial.attack.clone(), trial.place.clone()),
        None => (finding.rule.clone(), finding.place.key()),
    }
}

/// The calls of a finding of the `purpose` attack.
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
