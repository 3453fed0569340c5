//! Runs a plan: opens targets, sends probes with bounded concurrency, judges the answers and reports events in plan
//! order.

mod case;
mod compare;
mod conversations;
mod judge;
mod mask;
mod measure;
mod open_targets;
mod ordered_results;
mod rate_limit;
mod recording;
mod result_sink;
mod settings;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::stream::{self, StreamExt};
use quintain_evidence::event::{Event, Phase, RunInfo};
use quintain_evidence::result::CaseStatus;
use quintain_evidence::tally::{Summary, Tally};
use quintain_source::{Nunjucks, Sources, Span, switched_on};
use quintain_suite::derived_metrics::derive;
use quintain_suite::plan::{Plan, PlannedCase};
use quintain_suite::suite::{Consent, Suite};
use serde_json::Value;
use tokio::sync::watch;

pub(crate) use mask::mask;
pub(crate) use mask::stored_sameness;
pub(crate) use measure::CaseMetrics;
pub(crate) use recording::StoredResponses;
pub(crate) use settings::Settings;

use crate::external_services::ExternalServices;
use crate::inquiry::AnswerSources;
use crate::masked::Emitted;
use crate::models::RejectedModel;
use crate::role_models::RoleModels;
use crate::store::{Finished, Run, RunEnd, Store, StoreError, Writer};
use crate::world::World;
use compare::{Added, PendingComparisons};
use conversations::Conversations;
use open_targets::OpenTargets;
use rate_limit::RateLimit;
use result_sink::ResultSink;

/// What to run, and how.
pub(crate) struct EvalRun<'a> {
    /// The user's consent to run the suite.
    pub consent: Consent,
    pub suite: &'a Suite,
    pub plan: &'a Plan,
    pub sources: &'a Sources,
    pub world: &'a World,
    pub settings: &'a Settings,
    pub info: &'a RunInfo,
    pub previous: Option<&'a PreviousRun>,
    /// If set, nothing is sent: these stored responses are judged again.
    pub recording: Option<&'a StoredResponses>,
    /// The metrics of the suite, which score every case.
    pub metrics: Option<&'a CaseMetrics>,
}

/// A run to resume.
#[derive(Debug)]
pub(crate) struct PreviousRun {
    pub store: Store,
    pub run: Run,
    /// Positions of the plan that already have a result.
    pub done: HashSet<usize>,
}

impl PreviousRun {
    /// Finds the results of a stored run to reuse: those of cases in the plan, except errors if `retry_errors` is set.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(crate) async fn of(
        store: Store,
        run: Run,
        plan: &Plan,
        retry_errors: bool,
    ) -> Result<Self, StoreError> {
        let finished = store.finished(&run).await?;
        let wanted = |row: &&Finished| !(retry_errors && row.status == CaseStatus::Errored);
        let finished: HashSet<_> =
            finished.iter().filter(wanted).map(|row| (row.test_idx, row.prompt_idx)).collect();
        let is_finished = |planned_case: &&PlannedCase| {
            finished.contains(&(planned_case.test_idx, planned_case.column))
        };
        // Answers that are compared with each other must come from the same run.
        let compared = plan.cases.iter().filter(|planned_case| planned_case.scheduling.compared);
        let incomplete = compared.filter(|planned_case| !is_finished(planned_case));
        let incomplete: HashSet<usize> =
            incomplete.map(|planned_case| planned_case.test_idx).collect();
        let done = plan.cases.iter().filter(is_finished);
        let done = done
            .filter(|planned_case| !incomplete.contains(&planned_case.test_idx))
            .map(|planned_case| planned_case.ordinal);
        let done = done.collect();
        Ok(Self { store, run, done })
    }
}

impl EvalRun<'_> {
    fn is_done(&self, planned_case: &PlannedCase) -> bool {
        self.previous.is_some_and(|previous| previous.done.contains(&planned_case.ordinal))
    }
}

/// Time limit for closing targets and interpreters.
const CLOSE: Duration = Duration::from_millis(1_500);

/// The result of a run.
#[derive(Debug)]
pub(crate) struct EvalOutcome {
    pub summary: Summary,
    /// Targets that could not be reached, and why.
    pub unreachable: Vec<String>,
    /// Models whose endpoints refuse them.
    pub rejected: Vec<RejectedModel>,
    /// Time limit reached before all cases ran.
    pub time_limit_reached: bool,
    /// Why the store could not save the run.
    pub store_error: Option<String>,
}

/// Becomes true when the run must stop, for example after Ctrl-C.
pub(crate) type Stop = watch::Receiver<bool>;

