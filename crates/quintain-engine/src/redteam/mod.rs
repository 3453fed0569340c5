//! A red-team run: survey, learn, attack, confirm, report.

mod arena;
mod budget;
mod clock;
mod drill;
mod files;
mod findings;
mod gate;
mod ground;
mod lane;
mod learn;
mod listener;
mod making;
mod model;
mod mute;
mod own;
mod party;
mod past;
mod places;
mod plan;
mod raw;
mod rehearse;
mod restore;
mod roots;
mod rows;
mod score;
mod shims;
mod shrink;
mod siege;
mod witness;

use quintain_redteam::summary::insight;
use quintain_redteam::summary::summed_up;
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use futures_util::stream::{self, StreamExt as _};
use quintain_evidence::connection::McpTarget;
use quintain_evidence::event::{Event, Phase, RunInfo};
use quintain_evidence::redteam_report::{FileChange, NotRun, RedteamReport};
use quintain_evidence::result::CaseResult;
use quintain_evidence::surface::Surface;
use quintain_evidence::tally::{Summary, Tally};
use quintain_evidence::trial_record::TrialKey;
use quintain_redteam::attack::{Capabilities, TargetView};
use quintain_redteam::baseline::{part_suppressed, unused};
use quintain_redteam::knowledge::Knowledge;
use quintain_redteam::orders::Orders;
use quintain_redteam::summary::merge_places;

use crate::run::{Stop, mask};
use crate::sessions::OpenError;
use crate::store::{RunEnd, StoreError, Writer};
use crate::world::World;
use arena::{Arena, Fought};
use clock::{Clock, Meter};
use drill::{Drawn, Drill};
use findings::Clerk;
use ground::Planted;
use mute::Mute;
use party::Party;
use plan::{Plan, Planned};
use raw::Doors;
use rows::Rows;
use score::Score;
use siege::Siege;

pub use findings::Reproduce;
pub use past::{Lesson, Past};
pub use rehearse::{Rehearsal, rehearse};
pub use roots::declared as declared_roots;

/// A variable of the environment of every target that is started, with a value nobody knows.
pub const ENV_CANARY: &str = "QUINTAIN_CANARY";

/// How long all sessions together may take to end.
const CLOSE: Duration = Duration::from_secs(1);

/// Whether a target is not on this machine.
pub fn is_remote(target: &McpTarget) -> bool {
    roots::whereabouts(target).elsewhere
}

/// Who is attacked, and how.
pub struct Campaign<'a> {
    pub target: &'a McpTarget,
    /// What reports call it.
    pub name: &'a str,
    pub world: &'a World,
    pub orders: &'a Orders,
    /// How a step is done again by hand.
    pub reproduce: Reproduce<'a>,
    /// An earlier sitting of the same campaign.
    pub past: Option<&'a Past>,
}

