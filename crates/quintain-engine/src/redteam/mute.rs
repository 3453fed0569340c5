//! Tools that do not answer: each silence costs a whole time limit, so they are not waited for for ever.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use quintain_core::attack::{Action, Attempt};
use quintain_core::evidence::Outcome;
use quintain_core::knowledge::Knowledge;
use quintain_core::probe::Step;

/// So many silences in a row are enough.
const ENOUGH: usize = 4;

/// How often each tool has been silent since it last answered.
pub(super) struct Mute(Mutex<HashMap<String, usize>>);

impl Mute {
    /// A tool that no call satisfied because it did not answer has one chance more.
    pub(super) fn new(knowledge: &Knowledge) -> Self {
        let silent = knowledge.silent.iter().filter(|one| one.why == super::learn::MUTE);
        Self(Mutex::new(silent.map(|one| (one.tool.clone(), ENOUGH - 1)).collect()))
    }

    pub(super) fn is_mute(&self, attempt: &Attempt) -> bool {
        let silences = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tool(attempt).and_then(|tool| silences.get(tool)).is_some_and(|count| *count >= ENOUGH)
    }

    /// Notes what came of an attempt.
    pub(super) fn heard(&self, attempt: &Attempt, outcome: Option<&Outcome>) {
        let (Some(tool), Some(outcome)) = (tool(attempt), outcome) else { return };
        let mut silences = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = silences.entry(tool.to_owned()).or_default();
        *count = if matches!(outcome, Outcome::TimedOut { .. }) { *count + 1 } else { 0 };
    }
}

/// The tool that an attempt calls last. What is sent to see how long it takes does not count.
fn tool(attempt: &Attempt) -> Option<&str> {
    let Action::Steps { steps, .. } = &attempt.action else { return None };
    match steps.last()? {
        Step::Call(call) => Some(&call.tool),
        Step::Request { .. } => None,
    }
}
