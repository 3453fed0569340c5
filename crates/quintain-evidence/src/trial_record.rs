//! One trial as it is kept, so that a run that was broken off can be gone on with.

use serde::{Deserialize, Serialize};

pub use crate::finding::TrialKey;
use crate::finding::{Finding, Place};

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
