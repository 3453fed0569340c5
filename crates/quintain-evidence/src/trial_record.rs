//! One bout as it is kept, so that a run that was broken off can be gone on with.

use serde::{Deserialize, Serialize};

use crate::finding::{Finding, Place};

/// Which bout: one attack at one place.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TrialKey {
    pub attack: String,
    /// The key of the place.
    pub place: String,
    /// For attacks that look at one place from several sides.
    pub nth: usize,
}

/// What came of it. Runs count live bouts and kept ones by the same record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    pub key: TrialKey,
    pub place: Place,
    pub attempts: usize,
    /// Whether something was struck.
    pub hit: bool,
    pub findings: Vec<Finding>,
}
