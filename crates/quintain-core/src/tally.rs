//! Counts and distributions over the results of a run.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::event::RunInfo;
use crate::result::{CaseResult, CaseStatus};

/// What a run came to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    pub passed: usize,
    pub failed: usize,
    pub errored: usize,
    /// Cases that were planned and have no result.
    pub missing: usize,
    /// Tests that passed in some repetitions and not in others.
    pub flaky: usize,
    pub interrupted: bool,
    pub duration_ms: f64,
    pub latency: Option<Latency>,
    /// In the order of the columns of the run.
    pub columns: Vec<ColumnTally>,
}

/// Percentiles of what targets took, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    pub min: f64,
    pub mean: f64,
    pub p50: f64,
    pub p90: f64,
    pub p95: f64,
    pub p99: f64,
    pub max: f64,
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
    pub named_scores: BTreeMap<String, f64>,
    pub named_counts: BTreeMap<String, usize>,
}

impl Summary {
    pub fn total(&self) -> usize {
        self.passed + self.failed + self.errored
    }
}

/// Adds up results as they come; keeps numbers, not results.
#[derive(Debug)]
pub struct Tally {
    summary: Summary,
    planned: usize,
    latencies: Vec<f64>,
    columns: Vec<(usize, String)>,
}

impl Tally {
    pub fn new(run: &RunInfo) -> Self {
        let columns = run.columns.iter();
        let columns = columns.map(|column| (column.prompt_idx, column.target.name().to_owned()));
        let columns: Vec<_> = columns.collect();
        let summary =
            Summary { columns: vec![ColumnTally::default(); columns.len()], ..Summary::default() };
        Self { summary, planned: run.planned, latencies: Vec::new(), columns }
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
        let column = self.columns.iter().position(|(idx, name)| (*idx, name.as_str()) == key);
        let Some(column) = column.and_then(|at| self.summary.columns.get_mut(at)) else { return };
        count(&mut column.passed, &mut column.failed, &mut column.errored);
        column.score += case.score;
        column.total_latency_ms += case.latency_ms;
        for component in case.grade.iter().flat_map(|grade| &grade.components) {
            if component.verdict.passed() {
                column.asserts_passed += 1;
            } else {
                column.asserts_failed += 1;
            }
        }
        for (name, score) in &case.named_scores {
            *column.named_scores.entry(name.clone()).or_default() += score;
            *column.named_counts.entry(name.clone()).or_default() += 1;
        }
    }

    pub fn finish(&self, took: Duration, interrupted: bool) -> Summary {
        let mut summary = self.summary.clone();
        summary.missing = self.planned.saturating_sub(summary.total());
        summary.interrupted = interrupted;
        summary.duration_ms = took.as_secs_f64() * 1e3;
        summary.latency = latency(&self.latencies);
        summary
    }
}

fn latency(measured: &[f64]) -> Option<Latency> {
    let mut sorted: Vec<f64> = measured.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (min, max) = (*sorted.first()?, *sorted.last()?);
    // Nearest rank: every percentile is a value that was really measured.
    let rank = |part: f64| {
        let at = (part * sorted.len() as f64).ceil() as usize;
        sorted[at.clamp(1, sorted.len()) - 1]
    };
    let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
    Some(Latency {
        min,
        mean,
        p50: rank(0.5),
        p90: rank(0.9),
        p95: rank(0.95),
        p99: rank(0.99),
        max,
    })
}
