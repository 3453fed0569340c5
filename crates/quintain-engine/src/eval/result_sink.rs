//! Delivers finished cases: to the store immediately, to the listeners in plan order.

use std::collections::HashSet;
use std::sync::LazyLock;
use std::time::Duration;

use quintain_evidence::graded::GradeSummary;
use quintain_evidence::tally::{Summary, Tally};

use super::EvalRun;
use super::ordered_results::{NextResult, OrderedResults};
use crate::masked::{self, Emitted, MaskedCase};
use crate::store::Writer;

static NOTHING: LazyLock<HashSet<usize>> = LazyLock::new(HashSet::new);

pub(super) struct ResultSink<'a> {
    job: &'a EvalRun<'a>,
    store: Option<&'a Writer>,
    listen: &'a mut dyn FnMut(Emitted),
    tally: Tally,
    /// What metrics say about all cases, if the suite has metrics.
    scores: Option<Box<GradeSummary>>,
    order: OrderedResults<'a>,
    /// Positions that have a result. Tracked only if the run has a time limit.
    taken: Option<HashSet<usize>>,
}

impl<'a> ResultSink<'a> {
    pub(super) fn new(
        job: &'a EvalRun<'a>,
        store: Option<&'a Writer>,
        listen: &'a mut dyn FnMut(Emitted),
    ) -> Self {
        let previous = job.previous.map_or(&*NOTHING, |previous| &previous.done);
        Self {
            job,
            store,
            listen,
            tally: Tally::new(job.info),
            scores: job.metrics.map(|_| Box::default()),
            order: OrderedResults::new(job.plan.cases.len(), previous),
            taken: job.settings.max_time.map(|_| HashSet::new()),
        }
    }

    pub(super) async fn take(&mut self, result: MaskedCase) {
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
        Summary { grade: self.scores, ..self.tally.finish(took, interrupted) }
    }

    async fn publish(&mut self) {
        while let Some(ready) = self.order.ready() {
            let result = match (ready, self.job.previous) {
                (NextResult::Now(result), _) => Some(result),
                (NextResult::PreviousRun(at), Some(previous)) => {
                    let stored = previous.store.case(&previous.run, at).await;
                    let stored = stored.unwrap_or_else(|error| {
                        tracing::warn!(%error, ordinal = at, "cannot show a result of the previous run");
                        None
                    });
                    stored.map(|stored| masked::case(stored, &self.job.world.redactor))
                }
                (NextResult::PreviousRun(_), None) => None,
            };
            if let Some(result) = result {
                self.tally.add(&result);
                if let (Some(scores), Some(graded)) = (&mut self.scores, &result.graded) {
                    scores.add(graded);
                }
                (self.listen)(Emitted::Case(result));
            }
        }
    }
}
