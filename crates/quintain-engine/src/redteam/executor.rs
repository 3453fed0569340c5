//! Runs trials: sends attempts, observes their effects, and repeats hits to confirm them.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use quintain_evidence::evidence::{Evidence, Exchange, Observation, Outcome};
use quintain_evidence::finding::Confidence;
use quintain_evidence::indicator::Indicator;
use quintain_evidence::probe::Step;
use quintain_evidence::trial_record::TrialState;
use quintain_redteam::attack::lasting;
use quintain_redteam::attack::{Action, Aim, Attempt, Hit, TargetView, Trial, Tried};
use quintain_redteam::attacks::{CRASH_ATTACK, CRASH_FAULT};
use quintain_redteam::knowledge::destroys;
use quintain_redteam::orders::{Orders, PluginOrder};

use super::budget::Budget;
use super::clock::Meter;
use super::findings;
use super::identity_sessions::IdentitySessions;
use super::learn;
use super::observer::Observer;
use super::own_credentials;
use super::prompt_counts;
use super::raw::RawConnections;
use super::scope::Scope;
use super::silent_tools::SilentTools;
use super::speaker::Speaker;
use super::trial_outcome::{ConfirmedHit, TrialOutcome};
use super::trial_plan::TrialPlan;
use crate::world::World;

/// How long to wait for side effects, which appear slightly later than answers.
pub(super) const SETTLE: Duration = Duration::from_millis(30);
const SETTLE_LATE: Duration = Duration::from_millis(600);
/// Number of unanswered attempts after which a trial stops.
const MAX_UNANSWERED: usize = 3;
/// Maximum number of forms of one fault to confirm. More add nothing.
const MAX_FORMS: usize = 4;
/// Number of forms to send before checking for a hit.
const WAVE: usize = 4;
/// Maximum number of aims to repeat because of late observations.
const MAX_LATE: usize = 32;

/// State shared by all trials.
pub(super) struct Executor<'a> {
    /// The target, if it takes text, and the models that are asked.
    pub(super) speaker: Speaker<'a>,
    pub(super) sessions_by_identity: &'a [IdentitySessions],
    pub(super) world: &'a World,
    pub(super) orders: &'a Orders,
    pub(super) view: &'a TargetView<'a>,
    pub(super) observer: &'a Observer,
    pub(super) trial_plan: TrialPlan<'a>,
    pub(super) budget: &'a Budget,
    pub(super) meter: Meter,
    pub(super) raw_connections: RawConnections,
    /// Tools that stopped answering.
    pub(super) silent_tools: SilentTools,
    /// The attempt of each mark, for late observations.
    pub(super) marks: Mutex<HashMap<String, Marked>>,
}

/// The plugin, the aim and the set of an attempt.
type Marked = (usize, Arc<Aim>, usize);

