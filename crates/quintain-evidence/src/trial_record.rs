//! One trial as it is stored, so that an interrupted run resumes without repeating it.

use serde::{Deserialize, Serialize};

use crate::finding::{Finding, Place};
pub use crate::trial_key::TrialKey;

/// What came of it. Runs count live trials and kept ones by the same record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    pub key: TrialKey,
    pub place: Place,
    pub attempts: usize,
    /// Whether something was struck.
    pub hit: bool,
    pub findings: Vec<Finding>,
}
