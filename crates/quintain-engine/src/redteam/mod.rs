//! A red-team run: survey, learn, attack, confirm, report.

mod arena;
mod budget;
mod drill;
mod findings;
mod ground;
mod learn;
mod listener;
mod party;
mod raw;
mod roots;
mod rows;
mod shims;
mod witness;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::stream::{self, StreamExt as _};
use quintain_core::attack::{Aim, Field, Hit, Need, Nonce, Powers, Tried};
use quintain_core::chance::Chance;
use quintain_core::event::{Event, RunInfo};
use quintain_core::evidence::Evidence;
use quintain_core::finding::{Finding, Severity};
use quintain_core::knowledge::{Hints, Knowledge, aims};
use quintain_core::redteam::{
    AttackReport, IdentityOrder, NotRun, Orders, PhaseTime, RedteamReport, ToolCoverage, interval,
    part_suppressed, risk,
};
use quintain_core::suite::McpTarget;
use quintain_core::surface::Surface;
use quintain_core::tally::{Summary, Tally};
use quintain_wire::redact::Redactor;

use crate::run::{Stop, mask};
use crate::sessions::OpenError;
use crate::store::Writer;
use crate::world::World;
use arena::{Arena, Fought, Struck};
use budget::Budget;
use drill::Drill;
use findings::Findings;
use ground::Planted;
use learn::{destroys, learn};
use listener::Listener;
use party::{Party, with_env};
use raw::Doors;
use roots::whereabouts;
use shims::Shims;
use witness::Witness;

pub use findings::Reproduce;

/// A call of an attack that takes longer proves nothing more.
const CALL_TIME: Duration = Duration::from_secs(8);
/// A variable of the environment of every target that is started, with a value nobody knows.
pub const ENV_CANARY: &str = "QUINTAIN_CANARY";

/// Who is attacked, and how.
pub struct Campaign<'a> {
    pub target: &'a McpTarget,
    /// What reports call it.
    pub name: &'a str,
    pub world: &'a World,
    pub orders: &'a Orders,
    /// How a step is done again by hand.
    pub reproduce: Reproduce<'a>,
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
}

/// What a run came to.
#[derive(Debug)]
pub struct Outcome {
    pub summary: Summary,
    /// What could not be kept in the store.
    pub unsaved: Option<String>,
}