/// State shared by all cases of a run.
struct RunContext<'a> {
    job: &'a EvalRun<'a>,
    templates: Nunjucks,
    target_templates: Nunjucks,
    open_targets: OpenTargets<'a>,
    conversations: Conversations,
    rate_limit: RateLimit,
    answer_sources: AnswerSources<'a>,
    role_models: Arc<RoleModels<'a>>,
    /// Stop a test at its first failed assertion.
    fail_fast: bool,
}

/// Where a suite names a model as a judge.
fn span_of_judge(suite: &Suite, model: &str) -> Option<Span> {
    let names = |value: &Value| {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        value.as_str().or_else(|| text("label")).or_else(|| text("id")) == Some(model)
    };
    let judge = suite.documents.iter().find_map(|document| document.get("judge"));
    let judge = judge.filter(|node| names(&node.to_json())).map(|node| node.span);
    judge.or_else(|| {
        let tests = (0..suite.tests.tests.len()).filter_map(|at| suite.tests.tests.get(at).ok());
        tests.flat_map(|test| test.models()).find_map(|asked| match asked.model {
            Ok(Some(named)) if names(&named.value) => Some(named.span),
            _ => None,
        })
    })
}

/// Runs the plan until it is finished, `stop` becomes true, or the time limit is reached. Sends every finished case
/// to the store first, then to `listen`.
pub(crate) async fn execute(
    job: &EvalRun<'_>,
    mut stop: Stop,
    store: Option<Writer>,
    listen: &mut dyn FnMut(Emitted),
) -> EvalOutcome {
    let started = Instant::now();
    listen(Event::Started(Arc::new(job.info.clone())).into());
    listen(Event::Phase(Phase::Survey).into());
    let open_targets = tokio::select! {
        open_targets = OpenTargets::open(job) => Some(open_targets),
        () = stopped(&mut stop) => None,
    };
    let outcome = if let Some(open_targets) = open_targets {
        let role_models = RoleModels::new(
            &job.suite.targets,
            &job.suite.env,
            job.settings.models.clone(),
            job.world,
            job.consent,
        );
        let role_models = Arc::new(role_models);
        let run_context = RunContext {
            job,
            templates: job.suite.templates(),
            target_templates: job.suite.target_templates(),
            open_targets,
            conversations: Conversations::of(job.suite),
            rate_limit: RateLimit::new(job.settings.rate),
            answer_sources: AnswerSources::new(
                ExternalServices::new(job.consent, job.suite.env.clone(), job.world),
                job.settings.ask,
                job.settings.concurrency,
            )
            .with_model(role_models.clone())
            // Preparing the run has reported lines that cannot be read.
            .with_recorded(job.settings.models.recorded().ok().flatten()),
            role_models,
            fail_fast: switched_on(&job.suite.env, "PROMPTFOO_SHORT_CIRCUIT_TEST_FAILURES"),
        };
        listen(Event::Phase(Phase::Probe).into());
        let outcome = run_context.run(&mut stop, store, listen, started).await;
        let closing = async {
            run_context.answer_sources.close().await;
            run_context.open_targets.close().await;
        };
        // What has not closed by then is killed when it is dropped.
        within(Some(CLOSE), closing).await;
        outcome
    } else {
        let summary = Tally::new(job.info).finish(started.elapsed(), true);
        let store_error = finish_store(store, &summary, RunEnd::Interrupted).await;
        EvalOutcome {
            summary,
            unreachable: Vec::new(),
            rejected: Vec::new(),
            time_limit_reached: false,
            store_error,
        }
    };
    listen(Event::Finished(Arc::new(outcome.summary.clone())).into());
    outcome
}

