//! What is known about a target before the attack: its surface, valid calls, and what can be observed there.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use futures_util::future::join_all;
use quintain_evidence::accepted::is_unreachable;
use quintain_evidence::event::{Event, Phase};
use quintain_evidence::exchange::Outcome;
use quintain_evidence::redteam_report::NotRun;
use quintain_evidence::surface::Surface;
use quintain_redteam::attack::{Capabilities, TargetView};
use quintain_redteam::knowledge::Knowledge;

use super::clock::{Clock, Meter};
use super::executor::Executor;
use super::identity_sessions::IdentitySessions;
use super::learn;
use super::raw::RawConnections;
use super::setup::Setup;
use super::silent_tools::SilentTools;
use super::speaker::Speaker;
use super::text::TextSender;
use super::trial_plan::{RandomValues, TrialPlan};
use super::{RedteamError, RedteamRun};
use crate::masked::Emitted;

/// Time limit for closing all sessions.
const CLOSE: Duration = Duration::from_secs(1);

/// What is known about a target before the attack.
pub(super) struct Surveyed {
    pub(super) sessions_by_identity: Vec<IdentitySessions>,
    pub(super) surfaces: Vec<(String, Surface)>,
    pub(super) knowledge: Knowledge,
    capabilities: Capabilities,
}

impl Surveyed {
    /// Surveys the target and learns.
    pub(super) async fn of(
        setup: &Setup,
        redteam_run: &RedteamRun<'_>,
        clock: &mut Clock,
        listen: &mut dyn FnMut(Emitted),
    ) -> Result<Self, RedteamError> {
        listen(Event::Phase(Phase::Survey).into());
        let budget = &setup.budget;
        // If the target does not start in time, continue with an empty surface, so that there is a report.
        let sessions_by_identity =
            match budget.within(setup.sessions_by_identity(redteam_run)).await {
                Some(sessions_by_identity) => sessions_by_identity?,
                None => Vec::new(),
            };
        let surfaces = match sessions_by_identity.first() {
            Some(first) => budget.within(first.survey()).await.unwrap_or_default(),
            None => Vec::new(),
        };
        // The requests of a survey do not count as calls.
        clock.end_phase("survey", None);
        listen(Event::Phase(Phase::Learn).into());
        let knowledge = setup.learn(redteam_run, &sessions_by_identity, &surfaces).await;
        clock.end_phase("learn", Some(setup.budget.calls()));
        let input = redteam_run.target.as_text();
        let input = input.map(|target| TextSender::of(target, redteam_run.orders).input());
        let capabilities = setup.capabilities(redteam_run, &sessions_by_identity, input);
        Ok(Self { sessions_by_identity, surfaces, knowledge, capabilities })
    }

    /// Closes all sessions. Processes that do not end in time are killed when they are dropped.
    pub(super) async fn close(&self) {
        let closing = join_all(self.sessions_by_identity.iter().map(IdentitySessions::close));
        let _ = tokio::time::timeout(CLOSE, closing).await;
    }

    /// Whether the target does not answer even a ping within `limit`.
    pub(super) async fn is_gone(&self, limit: Duration) -> bool {
        let Some(first) = self.sessions_by_identity.first() else { return false };
        let ping = learn::ping();
        let asked = tokio::time::timeout(limit, first.step(&ping)).await;
        asked.map_or(true, |exchange| match &exchange.outcome {
            Outcome::Closed { .. } | Outcome::TimedOut { .. } => true,
            Outcome::Refused { why } => is_unreachable(why),
            _ => false,
        })
    }

    /// What the target did not list.
    pub(super) fn not_listed(&self) -> Vec<NotRun> {
        let problems = self.surfaces.iter().flat_map(|(_, surface)| &surface.problems);
        let not_run = problems.map(|problem| {
            let (what, why) = problem.split_once(": ").unwrap_or(("the survey", problem));
            NotRun { what: what.to_owned(), why: why.to_owned() }
        });
        not_run.collect()
    }

    /// Why a server has no tools to attack, if it failed to list them.
    pub(super) fn unlisted_tools(&self) -> Option<String> {
        let empty = self.surfaces.iter().filter(|(_, surface)| surface.tools.is_empty());
        let mut problems = empty.flat_map(|(_, surface)| &surface.problems);
        let failed = problems.find(|problem| problem.starts_with("tools/list: "))?;
        Some(format!("the target did not list its tools: {failed}"))
    }

    pub(super) fn view(&self) -> TargetView<'_> {
        TargetView {
            surfaces: &self.surfaces,
            knowledge: &self.knowledge,
            capabilities: &self.capabilities,
        }
    }

    pub(super) fn executor<'a>(
        &'a self,
        redteam_run: &'a RedteamRun<'a>,
        setup: &'a Setup,
        view: &'a TargetView<'a>,
        speaker: Speaker<'a>,
    ) -> Executor<'a> {
        Executor {
            speaker,
            sessions_by_identity: &self.sessions_by_identity,
            world: redteam_run.world,
            orders: redteam_run.orders,
            view,
            observer: &setup.observer,
            trial_plan: TrialPlan {
                orders: redteam_run.orders,
                marks: setup.marks.clone(),
                canaries: setup.observer.with_planted(|planted| planted.canaries.clone()),
                listener: setup.observer.listener.as_ref().map(|one| one.address.clone()),
                identities: self.sessions_by_identity.len(),
                roots: self.knowledge.roots.clone(),
                view,
                drawn: RandomValues::default(),
                share: None,
            },
            budget: &setup.budget,
            meter: Meter::default(),
            silent_tools: SilentTools::new(&self.knowledge),
            marks: Mutex::new(HashMap::new()),
            raw_connections: RawConnections::new(
                self.sessions_by_identity.iter().map(IdentitySessions::raw_connection).collect(),
                &redteam_run.orders.tokens,
                setup.gate.clone(),
                redteam_run.world.policy.destinations(),
            ),
        }
    }
}
