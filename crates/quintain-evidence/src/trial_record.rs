//! One trial as it is stored, so that an interrupted run resumes without repeating it.

use serde::{Deserialize, Serialize};

use crate::finding::{Finding, Place};
pub use crate::trial_key::TrialKey;

/// The result of a trial. Live and stored trials are counted from the same record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    pub key: TrialKey,
    pub place: Place,
    pub attempts: usize,
    /// Whether the attack worked.
    pub hit: bool,
    pub findings: Vec<Finding>,
    #[serde(default)]
    pub state: TrialState,
    /// For targets that take text: how often each prompt worked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompts: Option<Vec<PromptCount>>,
}

/// How often a prompt was sent and worked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptCount {
    pub sent: usize,
    pub hits: usize,
}

/// Whether a trial says anything about its place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrialState {
    /// The target answered, so a trial without a hit means that the attack does not work there.
    #[default]
    Answered,
    /// Nothing that was sent got an answer of a working target.
    Unanswered,
    /// No attempt was possible or allowed there.
    NotSent,
}
