//! Checks that compare the responses to one test.

use quintain_evidence::inquiry::{Next, Rounds};
use quintain_evidence::result::CaseResult;
use quintain_evidence::verdict::Verdict;

/// Picks the best of several responses.
pub trait Comparison: Send + Sync {
    /// One verdict per result, in the same order, or the questions to answer first. Every result has a
    /// grade.
    fn next(&self, graded: &[&CaseResult], rounds: &Rounds) -> Next<Compared>;
}

/// The verdicts of a comparison, or why the comparison failed.
pub type Compared = Result<Vec<Verdict>, String>;
