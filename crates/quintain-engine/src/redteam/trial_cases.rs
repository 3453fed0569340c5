//! Converts trials to cases, so that reporters and the store need no special support for them.

use std::collections::BTreeMap;

use quintain_evidence::evidence::{Evidence, Exchange, Outcome};
use quintain_evidence::finding::Confidence;
use quintain_evidence::response::Response;
use quintain_evidence::result::{CaseResult, CaseStatus, Component, Grade, PromptText, TargetName};
use quintain_evidence::trial_record::TrialState;
use quintain_evidence::verdict::Verdict;
use quintain_redteam::attack::{Hit, Tried};
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
            prompt: shown.and_then(prompt_of),
            strategy: shown.map(|one| name(one.attempt.set)),
            strategies,
        };
        self.row(plugin, &place, bad.map(|one| &one.hit), sent, outcome.state)
    }

    /// The row of a crash, which is reported as an attack of its own.
    pub(super) fn of_crash(&mut self, order: &PluginOrder, hit: &Hit, crash: &Tried) -> CaseResult {
        let place = hit.place.as_ref().map(ToString::to_string).unwrap_or_default();
        let sent = Sent {
            evidence: crash.evidence.clone(),
            prompt: serde_json::to_value(crash.attempt.action.steps()).ok(),
            ..Sent::default()
        };
        self.row(order, &place, Some(hit), sent, TrialState::Answered)
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
        let prompt = match prompt {
            Some(Value::String(text)) => text,
            other => other.map(|value| value.to_string()).unwrap_or_default(),
        };
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
        let response = match evidence.last() {
            None => Response::default(),
            Some(last) if is_prompt(last) => text_response(last),
            Some(_) => Response::of_mcp(&evidence),
        };
        let prompt = PromptText { raw: prompt, label: id.to_owned() };
        let latency = evidence.exchanges.iter().map(|one| one.took.as_secs_f64() * 1e3).sum();
        CaseResult {
            description: Some(format!("{id} at {place}")),
            test: json!({"vars": vars, "assert": [assertion.clone()], "metadata": metadata}),
            vars,
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
            ..CaseResult::blank(ordinal, self.target.clone(), prompt)
        }
    }
}

/// What an attempt sent: requests, or the text that a target takes.
fn prompt_of(tried: &Tried) -> Option<Value> {
    match tried.last().filter(|last| is_prompt(last)) {
        Some(last) => last.sent.get("prompt").cloned(),
        None => serde_json::to_value(tried.attempt.action.steps()).ok(),
    }
}

/// Whether an exchange is one with a target that takes text.
fn is_prompt(exchange: &Exchange) -> bool {
    exchange.sent.get("prompt").is_some_and(Value::is_string)
}

/// The response of a target that takes text.
fn text_response(exchange: &Exchange) -> Response {
    let Outcome::Reply(reply) = &exchange.outcome else {
        return Response::failed(exchange.outcome.failure().unwrap_or_default());
    };
    Response {
        output: reply.get("output").cloned().unwrap_or_default(),
        raw: reply.get("raw").cloned(),
        token_usage: reply.get("tokenUsage").cloned(),
        cost: reply.get("cost").and_then(Value::as_f64),
        ..Response::default()
    }
}
