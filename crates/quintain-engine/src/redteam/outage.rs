//! Notices that a target that takes text does not work any more, so that a run ends instead of failing at every message.

use std::sync::atomic::{AtomicUsize, Ordering};

use quintain_evidence::evidence::{Exchange, Outcome};

/// Number of consecutive failures after which a target counts as down. More than the trials in parallel, so that one bad
/// moment does not end a run.
const MAX_FAILURES: usize = 10;
/// How failures begin or end that show a working target: it has no answer to this message, or rejects it.
const ABOUT_THE_MESSAGE: [&str; 5] =
    ["answer is empty", "refused to answer", "status 400", "status 413", "status 422"];

/// Failures of a target since its last answer.
#[derive(Default)]
pub(super) struct Outage {
    failures: AtomicUsize,
}

impl Outage {
    /// Counts an exchange. Returns why the run should end, if the target failed too often.
    pub(super) fn record(&self, exchange: &Exchange) -> Option<String> {
        if is_working(&exchange.outcome) {
            self.failures.store(0, Ordering::Relaxed);
            return None;
        }
        let failures = self.failures.fetch_add(1, Ordering::Relaxed) + 1;
        let why = exchange.outcome.failure().unwrap_or_else(|| "no answer".to_owned());
        let why = why.lines().next().unwrap_or_default().to_owned();
        (failures >= MAX_FAILURES)
            .then(|| format!("the target failed {failures} times in a row, at last: {why}"))
    }
}

/// Whether an outcome comes from a target that works, even if it is not an answer.
fn is_working(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Reply(_) => true,
        Outcome::Refused { why } | Outcome::Garbled { why, .. } => {
            ABOUT_THE_MESSAGE.iter().any(|words| why.contains(words))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn exchange(outcome: Outcome) -> Exchange {
        Exchange::new("t", "ask", Value::Null, outcome)
    }

    #[test]
    fn only_failures_in_a_row_count() {
        let refused = || Outcome::Garbled {
            why: "the model refuses more requests for now (status 429): slow down".into(),
            bytes: Vec::new(),
        };
        let outage = Outage::default();
        for _ in 1..MAX_FAILURES {
            assert_eq!(outage.record(&exchange(refused())), None);
        }
        let filtered = "the target answered with status 400".to_owned();
        assert_eq!(outage.record(&exchange(Outcome::Refused { why: filtered })), None);
        for _ in 1..MAX_FAILURES {
            assert_eq!(outage.record(&exchange(refused())), None);
        }
        assert_eq!(outage.record(&exchange(Outcome::Reply(json!({})))), None);
        for _ in 1..MAX_FAILURES {
            assert_eq!(outage.record(&exchange(refused())), None);
        }
        let why = outage.record(&exchange(refused())).unwrap();
        assert!(why.contains("10 times in a row") && why.contains("429"), "{why}");
    }
}
