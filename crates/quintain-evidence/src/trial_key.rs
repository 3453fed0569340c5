//! The key of a trial, by which plans, stored records and findings name it.

use serde::{Deserialize, Serialize};

/// Which trial: one attack at one place.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TrialKey {
    pub attack: String,
    /// The key of the place.
    pub place: String,
    /// For attacks that look at one place from several sides.
    pub nth: usize,
}
