//! The time limit of one run, shared by the engine's interrupt handler and everybody who waits.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// Knows when a run has to end, and whether it was ended.
#[derive(Default)]
pub(crate) struct Clock {
    deadline: Cell<Option<Instant>>,
    rang: Cell<bool>,
}

impl Clock {
    /// The run begins and may take this long.
    pub(crate) fn start(&self, time: Duration) {
        self.deadline.set(Instant::now().checked_add(time));
    }

    /// Whether the end was noticed, and so the script interrupted.
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
