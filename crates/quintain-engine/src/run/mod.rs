//! Runs a plan: opens targets, sends probes with bounded concurrency, judges what comes back and
//! tells whoever listens, in the order of the plan.

mod answers;
mod case;
mod judge;
mod lanes;
mod mask;
mod memory;
mod order;
mod pace;
mod settings;

use std::cell::RefCell;
use std::collections::HashSet;
use std::time::{Duration, Instant};

use futures_util::stream::{self, StreamExt};
use quintain_core::event::{Event, RunInfo};
use quintain_core::plan::{Case, Plan};
use quintain_core::result::CaseResult;
use quintain_core::suite::Suite;
use quintain_core::tally::{Summary, Tally};
use quintain_source::{Nunjucks, Sources};
use tokio::sync::watch;

pub use settings::Settings;

use crate::store::Writer;
use crate::world::World;
use answers::Answers;
use lanes::Lanes;
use memory::Memory;
use order::InOrder;
use pace::Pace;

/// What is run, and how.
pub struct Job<'a> {
    pub suite: &'a Suite,
    pub plan: &'a Plan,
    pub sources: &'a Sources,
    pub world: &'a World,
    pub settings: &'a Settings,
    pub info: &'a RunInfo,
    /// Cases that have a result already.
    pub done: HashSet<usize>,
}

/// What a run came to.
#[derive(Debug)]
pub struct Outcome {
    pub summary: Summary,
    /// Targets that could not be reached, and why.
    pub unreachable: Vec<String>,
    /// What could not be kept in the store.
    pub unsaved: Option<String>,
}

/// Says when to stop: true once somebody pressed Ctrl-C.
pub type Stop = watch::Receiver<bool>;

/// Everything that the cases of a run share.
struct Floor<'a> {
    job: &'a Job<'a>,
    templates: Nunjucks,
    lanes: Lanes<'a>,
    memory: Memory,
    pace: Pace,
    answers: Answers,
}

/// Runs the plan to its end, or to the point where `stop` or the time limit ends it. Every finished
/// case is handed to the store first and to `listen` then.
pub async fn execute(
    job: &Job<'_>,
    mut stop: Stop,
    store: Option<Writer>,
    listen: &mut dyn FnMut(Event<'_>),
) -> Outcome {
    let started = Instant::now();
    listen(Event::Started(job.info));
    let lanes = tokio::select! {
        lanes = Lanes::open(job) => Some(lanes),
        () = stopped(&mut stop) => None,
    };
    let (unreachable, (summary, unsaved)) = match lanes {
        Some(lanes) => {
            let floor = Floor {
                job,
                templates: job.suite.templates(),
                lanes,
                memory: Memory::of(job.suite),
                pace: Pace::new(job.settings.rate),
                answers: Answers::new(job),
            };
            let finished = floor.run(&mut stop, store, listen, started).await;
            floor.answers.close().await;
            floor.lanes.close().await;
            (floor.lanes.unreachable(), finished)
        }
        None => {
            let summary = Tally::new(job.info).finish(started.elapsed(), true);
            let unsaved = finish_store(store, &summary).await;
            (Vec::new(), (summary, unsaved))
        }
    };
    listen(Event::Finished(&summary));
    Outcome { summary, unreachable, unsaved }
}

impl Floor<'_> {
    async fn run(
        &self,
        stop: &mut Stop,
        store: Option<Writer>,
        listen: &mut dyn FnMut(Event<'_>),
        started: Instant,
    ) -> (Summary, Option<String>) {
        let Job { plan, settings, .. } = self.job;
        let open = plan.cases.iter().filter(|case| !self.job.done.contains(&case.ordinal));
        let (serial, free): (Vec<&Case>, Vec<&Case>) = open.partition(|case| self.is_serial(case));
        let tally = RefCell::new(Tally::new(self.job.info));
        let mut order = InOrder::new(plan.cases.len(), &self.job.done);
        let width = settings.concurrency.max(1);
        let serial = stream::iter(serial).map(|case| self.case(case)).buffered(1);
        let free = stream::iter(free).map(|case| self.case(case)).buffer_unordered(width);
        let mut results = std::pin::pin!(serial.chain(free));
        let deadline = settings.max_time.map(|limit| started + limit);
        let mut interrupted = false;
        let mut publish = |result: CaseResult| {
            tally.borrow_mut().add(&result);
            listen(Event::Case(&result));
        };
        loop {
            let result = tokio::select! {
                biased;
                () = stopped(stop) => {
                    interrupted = true;
                    break;
                }
                () = until(deadline) => break,
                result = results.next() => result,
            };
            let Some(result) = result else { break };
            if let Some(store) = &store {
                store.case(&result).await;
            }
            order.put(result, &mut publish);
        }
        order.flush(&mut publish);
        let summary = tally.borrow().finish(started.elapsed(), interrupted);
        let unsaved = finish_store(store, &summary).await;
        (summary, unsaved)
    }

    fn is_serial(&self, case: &Case) -> bool {
        case.test.options.run_serially || self.memory.orders(case)
    }
}

async fn finish_store(store: Option<Writer>, summary: &Summary) -> Option<String> {
    let finished = store?.finish(summary).await;
    finished.err().map(|error| error.to_string())
}

async fn stopped(stop: &mut Stop) {
    if stop.wait_for(|stopped| *stopped).await.is_err() {
        // Nobody is left who could stop it.
        std::future::pending::<()>().await;
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
        None => std::future::pending().await,
    }
}

/// The time a future takes at most; none if it takes longer.
async fn within<T>(limit: Option<Duration>, work: impl Future<Output = T>) -> Option<T> {
    match limit {
        Some(limit) => tokio::time::timeout(limit, work).await.ok(),
        None => Some(work.await),
    }
}