impl RunContext<'_> {
    async fn run(
        &self,
        stop: &mut Stop,
        store: Option<Writer>,
        listen: &mut dyn FnMut(Emitted),
        started: Instant,
    ) -> EvalOutcome {
        let EvalRun { plan, settings, suite, .. } = self.job;
        if let Some(store) = &store {
            for (target, surfaces) in self.open_targets.surfaces() {
                store.surfaces(target, surfaces).await;
            }
        }
        self.restore_values().await;
        let open: Vec<&PlannedCase> =
            plan.cases.iter().filter(|planned_case| !self.job.is_done(planned_case)).collect();
        let (serial, free): (Vec<&PlannedCase>, Vec<&PlannedCase>) =
            open.iter().partition(|planned_case| self.is_serial(planned_case));
        let mut result_sink = ResultSink::new(self.job, store.as_ref(), listen);
        let mut pending_comparisons = PendingComparisons::new(self.job);
        let width = settings.concurrency.max(1);
        let serial = stream::iter(serial).map(|planned_case| self.case(planned_case)).buffered(1);
        let free =
            stream::iter(free).map(|planned_case| self.case(planned_case)).buffer_unordered(width);
        let mut results = std::pin::pin!(serial.chain(free));
        let deadline = settings.max_time.map(|limit| started + limit);
        let (mut interrupted, mut time_limit_reached) = (false, false);
        loop {
            let result = tokio::select! {
                biased;
                () = stopped(stop) => {
                    interrupted = true;
                    break;
                }
                () = until(deadline) => {
                    time_limit_reached = true;
                    break;
                }
                result = results.next() => result,
            };
            let Some(result) = result else { break };
            // Where the job pauses while its client lags behind.
            tokio::task::yield_now().await;
            match pending_comparisons.put(result) {
                Added::Report(result) => result_sink.take(result).await,
                Added::Wait => {}
                Added::Compare(group) => {
                    for result in self.compare(group).await {
                        result_sink.take(result).await;
                    }
                }
            }
        }
        for result in pending_comparisons.take_uncompared(&self.job.world.redactor) {
            result_sink.take(result).await;
        }
        if time_limit_reached {
            for planned_case in open {
                if !result_sink.has(planned_case.ordinal) {
                    result_sink.take(self.time_limit_result(planned_case)).await;
                }
            }
        }
        let mut summary = result_sink.finish(started.elapsed(), interrupted).await;
        for why in derive(
            &mut summary,
            &suite.tests.derived_metrics,
            &self.answer_sources.external_services.host,
        ) {
            tracing::warn!("{why}");
        }
        let end = match (interrupted, time_limit_reached) {
            (true, _) => RunEnd::Interrupted,
            (false, true) => RunEnd::LimitReached,
            (false, false) => RunEnd::Finished,
        };
        let store_error = finish_store(store, &summary, end).await;
        let unreachable = self.unreachable();
        let rejected = self.rejected();
        EvalOutcome { summary, unreachable, rejected, time_limit_reached, store_error }
    }

    /// Why targets could not be opened, and models not be asked.
    fn unreachable(&self) -> Vec<String> {
        let mut unreachable = self.open_targets.unreachable();
        unreachable.extend(self.answer_sources.external_services.models.unreachable());
        unreachable
    }

    /// Why endpoints refuse models, with the places of the models in the suite.
    fn rejected(&self) -> Vec<RejectedModel> {
        let mut rejected = self.answer_sources.external_services.models.rejected();
        for one in &mut rejected {
            let target = self.job.suite.targets.iter().find(|target| target.name() == one.model);
            let span = target.map(|target| target.span);
            let span = span.or_else(|| span_of_judge(self.job.suite, &one.model));
            one.place = span.and_then(|span| case::place(self.job.sources, span));
        }
        rejected
    }

    fn is_serial(&self, planned_case: &PlannedCase) -> bool {
        planned_case.scheduling.serial || self.conversations.orders(planned_case)
    }

    /// Restores the values that finished cases of the previous run stored for later cases.
    async fn restore_values(&self) {
        let Some(PreviousRun { store, run, .. }) = self.job.previous else { return };
        let done = self.job.plan.cases.iter().filter(|planned_case| self.job.is_done(planned_case));
        for planned_case in done.filter(|planned_case| self.conversations.orders(planned_case)) {
            let case = planned_case.case(self.job.suite);
            if !self.conversations.keeps(&case) {
                continue;
            }
            if let Ok(Some(result)) = store.case(run, planned_case.ordinal).await {
                self.conversations.keep(&case, &result.prompt.raw, &result.response);
            }
        }
    }
}

async fn finish_store(store: Option<Writer>, summary: &Summary, end: RunEnd) -> Option<String> {
    let finished = store?.finish(summary, end).await;
    finished.err().map(|error| error.to_string())
}

pub(crate) async fn stopped(stop: &mut Stop) {
    if stop.wait_for(|stopped| *stopped).await.is_err() {
        // The sender is gone, so nothing can stop the run.
        std::future::pending::<()>().await;
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
        None => std::future::pending().await,
    }
}

/// Runs a future with a time limit; `None` if it takes longer.
async fn within<T>(limit: Option<Duration>, work: impl Future<Output = T>) -> Option<T> {
    match limit {
        Some(limit) => tokio::time::timeout(limit, work).await.ok(),
        None => Some(work.await),
    }
}
