//! A red-team run: survey, learn, attack, confirm, report.

mod attacked;
mod budget;
mod canary_files;
mod clock;
mod confirm_prompt;
mod converse;
mod executor;
mod files;
mod findings;
mod gate;
mod generate;
mod identity_sessions;
mod learn;
mod listener;
mod observer;
mod outage;
mod own_credentials;
mod own_objects;
mod plan;
mod previous;
mod prompt_counts;
mod proposals;
mod raw;
mod request_parts;
mod restore;
mod roots;
mod scope;
mod send_attempt;
mod setup;
mod shims;
mod shrink;
mod silent_tools;
mod speaker;
mod sse_stream;
mod survey;
mod text;
mod trial_cases;
mod trial_counts;
mod trial_outcome;
mod trial_plan;
mod watched_paths;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::stream::{self, Stream as _, StreamExt as _};
use quintain_evidence::event::{Event, Phase, RunInfo};
use quintain_evidence::redteam_report::{FileChange, NotRun, RedteamReport};
use quintain_evidence::result::CaseResult;
use quintain_evidence::tally::{Summary, Tally};
use quintain_evidence::trial_record::{TrialKey, TrialState};
use quintain_redteam::accepted_findings::{part_suppressed, unused};
use quintain_redteam::orders::Orders;
use quintain_redteam::suits::Receiver;
use quintain_redteam::summary::{insight, merge_places, summed_up};
use quintain_wire::destination::NotAllowed;

use quintain_suite::suite::Consent;

use crate::eval::{Stop, mask};
use crate::masked::Emitted;
use crate::models::ModelSettings;
use crate::sessions::OpenError;
use crate::store::{RunEnd, StoreError, Writer};
use crate::world::World;
use canary_files::PlantedFiles;
use clock::Clock;
use executor::Executor;
use findings::{FindingWriter, crash_order};
use plan::{AttackPlan, PlannedTrial};
use setup::Setup;
use speaker::Speaker;
use survey::Surveyed;
use trial_cases::TrialCases;
use trial_counts::TrialCounts;
use trial_outcome::TrialOutcome;

pub use attacked::{AttackedTarget, TextTarget};
pub use findings::Reproduce;
pub use generate::{Generated, generate};
pub use previous::{PreviousTrials, StoredKnowledge};
pub use roots::declared as declared_roots;

/// Environment variable of every started target, with a random value.
pub const ENV_CANARY: &str = "QUINTAIN_CANARY";

/// Time limit of the ping at the end. Generous, since a busy machine is not an outage.
const PING: Duration = Duration::from_secs(5);
/// The same after the time limit of the run, which ends within two seconds of it.
const LAST_PING: Duration = Duration::from_millis(400);
/// How long a target that is pinged after the time limit must have answered nothing.
const SILENCE: Duration = Duration::from_secs(2);

/// Whether a target is on another machine.
pub fn is_remote(target: AttackedTarget<'_>) -> bool {
    match target {
        AttackedTarget::Mcp(target) => roots::location(target).is_remote,
        AttackedTarget::Text(target) => text::is_remote(target),
    }
}

/// What to attack, and how.
pub struct RedteamRun<'a> {
    /// Given by the user who starts a run; without it, no model is asked.
    pub consent: Option<Consent>,
    pub target: AttackedTarget<'a>,
    /// The name of the target in reports.
    pub name: &'a str,
    pub world: &'a World,
    pub orders: &'a Orders,
    /// Which models judge and write messages if the orders name none.
    pub models: &'a ModelSettings,
    /// Returns a command that reproduces a step by hand.
    pub reproduce: Reproduce<'a>,
    /// The interrupted run to resume, if any.
    pub previous: Option<&'a PreviousTrials>,
}

