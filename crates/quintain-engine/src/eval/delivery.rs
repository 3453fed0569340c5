//! Delivers finished cases: to the store immediately, to the listeners in plan order.

use std::collections::HashSet;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use quintain_evidence::event::Event;
use quintain_evidence::result::CaseResult;
use quintain_evidence::tally::{Summary, Tally};

use super::Job;
use super::order::{InOrder, Ready};
use crate::store::Writer;

static NOTHING: LazyLock<HashSet<usize>> = LazyLock::new(HashSet::new);

pub(super) struct Delivery<'a> {
    job: &'a Job<'a>,
    store: Option<&'a Writer>,
    listen: &'a mut dyn FnMut(Event),
    tally: Tally,
    order: InOrder<'a>,
    /// Positions that have a result. Tracked only if the run has a time limit.
    taken: Option<HashSet<usize>>,
}

impl<'a> Delivery<'a> {
    pub(super) fn new(
        job: &'a Job<'a>,
        store: Option<&'a Writer>,
        listen: &'a mut dyn FnMut(Event),
    ) -> Self {
        let earlier = job.earlier.map_or(&*NOTHING, |earlier| &earlier.done);
        Self {
            job,
            store,
            listen,
            tally: Tally::new(job.info),
            order: InOrder::new(job.plan.seats.len(), earlier),
            taken: job.settings.max_time.map(|_| HashSet::new()),
        }
    }

    pub(super) async fn take(&mut self, result: CaseResult) {
        if let Some(store) = self.store {
            store.case(&result).await;
        }
        if let Some(taken) = &mut self.taken {
            taken.insert(result.ordinal);
        }
        self.order.put(result);
        self.publish().await;
    }

    pub(super) fn has(&self, ordinal: usize) -> bool {
        self.taken.as_ref().is_some_and(|taken| taken.contains(&ordinal))
    }

    /// Reports the remaining results, skipping gaps, and returns the summary.
    pub(super) async fn finish(mut self, took: Duration, interrupted: bool) -> Summary {
        self.publish().await;
        while self.order.skip() {
            self.publish().await;
        }
        self.tally.finish(took, interrupted)
    }

    async fn publish(&mut self) {
        while let Some(ready) = self.order.ready() {
            let result = match (ready, self.job.earlier) {
                (Ready::Now(result), _) => Some(*result),
                (Ready::PreviousRun(at), Some(earlier)) => {
                    let stored = earlier.store.case(&earlier.run, at).await;
                    stored.unwrap_or_else(|error| {
                        tracing::warn!(%error, ordinal = at, "cannot show a result of the previous run");
                        None
                    })
                }
                (Ready::PreviousRun(_), None) => None,
            };
            if let Some(result) = result {
                self.tally.add(&result);
                (self.listen)(Event::Case(Arc::new(result)));
            }
        }
    }
}
