//! Surveys a target and learns it, then generates tests instead of sending attempts.

use std::collections::BTreeMap;

use quintain_evidence::indicator::Indicator;
use quintain_evidence::probe::Step;
use quintain_evidence::redteam_report::NotRun;
use quintain_redteam::attack::lasting;
use quintain_redteam::attack::missing;
use quintain_redteam::attack::{Action, Attempt, MarkKey, PLANTED, TargetView};
use quintain_redteam::orders::PluginOrder;
use quintain_redteam::regression::TestDraft;
use serde_json::Map;

use super::clock::Clock;
use super::gate::Gate;
use super::plan::{AttackPlan, PlannedTrial};
use super::setup::Setup;
use super::speaker::Speaker;
use super::text::TextSender;
use super::trial_plan::{self, RandomValues, TrialPlan, strategy_of};
use super::{RedteamError, RedteamRun, Surveyed};
use crate::masked::Emitted;

/// The generated tests, and what was left out.
pub struct Generated {
    pub drafts: Vec<TestDraft>,
    pub not_run: Vec<NotRun>,
}

/// Learns a target and generates tests from the attempts whose success the answer alone shows.
///
/// # Errors
/// When the target cannot be reached or may not be attacked.
pub async fn generate(
    redteam_run: &RedteamRun<'_>,
    listen: &mut dyn FnMut(Emitted),
) -> Result<Generated, RedteamError> {
    let setup = Setup::prepare(redteam_run, None).await?;
    let surveyed = Surveyed::of(&setup, redteam_run, &mut Clock::new(), listen).await?;
    let view = surveyed.view();
    let plan = AttackPlan::of(redteam_run.orders, &view);
    let mut executor = surveyed.executor(redteam_run, &setup, &view, Speaker::of(redteam_run));
    // Marks in a file are not secret anyway, and the same seed must generate the same tests.
    executor.trial_plan.marks = MarkKey::of_seed(redteam_run.orders.seed);
    // The planted files are gone when the tests run, except files that are written with the tests.
    let bare = TrialPlan {
        marks: executor.trial_plan.marks.clone(),
        canaries: None,
        listener: None,
        orders: redteam_run.orders,
        identities: surveyed.sessions_by_identity.len(),
        roots: surveyed.knowledge.roots.clone(),
        view: &view,
        drawn: RandomValues::default(),
        share: None,
    };
    let mut drafts = Vec::new();
    let mut not_run = redteam_run.orders.not_run.clone();
    not_run.extend(trial_plan::skipped(redteam_run.orders));
    not_run.extend(plan.not_run);
    for plugin in &redteam_run.orders.plugins {
        let of_lists_alone = plugin.attack.inspects() && !plugin.attack.inspects_answers();
        if of_lists_alone && missing(plugin.attack.needs(), &view).is_none() {
            drafts.push(of_lists(plugin));
        }
    }
    for planned in plan.waves.into_iter().flat_map(|wave| wave.trials) {
        let plugin = &redteam_run.orders.plugins[planned.plugin];
        if let Some(sender) = &executor.speaker.sender {
            drafts.extend(of_prompts(plugin, &planned, &executor.trial_plan, sender));
            continue;
        }
        for (trial_plan, planted) in [(&bare, false), (&executor.trial_plan, true)] {
            let attempts = trial_plan.attempts(plugin, &planned.aim, 0, planned.scope);
            let mut sets: BTreeMap<usize, Vec<Attempt>> = BTreeMap::new();
            attempts.into_iter().for_each(|one| sets.entry(one.set).or_default().push(one));
            for (set, attempts) in sets {
                let gate = &*setup.gate;
                let generator = TestGenerator { plugin, view: &view, trial_plan, gate };
                let Some((form, steps, sign)) = generator.draft(&attempts) else {
                    continue;
                };
                if matches!(sign, Indicator::Reads { .. }) != planted {
                    continue;
                }
                let strategy = strategy_of(redteam_run.orders, set);
                drafts.push(TestDraft {
                    attack: plugin.attack.meta().id.to_owned(),
                    severity: plugin.severity.unwrap_or(plugin.attack.weakness().severity),
                    place: Some(planned.aim.place.clone()),
                    form,
                    strategy: strategy.map(str::to_owned),
                    steps,
                    prompt: None,
                    sign,
                });
            }
        }
    }
    not_run.extend(
        setup.budget.why().map(|why| NotRun { what: "tools without a valid call".to_owned(), why }),
    );
    surveyed.close().await;
    Ok(Generated { drafts, not_run })
}

