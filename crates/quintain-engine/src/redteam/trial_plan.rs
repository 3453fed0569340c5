//! The attempts of a trial: as the attack creates them, and rewritten by strategies.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use quintain_evidence::finding::Place;
use quintain_evidence::probe::{PlannedStep, Probe, Step};
use quintain_evidence::redteam_report::NotRun;
use quintain_redteam::attack::{
    Action, Aim, AnyAttack, Attempt, Brief, CanaryFiles, Hostile, Listener, MarkKey, Nonce,
    TargetView,
};
use quintain_redteam::orders::{Orders, PluginOrder};
use quintain_redteam::strategies::{Reach, Receiver, StrategyKind, Tactic};

use super::plan::PlannedTrial;
use super::scope::Scope;

/// Maximum number of versions of one attempt that a strategy may add.
const MAX_VERSIONS: usize = 4;
/// Maximum number of sets, the simplest forms, for each further mode of a tool.
const MAX_SETS_IN_MODE: usize = 8;
/// Minimum number of sets on a slow target.
const MIN_SETS: usize = 4;
/// A target whose calls take at least this long is slow.
const SLOW: Duration = Duration::from_millis(40);
/// Forms are reduced if all of them would take longer than this factor times the remaining time.
const TOO_LONG: f64 = 1.5;
/// Maximum number of aims whose attempts are counted to estimate the duration of a run.
const MAX_SAMPLE: usize = 200;
/// Size of the range of set numbers for each strategy.
const SETS: usize = 10_000;
/// Size of the range of set numbers for each repetition.
const REPETITION: usize = 100_000_000;
/// Maximum number of prompts that a strategy turns into conversations, unless the suite sets it.
const MAX_TALKS: usize = 2;

/// The number of a set without its repetition, and the number of the repetition.
pub(super) fn repetition_of(set: usize) -> (usize, usize) {
    (set % REPETITION, set / REPETITION)
}

/// The strategy that rewrote the attempts of a set; `None` if they are unchanged.
pub(super) fn strategy_of(orders: &Orders, set: usize) -> Option<&str> {
    let at = (set % REPETITION / SETS).checked_sub(1)?;
    orders.strategies.get(at).map(Tactic::id)
}

/// Everything that is needed to create attempts.
pub(super) struct TrialPlan<'a> {
    pub(super) orders: &'a Orders,
    /// The key of marks and random numbers.
    pub(super) marks: MarkKey,
    pub(super) canaries: Option<CanaryFiles>,
    pub(super) listener: Option<Listener>,
    pub(super) identities: usize,
    pub(super) roots: Vec<PathBuf>,
    pub(super) view: &'a TargetView<'a>,
    pub(super) drawn: RandomValues,
    /// The fraction of the forms to try, if the target is too slow for all.
    pub(super) share: Option<f64>,
}

/// The random marks and numbers in each attempt, by the mark of the attempt.
#[derive(Default)]
pub(super) struct RandomValues(Mutex<HashMap<Nonce, Arc<[String]>>>);

impl RandomValues {
    fn record(&self, attempts: &[Attempt], drawn: Vec<String>) {
        let drawn: Arc<[String]> = drawn.into();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.extend(attempts.iter().map(|attempt| (attempt.nonce.clone(), drawn.clone())));
    }

    pub(super) fn with(&self, nonce: &Nonce) -> Arc<[String]> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(nonce).cloned().unwrap_or_default()
    }
}

/// Strategies that cannot be applied to the target, and why.
pub(super) fn skipped(orders: &Orders) -> Vec<NotRun> {
    let why = |tactic: &Tactic| match tactic.check(orders.receiver) {
        Err(why) => Some(why.to_string()),
        Ok(())
            if orders.receiver == Receiver::Arguments
                && matches!(tactic.kind(), StrategyKind::Talk(_)) =>
        {
            Some("needs a conversation, which an MCP server does not have".to_owned())
        }
        Ok(()) => None,
    };
    let skipped = orders.strategies.iter().filter_map(|tactic| {
        Some(NotRun { what: format!("strategy {}", tactic.id()), why: why(tactic)? })
    });
    skipped.collect()
}