/// Why there was no run.
#[derive(Debug, thiserror::Error)]
pub enum RedteamError {
    #[error("the target is not on this machine")]
    Remote,
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error("the canary ground cannot be prepared: {0}")]
    Ground(std::io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What a run came to.
#[derive(Debug)]
pub struct Outcome {
    pub summary: Summary,
    /// What could not be kept in the store.
    pub unsaved: Option<String>,
    /// Attack and place of every bout that was made in this sitting.
    pub fought: BTreeSet<(String, String)>,
    /// What was planted and could not be removed, and why.
    pub left: Vec<(PathBuf, String)>,
}

/// Runs a campaign to its end, or to the point where `stop` or its budget ends it.
///
/// # Errors
/// When nothing could be attacked at all.
pub async fn execute(
    campaign: &Campaign<'_>,
    info: impl FnOnce(usize) -> RunInfo,
    stop: Stop,
    store: impl FnOnce(&RunInfo) -> Option<Writer>,
    listen: &mut dyn FnMut(Event),
) -> Result<Outcome, RedteamError> {
    let started = Instant::now();
    let siege = Siege::prepare(campaign, Some(stop.clone())).await?;
    let mut clock = Clock::new();
    let scouted = Scouted::of(&siege, campaign, &mut clock, listen).await?;
    let proposals = siege.proposals(campaign, &scouted.surfaces, &mut clock, listen).await;
    let orders = proposals.over(campaign.orders);
    let campaign = &Campaign { orders: &orders, ..*campaign };
    let field = scouted.field(campaign);
    let mut plan = Plan::of(campaign.orders, &field);
    let planned = plan.len();
    let info = info(planned);
    let mut battle = Battle {
        clerk: Clerk::of(campaign),
        campaign,
        score: Score::of(campaign.orders, &field),
        rows: Rows::new(campaign.name),
        tally: Tally::new(&info),
        writer: store(&info),
        interrupted: false,
        settled: 0,
        fought: BTreeSet::new(),
        listen,
    };
    (battle.listen)(Event::Started(Arc::new(info.clone())));
    if let Some(writer) = &battle.writer {
        writer.knowledge(&siege.lesson(&scouted.knowledge, &proposals.calls)).await;
    }
    (battle.listen)(Event::Phase(Phase::Attack));
    battle.recall(&mut plan).await?;
    let mut arena = scouted.arena(campaign, &siege, &field);
    if let Some(left) = siege.budget.time_left() {
        // Bouts go on side by side, which even a target that does one thing at a time gains from.
        let spared = arena.drill.spare(&plan.waves[0].bouts, clock.per_call("learn") / 2, left);
        plan.not_run.extend(spared);
    }
    battle.fight(&mut plan, &arena).await;
    clock.lap_of_attack(siege.budget.calls(), &arena.meter);
    (battle.listen)(Event::Phase(Phase::Report));
    let cut_short = siege.budget.why();
    scouted.close().await;
    let mut not_run = campaign.orders.not_run.clone();
    not_run.extend(drill::skipped(campaign.orders));
    not_run.extend(plan.not_run);
    let left: Vec<&str> = scouted.knowledge.silent.iter().map(|one| one.tool.as_str()).collect();
    not_run.extend(siege.gate.held(&left));
    not_run.extend(battle.unfought(planned, cut_short.as_deref()));
    let changes = siege.restore();
    let ended = Ended { not_run, changes, cut_short, clock, started };
    Ok(battle.finish(&siege, &scouted, ended).await)
}

/// What is known of a target before it is attacked.
struct Scouted {
    parties: Vec<Party>,
    surfaces: Vec<(String, Surface)>,
    knowledge: Knowledge,
    powers: Capabilities,
}

impl Scouted {
    /// Surveys and learns.
    async fn of(
        siege: &Siege,
        campaign: &Campaign<'_>,
        clock: &mut Clock,
        listen: &mut dyn FnMut(Event),
    ) -> Result<Self, RedteamError> {
        listen(Event::Phase(Phase::Survey));
        let budget = &siege.budget;
        // A target that does not come up in time leaves nothing to attack, and a report that says so.
        let parties = match budget.within(siege.parties(campaign)).await {
            Some(parties) => parties?,
            None => Vec::new(),
        };
        let surfaces = match parties.first() {
            Some(first) => budget.within(first.survey()).await.unwrap_or_default(),
            None => Vec::new(),
        };
        clock.lap("survey", siege.budget.calls());
        listen(Event::Phase(Phase::Learn));
        let knowledge = siege.learn(campaign, &parties, &surfaces).await;
        clock.lap("learn", siege.budget.calls());
        let powers = siege.powers(campaign, &parties);
        Ok(Self { parties, surfaces, knowledge, powers })
    }

    /// Ends all sessions; what does not end by itself is killed when it is dropped.
    async fn close(&self) {
        let closing = join_all(self.parties.iter().map(Party::close));
        let _ = tokio::time::timeout(CLOSE, closing).await;
    }

    fn field<'a>(&'a self, campaign: &'a Campaign<'_>) -> TargetView<'a> {
        TargetView {
            surfaces: &self.surfaces,
            knowledge: &self.knowledge,
            powers: &self.powers,
            purpose: campaign.orders.purpose.as_deref(),
        }
    }

    fn arena<'a>(
        &'a self,
        campaign: &'a Campaign<'_>,
        siege: &'a Siege,
        field: &'a TargetView<'a>,
    ) -> Arena<'a> {
        Arena {
            parties: &self.parties,
            world: campaign.world,
            orders: campaign.orders,
            field,
            witness: &siege.witness,
            drill: Drill {
                orders: campaign.orders,
                marks: siege.marks.clone(),
                ground: siege.witness.with_ground(|planted| planted.ground.clone()),
                listener: siege.witness.listener.as_ref().map(|one| one.address.clone()),
                identities: self.parties.len(),
                roots: self.knowledge.roots.clone(),
                field,
                drawn: Drawn::default(),
                share: None,
            },
            budget: &siege.budget,
            meter: Meter::default(),
            mute: Mute::new(&self.knowledge),
            marks: Mutex::new(HashMap::new()),
            doors: Doors::new(
                self.parties.iter().map(Party::door).collect(),
                &campaign.orders.tokens,
                siege.gate.clone(),
                campaign.world.policy.destinations(),
            ),
        }
    }
}

/// How an attack ended.
struct Ended {
    not_run: Vec<NotRun>,
    changes: Vec<FileChange>,
    cut_short: Option<String>,
    clock: Clock,
    started: Instant,
}

/// The attack while it goes on: everything that is done is counted, kept and told at once.
struct Battle<'a> {
    campaign: &'a Campaign<'a>,
    clerk: Clerk<'a>,
    score: Score,
    rows: Rows,
    tally: Tally,
    writer: Option<Writer>,
    interrupted: bool,
    /// How many bouts have come to an end, those of an earlier sitting among them.
    settled: usize,
    fought: BTreeSet<(String, String)>,
    listen: &'a mut dyn FnMut(Event),
}