/// Runs a campaign to its end, or to the point where `stop` or its budget ends it.
///
/// # Errors
/// When nothing could be attacked at all.
pub async fn execute(
    campaign: &Campaign<'_>,
    info: impl FnOnce(usize) -> RunInfo,
    mut stop: Stop,
    store: impl FnOnce(&RunInfo) -> Option<Writer>,
    listen: &mut dyn FnMut(Event<'_>),
) -> Result<Outcome, RedteamError> {
    let started = Instant::now();
    let siege = Siege::prepare(campaign).await?;
    listen(Event::Phase("survey"));
    let mut clock = Clock::new();
    let parties = siege.parties(campaign).await?;
    let surfaces = parties[0].survey().await;
    clock.lap("survey", siege.budget.calls());
    listen(Event::Phase("learn"));
    let knowledge = siege.learn(campaign, &parties, &surfaces).await;
    clock.lap("learn", siege.budget.calls());
    let powers = siege.powers(campaign, &parties);
    let field = Field {
        surfaces: &surfaces,
        knowledge: &knowledge,
        powers: &powers,
        purpose: campaign.orders.purpose.as_deref(),
    };
    let forbidden = if campaign.orders.destructive { Vec::new() } else { destructive(&surfaces) };
    let mut not_run = campaign.orders.not_run.clone();
    not_run.extend(drill::skipped(campaign.orders));
    let bouts = bouts(campaign.orders, &field, &mut not_run);
    let statics = statics(campaign.orders, &field);
    let info = info(bouts.len() + statics.len());
    let writer = store(&info);
    listen(Event::Started(&info));
    listen(Event::Phase("attack"));
    let mut tally = Tally::new(&info);
    let mut findings = Findings::default();
    let mut reports: BTreeMap<usize, AttackReport> = BTreeMap::new();
    let mut coverage: BTreeMap<(String, String, String), Vec<String>> = BTreeMap::new();
    inspected(campaign.orders, &field, &mut reports);
    let arena = Arena {
        parties: &parties,
        world: campaign.world,
        orders: campaign.orders,
        field: &field,
        witness: &siege.witness,
        drill: Drill {
            orders: campaign.orders,
            ground: siege.witness.with_ground(|planted| planted.ground.clone()),
            listener: siege.witness.listener.as_ref().map(|listener| listener.address.clone()),
            identities: parties.len(),
            roots: knowledge.roots.clone(),
            field: &field,
        },
        budget: &siege.budget,
        forbidden,
        marks: Mutex::new(HashMap::new()),
        doors: Doors::new(parties.iter().map(Party::door).collect()),
    };
    let mut rows = rows::Rows::new(campaign.name);
    let mut interrupted = false;
    for (at, hit) in statics {
        let plugin = &campaign.orders.plugins[at];
        let mut row = rows.of_static(plugin, &hit);
        mask(&mut row, &campaign.world.redactor);
        keep(&row, writer.as_ref(), &mut tally, listen).await;
        let report = reports.entry(at).or_default();
        report.hits = (report.hits + 1).min(report.bouts);
        let place = hit
            .place
            .clone()
            .unwrap_or(quintain_core::finding::Place::Server { server: String::new() });
        let struck = Struck { hit, tried: Vec::new() };
        findings.add(plugin, &place, None, struck, campaign.name, campaign.reproduce);
    }
    {
        let fights = stream::iter(bouts).map(|(at, aim)| arena.bout(at, aim));
        let mut fights =
            std::pin::pin!(fights.buffer_unordered(campaign.orders.concurrency.max(1)));
        loop {
            let fought = tokio::select! {
                biased;
                _ = stop.wait_for(|stopped| *stopped) => {
                    interrupted = true;
                    break;
                }
                fought = fights.next() => fought,
            };
            let Some(fought) = fought else { break };
            let plugin = &campaign.orders.plugins[fought.plugin];
            let mut row = rows.of_bout(plugin, &fought);
            mask(&mut row, &campaign.world.redactor);
            keep(&row, writer.as_ref(), &mut tally, listen).await;
            settle(campaign, fought, &mut findings, &mut reports, &mut coverage);
        }
    }
    if !interrupted {
        for fought in arena.late().await {
            settle(campaign, fought, &mut findings, &mut reports, &mut coverage);
        }
    }
    clock.lap("attack", siege.budget.calls());
    listen(Event::Phase("report"));
    for party in &parties {
        party.sessions.close().await;
    }
    let mut summary = tally.finish(started.elapsed(), interrupted);
    let orders = campaign.orders;
    let findings = findings.sorted().into_iter().map(|one| masked(one, &campaign.world.redactor));
    let (findings, suppressed) =
        part_suppressed(findings.collect(), &orders.suppressions, &orders.today);
    findings.iter().for_each(|finding| listen(Event::Finding(finding)));
    let attacks = finished(campaign.orders, reports);
    let silent = knowledge.silent.clone();
    summary.redteam = Some(Box::new(RedteamReport {
        risk: Some(risk(&findings, &attacks)),
        findings,
        suppressed,
        attacks,
        not_run,
        tools: tools(&surfaces, &knowledge, coverage),
        silent,
        phases: clock.laps,
        calls: siege.budget.calls(),
        seed: campaign.orders.seed,
        cut_short: siege.budget.why(),
    }));
    let unsaved = match writer {
        Some(writer) => writer.finish(&summary).await.err().map(|error| error.to_string()),
        None => None,
    };
    listen(Event::Finished(&summary));
    Ok(Outcome { summary, unsaved })
}

async fn keep(
    row: &quintain_core::result::CaseResult,
    writer: Option<&Writer>,
    tally: &mut Tally,
    listen: &mut dyn FnMut(Event<'_>),
) {
    if let Some(writer) = writer {
        writer.case(row).await;
    }
    tally.add(row);
    listen(Event::Case(row));
}

/// A finding without secrets.
fn masked(finding: Finding, redactor: &Redactor) -> Finding {
    let text = serde_json::to_string(&finding).unwrap_or_default();
    // A mask is plain text; what was JSON stays JSON.
    serde_json::from_str(&redactor.text(&text)).unwrap_or(finding)
}

/// Puts what came of a bout where it belongs.
fn settle(
    campaign: &Campaign<'_>,
    fought: Fought,
    findings: &mut Findings,
    reports: &mut BTreeMap<usize, AttackReport>,
    coverage: &mut BTreeMap<(String, String, String), Vec<String>>,
) {
    let plugin = &campaign.orders.plugins[fought.plugin];
    let report = reports.entry(fought.plugin).or_default();
    report.bouts += 1;
    report.attempts += fought.attempts;
    report.hits += usize::from(!fought.struck.is_empty());
    let place = &fought.aim.place;
    if let Some(tool) = place.tool() {
        let argument = place.argument().unwrap_or_default();
        let key = (place.server().to_owned(), tool.to_owned(), argument);
        let tried = coverage.entry(key).or_default();
        let id = plugin.attack.meta().id.to_owned();
        if !tried.contains(&id) {
            tried.push(id);
        }
    }
    let baseline = fought.aim.baseline.as_ref().map(|baseline| Evidence {
        exchanges: vec![baseline.exchange.clone()],
        ..Evidence::default()
    });
    for struck in fought.struck {
        findings.add(plugin, place, baseline.clone(), struck, campaign.name, campaign.reproduce);
    }
    if let Some(deadly) = fought.deadly {
        let malformed =
            campaign.orders.plugins.iter().find(|one| one.attack.meta().id == "dos-malformed");
        let hit = death(&deadly, place);
        let struck = Struck { hit, tried: vec![deadly] };
        let plugin = malformed.unwrap_or(plugin);
        findings.add(plugin, place, baseline, struck, campaign.name, campaign.reproduce);
    }
}

/// A server that dies of a call, twice, once of it alone.
fn death(tried: &Tried, place: &quintain_core::finding::Place) -> Hit {
    let title = format!("{place} ends the server ({})", tried.attempt.form);
    Hit::confirmed(title, "the process ended when it was called, and again when called alone")
        .severity(Severity::High)
        .by(tried)
        .fault("death")
}

/// What is set up for a run, and taken down with it.
struct Siege {
    target: McpTarget,
    witness: Witness,
    budget: Budget,
    roots: Vec<PathBuf>,
    http: bool,
    here: bool,
    env_canary: Option<String>,
}

impl Siege {
    async fn prepare(campaign: &Campaign<'_>) -> Result<Self, RedteamError> {
        let whereabouts = whereabouts(campaign.target);
        if !whereabouts.here && !campaign.orders.allow_remote {
            return Err(RedteamError::Remote);
        }
        let mut target = campaign.target.clone();
        let limit = target.timeouts.request.unwrap_or(CALL_TIME).min(CALL_TIME);
        target.timeouts.request = Some(limit);
        let roots = roots::declared(&target);
        let mut chance = Chance::of(campaign.orders.seed, "ground");
        let planted = if whereabouts.here {
            Some(Planted::new(&roots, &mut chance).map_err(RedteamError::Ground)?)
        } else {
            None
        };
        let search = campaign.world.env.get("PATH").cloned().unwrap_or_default();
        let shims =
            planted.as_ref().and_then(|planted| Shims::write(&planted.ground.root, &search).ok());
        let mut env_canary = None;
        if let Some(shims) = &shims {
            let canary = format!("quintain-canary-{}", Nonce::draw(&mut chance));
            let path = ("PATH".to_owned(), shims.before(&search));
            with_env(&mut target, &[path, (ENV_CANARY.to_owned(), canary.clone())]);
            env_canary = Some(canary).filter(|_| !whereabouts.http);
        }
        let listener = match &campaign.orders.listener {
            Some((host, port)) => Listener::open(host, *port).await.ok(),
            None if whereabouts.here => Listener::open("127.0.0.1", 0).await.ok(),
            None => None,
        };
        let orders = campaign.orders;
        Ok(Self {
            target,
            witness: Witness::new(planted, shims, listener),
            budget: Budget::new(orders.budget_calls, orders.budget_time),
            roots,
            http: whereabouts.http,
            here: whereabouts.here,
            env_canary,
        })
    }

    /// One set of sessions per identity; the target as it is given comes first.
    async fn parties(&self, campaign: &Campaign<'_>) -> Result<Vec<Party>, RedteamError> {
        let own = IdentityOrder { name: "default".to_owned(), ..IdentityOrder::default() };
        let orders = &campaign.orders.identities;
        let orders: Vec<&IdentityOrder> =
            if orders.is_empty() { vec![&own] } else { orders.iter().collect() };
        let mut parties = Vec::new();
        for order in orders {
            parties.push(Party::open(&self.target, order, campaign.world).await?);
        }
        Ok(parties)
    }

    async fn learn(
        &self,
        campaign: &Campaign<'_>,
        parties: &[Party],
        surfaces: &[(String, Surface)],
    ) -> Knowledge {
        let mut knowledge = Knowledge { roots: self.roots.clone(), ..Knowledge::default() };
        let mut hints = self.hints(campaign);
        let destructive = campaign.orders.destructive;
        for (at, party) in parties.iter().enumerate() {
            let listed;
            let surfaces = if at == 0 {
                surfaces
            } else {
                listed = party.survey().await;
                &listed
            };
            learn(party, at, surfaces, &mut hints, destructive, &self.budget, &mut knowledge).await;
        }
        let callable: Vec<(String, Surface)> = surfaces
            .iter()
            .map(|(name, surface)| {
                let mut surface = surface.clone();
                surface.tools.retain(|tool| destructive || !destroys(tool));
                (name.clone(), surface)
            })
            .collect();
        knowledge.aims = aims(&callable, &knowledge);
        knowledge
    }

    fn hints(&self, campaign: &Campaign<'_>) -> Hints {
        let mut chance = Chance::of(campaign.orders.seed, "hints");
        let url =
            self.witness.listener.as_ref().map(|listener| {
                format!("http://{}:{}/", listener.address.host, listener.address.port)
            });
        let mut hints = Hints { url, folders: self.roots.clone(), ..Hints::default() };
        self.witness.with_ground(|planted| {
            for root in &self.roots {
                hints.files.extend(planted.plant(root, &mut chance));
            }
            if self.roots.is_empty() {
                hints.files.push(planted.ground.canary.clone());
                hints.folders.push(planted.ground.root.clone());
            }
        });
        hints
    }

    fn powers(&self, campaign: &Campaign<'_>, parties: &[Party]) -> Powers {
        let has_auth = campaign.target.servers.iter().any(|server| match &server.launch {
            quintain_core::suite::Launch::Url { headers, auth, .. } => {
                !matches!(auth, quintain_core::suite::Auth::None)
                    || headers.iter().any(|(name, _)| quintain_core::suite::names_a_secret(name))
            }
            _ => false,
        });
        let identities = &campaign.orders.identities;
        Powers {
            same_host: self.here,
            http: self.http,
            loopback: self.http && self.here,
            credentials: has_auth || identities.iter().any(|one| !one.headers.is_empty()),
            identities: parties.iter().map(|party| party.identity.clone()).collect(),
            destructive: campaign.orders.destructive,
            env_canary: self.env_canary.clone(),
            given: Vec::new(),
        }
    }
}

fn destructive(surfaces: &[(String, Surface)]) -> Vec<String> {
    let tools = surfaces.iter().flat_map(|(_, surface)| &surface.tools);
    tools.filter(|tool| destroys(tool)).filter_map(|tool| tool.name().map(str::to_owned)).collect()
}

/// What is missing for an attack, in words.
fn missing(needs: &[Need], field: &Field<'_>) -> Option<String> {
    let has = |need: &Need| match need {
        Need::SameHost => field.powers.same_host,
        Need::TwoIdentities => field.powers.identities.len() > 1,
        Need::Credentials => field.powers.credentials,
        Need::Http => field.powers.http,
        Need::SeveralServers => field.surfaces.len() > 1,
        Need::Model => false,
    };
    let missing: Vec<&str> =
        needs.iter().filter(|need| !has(need)).map(|need| need.words()).collect();
    (!missing.is_empty()).then(|| format!("needs {}", missing.join(" and ")))
}

/// Every aim of every attack, those of one attack together.
fn bouts(orders: &Orders, field: &Field<'_>, not_run: &mut Vec<NotRun>) -> Vec<(usize, Arc<Aim>)> {
    let mut bouts = Vec::new();
    for (at, plugin) in orders.plugins.iter().enumerate() {
        let what = plugin.attack.meta().id.to_owned();
        if let Some(why) = missing(plugin.attack.facts().needs, field) {
            not_run.push(NotRun { what, why });
            continue;
        }
        let mut aims = plugin.attack.aims(field);
        aims.retain(|aim| orders.only.as_ref().is_none_or(|only| *only == aim.place.key()));
        aims.truncate(plugin.num_tests.unwrap_or(usize::MAX));
        bouts.extend(aims.into_iter().map(|aim| (at, Arc::new(aim))));
    }
    bouts
}

/// Attacks that look at the surface alone have looked at every server, whatever they found.
fn inspected(orders: &Orders, field: &Field<'_>, reports: &mut BTreeMap<usize, AttackReport>) {
    for (at, plugin) in orders.plugins.iter().enumerate() {
        let able = missing(plugin.attack.facts().needs, field).is_none();
        if able && plugin.attack.inspects() {
            reports.entry(at).or_default().bouts += field.surfaces.len();
        }
    }
}

fn statics(orders: &Orders, field: &Field<'_>) -> Vec<(usize, Hit)> {
    let plugins = orders.plugins.iter().enumerate();
    plugins
        .flat_map(|(at, plugin)| plugin.attack.inspect(field).into_iter().map(move |hit| (at, hit)))
        .collect()
}

fn finished(orders: &Orders, reports: BTreeMap<usize, AttackReport>) -> Vec<AttackReport> {
    let finish = |(at, mut report): (usize, AttackReport)| {
        orders.plugins[at].attack.meta().id.clone_into(&mut report.attack);
        report.rate =
            if report.bouts == 0 { 0.0 } else { report.hits as f64 / report.bouts as f64 };
        report.interval = interval(report.hits, report.bouts);
        report
    };
    reports.into_iter().map(finish).collect()
}

fn tools(
    surfaces: &[(String, Surface)],
    knowledge: &Knowledge,
    mut coverage: BTreeMap<(String, String, String), Vec<String>>,
) -> Vec<ToolCoverage> {
    let mut tools = Vec::new();
    for (server, surface) in surfaces {
        for tool in &surface.tools {
            let name = tool.name().unwrap_or_default().to_owned();
            let mine: Vec<_> = coverage
                .extract_if(.., |key, _| key.0 == *server && key.1 == name)
                .map(|((_, _, argument), attacks)| (argument, attacks))
                .collect();
            tools.push(ToolCoverage {
                server: server.clone(),
                works: knowledge.baseline(server, &name).is_some(),
                tool: name,
                arguments: mine,
            });
        }
    }
    tools
}

/// How long each phase took.
struct Clock {
    since: Instant,
    calls: usize,
    laps: Vec<PhaseTime>,
}

impl Clock {
    fn new() -> Self {
        Self { since: Instant::now(), calls: 0, laps: Vec::new() }
    }

    fn lap(&mut self, phase: &str, calls: usize) {
        let seconds = self.since.elapsed().as_secs_f64();
        self.laps.push(PhaseTime { phase: phase.to_owned(), seconds, calls: calls - self.calls });
        self.since = Instant::now();
        self.calls = calls;
    }
}
