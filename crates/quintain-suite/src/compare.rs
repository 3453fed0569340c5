//! Verdicts that compare the responses to one test. They are made after all responses are graded.

use quintain_evidence::result::{CaseResult, CaseStatus, Component, SourcePlace};
use quintain_evidence::verdict::{Status, Verdict};
use serde_json::Value;

pub use crate::check::{Compared, Comparison};

/// Adds the verdicts of a comparison to the results of a test. A result without a grade is not compared and
/// stays unchanged.
pub fn apply_comparison(
    compared: Compared,
    results: &mut [CaseResult],
    assertion: &Value,
    place: Option<&SourcePlace>,
) {
    let mut verdicts = compared.map(Vec::into_iter);
    for result in results.iter_mut().filter(|result| result.grade.is_some()) {
        let verdict = match &mut verdicts {
            Ok(verdicts) => verdicts.next().unwrap_or_else(|| {
                Verdict::error("the comparison returned no verdict for this response")
            }),
            Err(why) => Verdict::error(why.as_str()),
        };
        apply(result, verdict, assertion, place);
    }
}

/// Adds the verdict of a comparison to a result. It does not count in the score like other verdicts: a
/// result that is not selected fails with the score of the comparison, a selected one keeps its score.
fn apply(
    result: &mut CaseResult,
    verdict: Verdict,
    assertion: &Value,
    place: Option<&SourcePlace>,
) {
    if verdict.status == Status::Error {
        fail(result, verdict.reason);
        return;
    }
    let Some(grade) = &mut result.grade else { return };
    // As in promptfoo, a selected result without other assertions has no score.
    if grade.components.is_empty() {
        grade.score = 0.0;
        result.score = 0.0;
    }
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

/// Marks a result whose comparison failed as an error.
pub fn fail(result: &mut CaseResult, why: impl Into<String>) {
    result.status = CaseStatus::Errored;
    result.score = 0.0;
    result.grade = None;
    result.error = Some(why.into());
}
