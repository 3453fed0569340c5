//! Repeats findings: only the attacks that showed them, only at their places.

use std::sync::Arc;

use quintain_evidence::evidence::Exchange;
use quintain_evidence::finding::Finding;
use quintain_evidence::probe::Step;
use quintain_evidence::redteam_report::NotRun;
use quintain_evidence::tool_call::ToolCall;
use serde_json::{Value, json};

use super::intent::{PURPOSE, proposed};
use super::{Orders, PluginOrder};
use crate::attack::AnyAttack;
use crate::strategies::{self, StrategyKind, Tactic};

impl Orders {
    /// Orders only what showed these findings; identities, permissions and other settings stay. Returns the findings
    /// whose attack is known.
    #[must_use]
    pub fn only_for<'f>(mut self, findings: &[&'f Finding]) -> (Self, Vec<&'f Finding>) {
        let ordered = std::mem::take(&mut self.plugins);
        self.not_run.clear();
        self.only = Some(findings.iter().map(|finding| trial_of(finding)).collect());
        // Calls that a model proposed are repeated; the model is not asked again.
        let calls: Vec<_> = findings.iter().flat_map(|finding| proposals(finding)).collect();
        if !calls.is_empty() {
            self.order(AnyAttack::Defined(Arc::new(proposed(&calls, &self.goals))), None, None);
        }
        let mut unknown = Vec::new();
        for finding in findings.iter().filter(|finding| finding.rule != PURPOSE) {
            let attack = trial_of(finding).0;
            // Policies and intents in words are attacks of the suite alone.
            let own = |plugin: &&PluginOrder| {
                plugin.attack.is_defined() && plugin.attack.meta().id == attack
            };
            if let Some(own) = ordered.iter().find(own) {
                self.order(own.attack.clone(), own.num_tests, own.severity);
                continue;
            }
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

impl Orders {
    /// Whether `retry` is ordered.
    pub fn wants_retry(&self) -> bool {
        self.strategies.iter().any(|tactic| matches!(tactic.kind(), StrategyKind::Retry))
    }

    /// Orders the strategies that led to earlier findings again, each for the attack that it helped, if `retry` is
    /// ordered. `findings` are those of the latest run; none if there is no such run.
    pub fn retry(&mut self, findings: Option<&[Finding]>) {
        if !self.wants_retry() {
            return;
        }
        let mut pairs: Vec<(&str, String)> = Vec::new();
        for finding in findings.unwrap_or_default().iter().flat_map(Finding::parts) {
            let attack = trial_of(finding).0;
            let ordered = |plugin: &PluginOrder| plugin.attack.meta().id == attack;
            if !self.plugins.iter().any(ordered) {
                continue;
            }
            for strategy in &finding.strategies {
                if !pairs.iter().any(|(known, of)| known == strategy && *of == attack) {
                    pairs.push((strategy, attack.clone()));
                }
            }
        }
        let ordered = |name: &str| self.strategies.iter().any(|tactic| tactic.id() == name);
        let entries: Vec<Value> = pairs
            .iter()
            .filter(|(name, _)| !ordered(name))
            .map(|(name, attack)| json!({"id": name, "config": {"plugins": [attack]}}))
            .collect();
        let why = match (findings, entries.is_empty()) {
            (None, _) => "needs a stored run against this target",
            (Some([]), _) => "the latest run against this target has no findings",
            (Some(_), true) => "no other strategy led to a finding of the latest run",
            (Some(_), false) => "",
        };
        if !why.is_empty() {
            let what = "strategy retry".to_owned();
            self.not_run.push(NotRun { what, why: why.to_owned() });
            return;
        }
        // A strategy with required options cannot be repeated without them.
        let known: Vec<Tactic> =
            entries.iter().filter_map(|entry| strategies::parse(entry).ok()).flatten().collect();
        if let Some(all) = Arc::get_mut(&mut self.strategies) {
            all.extend(known);
        }
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
