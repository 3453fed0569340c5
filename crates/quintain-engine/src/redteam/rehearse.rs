//! Surveys and learns, and then writes attempts down instead of making them.

use std::collections::BTreeMap;

use quintain_evidence::event::Event;
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
use super::drill::{self, Drawn, Drill, strategy_of};
use super::gate::Gate;
use super::plan::Plan;
use super::siege::Siege;
use super::{Campaign, RedteamError, Scouted};

/// What could be tried.
pub struct Rehearsal {
    pub drafts: Vec<TestDraft>,
    pub not_run: Vec<NotRun>,
}

/// Learns a target and writes down the attempts that can be judged by their answers.
///
/// # Errors
/// When the target cannot be reached, or must not be.
pub async fn rehearse(
    campaign: &Campaign<'_>,
    listen: &mut dyn FnMut(Event),
) -> Result<Rehearsal, RedteamError> {
    let siege = Siege::prepare(campaign, None).await?;
    let scouted = Scouted::of(&siege, campaign, &mut Clock::new(), listen).await?;
    let field = scouted.field(campaign);
    let plan = Plan::of(campaign.orders, &field);
    let mut arena = scouted.arena(campaign, &siege, &field);
    // What is written to a file can be read by anybody; the same seed writes the same tests.
    arena.drill.marks = MarkKey::of_seed(campaign.orders.seed);
    // What is planted for the run is gone when the tests are run, but for files that come with them.
    let bare = Drill {
        marks: arena.drill.marks.clone(),
        ground: None,
        listener: None,
        orders: campaign.orders,
        identities: scouted.parties.len(),
        roots: scouted.knowledge.roots.clone(),
        field: &field,
        drawn: Drawn::default(),
        share: None,
    };
    let mut drafts = Vec::new();
    let mut not_run = campaign.orders.not_run.clone();
    not_run.extend(drill::skipped(campaign.orders));
    not_run.extend(plan.not_run);
    for plugin in &campaign.orders.plugins {
        let of_lists_alone = plugin.attack.inspects() && !plugin.attack.inspects_answers();
        if of_lists_alone && missing(plugin.attack.needs(), &field).is_none() {
            drafts.push(of_lists(plugin));
        }
    }
    for planned in plan.waves.into_iter().flat_map(|wave| wave.bouts) {
        let plugin = &campaign.orders.plugins[planned.plugin];
        for (drill, planted) in [(&bare, false), (&arena.drill, true)] {
            let attempts = drill.attempts(plugin, &planned.aim, 0);
            let mut sets: BTreeMap<usize, Vec<Attempt>> = BTreeMap::new();
            attempts.into_iter().for_each(|one| sets.entry(one.set).or_default().push(one));
            for (set, attempts) in sets {
                let gate = &*siege.gate;
                let rehearsed = Rehearsed { plugin, field: &field, drill, gate };
                let Some((form, steps, sign)) = rehearsed.draft(&attempts) else {
                    continue;
                };
                if matches!(sign, Indicator::Reads { .. }) != planted {
                    continue;
                }
                let strategy = strategy_of(campaign.orders, set);
                drafts.push(TestDraft {
                    attack: plugin.attack.meta().id.to_owned(),
                    severity: plugin.severity.unwrap_or(plugin.attack.weakness().severity),
                    place: Some(planned.aim.place.clone()),
                    form,
                    strategy: strategy.map(str::to_owned),
                    steps,
                    sign,
                });
            }
        }
    }
    not_run.extend(
        siege
            .budget
            .why()
            .map(|why| NotRun { what: "tools that could not be learned".to_owned(), why }),
    );
    scouted.close().await;
    Ok(Rehearsal { drafts, not_run })
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
        sign: Indicator::Listed,
    }
}

/// One set of attempts that is not made.
struct Rehearsed<'a> {
    plugin: &'a PluginOrder,
    field: &'a TargetView<'a>,
    drill: &'a Drill<'a>,
    gate: &'a Gate,
}

impl Rehearsed<'_> {
    /// The form, the requests and the sign; none if an answer alone would not tell.
    fn draft(&self, set: &[Attempt]) -> Option<(String, Vec<Step>, Indicator)> {
        let (at, sign) = self.plugin.attack.expects(set, self.field)?;
        let shown = set.get(at)?;
        let involved =
            if sign == Indicator::Differs { set.get(..2)? } else { std::slice::from_ref(shown) };
        let mut steps = Vec::new();
        for attempt in involved {
            if !self.gate.lets_pass(attempt, &Map::new()) {
                return None;
            }
            match &attempt.action {
                Action::Steps { steps: own, identity: 0 } => steps.extend(own.iter().cloned()),
                _ => return None,
            }
        }
        let callable = |step: &Step| match step {
            Step::Call(call) => {
                let mut tools = self.field.tools();
                tools.any(|(_, tool)| tool.name() == Some(call.tool.as_str()))
            }
            Step::Request { .. } => true,
        };
        let fits = sign != Indicator::Differs || steps.len() == 2;
        if !fits || !steps.iter().all(callable) {
            return None;
        }
        let sent = serde_json::to_string(&steps).unwrap_or_default();
        let sign = lasting(sign, self.drill.ground.as_ref(), &sent)?;
        if !matches!(sign, Indicator::Reads { .. }) && sent.contains(PLANTED) {
            return None;
        }
        Some((shown.form.clone(), steps, sign))
    }
}