impl Battle<'_> {
    /// Counts what an earlier sitting did, and takes it out of the plan.
    async fn recall(&mut self, plan: &mut Plan) -> Result<(), StoreError> {
        let kept = match self.campaign.past {
            Some(past) => {
                plan.without(&past.done());
                past.bouts.iter().for_each(|bout| self.score.bout(bout.clone()));
                past.tell(&mut self.tally, self.listen).await?
            }
            None => 0,
        };
        self.rows.skip(kept);
        for (at, hit) in std::mem::take(&mut plan.statics) {
            let plugin = &self.campaign.orders.plugins[at];
            // The rows of these come first, so an earlier sitting has told them.
            if kept == 0 {
                let row = self.rows.of_static(plugin, &hit);
                self.keep(row, true).await;
            }
            let finding = self.clerk.listed(plugin, hit);
            self.score.listed(plugin.attack.meta().id, finding);
        }
        Ok(())
    }

    async fn fight(&mut self, plan: &mut Plan, arena: &Arena<'_>) {
        let concurrency = self.campaign.orders.concurrency.max(1);
        for wave in std::mem::take(&mut plan.waves) {
            let concurrency = if wave.quiet { 1 } else { concurrency };
            let bouts = stream::iter(wave.bouts).map(async |planned: Planned| {
                (planned.key, arena.bout(planned.plugin, planned.aim).await)
            });
            let mut bouts = std::pin::pin!(bouts.buffer_unordered(concurrency));
            let mut confirming = false;
            // What hangs when the time is over is dropped.
            while let Some(Some((key, fought))) = arena.budget.within_grace(bouts.next()).await {
                // What the budget cut short proves nothing by its silence, and is to be tried again when
                // the run is gone on with.
                let whole = !arena.budget.is_spent();
                if whole || fought.attempts > 0 {
                    self.settle(key, fought, whole).await;
                }
                if confirming != arena.meter.is_confirming() {
                    confirming = !confirming;
                    let phase = if confirming { Phase::Confirm } else { Phase::Attack };
                    (self.listen)(Event::Phase(phase));
                }
            }
        }
        for fought in arena.budget.within(arena.late()).await.into_iter().flatten() {
            self.score.late(self.clerk.late(fought));
        }
        self.interrupted = arena.budget.is_stopped();
    }

    async fn settle(&mut self, key: TrialKey, fought: Fought, whole: bool) {
        self.fought.insert((key.attack.clone(), key.place.clone()));
        let row = self.rows.of_bout(self.campaign.orders, &fought);
        let record = self.clerk.record(key, fought);
        if let Some(writer) = self.writer.as_ref().filter(|_| whole) {
            writer.trial(&record).await;
        }
        self.keep(row, whole).await;
        self.score.bout(record);
    }

    async fn keep(&mut self, mut row: CaseResult, whole: bool) {
        mask(&mut row, &self.campaign.world.redactor);
        if let Some(writer) = self.writer.as_ref().filter(|_| whole) {
            writer.case(&row).await;
        }
        self.settled += 1;
        self.tally.add(&row);
        (self.listen)(Event::Case(Arc::new(row)));
    }

    /// What was planned, and not done when a budget was spent.
    fn unfought(&self, planned: usize, cut_short: Option<&str>) -> Option<NotRun> {
        let left = planned.saturating_sub(self.settled);
        let why = cut_short.filter(|_| left > 0)?.to_owned();
        Some(NotRun { what: format!("{left} of {planned} places of attacks"), why })
    }

    async fn finish(self, siege: &Siege, scouted: &Scouted, ended: Ended) -> Outcome {
        let Ended { not_run, changes, cut_short, clock, started } = ended;
        let orders = self.campaign.orders;
        let mut summary = self.tally.finish(started.elapsed(), self.interrupted);
        let knowledge = &scouted.knowledge;
        let (findings, attacks, tools) = self.score.finish(orders, &scouted.surfaces, knowledge);
        let (findings, suppressed) = part_suppressed(findings, &orders.suppressions, &orders.today);
        let (findings, suppressed) = (merge_places(findings), merge_places(suppressed));
        let end = match (self.interrupted, &cut_short) {
            (true, _) => RunEnd::Interrupted,
            (false, Some(_)) => RunEnd::LimitReached,
            (false, None) => RunEnd::Finished,
        };
        // What was not looked for may be there.
        let whole = end == RunEnd::Finished;
        let listed = if whole { &orders.suppressions[..] } else { &[] };
        let unused = unused(listed, findings.iter().chain(&suppressed), &orders.today);
        for finding in &findings {
            (self.listen)(Event::Finding(Arc::new(finding.clone())));
        }
        let report = RedteamReport {
            findings,
            suppressed,
            unused,
            attacks,
            not_run,
            tools,
            silent: knowledge.silent.clone(),
            phases: clock.laps,
            calls: siege.budget.calls(),
            seed: orders.seed,
            cut_short,
            changes,
            learned: insight(knowledge),
            ..RedteamReport::default()
        };
        summary.redteam = Some(Box::new(summed_up(report)));
        let unsaved = match self.writer {
            Some(writer) => writer.finish(&summary, end).await.err().map(|error| error.to_string()),
            None => None,
        };
        (self.listen)(Event::Finished(Arc::new(summary.clone())));
        let left = siege.witness.with_ground(Planted::clear).unwrap_or_default().left;
        Outcome { summary, unsaved, fought: self.fought, left }
    }
}
