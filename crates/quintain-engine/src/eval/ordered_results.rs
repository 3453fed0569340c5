//! Sorts results, which arrive as they finish, into plan order.

use std::collections::{BTreeMap, HashSet};

use crate::masked::MaskedCase;

/// Buffers results that arrive early.
pub(super) struct OrderedResults<'a> {
    next: usize,
    planned: usize,
    /// Positions whose results are from the previous run.
    previous: &'a HashSet<usize>,
    buffered: BTreeMap<usize, MaskedCase>,
}

/// The next result to report.
pub(super) enum NextResult {
    Now(MaskedCase),
    /// The store has the result of this position.
    PreviousRun(usize),
}

impl<'a> OrderedResults<'a> {
    pub(super) fn new(planned: usize, previous: &'a HashSet<usize>) -> Self {
        Self { next: 0, planned, previous, buffered: BTreeMap::new() }
    }

    pub(super) fn put(&mut self, result: MaskedCase) {
        self.buffered.insert(result.ordinal, result);
    }

    /// The next result in order, if it has arrived.
    pub(super) fn ready(&mut self) -> Option<NextResult> {
        if self.next >= self.planned {
            return None;
        }
        let ready = match self.buffered.remove(&self.next) {
            Some(result) => NextResult::Now(result),
            None if self.previous.contains(&self.next) => NextResult::PreviousRun(self.next),
            None => return None,
        };
        self.next += 1;
        Some(ready)
    }

    /// Skips the gap before the next result. Returns false if there is none.
    pub(super) fn skip(&mut self) -> bool {
        let buffered = self.buffered.keys().next().copied();
        let stored = self.previous.iter().copied().filter(|at| *at >= self.next).min();
        match buffered.into_iter().chain(stored).min() {
            Some(next) => {
                self.next = next;
                true
            }
            None => false,
        }
    }
}
