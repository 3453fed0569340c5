//! Plans which attacks run at which places, and lists what cannot run.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use quintain_evidence::redteam_report::NotRun;
use quintain_evidence::trial_record::TrialKey;
use quintain_redteam::attack::missing;
use quintain_redteam::attack::{Aim, Hit, TargetView, listed};
use quintain_redteam::orders::{Orders, PluginOrder};
use quintain_redteam::suits::Receiver;

use super::scope::Scope;

/// A planned trial: one attack at one aim.
pub(super) struct PlannedTrial {
    /// Position in the attack's order of aims, most promising first.
    rank: usize,
    pub(super) plugin: usize,
    pub(super) aim: Arc<Aim>,
    pub(super) scope: Scope,
    pub(super) key: TrialKey,
}

/// Trials that may run concurrently. If `quiet` is set, they run one by one.
#[derive(Default)]
pub(super) struct Wave {
    pub(super) quiet: bool,
    pub(super) trials: Vec<PlannedTrial>,
}

/// All planned trials.
#[derive(Default)]
pub(super) struct AttackPlan {
    /// Trials in waves. Attacks that may crash the target come last, so that they do not disturb others.
    pub(super) waves: [Wave; 4],
    /// Hits in the surface alone.
    pub(super) statics: Vec<(usize, Hit)>,
    pub(super) not_run: Vec<NotRun>,
    /// The attacks that `numTests` limits.
    pub(super) limited: Vec<LimitedAttack>,
}

/// An attack with more places than `numTests` allows.
pub(super) struct LimitedAttack {
    pub(super) attack: String,
    pub(super) planned: usize,
    pub(super) excluded: usize,
}

impl AttackPlan {
    pub(super) fn of(orders: &Orders, view: &TargetView<'_>) -> Self {
        let mut plan = Self::default();
        for (at, plugin) in orders.plugins.iter().enumerate() {
            let what = plugin.attack.meta().id.to_owned();
            if let Some(why) = missing(plugin.attack.needs(), view) {
                plan.not_run.push(NotRun { what, why });
                continue;
            }
            if let Some(why) = plugin.attack.falls_back(view) {
                plan.not_run.push(NotRun { what: format!("part of {what}"), why: why.to_owned() });
            }
            let statics = listed(&*plugin.attack, view);
            plan.statics.extend(statics.into_iter().map(|hit| (at, hit)));
            let mut aims = plugin.attack.aims(view);
            if let Some(only) = &orders.only {
                aims.retain(|aim| only.contains(&(what.clone(), aim.place.key())));
            }
            let takes_text = orders.receiver == Receiver::Model;
            if !takes_text {
                let planned = plugin.num_tests.unwrap_or(usize::MAX).min(aims.len());
                let excluded = aims.len() - planned;
                if excluded > 0 {
                    plan.limited.push(LimitedAttack { attack: what.clone(), planned, excluded });
                }
                aims.truncate(planned);
            }
            let scopes = if takes_text {
                Scope::of_prompts(orders, &plugin.attack)
            } else {
                vec![Scope::All]
            };
            let aims = scopes.into_iter().flat_map(|scope| {
                aims.iter().map(move |aim| (scope, aim.clone())).collect::<Vec<_>>()
            });
            let mut seen: HashMap<String, usize> = HashMap::new();
            let quiet = plugin.attack.wants_quiet();
            let last = plugin.attack.may_end_target();
            let wave = &mut plan.waves[2 * usize::from(last) + usize::from(quiet)];
            wave.quiet = quiet;
            wave.trials.extend(aims.enumerate().map(|(rank, (scope, aim))| {
                let place = aim.place.key();
                let nth = seen.entry(place.clone()).or_default();
                *nth += 1;
                let key = TrialKey { attack: what.clone(), place, nth: *nth - 1 };
                PlannedTrial { rank, plugin: at, aim: Arc::new(aim), scope, key }
            }));
        }
        // The most promising aims of all attacks come first, so that a small budget covers every attack. Further
        // modes of tools come last.
        for wave in &mut plan.waves {
            wave.trials.sort_by_key(|planned| (planned.aim.mode.is_some(), planned.rank));
        }
        plan
    }

    /// Notes which places `numTests` excludes from a run.
    pub(super) fn note_limits(&mut self) {
        self.not_run.extend(beyond_limit(&self.limited));
    }

    /// The position of an attack that is ordered, and that has what it needs.
    pub(super) fn place_of(&self, orders: &Orders, attack: &str) -> Option<usize> {
        let at = orders.plugins.iter().position(|one| one.attack.meta().id == attack)?;
        let is_able = !self.not_run.iter().any(|one| one.what == attack);
        is_able.then_some(at)
    }

    pub(super) fn len(&self) -> usize {
        self.statics.len() + self.waves.iter().map(|wave| wave.trials.len()).sum::<usize>()
    }

    /// Removes trials that are already done.
    pub(super) fn without(&mut self, done: &HashSet<TrialKey>) {
        for wave in &mut self.waves {
            wave.trials.retain(|planned| !done.contains(&planned.key));
        }
    }
}

/// The note about attacks with more places than `numTests` allows.
fn beyond_limit(limited: &[LimitedAttack]) -> Option<NotRun> {
    let each = limited.iter().map(|LimitedAttack { attack, planned, excluded }| {
        format!("{attack} {planned} of {}", planned + excluded)
    });
    let each = each.collect::<Vec<_>>().join(", ");
    (!limited.is_empty()).then(|| NotRun {
        what: "places beyond `numTests`".to_owned(),
        why: format!("the limit allows {each}; increase or remove `numTests` to attack all places"),
    })
}

/// Whether the target has everything that an attack needs.
pub(super) fn is_able(plugin: &PluginOrder, view: &TargetView<'_>) -> bool {
    missing(plugin.attack.needs(), view).is_none()
}
