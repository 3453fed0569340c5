//! Verdicts that compare the answers of one test with each other: made when all of them are graded.

use quintain_evidence::question::{Answer, Question};
use quintain_evidence::result::{CaseResult, CaseStatus, Component, Place};
use quintain_evidence::verdict::{Status, Verdict};
use serde_json::Value;

/// What picks the best of several answers.
pub trait Comparison: Send + Sync {
    /// What it needs to know beyond the results.
    fn questions(&self, _results: &[CaseResult]) -> Vec<Question> {
        Vec::new()
    }

    /// One verdict for each result that has a grade, in their order.
    ///
    /// # Errors
    /// Why they cannot be compared.
    fn compare(&self, graded: &[&CaseResult], answers: &[Answer]) -> Result<Vec<Verdict>, String>;
}

/// Compares the results of a test and makes the verdicts part of them. A result without a grade has
/// no part in it and stays as it is.
pub fn settle(
    comparison: &dyn Comparison,
    answers: &[Answer],
    results: &mut [CaseResult],
    assertion: &Value,
    place: Option<&Place>,
) {
    let graded: Vec<&CaseResult> = results.iter().filter(|result| result.grade.is_some()).collect();
    let verdicts = comparison.compare(&graded, answers);
    let mut verdicts = match verdicts {
        Ok(verdicts) => verdicts,
        Err(why) => vec![Verdict::error(why); graded.len()],
    }
    .into_iter();
    for result in results.iter_mut().filter(|result| result.grade.is_some()) {
        let missing = || Verdict::error("the comparison says nothing about this answer");
        let verdict = verdicts.next().unwrap_or_else(missing);
        apply(result, verdict, assertion, place);
    }
}

/// Adds the verdict of a comparison to a result. It does not count in the score as others do: who is
/// not selected fails with the score of the comparison, who is keeps the score that was there.
fn apply(result: &mut CaseResult, verdict: Verdict, assertion: &Value, place: Option<&Place>) {
    if verdict.status == Status::Error {
        fail(result, verdict.reason);
        return;
    }
    let Some(grade) = &mut result.grade else { return };
    if !verdict.passed() {
        if grade.pass {
            grade.reason.clone_from(&verdict.reason);
            result.error = Some(verdict.reason.clone());
        }
        grade.pass = false;
        grade.score = verdict.score;
        result.score = verdict.score;
        result.status = CaseStatus::Failed;
    }
    grade.named_scores.extend(verdict.named_scores.clone());
    let (assertion, place) = (assertion.clone(), place.cloned());
    grade.components.push(Component { assertion, place, verdict, set: None });
}

/// Ends a result whose answer could not be compared.
pub fn fail(result: &mut CaseResult, why: impl Into<String>) {
    result.status = CaseStatus::Errored;
    result.score = 0.0;
    result.grade = None;
    result.error = Some(why.into());
}
