//! Counts and distributions over the results of a run.

mod latency;
mod metrics;
mod repeats;

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::graded::GradeSummary;
use crate::redteam_report::RedteamReport;
use crate::result::{CaseResult, CaseStatus};
use crate::run_info::RunInfo;

pub use latency::Latency;
pub use metrics::{Tokens, flattened_count, named_counts};
pub use repeats::{Answers, Unsteady};

/// Maximum number of unsteady tests listed in a summary; the counts include all of them.
const NAMED_UNSTEADY: usize = 100;

/// The summary of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    pub passed: usize,
    pub failed: usize,
    pub errored: usize,
    /// Planned cases without a result.
    pub missing: usize,
    /// Tests that passed in some repetitions and not in others.
    pub flaky: usize,
    /// Repeated tests with more than one answer.
    #[serde(default)]
    pub varying: usize,
    /// The first flaky or varying tests, flaky ones first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsteady: Vec<Unsteady>,
    pub interrupted: bool,
    pub duration_ms: f64,
    pub latency: Option<Latency>,
    /// In the order of the run's columns.
    pub columns: Vec<ColumnTally>,
    /// The outcome of the attacks, for a red-team run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redteam: Option<Box<RedteamReport>>,
    /// What was found in traces, for a run that grades.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grade: Option<Box<GradeSummary>>,
}

/// The results of one prompt for one target.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ColumnTally {
    pub passed: usize,
    pub failed: usize,
    pub errored: usize,
    pub score: f64,
    pub asserts_passed: usize,
    pub asserts_failed: usize,
    pub total_latency_ms: f64,
    /// Weighted sums over the tests.
    pub named_scores: BTreeMap<String, f64>,
    /// Number of assertions that contributed.
    pub named_counts: BTreeMap<String, usize>,
    /// Divisors that turn the sums into means.
    #[serde(default)]
    pub named_weights: BTreeMap<String, f64>,
    /// `derivedMetrics` of the suite, computed from the sums.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub derived: BTreeMap<String, f64>,
    #[serde(default)]
    pub tokens: Tokens,
    #[serde(default)]
    pub cost: f64,
    /// What judges used.
    #[serde(default, skip_serializing_if = "Tokens::is_nothing")]
    pub judge_tokens: Tokens,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub judge_cost: f64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(cost: &f64) -> bool {
    *cost == 0.0
}

impl ColumnTally {
    pub fn total(&self) -> usize {
        self.passed + self.failed + self.errored
    }
}

impl Summary {
    pub fn total(&self) -> usize {
        self.passed + self.failed + self.errored
    }

    /// From 0 to 1; 0 if nothing was judged.
    pub fn pass_rate(&self) -> f64 {
        if self.total() == 0 { 0.0 } else { self.passed as f64 / self.total() as f64 }
    }
}

/// Adds up results as they arrive; keeps numbers, not results.
#[derive(Debug)]
pub struct Tally {
    summary: Summary,
    planned: usize,
    latencies: Vec<f64>,
    columns: Vec<(usize, String)>,
    repeats: repeats::Repeats,
}

impl Tally {
    pub fn new(run: &RunInfo) -> Self {
        let columns = run.columns.iter();
        let columns = columns.map(|column| (column.prompt_idx, column.target.name().to_owned()));
        let columns: Vec<_> = columns.collect();
        let summary =
            Summary { columns: vec![ColumnTally::default(); columns.len()], ..Summary::default() };
        Self {
            summary,
            planned: run.planned,
            latencies: Vec::new(),
            columns,
            repeats: repeats::Repeats::default(),
        }
    }

    pub fn add(&mut self, case: &CaseResult) {
        let count = |passed: &mut usize, failed: &mut usize, errored: &mut usize| {
            *match case.status {
                CaseStatus::Passed => passed,
                CaseStatus::Failed => failed,
                CaseStatus::Errored => errored,
            } += 1;
        };
        let summary = &mut self.summary;
        count(&mut summary.passed, &mut summary.failed, &mut summary.errored);
        self.latencies.push(case.latency_ms);
        let key = (case.prompt_idx, case.target.name());
        let at = self.columns.iter().position(|(idx, name)| (*idx, name.as_str()) == key);
        self.repeats.add(at, case);
        let Some(column) = at.and_then(|at| self.summary.columns.get_mut(at)) else { return };
        count(&mut column.passed, &mut column.failed, &mut column.errored);
        column.score += case.score;
        column.total_latency_ms += case.latency_ms;
        column.cost += case.response.cost.unwrap_or_default();
        column.tokens.add(case.response.token_usage.as_ref());
        column.judge_tokens.merge(&Tokens::of_models(&case.evidence));
        column.judge_cost += case.evidence.model_cost();
        if let Some(grade) = &case.grade {
            column.asserts_passed += flattened_count(grade, true);
            column.asserts_failed += flattened_count(grade, false);
        }
        if case.named_scores.is_empty() {
            return;
        }
        let weights = case.grade.as_ref().map(|grade| &grade.named_weights);
        let counts = named_counts(case);
        for (name, score) in &case.named_scores {
            // A score without a known assertion counts once, as in promptfoo.
            let weight = weights.and_then(|weights| weights.get(name)).copied().unwrap_or(1.0);
            *column.named_scores.entry(name.clone()).or_default() += score * weight;
            *column.named_weights.entry(name.clone()).or_default() += weight;
            *column.named_counts.entry(name.clone()).or_default() +=
                counts.get(name).copied().unwrap_or(1);
        }
    }

    pub fn finish(&self, took: Duration, interrupted: bool) -> Summary {
        let mut summary = self.summary.clone();
        summary.missing = self.planned.saturating_sub(summary.total());
        summary.interrupted = interrupted;
        summary.duration_ms = took.as_secs_f64() * 1e3;
        summary.latency = Latency::of(&self.latencies);
        (summary.flaky, summary.varying) = self.repeats.counts();
        summary.unsteady = self.repeats.unsteady(NAMED_UNSTEADY);
        summary
    }
}

#[cfg(test)]
mod tests;
