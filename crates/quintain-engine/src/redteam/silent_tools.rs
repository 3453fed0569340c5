//! Tracks tools that do not answer. Each unanswered call costs a full time limit, so further calls get less time or
//! are skipped.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quintain_evidence::evidence::Outcome;
use quintain_evidence::probe::Step;
use quintain_redteam::attack::{Action, Attempt};
use quintain_redteam::knowledge::Knowledge;

use super::identity_sessions::{CALL_TIME, LEAST_TIME};

/// Number of consecutive unanswered calls after which a tool is skipped.
const MAX_UNANSWERED: usize = 4;

pub(super) struct SilentTools(Mutex<UnansweredCalls>);

struct UnansweredCalls {
    /// Number of unanswered calls of each tool since its last answer.
    of: HashMap<String, usize>,
    /// Whether no tool has answered yet, although some were called.
    by_all: bool,
}

impl SilentTools {
    /// A tool that did not answer during learning gets one more call.
    pub(super) fn new(knowledge: &Knowledge) -> Self {
        let silent = knowledge.silent.iter().filter(|one| one.why == super::learn::NO_ANSWER);
        let of: HashMap<_, _> = silent.map(|one| (one.tool.clone(), MAX_UNANSWERED - 1)).collect();
        let by_all = of.len() == knowledge.silent.len() && knowledge.baselines.is_empty();
        let by_all = by_all && !of.is_empty();
        Self(Mutex::new(UnansweredCalls { of, by_all }))
    }

    fn unanswered_calls(&self) -> MutexGuard<'_, UnansweredCalls> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_skipped(&self, attempt: &Attempt) -> bool {
        let unanswered_calls = self.unanswered_calls();
        tool(attempt)
            .and_then(|tool| unanswered_calls.of.get(tool))
            .is_some_and(|count| *count >= MAX_UNANSWERED)
    }

    /// Time limit of a step. Shorter for tools that did not answer before.
    pub(super) fn time_limit(&self, step: &Step) -> Duration {
        let Step::Call(call) = step else { return CALL_TIME };
        let unanswered_calls = self.unanswered_calls();
        let count = unanswered_calls.of.get(&call.tool).copied().unwrap_or_default();
        if unanswered_calls.by_all || count + 1 >= MAX_UNANSWERED { LEAST_TIME } else { CALL_TIME }
    }

    /// Records the outcome of an attempt.
    pub(super) fn record(&self, attempt: &Attempt, outcome: Option<&Outcome>) {
        let (Some(tool), Some(outcome)) = (tool(attempt), outcome) else { return };
        let is_silent = matches!(outcome, Outcome::TimedOut { .. });
        let mut unanswered_calls = self.unanswered_calls();
        unanswered_calls.by_all &= is_silent;
        let count = unanswered_calls.of.entry(tool.to_owned()).or_default();
        *count = if is_silent { *count + 1 } else { 0 };
    }
}

/// The tool that an attempt calls last. Attempts that measure time do not count.
fn tool(attempt: &Attempt) -> Option<&str> {
    let Action::Steps { steps, .. } = &attempt.action else { return None };
    match steps.last()? {
        Step::Call(call) => Some(&call.tool),
        Step::Request { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::redteam_report::Silent;
    use quintain_evidence::tool_call::ToolCall;
    use quintain_redteam::attack::MarkKey;
    use serde_json::{Map, json};

    use super::*;

    fn step(tool: &str) -> Step {
        Step::Call(ToolCall { tool: tool.to_owned(), args: Map::new(), server: None })
    }

    fn attempt(tool: &str) -> Attempt {
        Attempt {
            form: String::new(),
            set: 0,
            role: String::new(),
            action: Action::Steps { steps: vec![step(tool)], identity: 0 },
            nonce: MarkKey::of_seed(1).marks("test").mark(),
            payload: None,
        }
    }

    #[test]
    fn what_never_answers_is_waited_for_shortly_and_then_left_alone() {
        let silent = |tool: &str| Silent {
            server: String::new(),
            tool: tool.to_owned(),
            why: super::super::learn::NO_ANSWER.to_owned(),
        };
        let knowledge =
            Knowledge { silent: vec![silent("a"), silent("b")], ..Knowledge::default() };
        let silent_tools = SilentTools::new(&knowledge);
        assert_eq!(silent_tools.time_limit(&step("a")), LEAST_TIME);
        assert_eq!(silent_tools.time_limit(&step("unheard of")), LEAST_TIME, "nothing answers");
        silent_tools.record(&attempt("a"), Some(&Outcome::TimedOut { after: LEAST_TIME }));
        assert!(silent_tools.is_skipped(&attempt("a")) && !silent_tools.is_skipped(&attempt("b")));
        silent_tools.record(&attempt("b"), Some(&Outcome::Reply(json!({}))));
        assert_eq!(silent_tools.time_limit(&step("b")), CALL_TIME);
        assert_eq!(silent_tools.time_limit(&step("unheard of")), CALL_TIME);
    }
}