impl Executor<'_> {
    /// Runs the trial of one attack at one aim.
    pub(super) async fn run_trial(&self, at: usize, aim: Arc<Aim>, scope: Scope) -> TrialOutcome {
        tokio::task::yield_now().await;
        let plugin = &self.orders.plugins[at];
        let attempts = if self.budget.is_spent() {
            Vec::new()
        } else {
            self.trial_plan.attempts(plugin, &aim, 0, scope)
        };
        if let (true, Scope::Strategy(strategy)) = (attempts.is_empty(), scope)
            && let Some(tactic) =
                self.orders.strategies.get(strategy).filter(|_| !self.budget.is_spent())
        {
            let why = "it changes nothing in the prompts of at least one attack, or does not apply to data";
            self.speaker.note(format!("part of strategy {}", tactic.id()), why.to_owned());
        }
        self.record_marks(at, &aim, &attempts);
        let is_possible = attempts.iter().any(|attempt| self.is_allowed(attempt));
        let mut crash = None;
        let mut tried = self.waves(plugin, &aim, attempts, &mut crash).await;
        let mut outcome = TrialOutcome {
            plugin: at,
            aim,
            attempts: tried.len(),
            sets: sets_of(&tried),
            hits: Vec::new(),
            last: None,
            crash,
            state: TrialState::Answered,
            prompts: None,
        };
        self.ask_models(plugin, &outcome.aim, &mut tried).await;
        let trial = Trial { view: self.view, aim: &outcome.aim, tried: &tried };
        let mut hits = plugin.attack.detect(&trial);
        if plugin.attack.meta().id == own_credentials::ATTACK && hits.is_empty() {
            hits.extend(own_credentials::in_trial(&trial, &self.world.redactor));
        }
        if tried.iter().any(has_ended) && self.ends_always(&outcome.aim, &tried).await {
            // Nothing distinguishes the attack from a harmless call.
            outcome.crash = None;
            hits.retain(|hit| {
                let mut shown = tried.iter().filter(|one| Some(one.attempt.set) == hit.set);
                !shown.any(has_ended)
            });
        }
        let looks_for_crashes = plugin.attack.meta().id == CRASH_ATTACK;
        if looks_for_crashes || hits.iter().any(|hit| matches!(hit.fault, CRASH_FAULT | "death")) {
            // The attack reports the crash itself.
            outcome.crash = None;
        }
        let trial = Trial { view: self.view, aim: &outcome.aim, tried: &tried };
        if hits.is_empty() && outcome.crash.is_none() {
            outcome.state = if !is_possible {
                TrialState::NotSent
            } else if plugin.attack.is_undecided(&trial) {
                let what = format!("part of {}", plugin.attack.meta().id);
                self.speaker.note(what, "the judge gave no verdict about any attempt".to_owned());
                TrialState::Unanswered
            } else if trial.is_answered() {
                TrialState::Answered
            } else {
                TrialState::Unanswered
            };
        }
        hits.sort_by_key(|hit| hit.set);
        if scope != Scope::All {
            outcome.prompts = Some(prompt_counts::of(&tried, &hits));
        }
        let _confirming = (!hits.is_empty()).then(|| self.meter.confirm());
        let mut forms: HashMap<&'static str, usize> = HashMap::new();
        let once = self.works_once(&outcome.aim);
        let seen_again = if once { repeated(&hits) } else { HashSet::new() };
        for mut hit in hits {
            let count = forms.entry(hit.fault).or_default();
            *count += 1;
            if *count > MAX_FORMS {
                continue;
            }
            if scope != Scope::All {
                if !self.confirm_prompt(plugin, &outcome.aim, &mut hit, scope).await {
                    continue;
                }
            } else if !self.reproduces(plugin, &outcome.aim, &hit, SETTLE).await {
                if plugin.attack.is_unsteady() || hit.must_repeat && !once {
                    continue;
                }
                if !seen_again.contains(hit.fault) {
                    hit.confidence = Confidence::Suspected;
                }
            }
            let set: Vec<Tried> =
                tried.iter().filter(|one| Some(one.attempt.set) == hit.set).cloned().collect();
            let set = if scope != Scope::All {
                self.shrunk_prompt(plugin, &outcome.aim, &mut hit, set).await
            } else if *count == 1 {
                self.shrunk(plugin, &outcome.aim, &mut hit, set).await
            } else {
                set
            };
            outcome.hits.push(self.confirmed_hit(hit, set));
        }
        outcome.last = tried.into_iter().next_back();
        outcome
    }

    /// Whether a call may work only once, since it destroys its object.
    fn works_once(&self, aim: &Aim) -> bool {
        self.view.tool_of(aim).is_some_and(destroys)
    }

    /// Completes a hit with the data that a later replay needs.
    fn confirmed_hit(&self, mut hit: Hit, mut tried: Vec<Tried>) -> ConfirmedHit {
        // Move the attempt that shows the indicator to the end. The others are there for comparison.
        let shows = |sign: &Indicator| tried.iter().rposition(|one| sign.is_in(&one.evidence));
        let shown = hit.sign.as_ref().filter(|sign| **sign != Indicator::Differs).and_then(shows);
        if let Some(at) = shown {
            let one = tried.remove(at);
            tried.push(one);
        }
        // Responses that differ are compared in the order of the attempts.
        let is_pair = hit.sign == Some(Indicator::Differs);
        let by = hit.shown_by.as_ref().filter(|_| is_pair);
        let by = by.and_then(|by| tried.iter().position(|one| one.attempt.nonce == *by));
        let shown = by.unwrap_or_else(|| tried.len().saturating_sub(1));
        let seen = findings::join(tried.iter().map(|one| &one.evidence));
        let sent: Vec<String> = seen.exchanges.iter().map(|one| one.sent.to_string()).collect();
        let sign = hit.sign.take().filter(|sign| sign.is_in(&seen));
        hit.sign = sign
            .and_then(|sign| lasting(sign, self.trial_plan.canaries.as_ref(), &sent.join("\n")));
        let who = match tried.get(shown).map(|one| &one.attempt.action) {
            Some(
                Action::Steps { identity, .. }
                | Action::Alone { identity, .. }
                | Action::Watched { identity, .. },
            ) => *identity,
            _ => 0,
        };
        let identity = self.sessions_by_identity.get(who).filter(|_| who > 0);
        let identity = identity.map(|identity_sessions| identity_sessions.identity.name.clone());
        ConfirmedHit { hit, tried, shown, identity }
    }

    /// Whether a harmless call of the tool that ended the server ends it, too.
    async fn ends_always(&self, aim: &Aim, tried: &[Tried]) -> bool {
        let ended = tried.iter().find(|one| has_ended(one));
        let tool = ended.and_then(|one| {
            one.attempt.action.steps().iter().find_map(|step| match step {
                Step::Call(call) => Some(call.tool.as_str()),
                Step::Request { .. } => None,
            })
        });
        let Some(tool) = tool else { return false };
        let server = aim.place.server();
        let Some(baseline) = self.view.knowledge.baseline(server, tool) else {
            let mut silent = self.view.knowledge.silent.iter();
            return silent.any(|one| one.tool == tool && one.why == learn::DEADLY);
        };
        let allowed =
            self.sessions_by_identity.first().is_some_and(|one| one.allows(&baseline.step));
        if !allowed || !self.budget.take() {
            return false;
        }
        has_exit(&self.alone(std::slice::from_ref(&baseline.step), 0).await)
    }

    fn record_marks(&self, at: usize, aim: &Arc<Aim>, attempts: &[Attempt]) {
        let mut marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
        for attempt in attempts {
            let nonce = attempt.nonce.as_str().to_owned();
            marks.insert(nonce, (at, aim.clone(), attempt.set));
        }
    }

    /// Repeats the attempts of late observations, with a longer wait.
    pub(super) async fn late(&self) -> Vec<TrialOutcome> {
        tokio::time::sleep(SETTLE_LATE).await;
        self.observer.look();
        let unclaimed = self.observer.unclaimed();
        let marked: Vec<Marked> = {
            let marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
            let of = |one: &Observation| {
                let text = format!("{one:?}");
                // A mark is a word of twelve lower-case letters.
                let mut words = text.split(|c: char| !c.is_ascii_lowercase());
                let found = words.find_map(|word| marks.get(word).cloned());
                found.filter(|(at, _, _)| self.orders.plugins[*at].attack.reads(one))
            };
            unclaimed.iter().filter_map(of).collect()
        };
        let mut late: Vec<TrialOutcome> = Vec::new();
        for (at, aim, set) in marked {
            let is_known = |one: &TrialOutcome| one.plugin == at && one.aim.place == aim.place;
            if late.len() >= MAX_LATE || late.iter().any(is_known) {
                continue;
            }
            let plugin = &self.orders.plugins[at];
            let mut attempts = self.trial_plan.attempts(plugin, &aim, 9, Scope::All);
            attempts.retain(|attempt| attempt.set == set);
            let mut crash = None;
            let tried = self.settled(attempts, SETTLE_LATE, &mut crash).await;
            let hits = plugin.attack.detect(&Trial { view: self.view, aim: &aim, tried: &tried });
            let Some(mut hit) = hits.into_iter().next() else { continue };
            if !self.reproduces(plugin, &aim, &hit, SETTLE_LATE).await {
                hit.confidence = Confidence::Suspected;
            }
            let (attempts, sets) = (tried.len(), sets_of(&tried));
            let hits = vec![self.confirmed_hit(hit, tried)];
            late.push(TrialOutcome {
                plugin: at,
                aim,
                attempts,
                sets,
                hits,
                last: None,
                crash: None,
                state: TrialState::Answered,
                prompts: None,
            });
        }
        late
    }

    /// Whether a hit reproduces in every confirmation.
    async fn reproduces(
        &self,
        plugin: &PluginOrder,
        aim: &Aim,
        hit: &Hit,
        settle: Duration,
    ) -> bool {
        for turn in 1..=self.orders.confirmations {
            let mut attempts = self.trial_plan.attempts(plugin, aim, turn, Scope::All);
            attempts.retain(|attempt| Some(attempt.set) == hit.set);
            // Timing may fail to reproduce once by accident. If it fails twice, the hit was the accident.
            let tries = if plugin.attack.is_unsteady() { 2 } else { 1 };
            let mut found = false;
            for _ in 0..tries {
                let tried = self.settled(attempts.clone(), settle, &mut None).await;
                self.meter.called(tried.len());
                let trial = Trial { view: self.view, aim, tried: &tried };
                let hits = plugin.attack.detect(&trial);
                found = hits.iter().any(|found| found.fault == hit.fault);
                if found {
                    break;
                }
            }
            if !found {
                return false;
            }
        }
        true
    }

    /// Sends the attempts. If the attack has only one fault, sends a few forms at a time and stops at the first proof.
    async fn waves(
        &self,
        plugin: &PluginOrder,
        aim: &Aim,
        attempts: Vec<Attempt>,
        crash: &mut Option<Tried>,
    ) -> Vec<Tried> {
        if !plugin.attack.has_one_fault() {
            return self.settled(attempts, SETTLE, crash).await;
        }
        let mut sets: Vec<usize> = attempts.iter().map(|attempt| attempt.set).collect();
        sets.sort_unstable();
        sets.dedup();
        let mut tried: Vec<Tried> = Vec::new();
        for wave in sets.chunks(WAVE) {
            let some = attempts.iter().filter(|attempt| wave.contains(&attempt.set)).cloned();
            tried.extend(self.settled(some.collect(), SETTLE, crash).await);
            let silent = |one: &&Tried| {
                matches!(one.last(), Some(Exchange { outcome: Outcome::TimedOut { .. }, .. }))
            };
            let trial = Trial { view: self.view, aim, tried: &tried };
            let mut hits = plugin.attack.detect(&trial).into_iter();
            if hits.any(|hit| hit.confidence == Confidence::Confirmed)
                || tried.iter().filter(silent).count() >= MAX_UNANSWERED
            {
                break;
            }
        }
        tried
    }

    /// Sends the attempts one after the other, then collects observations.
    pub(super) async fn settled(
        &self,
        attempts: Vec<Attempt>,
        settle: Duration,
        crash: &mut Option<Tried>,
    ) -> Vec<Tried> {
        let mut tried: Vec<Tried> = Vec::new();
        let mut unanswered = 0;
        for attempt in attempts {
            // Yield even if no call is sent, so that timers and signals are handled.
            tokio::task::yield_now().await;
            if self.budget.is_spent() {
                break;
            }
            let is_skipped = unanswered >= MAX_UNANSWERED || self.silent_tools.is_skipped(&attempt);
            if is_skipped || !self.is_allowed(&attempt) || !self.budget.take() {
                continue;
            }
            let evidence = Box::pin(self.make(&attempt)).await;
            let last = evidence.last().map(|exchange| &exchange.outcome);
            unanswered += usize::from(matches!(last, Some(Outcome::TimedOut { .. })));
            self.silent_tools.record(&attempt, last);
            if last.is_some_and(Outcome::is_answer) {
                self.meter.answered();
            }
            let died = has_exit(&evidence);
            let one = Tried { attempt, evidence };
            if died && !matches!(one.attempt.action, Action::Frame { .. }) && crash.is_none() {
                *crash = Some(one.clone());
            }
            tried.push(one);
        }
        let watches = self.trial_plan.canaries.is_some() || self.trial_plan.listener.is_some();
        if watches && !tried.is_empty() {
            tokio::time::sleep(settle).await;
            self.observer.look();
            for one in &mut tried {
                one.evidence.observations.extend(self.observer.of(&one.attempt.nonce));
                self.observer
                    .with_planted(|planted| planted.remove_command_paths(&one.attempt.nonce));
            }
        }
        tried
    }

    fn is_allowed(&self, attempt: &Attempt) -> bool {
        if attempt.action.chat().is_some() {
            return self.speaker.text().is_some();
        }
        let identity_sessions = self
            .sessions_by_identity
            .get(attempt.action.identity())
            .or(self.sessions_by_identity.first());
        identity_sessions.is_some_and(|identity_sessions| identity_sessions.may(attempt))
    }
}

fn has_ended(tried: &Tried) -> bool {
    has_exit(&tried.evidence)
}

/// Whether the process of the target ended.
fn has_exit(evidence: &Evidence) -> bool {
    evidence.observations.iter().any(|one| matches!(one, Observation::Exit { .. }))
}

fn sets_of(tried: &[Tried]) -> BTreeSet<usize> {
    tried.iter().map(|one| one.attempt.set).collect()
}

/// Faults that more than one set proves.
fn repeated(hits: &[Hit]) -> HashSet<&'static str> {
    let mut sets: HashMap<&'static str, HashSet<usize>> = HashMap::new();
    for hit in hits.iter().filter(|hit| hit.confidence == Confidence::Confirmed) {
        sets.entry(hit.fault).or_default().extend(hit.set);
    }
    sets.into_iter().filter(|(_, sets)| sets.len() > 1).map(|(fault, _)| fault).collect()
}