/// The tests of a target that takes text: prompts whose success the reply alone shows.
fn of_prompts(
    plugin: &PluginOrder,
    planned: &PlannedTrial,
    trial_plan: &TrialPlan<'_>,
    sender: &TextSender<'_>,
) -> Vec<TestDraft> {
    let attempts = trial_plan.attempts(plugin, &planned.aim, 0, planned.scope);
    let mut sets: BTreeMap<usize, Vec<Attempt>> = BTreeMap::new();
    attempts.into_iter().for_each(|one| sets.entry(one.set).or_default().push(one));
    let drafts = sets.into_iter().filter_map(|(set, attempts)| {
        let (at, sign) = plugin.attack.expects(&attempts, trial_plan.view)?;
        let Action::Chat(chat) = &attempts.get(at)?.action else { return None };
        Some(TestDraft {
            attack: plugin.attack.meta().id.to_owned(),
            severity: plugin.severity.unwrap_or(plugin.attack.weakness().severity),
            place: Some(planned.aim.place.clone()),
            form: attempts[at].form.clone(),
            strategy: strategy_of(trial_plan.orders, set).map(str::to_owned),
            steps: Vec::new(),
            prompt: Some(sender.composed(chat)?),
            sign,
        })
    });
    drafts.collect()
}

fn of_lists(plugin: &PluginOrder) -> TestDraft {
    let step = Step::Request { method: "tools/list".into(), params: Map::new(), server: None };
    TestDraft {
        attack: plugin.attack.meta().id.to_owned(),
        severity: plugin.severity.unwrap_or(plugin.attack.weakness().severity),
        place: None,
        form: "as listed".to_owned(),
        strategy: None,
        steps: vec![step],
        prompt: None,
        sign: Indicator::Listed,
    }
}

/// Turns one set of attempts into a test without sending it.
struct TestGenerator<'a> {
    plugin: &'a PluginOrder,
    view: &'a TargetView<'a>,
    trial_plan: &'a TrialPlan<'a>,
    gate: &'a Gate,
}

impl TestGenerator<'_> {
    /// The form, the requests and the indicator; `None` if the answer alone does not show success.
    fn draft(&self, set: &[Attempt]) -> Option<(String, Vec<Step>, Indicator)> {
        let (at, sign) = self.plugin.attack.expects(set, self.view)?;
        let shown = set.get(at)?;
        let involved =
            if sign == Indicator::Differs { set.get(..2)? } else { std::slice::from_ref(shown) };
        let mut steps = Vec::new();
        for attempt in involved {
            if !self.gate.allows(attempt, &Map::new()) {
                return None;
            }
            match &attempt.action {
                Action::Steps { steps: own, identity: 0 } => steps.extend(own.iter().cloned()),
                _ => return None,
            }
        }
        let callable = |step: &Step| match step {
            Step::Call(call) => {
                let mut tools = self.view.tools();
                tools.any(|(_, tool)| tool.name() == Some(call.tool.as_str()))
            }
            Step::Request { .. } => true,
        };
        let fits = sign != Indicator::Differs || steps.len() == 2;
        if !fits || !steps.iter().all(callable) {
            return None;
        }
        let sent = serde_json::to_string(&steps).unwrap_or_default();
        let sign = lasting(sign, self.trial_plan.canaries.as_ref(), &sent)?;
        if !matches!(sign, Indicator::Reads { .. }) && sent.contains(PLANTED) {
            return None;
        }
        Some((shown.form.clone(), steps, sign))
    }
}
