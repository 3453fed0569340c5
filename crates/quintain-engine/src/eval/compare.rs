//! Compares the answers of a test with each other. Its results wait until all of them are known.

use std::collections::BTreeMap;
use std::sync::Arc;

use quintain_evidence::evidence::Evidence;
use quintain_evidence::inquiry::{Inquiry, Next, Rounds};
use quintain_evidence::result::CaseResult;
use quintain_suite::compare::{self, Compared, Comparison};
use quintain_suite::suite::Test;
use quintain_wire::redact::Redactor;

use super::case::place;
use super::judge::TOO_MANY_ROUNDS;
use super::mask::mask;
use super::{EvalRun, RunContext};
use crate::inquiry::Asker;
use crate::masked::MaskedCase;

/// The results that wait for a comparison. Results of tests without one do not wait.
pub(super) struct PendingComparisons {
    tests: BTreeMap<usize, Group>,
}

/// The cases of one test that are compared.
pub(super) struct Group {
    test: Arc<Test>,
    /// Number of missing results.
    open: usize,
    results: Vec<CaseResult>,
}

/// What to do after a result was added.
pub(super) enum Added {
    /// Report it: its test has no comparison.
    Report(MaskedCase),
    /// Wait for other results of the test.
    Wait,
    /// Compare: it was the last result of the test.
    Compare(Group),
}

impl PendingComparisons {
    pub(super) fn new(job: &EvalRun<'_>) -> Self {
        let mut tests: BTreeMap<usize, Group> = BTreeMap::new();
        let compared =
            job.plan.cases.iter().filter(|planned_case| planned_case.scheduling.compared);
        for planned_case in compared.filter(|planned_case| !job.is_done(planned_case)) {
            let fresh = || {
                let test = planned_case.case(job.suite).test;
                Group { test, open: 0, results: Vec::new() }
            };
            tests.entry(planned_case.test_idx).or_insert_with(fresh).open += 1;
        }
        Self { tests }
    }

    pub(super) fn put(&mut self, result: MaskedCase) -> Added {
        let test = result.test_idx;
        let Some(group) = self.tests.get_mut(&test) else { return Added::Report(result) };
        group.results.push(Arc::unwrap_or_clone(result.into_inner()));
        group.open = group.open.saturating_sub(1);
        if group.open > 0 {
            return Added::Wait;
        }
        self.tests.remove(&test).map_or(Added::Wait, Added::Compare)
    }

    /// Takes the remaining results when a run ends early. They fail, since they were not compared.
    pub(super) fn take_uncompared(&mut self, redactor: &Redactor) -> Vec<MaskedCase> {
        let groups = std::mem::take(&mut self.tests).into_values();
        let mut left: Vec<CaseResult> = groups.flat_map(|group| group.results).collect();
        for result in left.iter_mut().filter(|result| result.grade.is_some()) {
            compare::fail(result, "the run ended before the answers of the test were compared");
        }
        left.into_iter().map(|result| mask(result, redactor)).collect()
    }
}

/// A comparison of the results of one test.
struct ComparisonInquiry<'a> {
    comparison: &'a dyn Comparison,
    graded: Vec<&'a CaseResult>,
}

impl Inquiry for ComparisonInquiry<'_> {
    type Conclusion = Compared;

    fn next(&self, _: &Evidence, rounds: &Rounds) -> Next<Compared> {
        self.comparison.next(&self.graded, rounds)
    }

    fn is_unusable(&self, compared: &Compared) -> bool {
        compared.is_err()
    }

    fn unfinished(&self) -> Compared {
        Err(TOO_MANY_ROUNDS.to_owned())
    }
}

impl RunContext<'_> {
    /// Compares the answers of a test.
    pub(super) async fn compare(&self, group: Group) -> Vec<MaskedCase> {
        let Group { test, mut results, .. } = group;
        results.sort_by_key(|result| result.ordinal);
        for assert in &test.asserts {
            let Some(comparison) = assert.comparison() else { continue };
            // The first result stores the answers as evidence. Take its evidence out while `results` is borrowed.
            let mut evidence = results.first_mut().map(|first| std::mem::take(&mut first.evidence));
            let graded = results.iter().filter(|result| result.grade.is_some()).collect();
            let inquiry = [ComparisonInquiry { comparison, graded }];
            let asker = Asker { answer_sources: &self.answer_sources, target: None, repetition: 0 };
            let kept = evidence.get_or_insert_default();
            let compared = asker.run_rounds(&inquiry, kept).await.pop();
            if let (Some(first), Some(evidence)) = (results.first_mut(), evidence) {
                first.evidence = evidence;
            }
            let place = place(self.job.sources, assert.span);
            let compared = compared.unwrap_or_else(|| Err("nothing was compared".to_owned()));
            compare::apply_comparison(compared, &mut results, &assert.raw, place.as_ref());
        }
        let redactor = &self.job.world.redactor;
        results.into_iter().map(|result| mask(result, redactor)).collect()
    }
}