/// Why a run could not be executed.
#[derive(Debug, thiserror::Error)]
pub enum RedteamError {
    #[error("the target is not on this machine")]
    Remote,
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The suite orders a listener that the policy does not allow.
    #[error("cannot listen on `{address}` for connections of the target: {denied}")]
    Listener { address: String, denied: NotAllowed },
    #[error("cannot create the canary files: {0}")]
    CanaryFiles(std::io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The result of a run.
#[derive(Debug)]
pub struct RedteamOutcome {
    pub summary: Summary,
    /// Why the store could not save the run.
    pub store_error: Option<String>,
    /// Attack and place of every trial that this process ran.
    pub trials_run: BTreeSet<(String, String)>,
    /// Planted files that could not be removed, and why.
    pub not_removed: Vec<(PathBuf, String)>,
}

/// Attacks until all trials are finished, `stop` becomes true, or the budget is spent.
///
/// # Errors
/// When nothing could be attacked.
pub async fn execute(
    redteam_run: &RedteamRun<'_>,
    info: RunInfo,
    stop: Stop,
    writer: Option<Writer>,
    listen: &mut dyn FnMut(Emitted),
) -> Result<RedteamOutcome, RedteamError> {
    let started = Instant::now();
    let mut clock = Clock::new();
    let prepared = async {
        let setup = Setup::prepare(redteam_run, Some(stop.clone())).await?;
        let surveyed = Surveyed::of(&setup, redteam_run, &mut clock, listen).await?;
        Ok((setup, surveyed))
    };
    let (setup, surveyed) = match prepared.await {
        Ok(prepared) => prepared,
        Err(error) => {
            // Of a run that never was, nothing is kept.
            if let Some(writer) = writer.filter(|_| redteam_run.previous.is_none()) {
                writer.discard().await;
            }
            return Err(error);
        }
    };
    let proposals = setup.proposals(redteam_run, &surveyed.surfaces, &mut clock, listen).await;
    let orders = proposals.over(redteam_run.orders);
    let redteam_run = &RedteamRun { orders: &orders, ..*redteam_run };
    let view = surveyed.view();
    let mut plan = AttackPlan::of(redteam_run.orders, &view);
    if let Some(at) = plan.place_of(redteam_run.orders, own_credentials::ATTACK) {
        let redactor = &redteam_run.world.redactor;
        let shown = own_credentials::in_surfaces(&surveyed.surfaces, redactor);
        plan.statics.extend(shown.into_iter().map(|hit| (at, hit)));
    }
    plan.note_limits();
    let planned = plan.len();
    let info = RunInfo { planned, ..info };
    let mut attack_phase = AttackPhase {
        finding_writer: FindingWriter::of(redteam_run),
        redteam_run,
        counts: TrialCounts::of(redteam_run.orders, &view),
        rows: TrialCases::new(redteam_run.name),
        tally: Tally::new(&info),
        writer,
        interrupted: false,
        has_dropped: false,
        finished_trials: 0,
        trials_run: BTreeSet::new(),
        listen,
    };
    (attack_phase.listen)(Event::Started(Arc::new(info.clone())).into());
    if let Some(writer) = &attack_phase.writer {
        writer.info(&info).await;
        for answer in &proposals.answers {
            writer.answer(answer).await;
        }
        writer.knowledge(&setup.stored_knowledge(&surveyed.knowledge, &proposals.calls)).await;
    }
    (attack_phase.listen)(Event::Phase(Phase::Attack).into());
    attack_phase.load_previous(&mut plan).await?;
    attack_phase.counts.plan(&plan);
    let speaker = Speaker::of(redteam_run);
    let mut executor = surveyed.executor(redteam_run, &setup, &view, speaker);
    if let Some(left) = setup.budget.time_left() {
        // Trials run concurrently, which saves time even if the target handles one call at a time.
        let reduced = executor.trial_plan.reduce_forms(
            &plan.waves[0].trials,
            clock.per_call("learn") / 2,
            left,
        );
        plan.not_run.extend(reduced);
    }
    attack_phase.run_waves(&mut plan, &executor).await;
    clock.end_attack_phase(setup.budget.calls(), &executor.meter);
    (attack_phase.listen)(Event::Phase(Phase::Report).into());
    let cut_short = setup.budget.why();
    let is_gone = Box::pin(attack_phase.is_target_gone(&surveyed, &executor)).await;
    surveyed.close().await;
    executor.speaker.close().await;
    let mut not_run = redteam_run.orders.not_run.clone();
    not_run.extend(trial_plan::skipped(redteam_run.orders));
    not_run.extend(plan.not_run);
    not_run.extend(setup.not_run.clone());
    not_run.extend(executor.speaker.not_run());
    let left: Vec<&str> = surveyed.knowledge.silent.iter().map(|one| one.tool.as_str()).collect();
    not_run.extend(setup.gate.blocked(&left));
    not_run.extend(attack_phase.trials_not_run(planned, cut_short.as_deref()));
    not_run.extend(surveyed.not_listed());
    not_run.extend(attack_phase.unanswered());
    let changes = setup.restore();
    let ended = Ended { not_run, changes, cut_short, is_gone, clock, started };
    Ok(attack_phase.finish(&setup, &surveyed, ended).await)
}

/// State at the end of the attack.
struct Ended {
    not_run: Vec<NotRun>,
    changes: Vec<FileChange>,
    cut_short: Option<String>,
    /// The target answered at first and does not any more.
    is_gone: bool,
    clock: Clock,
    started: Instant,
}

/// The attack phase. Counts, stores and reports every finished trial immediately.
struct AttackPhase<'a> {
    redteam_run: &'a RedteamRun<'a>,
    finding_writer: FindingWriter<'a>,
    counts: TrialCounts,
    rows: TrialCases,
    tally: Tally,
    writer: Option<Writer>,
    interrupted: bool,
    /// The time limit ended a trial that waited for the target.
    has_dropped: bool,
    /// Number of finished trials, including those of the interrupted run.
    finished_trials: usize,
    trials_run: BTreeSet<(String, String)>,
    listen: &'a mut dyn FnMut(Emitted),
}

impl AttackPhase<'_> {
    /// Counts the trials of the interrupted run and removes them from the plan.
    async fn load_previous(&mut self, plan: &mut AttackPlan) -> Result<(), StoreError> {
        let kept = match self.redteam_run.previous {
            Some(previous) => {
                plan.without(&previous.done());
                previous.trials.iter().for_each(|trial| self.counts.add_trial(trial.clone()));
                previous.replay_cases(&mut self.tally, self.listen).await?
            }
            None => 0,
        };
        self.rows.skip(kept);
        for (at, hit) in std::mem::take(&mut plan.statics) {
            let plugin = &self.redteam_run.orders.plugins[at];
            // These rows come first, so the interrupted run has already stored them.
            if kept == 0 {
                let row = self.rows.of_static(plugin, &hit);
                self.keep(row, true).await;
            }
            let finding = self.finding_writer.listed(plugin, hit);
            self.counts.listed(plugin.attack.meta().id, finding);
        }
        Ok(())
    }

