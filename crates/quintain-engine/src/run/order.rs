//! Results come as they are finished and are reported in the order of the plan.

use std::collections::{BTreeMap, HashSet};

use quintain_core::result::CaseResult;

/// Holds back what came too early.
pub(super) struct InOrder<'a> {
    next: usize,
    planned: usize,
    /// Positions that need no result.
    skipped: &'a HashSet<usize>,
    early: BTreeMap<usize, CaseResult>,
}

impl<'a> InOrder<'a> {
    pub(super) fn new(planned: usize, skipped: &'a HashSet<usize>) -> Self {
        Self { next: 0, planned, skipped, early: BTreeMap::new() }
    }

    /// Publishes the result and everything that waited for it, or keeps it.
    pub(super) fn put(&mut self, result: CaseResult, publish: &mut dyn FnMut(CaseResult)) {
        self.early.insert(result.ordinal, result);
        while self.next < self.planned {
            if let Some(result) = self.early.remove(&self.next) {
                publish(result);
            } else if !self.skipped.contains(&self.next) {
                return;
            }
            self.next += 1;
        }
    }

    /// Publishes what is left, gaps or not.
    pub(super) fn flush(&mut self, publish: &mut dyn FnMut(CaseResult)) {
        while let Some((_, result)) = self.early.pop_first() {
            publish(result);
        }
    }
}
