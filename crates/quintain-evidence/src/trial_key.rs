//! The key of a trial, by which plans, stored records and findings refer to it.

use serde::{Deserialize, Serialize};

/// Identifies a trial: one attack at one place.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TrialKey {
    pub attack: String,
    /// The key of the place.
    pub place: String,
    /// For attacks that test one place in several ways.
    pub nth: usize,
}
