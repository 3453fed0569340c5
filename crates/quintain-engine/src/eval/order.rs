//! Results come as they are finished and are reported in the order of the plan.

use std::collections::{BTreeMap, HashSet};

use quintain_evidence::result::CaseResult;

/// Holds back what came too early.
pub(super) struct InOrder<'a> {
    next: usize,
    planned: usize,
    /// Positions whose results an earlier run brought.
    earlier: &'a HashSet<usize>,
    early: BTreeMap<usize, CaseResult>,
}

/// What is to be reported next.
pub(super) enum Ready {
    Now(Box<CaseResult>),
    /// The result that the store has for this position.
    PreviousRun(usize),
}

impl<'a> InOrder<'a> {
    pub(super) fn new(planned: usize, earlier: &'a HashSet<usize>) -> Self {
        Self { next: 0, planned, earlier, early: BTreeMap::new() }
    }

    pub(super) fn put(&mut self, result: CaseResult) {
        self.early.insert(result.ordinal, result);
    }

    /// The next one in order, if it is there.
    pub(super) fn ready(&mut self) -> Option<Ready> {
        if self.next >= self.planned {
            return None;
        }
        let ready = match self.early.remove(&self.next) {
            Some(result) => Ready::Now(Box::new(result)),
            None if self.earlier.contains(&self.next) => Ready::PreviousRun(self.next),
            None => return None,
        };
        self.next += 1;
        Some(ready)
    }

    /// Steps over the gap before the next one, if there is any more.
    pub(super) fn skip(&mut self) -> bool {
        let early = self.early.keys().next().copied();
        let stored = self.earlier.iter().copied().filter(|at| *at >= self.next).min();
        match early.into_iter().chain(stored).min() {
            Some(next) => {
                self.next = next;
                true
            }
            None => false,
        }
    }
}
