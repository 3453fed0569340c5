//! The verdict on a trace as a case, so that the store, reports and comparisons treat it as any other.

use std::collections::BTreeMap;
use std::sync::Arc;

use quintain_evidence::answer_record::AnswerRecord;
use quintain_evidence::evidence::Evidence;
use quintain_evidence::graded::{GradedTrace, Level, MetricScore, TraceFinding};
use quintain_evidence::response::Response;
use quintain_evidence::result::{
    CaseResult, CaseStatus, Component, Grade, PromptText, SourcePlace, TargetName,
};
use quintain_evidence::trace::Trace;
use quintain_evidence::verdict::Verdict;
use quintain_grade::policy::FailIf;
use quintain_grade::readers::BadRecord;
use serde_json::{Value, json};

/// The name of the column in reports.
pub(crate) const LABEL: &str = "grade";

pub(super) fn of_trace(
    ordinal: usize,
    trace: Trace,
    graded: GradedTrace,
    fail_if: &FailIf,
    answers: Vec<AnswerRecord>,
    place: SourcePlace,
) -> CaseResult {
    let named: BTreeMap<String, f64> = graded
        .metrics
        .iter()
        .filter_map(|metric| Some((metric.name.clone(), metric.score?)))
        .collect();
    let success = graded.success;
    // A judge that cannot answer is neither a pass nor a failure of the application.
    let is_errored = graded.metrics.iter().any(|metric| metric.error.is_some());
    let status = match (is_errored, success) {
        (true, _) => CaseStatus::Errored,
        (false, true) => CaseStatus::Passed,
        (false, false) => CaseStatus::Failed,
    };
    let score = if named.is_empty() {
        f64::from(u8::from(success))
    } else {
        named.values().sum::<f64>() / named.len() as f64
    };
    let reason = if success { "passed".to_owned() } else { graded.failed_because.join("; ") };
    let components = graded.metrics.iter().map(component).chain(checks(&graded, fail_if)).collect();
    let output = trace.answer().map_or(Value::Null, Value::from);
    CaseResult {
        prompt: PromptText {
            raw: trace.request().unwrap_or_default().to_owned(),
            label: LABEL.to_owned(),
        },
        description: Some(graded.name.clone()),
        vars: trace.id.iter().map(|id| ("id".to_owned(), id.clone().into())).collect(),
        test: json!({"description": graded.name}),
        status,
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
        evidence: Evidence { trace: Some(Arc::new(trace)), answers, ..Evidence::default() },
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

fn blank(ordinal: usize, place: SourcePlace) -> CaseResult {
    let target = TargetName { id: LABEL.to_owned(), label: None };
    let prompt = PromptText { raw: String::new(), label: LABEL.to_owned() };
    CaseResult { place: Some(place), attempts: 1, ..CaseResult::blank(ordinal, target, prompt) }
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

/// One entry for every check that found something. The policy decides which of them fail the trace.
fn checks(graded: &GradedTrace, fail_if: &FailIf) -> Vec<Component> {
    let mut by_check: BTreeMap<&str, Vec<&TraceFinding>> = BTreeMap::new();
    for finding in &graded.findings {
        by_check.entry(&finding.check).or_default().push(finding);
    }
    let component = |(check, findings): (&str, Vec<&TraceFinding>)| {
        let messages: Vec<String> = findings.iter().map(|finding| described(finding)).collect();
        let failed = findings.iter().any(|finding| fail_if.is_broken_by(finding));
        let worst = findings.iter().map(|finding| finding.severity).max().unwrap_or(Level::Info);
        let assertion = json!({"type": check, "severity": worst.word()});
        let verdict = Verdict::of(!failed, messages.join("; "));
        Component { assertion, place: None, verdict, set: None }
    };
    by_check.into_iter().map(component).collect()
}

fn described(finding: &TraceFinding) -> String {
    let place = finding.call.map_or_else(|| "answer".to_owned(), |call| format!("call {call}"));
    let severity = finding.severity.word();
    format!("{severity} at {place}{}: {}", finding.pointer, finding.message)
}
