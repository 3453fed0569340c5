//! Findings and metrics of a graded trace in words, for every format that people read.

use std::collections::HashSet;
use std::fmt::Write as _;

use quintain_evidence::graded::{GradedTrace, Level, LevelCounts, MetricScore, TraceFinding};
use quintain_evidence::trace::{Call, Trace};

use crate::text::{count, line};

const MAX_NAME: usize = 80;
const MAX_POINTER: usize = 120;

/// A finding of a check, or of a metric that found it.
#[derive(Clone, Copy)]
pub(crate) struct Found<'a> {
    pub(crate) finding: &'a TraceFinding,
    /// The metric, unless a check found the same.
    pub(crate) metric: Option<&'a str>,
}

/// All findings once, those of checks first. A metric often repeats findings of checks.
pub(crate) fn findings(graded: &GradedTrace) -> Vec<Found<'_>> {
    let checks = graded.findings.iter().map(|finding| Found { finding, metric: None });
    let metrics = graded.metrics.iter().flat_map(|metric| {
        let name = Some(metric.name.as_str());
        metric.findings.iter().map(move |finding| Found { finding, metric: name })
    });
    let mut seen = HashSet::new();
    let mut all: Vec<Found<'_>> = checks.chain(metrics).collect();
    all.retain(|found| {
        let TraceFinding { check, call, pointer, message, .. } = found.finding;
        seen.insert((check.as_str(), *call, pointer.as_str(), message.as_str()))
    });
    all
}

/// The findings of checks, the worst first; among equals in the order of calls, those of the answer last.
pub(crate) fn worst_first(graded: &GradedTrace) -> Vec<&TraceFinding> {
    let mut all: Vec<_> = graded.findings.iter().collect();
    all.sort_by_key(|finding| {
        (std::cmp::Reverse(finding.severity), finding.call.unwrap_or(usize::MAX))
    });
    all
}

/// Metrics below their threshold, and those that could not be computed.
pub(crate) fn failed_metrics(graded: &GradedTrace) -> impl Iterator<Item = &MetricScore> {
    let is_failed = |metric: &&MetricScore| metric.success == Some(false) || metric.error.is_some();
    graded.metrics.iter().filter(is_failed)
}

/// Why the trace fails, apart from metrics, which are listed with their scores.
pub(crate) fn other_reasons(graded: &GradedTrace) -> impl Iterator<Item = &String> {
    graded.failed_because.iter().filter(|why| {
        let rest = |metric: &MetricScore| why.strip_prefix(metric.name.as_str());
        !failed_metrics(graded).any(|metric| rest(metric).is_some_and(|rest| rest.starts_with(':')))
    })
}

/// `call 1 (refund) /amount`, or `answer`.
pub(crate) fn place(finding: &TraceFinding, trace: Option<&Trace>) -> String {
    let Some(at) = finding.call else { return "answer".to_owned() };
    let mut text = format!("call {at}");
    if let Some(call) = trace.and_then(|trace| trace.calls().nth(at)) {
        let _ = write!(text, " ({})", called(call));
    }
    if !finding.pointer.is_empty() {
        text.push(' ');
        text.push_str(&line(&finding.pointer, MAX_POINTER));
    }
    text
}

fn called(call: &Call) -> String {
    line(&call.name, MAX_NAME)
}

/// `2 errors, 1 warning`; empty without findings.
pub(crate) fn severities(graded: &GradedTrace) -> String {
    let mut parts = Vec::new();
    for level in Level::ALL.into_iter().rev() {
        let number = graded.findings.iter().filter(|finding| finding.severity == level).count();
        if number > 0 {
            parts.push(level_count(number, level));
        }
    }
    parts.join(", ")
}

pub(crate) fn level_count(number: usize, level: Level) -> String {
    match level {
        Level::Error => count(number, "error", "errors"),
        Level::Warning => count(number, "warning", "warnings"),
        Level::Info => format!("{number} info"),
    }
}

pub(crate) fn counted(counts: &LevelCounts, level: Level) -> usize {
    match level {
        Level::Error => counts.error,
        Level::Warning => counts.warning,
        Level::Info => counts.info,
    }
}

/// `0.33, threshold 0.50`; `n/a` if the metric is undefined for the trace.
pub(crate) fn score(metric: &MetricScore) -> String {
    let threshold = metric.threshold;
    match metric.score {
        Some(score) => format!("{:.2}, threshold {threshold:.2}", round(score)),
        None if metric.error.is_some() => "error".to_owned(),
        None => "n/a".to_owned(),
    }
}

/// No `-0.00`.
fn round(score: f64) -> f64 {
    (score * 100.0).round() / 100.0 + 0.0
}

/// Why a metric has its score.
pub(crate) fn reason(metric: &MetricScore) -> &str {
    metric.error.as_deref().or(metric.reason.as_deref()).unwrap_or_default()
}
