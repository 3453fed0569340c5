//! The time limit of one run, shared by the engine's interrupt handler and all waiting callers.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// When a run must end, and whether it was interrupted.
#[derive(Default)]
pub(crate) struct Clock {
    deadline: Cell<Option<Instant>>,
    rang: Cell<bool>,
}

impl Clock {
    /// Starts a run with this time limit.
    pub(crate) fn start(&self, time: Duration) {
        self.deadline.set(Instant::now().checked_add(time));
    }

    /// Whether the script was interrupted.
    pub(crate) fn rang(&self) -> bool {
        self.rang.get()
    }

    pub(crate) fn is_over(&self) -> bool {
        let over = self.deadline.get().is_some_and(|deadline| Instant::now() >= deadline);
        if over {
            self.rang.set(true);
        }
        over
    }
}
