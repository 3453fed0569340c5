//! Compares two runs that grade the same traces: verdicts, metrics and findings, case by case.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::{Fnv, Row};
use crate::graded::TraceFinding;
use crate::mcnemar::McNemar;
use crate::result::{CaseResult, CaseStatus};

/// Maximum number of cases to name per check; the counts include all.
const MAX_NAMED: usize = 10;

/// The part of a graded trace that a comparison needs.
#[derive(Debug, Clone, PartialEq)]
pub struct GradedRow {
    pub row: Row,
    id: Option<String>,
    metrics: Vec<MetricOutcome>,
    /// Check and identity of each finding.
    findings: Vec<(String, u64)>,
}

#[derive(Debug, Clone, PartialEq)]
struct MetricOutcome {
    name: String,
    score: Option<f64>,
    success: Option<bool>,
}

impl GradedRow {
    pub fn of(case: &CaseResult) -> Self {
        let mut graded =
            Self { row: Row::of(case), id: None, metrics: Vec::new(), findings: Vec::new() };
        if let Some(trace) = &case.graded {
            graded.id.clone_from(&trace.id);
            let scores = trace.metrics.iter().map(|metric| MetricOutcome {
                name: metric.name.clone(),
                score: metric.score,
                success: metric.success,
            });
            graded.metrics = scores.collect();
            let findings = trace.findings.iter().map(|one| (one.check.clone(), identity(one)));
            graded.findings = findings.collect();
        }
        graded
    }

    /// None for a record that could not be read.
    fn verdict(&self) -> Option<bool> {
        match self.row.status {
            CaseStatus::Passed => Some(true),
            CaseStatus::Failed => Some(false),
            CaseStatus::Errored => None,
        }
    }

    fn name(&self) -> &str {
        self.row.key.description.as_deref().or(self.id.as_deref()).unwrap_or_default()
    }
}

/// Findings with the same text at the same place are the same. The position of the call is not part of it: a call more
/// or less moves the others.
fn identity(finding: &TraceFinding) -> u64 {
    let mut hash = Fnv::default();
    hash.text(&finding.pointer);
    hash.text(&finding.message);
    hash.0
}

/// Gives cases with the same id the same name, so that a renamed case is found again.
pub fn align(before: &mut [GradedRow], after: &[GradedRow]) {
    let mut names: HashMap<&str, Option<&GradedRow>> = HashMap::new();
    for row in after {
        if let Some(id) = &row.id {
            // An id that occurs twice identifies nothing.
            names.entry(id).and_modify(|found| *found = None).or_insert(Some(row));
        }
    }
    for row in before {
        let found = row.id.as_deref().and_then(|id| names.get(id).copied().flatten());
        if let Some(found) = found {
            row.row.key = found.row.key.clone();
        }
    }
}

/// The difference between two graded runs, over the cases that are in both.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GradeDiff {
    /// Cases with a verdict in both runs.
    pub cases: u64,
    pub verdict: OutcomeDiff,
    /// By metric.
    pub metrics: BTreeMap<String, OutcomeDiff>,
    /// By check. Only checks whose findings changed.
    pub findings: BTreeMap<String, FindingDiff>,
}

/// How an outcome changed over the cases in which it is defined before and after.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OutcomeDiff {
    pub cases: u64,
    /// Mean score; for the verdict, the share of cases that pass. None without cases.
    pub before: Option<f64>,
    pub after: Option<f64>,
    #[serde(flatten)]
    pub test: McNemar,
    /// Cases in which it is defined only in one of the runs.
    pub only_before: u64,
    pub only_after: u64,
}

/// Findings of one check.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FindingDiff {
    pub appeared: u64,
    pub disappeared: u64,
    /// Names of the first cases with new findings.
    pub appeared_in: Vec<String>,
    pub disappeared_in: Vec<String>,
}

