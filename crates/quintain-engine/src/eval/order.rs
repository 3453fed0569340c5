//! Sorts results, which arrive as they finish, into plan order.

use std::collections::{BTreeMap, HashSet};

use crate::masked::MaskedCase;

/// Buffers results that arrive early.
pub(super) struct InOrder<'a> {
    next: usize,
    planned: usize,
    /// Positions whose results are from the previous run.
    earlier: &'a HashSet<usize>,
    early: BTreeMap<usize, MaskedCase>,
}

/// The next result to report.
pub(super) enum Ready {
    Now(MaskedCase),
    /// The store has the result of this position.
    PreviousRun(usize),
}

impl<'a> InOrder<'a> {
    pub(super) fn new(planned: usize, earlier: &'a HashSet<usize>) -> Self {
        Self { next: 0, planned, earlier, early: BTreeMap::new() }
    }

    pub(super) fn put(&mut self, result: MaskedCase) {
        self.early.insert(result.ordinal, result);
    }

    /// The next result in order, if it has arrived.
    pub(super) fn ready(&mut self) -> Option<Ready> {
        if self.next >= self.planned {
            return None;
        }
        let ready = match self.early.remove(&self.next) {
            Some(result) => Ready::Now(result),
            None if self.earlier.contains(&self.next) => Ready::PreviousRun(self.next),
            None => return None,
        };
        self.next += 1;
        Some(ready)
    }

    /// Skips the gap before the next result. Returns false if there is none.
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
