//! What a trial brought: its hits after confirmation, and how far it came.

use std::collections::BTreeSet;
use std::sync::Arc;

use quintain_evidence::trial_record::{PromptCount, TrialState};
use quintain_redteam::attack::{Aim, Hit, Tried};

/// The result of one trial.
pub(super) struct TrialOutcome {
    pub(super) plugin: usize,
    pub(super) aim: Arc<Aim>,
    pub(super) attempts: usize,
    /// The sets of attempts that were sent.
    pub(super) sets: BTreeSet<usize>,
    pub(super) hits: Vec<ConfirmedHit>,
    /// The last attempt, for reports of trials without a hit.
    pub(super) last: Option<Tried>,
    pub(super) crash: Option<Tried>,
    pub(super) state: TrialState,
    /// How often each prompt worked, for targets that take text.
    pub(super) prompts: Option<Vec<PromptCount>>,
}

/// A hit after confirmation.
pub(super) struct ConfirmedHit {
    pub(super) hit: Hit,
    /// The attempts of the set that hit.
    pub(super) tried: Vec<Tried>,
    /// Position in `tried` of the attempt that shows the hit.
    pub(super) shown: usize,
    /// The identity of that attempt, if not the first one.
    pub(super) identity: Option<String>,
}
