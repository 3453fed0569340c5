//! Converts trials to cases, so that reporters and the store need no special support for them.

use std::collections::BTreeMap;

use quintain_evidence::evidence::Evidence;
use quintain_evidence::finding::Confidence;
use quintain_evidence::response::Response;
use quintain_evidence::result::{CaseResult, CaseStatus, Component, Grade, PromptText, TargetName};
use quintain_evidence::trial_record::TrialState;
use quintain_evidence::verdict::Verdict;
use quintain_redteam::attack::Hit;
use quintain_redteam::orders::{Orders, PluginOrder};
use serde_json::{Map, Value, json};

use super::trial_outcome::TrialOutcome;
use super::trial_plan::strategy_of;

/// promptfoo's name for attempts that no strategy rewrote.
const PLAIN: &str = "basic";

/// The attempt that a row shows, and all strategies that were tried.
#[derive(Default)]
struct Sent<'a> {
    evidence: Evidence,
    prompt: Option<Value>,
    strategy: Option<&'a str>,
    strategies: Vec<&'a str>,
}

pub(super) struct TrialCases {
    target: TargetName,
    next: usize,
}

impl TrialCases {
    pub(super) fn new(target: &str) -> Self {
        Self { target: TargetName { id: target.to_owned(), label: None }, next: 0 }
    }

    /// Skips the numbers of stored cases of the interrupted run.
    pub(super) fn skip(&mut self, rows: usize) {
        self.next = self.next.max(rows);
    }

    pub(super) fn of_static(&mut self, plugin: &PluginOrder, hit: &Hit) -> CaseResult {
        let place = hit.place.as_ref().map(ToString::to_string).unwrap_or_default();
        self.row(plugin, &place, Some(hit), Sent::default(), TrialState::Answered)
    }

    pub(super) fn of_trial(&mut self, orders: &Orders, outcome: &TrialOutcome) -> CaseResult {
        let plugin = &orders.plugins[outcome.plugin];
        let place = outcome.aim.place.to_string();
        // A hit with a note is by design: it is reported but does not fail the case.
        let bad = outcome.hits.iter().find(|one| one.hit.note.is_none());
        let shown = bad.and_then(|one| one.tried.last()).or(outcome.last.as_ref());
        let name = |set: usize| strategy_of(orders, set).unwrap_or(PLAIN);
        let mut strategies: Vec<&str> = outcome.sets.iter().map(|set| name(*set)).collect();
        strategies.dedup();
        let sent = Sent {
            evidence: shown.map(|one| one.evidence.clone()).unwrap_or_default(),
            prompt: shown.and_then(|one| serde_json::to_value(one.attempt.action.steps()).ok()),
            strategy: shown.map(|one| name(one.attempt.set)),
            strategies,
        };
        self.row(plugin, &place, bad.map(|one| &one.hit), sent, outcome.state)
    }

    fn row(
        &mut self,
        plugin: &PluginOrder,
        place: &str,
        hit: Option<&Hit>,
        sent: Sent<'_>,
        state: TrialState,
    ) -> CaseResult {
        let Sent { evidence, prompt, strategy, strategies } = sent;
        let ordinal = self.next;
        self.next += 1;
        let id = plugin.attack.meta().id;
        let bad = hit.filter(|hit| hit.confidence == Confidence::Confirmed);
        let prompt = prompt.map(|value| value.to_string()).unwrap_or_default();
        let vars = Map::from_iter([("prompt".to_owned(), Value::from(prompt.clone()))]);
        let assertion = json!({"type": format!("quintain:redteam:{id}"), "metric": id});
        let status = match (bad, state) {
            (Some(_), _) => CaseStatus::Failed,
            (None, TrialState::Answered) => CaseStatus::Passed,
            (None, _) => CaseStatus::Errored,
        };
        let reason = match (hit, status) {
            (Some(hit), _) => hit.title.clone(),
            (None, CaseStatus::Errored) => {
                format!("the target did not answer: {id} at {place} is not tested")
            }
            (None, _) => format!("no {id} at {place}"),
        };
        let passed = status == CaseStatus::Passed;
        let verdict = if passed { Verdict::pass(&reason) } else { Verdict::fail(&reason) };
        let score = if passed { 1.0 } else { 0.0 };
        let severity = plugin.severity.unwrap_or(plugin.attack.weakness().severity).word();
        let strategy = strategy.unwrap_or(PLAIN);
        let mut metadata = json!({"pluginId": id, "severity": severity, "strategyId": strategy});
        if strategies.iter().any(|one| *one != strategy) {
            metadata["strategiesTried"] = strategies.into();
        }
        let named: BTreeMap<String, f64> = BTreeMap::from([(id.to_owned(), score)]);
        let response = if evidence.exchanges.is_empty() {
            Response::default()
        } else {
            Response::of_mcp(&evidence)
        };
        let latency = evidence.exchanges.iter().map(|one| one.took.as_secs_f64() * 1e3).sum();
        CaseResult {
            ordinal,
            test_idx: ordinal,
            group: ordinal,
            prompt_idx: 0,
            repeat: 0,
            target: self.target.clone(),
            prompt: PromptText { raw: prompt, label: id.to_owned() },
            description: Some(format!("{id} at {place}")),
            test: json!({"vars": vars, "assert": [assertion.clone()], "metadata": metadata}),
            vars,
            place: None,
            status,
            score,
            named_scores: named.clone(),
            response: Response { error: None, ..response },
            evidence,
            grade: Some(Grade {
                pass: passed,
                score,
                reason: reason.clone(),
                named_scores: named,
                named_weights: BTreeMap::from([(id.to_owned(), 1.0)]),
                components: vec![Component { assertion, place: None, verdict, set: None }],
            }),
            error: (!passed).then_some(reason),
            latency_ms: latency,
            attempts: 1,
        }
    }
}
