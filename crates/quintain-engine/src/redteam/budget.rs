//! How many calls, and how much time, a run may take.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

pub(super) struct Budget {
    calls: AtomicUsize,
    most: Option<usize>,
    time: Option<Duration>,
    started: Instant,
}

impl Budget {
    pub(super) fn new(most: Option<usize>, time: Option<Duration>) -> Self {
        Self { calls: AtomicUsize::new(0), most, time, started: Instant::now() }
    }

    /// Takes one call out of the budget; false if there is none left.
    pub(super) fn take(&self) -> bool {
        if self.is_spent() {
            return false;
        }
        self.calls.fetch_add(1, Ordering::Relaxed);
        true
    }

    pub(super) fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    pub(super) fn is_spent(&self) -> bool {
        self.why().is_some()
    }

    /// How much time there is still, if it is limited.
    pub(super) fn time_left(&self) -> Option<Duration> {
        self.time.map(|time| time.saturating_sub(self.started.elapsed()))
    }

    /// Whether this part of the time is spent: a half, a third.
    pub(super) fn is_part_spent(&self, part: u32) -> bool {
        self.time.is_some_and(|time| self.started.elapsed() >= time / part)
    }

    /// What is spent, in words.
    pub(super) fn why(&self) -> Option<String> {
        if self.most.is_some_and(|most| self.calls() >= most) {
            return Some(format!("the budget of {} calls was spent", self.calls()));
        }
        let time = self.time.filter(|time| self.started.elapsed() >= *time)?;
        Some(format!("the time budget of {} s was spent (--budget-seconds)", time.as_secs()))
    }
}