impl TrialPlan<'_> {
    /// The attempts of a trial. The same turn returns the same attempts; marks and numbers differ between turns.
    pub(super) fn attempts(
        &self,
        plugin: &PluginOrder,
        aim: &Aim,
        turn: usize,
        scope: Scope,
    ) -> Vec<Attempt> {
        if scope != Scope::All {
            return self.prompts(plugin, aim, turn, scope);
        }
        let mut attempts = Vec::new();
        let off = |tactic: &Tactic| matches!(tactic.kind(), StrategyKind::Keep { enabled: false });
        if !self.orders.strategies.iter().any(off) {
            let brief = self.brief(plugin, aim, &turn.to_string());
            attempts = plugin.attack.attempts(aim, &brief);
            self.drawn.record(&attempts, brief.drawn());
        }
        let id = plugin.attack.meta().id;
        for (at, tactic) in self.orders.strategies.iter().enumerate() {
            let suits = matches!(tactic.kind(), StrategyKind::Rewrite(_))
                && tactic.check(Receiver::Arguments).is_ok()
                && tactic.covers(id);
            if suits {
                // Use different marks, so that observations distinguish a rewritten attempt from the plain one.
                let brief = self.brief(plugin, aim, &format!("{turn}/{}", tactic.id()));
                let plain = plugin.attack.attempts(aim, &brief);
                self.drawn.record(&plain, brief.drawn());
                let rewritten = plain
                    .iter()
                    .flat_map(|one| self.rewritten(&plugin.attack, one, aim, (at, tactic)));
                let most = tactic.num_tests.unwrap_or(usize::MAX);
                attempts.extend(rewritten.take(most));
            }
        }
        let sets: BTreeSet<usize> = attempts.iter().map(|attempt| attempt.set).collect();
        let in_mode = if aim.mode.is_some() { MAX_SETS_IN_MODE } else { usize::MAX };
        let reduced = self.share.map_or(usize::MAX, |share| {
            ((sets.len() as f64 * share).ceil() as usize).max(MIN_SETS)
        });
        if let Some(end) = sets.into_iter().nth(in_mode.min(reduced)) {
            attempts.retain(|attempt| attempt.set < end);
        }
        attempts
    }

    /// Reduces every trial to its simplest forms if all forms would take much longer than the remaining time. Returns a
    /// note about this for the report.
    pub(super) fn reduce_forms(
        &mut self,
        planned: &[PlannedTrial],
        per_call: Duration,
        left: Duration,
    ) -> Option<NotRun> {
        if per_call < SLOW || planned.is_empty() {
            return None;
        }
        let count = |one: &PlannedTrial| {
            self.attempts(&self.orders.plugins[one.plugin], &one.aim, 0, one.scope).len()
        };
        // Estimate the number of attempts from a sample.
        let sample = planned.len().min(MAX_SAMPLE);
        let attempts: usize = planned.iter().take(sample).map(count).sum();
        let attempts = attempts * planned.len() / sample;
        let needed = per_call.as_secs_f64() * attempts as f64;
        if needed < left.as_secs_f64() * TOO_LONG {
            return None;
        }
        let share = left.as_secs_f64() / needed;
        self.share = Some(share);
        Some(NotRun {
            what: "rarer payloads".to_owned(),
            why: format!(
                "a call takes {} ms, so only the simplest {:.0} % of the payloads ran at each place; \
                 increase --budget-seconds to run more",
                per_call.as_millis(),
                share * 100.0
            ),
        })
    }

    /// The attempts of a trial on a target that takes text, repeated as often as ordered.
    fn prompts(&self, plugin: &PluginOrder, aim: &Aim, turn: usize, scope: Scope) -> Vec<Attempt> {
        let repetitions = if turn == 0 { self.orders.prompts.repeat.unwrap_or(1) } else { 1 };
        let repeated = (0..repetitions).flat_map(|repetition| {
            let mut attempts = self.prompts_once(plugin, aim, (turn, repetition), scope);
            attempts.iter_mut().for_each(|attempt| attempt.set += repetition * REPETITION);
            attempts
        });
        repeated.collect()
    }

    fn prompts_once(
        &self,
        plugin: &PluginOrder,
        aim: &Aim,
        (turn, repetition): (usize, usize),
        scope: Scope,
    ) -> Vec<Attempt> {
        let name = match scope {
            Scope::Strategy(at) => format!("{turn}.{repetition}/{at}"),
            Scope::All | Scope::Plain => format!("{turn}.{repetition}"),
        };
        let brief = self.brief(plugin, aim, &name);
        let mut attempts = plugin.attack.attempts(aim, &brief);
        self.drawn.record(&attempts, brief.drawn());
        let tactic = match scope {
            Scope::Strategy(at) => self.orders.strategies.get(at).map(|tactic| (at, tactic)),
            Scope::All | Scope::Plain => None,
        };
        let is_talk = tactic.is_some_and(|(_, one)| matches!(one.kind(), StrategyKind::Talk(_)));
        let of_strategy = tactic.and_then(|(_, tactic)| tactic.num_tests);
        let most =
            of_strategy.or(plugin.num_tests).unwrap_or(if is_talk { MAX_TALKS } else { SETS });
        let sets: BTreeSet<usize> = attempts.iter().map(|attempt| attempt.set).collect();
        if let Some(end) = sets.into_iter().nth(most) {
            attempts.retain(|attempt| attempt.set < end);
        }
        match tactic {
            Some((at, tactic)) if is_talk => talked(attempts, at, tactic),
            Some((at, tactic)) => rewritten_chats(&attempts, at, tactic, self.orders.seed),
            None => attempts,
        }
    }

    fn brief(&self, plugin: &PluginOrder, aim: &Aim, turn: &str) -> Brief<'_> {
        let mode = aim.mode.as_deref().unwrap_or_default();
        let name = format!("{}/{}/{turn}{mode}", plugin.attack.meta().id, aim.place.key());
        Brief::new(
            self.canaries.as_ref(),
            self.listener.as_ref(),
            self.identities,
            &self.roots,
            self.marks.marks(&name),
        )
        .on(self.view)
    }

    fn rewritten(
        &self,
        attack: &AnyAttack,
        plain: &Attempt,
        aim: &Aim,
        (at, tactic): (usize, &Tactic),
    ) -> Vec<Attempt> {
        let Action::Steps { steps, identity } = &plain.action else { return Vec::new() };
        let reach = match (&aim.place, &steps[..]) {
            (Place::Argument { pointer, .. }, [_]) => Reach::At { step: 0, pointer },
            // Calls that the user defined are hostile as a whole.
            (Place::Tool { .. }, _) if attack.is_defined() => Reach::All,
            _ => return Vec::new(),
        };
        let planned = |step: &Step| PlannedStep { step: step.clone(), capture: Vec::new() };
        let probe = Probe::Steps(steps.iter().map(planned).collect());
        let versions = tactic.rewrite(&probe, reach, self.orders.seed);
        let versions = versions.unwrap_or_default().into_iter().take(MAX_VERSIONS);
        let attempts = versions.enumerate().filter_map(|(version, probe)| {
            let Probe::Steps(planned) = probe else { return None };
            let steps = planned.into_iter().map(|one| one.step).collect();
            Some(Attempt {
                form: format!("{}, {}", plain.form, tactic.id()),
                set: (at + 1) * SETS + plain.set * MAX_VERSIONS + version,
                action: Action::Steps { steps, identity: *identity },
                ..plain.clone()
            })
        });
        attempts.collect()
    }
}

