//! The verdict on a trace as a case, so that the store, reports and comparisons treat it as any other.

use std::collections::BTreeMap;
use std::sync::Arc;

use quintain_evidence::evidence::Evidence;
use quintain_evidence::graded::{GradedTrace, MetricScore};
use quintain_evidence::response::Response;
use quintain_evidence::result::{
    CaseResult, CaseStatus, Component, Grade, Place, PromptText, TargetName,
};
use quintain_evidence::trace::Trace;
use quintain_evidence::verdict::Verdict;
use quintain_grade::readers::BadRecord;
use serde_json::{Map, Value, json};

/// The name of the column in reports.
pub(crate) const LABEL: &str = "grade";

pub(super) fn of_trace(
    ordinal: usize,
    trace: Trace,
    graded: GradedTrace,
    place: Place,
) -> CaseResult {
    let named: BTreeMap<String, f64> = graded
        .metrics
        .iter()
        .filter_map(|metric| Some((metric.name.clone(), metric.score?)))
        .collect();
    let success = graded.success;
    let score = if named.is_empty() {
        f64::from(u8::from(success))
    } else {
        named.values().sum::<f64>() / named.len() as f64
    };
    let reason = if success { "passed".to_owned() } else { graded.failed_because.join("; ") };
    let components = graded.metrics.iter().map(component).chain(checks(&graded)).collect();
    let output = trace.answer().map_or(Value::Null, Value::from);
    CaseResult {
        prompt: PromptText {
            raw: trace.request().unwrap_or_default().to_owned(),
            label: LABEL.to_owned(),
        },
        description: Some(graded.name.clone()),
        vars: trace.id.iter().map(|id| ("id".to_owned(), id.clone().into())).collect(),
        test: json!({"description": graded.name}),
        status: if success { CaseStatus::Passed } else { CaseStatus::Failed },
        score,
        named_scores: named.clone(),
        response: Response { output, ..Response::default() },
        grade: Some(Grade {
            pass: success,
            score,
            reason: reason.clone(),
            named_weights: named.keys().map(|name| (name.clone(), 1.0)).collect(),
            named_scores: named,
            components,
        }),
        error: (!success).then_some(reason),
        latency_ms: trace.calls().filter_map(|call| call.took_ms).fold(0.0, |sum, took| sum + took),
        evidence: Evidence { trace: Some(Arc::new(trace)), ..Evidence::default() },
        graded: Some(Box::new(graded)),
        ..blank(ordinal, place)
    }
}

/// A record that cannot be read is an error of its own; the others keep their verdicts.
pub(super) fn of_bad_record(ordinal: usize, bad: BadRecord) -> CaseResult {
    let text = bad.to_string();
    CaseResult {
        description: Some(bad.place.to_string()),
        error: Some(text.clone()),
        response: Response::failed(text),
        ..blank(ordinal, bad.place)
    }
}

fn blank(ordinal: usize, place: Place) -> CaseResult {
    CaseResult {
        ordinal,
        test_idx: ordinal,
        group: ordinal,
        prompt_idx: 0,
        repeat: 0,
        target: TargetName { id: LABEL.to_owned(), label: None },
        prompt: PromptText { raw: String::new(), label: LABEL.to_owned() },
        description: None,
        vars: Map::new(),
        test: Value::Null,
        place: Some(place),
        status: CaseStatus::Errored,
        score: 0.0,
        named_scores: BTreeMap::new(),
        response: Response::default(),
        evidence: Evidence::default(),
        grade: None,
        error: None,
        latency_ms: 0.0,
        attempts: 1,
        graded: None,
    }
}

fn component(metric: &MetricScore) -> Component {
    let reason = metric.reason.clone().unwrap_or_default();
    let verdict = match (&metric.error, metric.success) {
        (Some(error), _) => Verdict::error(error.clone()),
        (None, None) => Verdict::new(true, 0.0, format!("n/a: {reason}")),
        (None, Some(success)) => Verdict::new(success, metric.score.unwrap_or_default(), reason),
    };
    let assertion = json!({
        "type": metric.name, "metric": metric.name, "threshold": metric.threshold,
    });
    Component { assertion, place: None, verdict, set: None }
}

/// One entry for every check that found something. Which of them fail the trace, the policy says.
fn checks(graded: &GradedTrace) -> Vec<Component> {
    let mut by_check: BTreeMap<&str, Vec<&quintain_evidence::graded::TraceFinding>> =
        BTreeMap::new();
    for finding in &graded.findings {
        by_check.entry(&finding.check).or_default().push(finding);
    }
    let component = |(check, findings): (&str, Vec<&quintain_evidence::graded::TraceFinding>)| {
        let messages: Vec<String> = findings.iter().map(|finding| described(finding)).collect();
        let failed = !graded.success
            && graded.failed_because.iter().any(|why| {
                why.contains(check)
                    || findings.iter().any(|finding| {
                        why.starts_with(&format!(
                            "findings of severity {}",
                            finding.severity.word()
                        ))
                    })
            });
        let assertion = json!({"type": check, "severity": findings[0].severity.word()});
        let verdict = Verdict::of(!failed, messages.join("; "));
        Component { assertion, place: None, verdict, set: None }
    };
    by_check.into_iter().map(component).collect()
}

fn described(finding: &quintain_evidence::graded::TraceFinding) -> String {
    let place = finding.call.map_or_else(|| "answer".to_owned(), |call| format!("call {call}"));
    let severity = finding.severity.word();
    format!("{severity} at {place}{}: {}", finding.pointer, finding.message)
}
