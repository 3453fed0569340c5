//! The verdict on a trace as a case, so that the store, reports and comparisons treat it as any other.

use std::collections::BTreeMap;
use std::sync::Arc;

use quintain_evidence::answer_record::AnswerRecord;
use quintain_evidence::evidence::Evidence;
use quintain_evidence::graded::GradedTrace;
use quintain_evidence::response::Response;
use quintain_evidence::result::{
    CaseResult, CaseStatus, Grade, PromptText, SourcePlace, TargetName,
};
use quintain_evidence::trace::Trace;
use quintain_grade::policy::FailIf;
use quintain_grade::readers::BadRecord;
use serde_json::{Value, json};

use crate::metrics::{check_components, metric_component};

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
    let metrics = graded.metrics.iter().map(metric_component);
    let components = metrics.chain(check_components(&graded, fail_if)).collect();
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