/// The attempts with conversations instead of hostile messages. What is only for comparison stays.
fn talked(attempts: Vec<Attempt>, at: usize, tactic: &Tactic) -> Vec<Attempt> {
    let can_talk = |attempt: &Attempt| match attempt.action.chat().map(|chat| &chat.hostile) {
        Some(Hostile::Variable(_)) | None => false,
        Some(Hostile::Last | Hostile::First | Hostile::Nothing) => true,
    };
    let attempts = attempts.into_iter().filter(can_talk).map(|mut attempt| {
        attempt.form = format!("{}, {}", attempt.form, tactic.id());
        attempt.set += (at + 1) * SETS;
        if let Action::Chat(chat) = &attempt.action
            && chat.hostile != Hostile::Nothing
        {
            attempt.action = Action::Talk { chat: chat.clone(), strategy: at };
        }
        attempt
    });
    attempts.collect()
}

/// The attempts with rewritten hostile texts, in as many versions as the strategy makes. What is only for comparison stays.
fn rewritten_chats(plain: &[Attempt], at: usize, tactic: &Tactic, seed: u64) -> Vec<Attempt> {
    let mut attempts = Vec::new();
    let mut sets: Vec<usize> = plain.iter().map(|attempt| attempt.set).collect();
    sets.dedup();
    for set in sets {
        let of_set: Vec<(&Attempt, Vec<String>)> = plain
            .iter()
            .filter(|attempt| attempt.set == set)
            .map(|attempt| (attempt, versions(attempt, tactic, seed)))
            .collect();
        let count = of_set.iter().map(|(_, versions)| versions.len()).max().unwrap_or(0);
        for version in 0..count.min(MAX_VERSIONS) {
            for (attempt, versions) in &of_set {
                let Action::Chat(chat) = &attempt.action else { continue };
                let text = versions.get(version).or(versions.last());
                let chat = match text {
                    Some(text) => chat.clone().with_hostile_text(text.as_str()),
                    None => chat.clone(),
                };
                attempts.push(Attempt {
                    form: format!("{}, {}", attempt.form, tactic.id()),
                    set: (at + 1) * SETS + set * MAX_VERSIONS + version,
                    payload: chat.hostile_text().map(Into::into),
                    action: Action::Chat(chat),
                    ..(*attempt).clone()
                });
            }
        }
    }
    attempts
}

/// The versions of the hostile text of an attempt.
fn versions(attempt: &Attempt, tactic: &Tactic, seed: u64) -> Vec<String> {
    let Some(text) = attempt.action.chat().and_then(|chat| chat.hostile_text()) else {
        return Vec::new();
    };
    let probe = Probe::Text(text.to_owned());
    let versions = tactic.rewrite(&probe, Reach::All, seed).unwrap_or_default().into_iter();
    let text = |probe| match probe {
        Probe::Text(text) => Some(text),
        Probe::Steps(_) => None,
    };
    versions.filter_map(text).collect()
}
