//! Results of tests that compare their answers with each other wait until all of them are there.

use std::collections::BTreeMap;
use std::sync::Arc;

use quintain_evidence::result::CaseResult;
use quintain_suite::compare;
use quintain_suite::suite::Test;

use super::case::place;
use super::mask::mask;
use super::{Floor, Job};

/// The results that wait. Those of tests without a comparison never do.
pub(super) struct Waiting {
    tests: BTreeMap<usize, Group>,
}

/// The cases of one test that are compared.
pub(super) struct Group {
    test: Arc<Test>,
    /// How many are still to come.
    open: usize,
    results: Vec<CaseResult>,
}

/// What came of handing in a result.
pub(super) enum Turn {
    /// It can be reported.
    Free(Box<CaseResult>),
    /// It has to wait.
    Held,
    /// It was the last of its test.
    Complete(Group),
}

impl Waiting {
    pub(super) fn new(job: &Job<'_>) -> Self {
        let mut tests: BTreeMap<usize, Group> = BTreeMap::new();
        let compared = job.plan.seats.iter().filter(|seat| seat.scheduling.compared);
        for seat in compared.filter(|seat| !job.is_done(seat)) {
            let fresh = || {
                let test = seat.case(job.suite).test;
                Group { test, open: 0, results: Vec::new() }
            };
            tests.entry(seat.test_idx).or_insert_with(fresh).open += 1;
        }
        Self { tests }
    }

    pub(super) fn put(&mut self, result: CaseResult) -> Turn {
        let test = result.test_idx;
        let Some(group) = self.tests.get_mut(&test) else { return Turn::Free(Box::new(result)) };
        group.results.push(result);
        group.open = group.open.saturating_sub(1);
        if group.open > 0 {
            return Turn::Held;
        }
        self.tests.remove(&test).map_or(Turn::Held, Turn::Complete)
    }

    /// What is left when a run ends early. Nothing was compared, so nothing of it has passed.
    pub(super) fn leave(&mut self) -> Vec<CaseResult> {
        let groups = std::mem::take(&mut self.tests).into_values();
        let mut left: Vec<CaseResult> = groups.flat_map(|group| group.results).collect();
        for result in left.iter_mut().filter(|result| result.grade.is_some()) {
            compare::fail(result, "the run ended before the answers of the test were compared");
        }
        left
    }
}

impl Floor<'_> {
    /// Compares the answers of a test.
    pub(super) async fn compare(&self, group: Group) -> Vec<CaseResult> {
        let Group { test, mut results, .. } = group;
        results.sort_by_key(|result| result.ordinal);
        for assert in &test.asserts {
            let Some(comparison) = assert.comparison() else { continue };
            let mut answers = Vec::new();
            for question in comparison.questions(&results) {
                answers.push(self.answers.answer(&question).await);
            }
            let place = place(self.job.sources, assert.span);
            compare::settle(comparison, &answers, &mut results, &assert.raw, place.as_ref());
        }
        for result in &mut results {
            mask(result, &self.job.world.redactor);
        }
        results
    }
}
