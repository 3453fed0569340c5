//! Scores and findings in the form of assertions, so that reports and comparisons treat them as any other.

use std::collections::BTreeMap;

use quintain_evidence::graded::{GradedTrace, Level, MetricScore, TraceFinding};
use quintain_evidence::result::Component;
use quintain_evidence::verdict::Verdict;
use quintain_grade::policy::FailIf;
use serde_json::{Value, json};

pub(crate) fn metric_component(metric: &MetricScore) -> Component {
    Component { assertion: assertion(metric), place: None, verdict: verdict(metric), set: None }
}

/// What a score says. An undefined one neither passes nor fails.
pub(crate) fn verdict(metric: &MetricScore) -> Verdict {
    let reason = metric.reason.clone().unwrap_or_default();
    match (&metric.error, metric.success) {
        (Some(error), _) => Verdict::error(error.clone()),
        (None, None) => Verdict::new(true, 0.0, format!("n/a: {reason}")),
        (None, Some(success)) => Verdict::new(success, metric.score.unwrap_or_default(), reason),
    }
}

/// A metric as an entry of `assert`.
pub(crate) fn assertion(metric: &MetricScore) -> Value {
    json!({"type": metric.name, "metric": metric.name, "threshold": metric.threshold})
}

/// One entry for every check that found something. The policy decides which of them fail the trace.
pub(crate) fn check_components(graded: &GradedTrace, fail_if: &FailIf) -> Vec<Component> {
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