/// Sums up one outcome, case by case.
#[derive(Default)]
struct Outcomes {
    cases: u64,
    sums: (f64, f64),
    worse: u64,
    better: u64,
    only_before: u64,
    only_after: u64,
}

type Scored = Option<(bool, f64)>;

impl Outcomes {
    fn add(&mut self, before: Scored, after: Scored) {
        match (before, after) {
            (Some((passed, score)), Some((passes, scores))) => {
                self.cases += 1;
                self.sums = (self.sums.0 + score, self.sums.1 + scores);
                self.worse += u64::from(passed && !passes);
                self.better += u64::from(!passed && passes);
            }
            (Some(_), None) => self.only_before += 1,
            (None, Some(_)) => self.only_after += 1,
            (None, None) => {}
        }
    }

    fn finish(self) -> OutcomeDiff {
        let mean = |sum: f64| (self.cases > 0).then(|| sum / self.cases as f64);
        OutcomeDiff {
            cases: self.cases,
            before: mean(self.sums.0),
            after: mean(self.sums.1),
            test: McNemar::new(self.worse, self.better),
            only_before: self.only_before,
            only_after: self.only_after,
        }
    }
}

/// Compares the cases at the given positions.
pub fn compare(before: &[GradedRow], after: &[GradedRow], pairs: &[(usize, usize)]) -> GradeDiff {
    let mut verdict = Outcomes::default();
    let mut metrics: BTreeMap<String, Outcomes> = BTreeMap::new();
    let mut findings = BTreeMap::new();
    for (then, now) in pairs {
        let (Some(then), Some(now)) = (before.get(*then), after.get(*now)) else { continue };
        let outcome =
            |row: &GradedRow| row.verdict().map(|passes| (passes, f64::from(u8::from(passes))));
        verdict.add(outcome(then), outcome(now));
        compare_metrics(then, now, &mut metrics);
        // Without a verdict there were no checks.
        if then.verdict().is_some() && now.verdict().is_some() {
            compare_findings(then, now, &mut findings);
        }
    }
    let verdict = verdict.finish();
    GradeDiff {
        cases: verdict.cases,
        verdict,
        metrics: metrics.into_iter().map(|(name, outcomes)| (name, outcomes.finish())).collect(),
        findings,
    }
}

fn compare_metrics(
    before: &GradedRow,
    after: &GradedRow,
    metrics: &mut BTreeMap<String, Outcomes>,
) {
    let outcome = |score: &MetricOutcome| Some((score.success?, score.score?));
    let mut both: BTreeMap<&str, (Scored, Scored)> = BTreeMap::new();
    for score in &before.metrics {
        both.entry(&score.name).or_default().0 = outcome(score);
    }
    for score in &after.metrics {
        both.entry(&score.name).or_default().1 = outcome(score);
    }
    for (name, (then, now)) in both {
        metrics.entry(name.to_owned()).or_default().add(then, now);
    }
}

fn compare_findings(
    before: &GradedRow,
    after: &GradedRow,
    findings: &mut BTreeMap<String, FindingDiff>,
) {
    let mut balance: BTreeMap<(&str, u64), i64> = BTreeMap::new();
    for (check, identity) in &before.findings {
        *balance.entry((check, *identity)).or_default() -= 1;
    }
    for (check, identity) in &after.findings {
        *balance.entry((check, *identity)).or_default() += 1;
    }
    for ((check, _), number) in balance.into_iter().filter(|(_, number)| *number != 0) {
        let diff = findings.entry(check.to_owned()).or_default();
        let (count, cases) = if number > 0 {
            (&mut diff.appeared, &mut diff.appeared_in)
        } else {
            (&mut diff.disappeared, &mut diff.disappeared_in)
        };
        *count += number.unsigned_abs();
        let name = after.name();
        if cases.len() < MAX_NAMED && cases.last().is_none_or(|last| last != name) {
            cases.push(name.to_owned());
        }
    }
}

#[cfg(test)]
mod tests;