    async fn run_waves(&mut self, plan: &mut AttackPlan, executor: &Executor<'_>) {
        let concurrency = self.redteam_run.orders.concurrency.max(1);
        for wave in std::mem::take(&mut plan.waves) {
            let concurrency = if wave.quiet { 1 } else { concurrency };
            let trials = stream::iter(wave.trials).map(async |planned: PlannedTrial| {
                let PlannedTrial { plugin, aim, scope, key, .. } = planned;
                (key, executor.run_trial(plugin, aim, scope).await)
            });
            let mut trials = std::pin::pin!(trials.buffer_unordered(concurrency));
            let mut confirming = false;
            loop {
                // What hangs when the time is over is dropped.
                let finished = tokio::select! {
                    finished = executor.budget.within_grace(trials.next()) => Some(finished.flatten()),
                    () = executor.meter.changed() => None,
                };
                match finished {
                    Some(Some((key, outcome))) => {
                        // A trial that the budget cut short proves nothing. Resuming the run repeats it.
                        let whole = !executor.budget.is_spent();
                        if whole || !outcome.hits.is_empty() || outcome.crash.is_some() {
                            self.record_trial(key, outcome, whole).await;
                        }
                    }
                    Some(None) => {
                        self.has_dropped |= trials.size_hint() != (0, Some(0));
                        break;
                    }
                    None => {}
                }
                if confirming != executor.meter.is_confirming() {
                    confirming = !confirming;
                    let phase = if confirming { Phase::Confirm } else { Phase::Attack };
                    (self.listen)(Event::Phase(phase).into());
                }
            }
        }
        for outcome in executor.budget.within(executor.late()).await.into_iter().flatten() {
            self.counts.late(self.finding_writer.late(outcome));
        }
        self.interrupted = executor.budget.is_stopped();
    }

    /// Whether the target answered at first and does not answer a ping any more. Asked only if a trial got no answer.
    async fn is_target_gone(&self, surveyed: &Surveyed, executor: &Executor<'_>) -> bool {
        if self.interrupted {
            return false;
        }
        if self.counts.answers().1 > 0 {
            let ping = Box::pin(surveyed.is_gone(PING));
            return executor.budget.or_stopped(ping).await.unwrap_or(false);
        }
        // A slow call is not an outage.
        let is_silent = self.has_dropped && executor.meter.silence() >= SILENCE;
        let ping = Box::pin(surveyed.is_gone(LAST_PING));
        is_silent && executor.budget.or_stopped(ping).await.unwrap_or(false)
    }

    async fn record_trial(&mut self, key: TrialKey, outcome: TrialOutcome, whole: bool) {
        let state = outcome.state;
        if whole {
            self.counts.finished(&key);
        }
        if state == TrialState::Answered {
            self.trials_run.insert((key.attack.clone(), key.place.clone()));
        }
        let row = (state != TrialState::NotSent)
            .then(|| self.rows.of_trial(self.redteam_run.orders, &outcome));
        let crash = crash_order(self.redteam_run.orders).zip(outcome.crash.as_ref());
        let crash = crash.map(|(order, crash)| {
            let hit = self.finding_writer.crash_hit(crash, &outcome.aim.place);
            self.rows.of_crash(&order, &hit, crash)
        });
        let record = self.finding_writer.record(key, outcome);
        // Resuming the run repeats what the target did not answer.
        let whole = whole && state != TrialState::Unanswered;
        if let Some(writer) = self.writer.as_ref().filter(|_| whole) {
            writer.trial(&record).await;
        }
        match row {
            Some(row) => self.keep(row, whole).await,
            None => self.finished_trials += 1,
        }
        if let Some(row) = crash {
            self.keep(row, whole).await;
            // It was not planned.
            self.finished_trials -= 1;
        }
        self.counts.add_trial(record);
    }

    async fn keep(&mut self, row: CaseResult, whole: bool) {
        let row = mask(row, &self.redteam_run.world.redactor);
        match &self.writer {
            Some(writer) if whole => writer.case(&row).await,
            Some(writer) => writer.unfinished_case(&row),
            None => {}
        }
        self.finished_trials += 1;
        self.tally.add(&row);
        (self.listen)(Emitted::Case(row));
    }

    /// The planned trials that did not run because a budget was spent.
    fn trials_not_run(&self, planned: usize, cut_short: Option<&str>) -> Option<NotRun> {
        let left = planned.saturating_sub(self.finished_trials);
        let why = cut_short.filter(|_| left > 0)?.to_owned();
        Some(NotRun { what: format!("{left} of {planned} trials"), why })
    }

    /// The trials that the target did not answer.
    fn unanswered(&self) -> Option<NotRun> {
        let (answered, unanswered) = self.counts.answers();
        let what = format!("{unanswered} of {} trials", answered + unanswered);
        let why = "the target did not answer as a working target does".to_owned();
        (unanswered > 0).then_some(NotRun { what, why })
    }

    async fn finish(self, setup: &Setup, surveyed: &Surveyed, ended: Ended) -> RedteamOutcome {
        let Ended { not_run, changes, cut_short, is_gone, clock, started } = ended;
        let orders = self.redteam_run.orders;
        let mut summary = self.tally.finish(started.elapsed(), self.interrupted);
        let knowledge = &surveyed.knowledge;
        let halted = setup.budget.halted().map(str::to_owned);
        let unreachable = surveyed.unlisted_tools().or(halted);
        let unreachable = unreachable.or_else(|| match self.counts.answers() {
            (0, 1..) => Some("the target answered no attack".to_owned()),
            _ if is_gone => Some("the target stopped answering during the attack".to_owned()),
            _ => None,
        });
        let cut_short = cut_short.or_else(|| unreachable.clone());
        let (findings, attacks, tools) = self.counts.finish(orders, &surveyed.surfaces, knowledge);
        let (findings, suppressed) = part_suppressed(findings, &orders.suppressions, &orders.today);
        let (findings, suppressed) = (merge_places(findings), merge_places(suppressed));
        let end = match (self.interrupted, &cut_short) {
            (true, _) => RunEnd::Interrupted,
            (false, Some(_)) => RunEnd::LimitReached,
            (false, None) => RunEnd::Finished,
        };
        // After an incomplete run, a suppression may be unused only because its finding was not looked for.
        let whole = end == RunEnd::Finished;
        let listed = if whole { &orders.suppressions[..] } else { &[] };
        let unused = unused(listed, findings.iter().chain(&suppressed), &orders.today);
        for finding in &findings {
            (self.listen)(Event::Finding(Arc::new(finding.clone())).into());
        }
        let report = RedteamReport {
            findings,
            suppressed,
            unused,
            attacks,
            not_run,
            tools,
            silent: knowledge.silent.clone(),
            phases: clock.phases,
            calls: setup.budget.calls(),
            tokens: setup.budget.tokens(),
            cost: setup.budget.cost(),
            takes_text: orders.receiver == Receiver::Model,
            seed: orders.seed,
            cut_short,
            unreachable,
            changes,
            learned: insight(knowledge),
            ..RedteamReport::default()
        };
        summary.redteam = Some(Box::new(summed_up(report)));
        let store_error = match self.writer {
            Some(writer) => writer.finish(&summary, end).await.err().map(|error| error.to_string()),
            None => None,
        };
        (self.listen)(Event::Finished(Arc::new(summary.clone())).into());
        let not_removed =
            setup.observer.with_planted(PlantedFiles::clear).unwrap_or_default().not_removed;
        RedteamOutcome { summary, store_error, trials_run: self.trials_run, not_removed }
    }
}
