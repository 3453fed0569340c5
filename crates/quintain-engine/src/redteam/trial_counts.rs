//! Collects the results of trials: findings, hit rates and coverage.

use std::collections::BTreeMap;

use quintain_evidence::finding::Finding;
use quintain_evidence::redteam_report::{AttackReport, ToolCoverage};
use quintain_evidence::surface::Surface;
use quintain_evidence::trial_record::{PromptCount, TrialKey, TrialRecord, TrialState};
use quintain_redteam::attack::TargetView;
use quintain_redteam::attacks::CRASH_ATTACK;
use quintain_redteam::knowledge::Knowledge;
use quintain_redteam::orders::Orders;
use quintain_redteam::summary::{described, interval};

use super::findings::{Findings, crash_order};
use super::plan::{AttackPlan, is_able};
use super::prompt_counts::pass_at;

/// Counts trials, new ones and those of the interrupted run alike.
#[derive(Default)]
pub(super) struct TrialCounts {
    findings: Findings,
    attacks: BTreeMap<String, AttackReport>,
    /// The attacks on each argument, by server, tool and argument.
    coverage: BTreeMap<(String, String, String), Vec<String>>,
    /// Number of trials that the target answered, and of those that it did not answer.
    answered: usize,
    unanswered: usize,
    /// For targets that take text: how often each prompt of an attack worked.
    prompts: BTreeMap<String, Vec<PromptCount>>,
}

impl TrialCounts {
    /// Adds every attack that can run. An attack that inspects surfaces counts one trial per server.
    pub(super) fn of(orders: &Orders, view: &TargetView<'_>) -> Self {
        let mut counts = Self::default();
        // A server that did not list everything is not inspected.
        let listed =
            |surface: &Surface| !surface.problems.iter().any(|one| one.contains("/list: "));
        let whole = view.surfaces.iter().filter(|(_, surface)| listed(surface)).count();
        for plugin in &orders.plugins {
            if is_able(plugin, view) {
                let report = counts.attack(plugin.attack.meta().id);
                if plugin.attack.inspects() {
                    report.trials += whole;
                    report.unanswered += view.surfaces.len() - whole;
                }
            }
        }
        counts
    }

    /// Adds the trials that are planned. Each finished one is removed again.
    pub(super) fn plan(&mut self, plan: &AttackPlan) {
        for planned in plan.waves.iter().flat_map(|wave| &wave.trials) {
            self.attack(&planned.key.attack).left_out += 1;
        }
        for limited in &plan.limited {
            self.attack(&limited.attack).beyond_limit = limited.excluded;
        }
    }

    /// Notes that a planned trial ran to its end.
    pub(super) fn finished(&mut self, key: &TrialKey) {
        let attack = self.attack(&key.attack);
        attack.left_out = attack.left_out.saturating_sub(1);
    }

    /// The number of trials that the target answered, and of those that it did not answer.
    pub(super) fn answers(&self) -> (usize, usize) {
        (self.answered, self.unanswered)
    }

    pub(super) fn add_trial(&mut self, record: TrialRecord) {
        let attack = self.attack(&record.key.attack);
        attack.attempts += record.attempts;
        let prompts = record.prompts.as_deref().unwrap_or_default();
        match record.state {
            TrialState::Answered if record.prompts.is_some() => {
                attack.trials += prompts.iter().map(|count| count.sent).sum::<usize>();
            }
            TrialState::Answered => attack.trials += 1,
            TrialState::Unanswered => attack.unanswered += 1,
            TrialState::NotSent => {}
        }
        self.answered += usize::from(record.state == TrialState::Answered);
        self.unanswered += usize::from(record.state == TrialState::Unanswered);
        if record.state != TrialState::Answered {
            return;
        }
        let attack = self.attack(&record.key.attack);
        match &record.prompts {
            Some(prompts) => {
                attack.hits += prompts.iter().map(|count| count.hits).sum::<usize>();
                let all = self.prompts.entry(record.key.attack.clone()).or_default();
                all.extend(prompts.iter().copied());
            }
            None => attack.hits += usize::from(record.hit),
        }
        if let Some(tool) = record.place.tool() {
            let argument = record.place.argument().unwrap_or_default();
            let key = (record.place.server().to_owned(), tool.to_owned(), argument);
            let tried = self.coverage.entry(key).or_default();
            if !tried.contains(&record.key.attack) {
                tried.push(record.key.attack.clone());
            }
        }
        let is_crash = |one: &Finding| one.rule == CRASH_ATTACK;
        if record.key.attack != CRASH_ATTACK && record.findings.iter().any(is_crash) {
            // Another attack found it; it counts as a trial of the attack that it is reported as.
            let attack = self.attack(CRASH_ATTACK);
            attack.trials += 1;
            attack.hits += 1;
        }
        record.findings.into_iter().for_each(|finding| self.findings.add(finding));
    }

    /// Adds late observations of a trial that is already counted.
    pub(super) fn late(&mut self, record: TrialRecord) {
        let attack = self.attack(&record.key.attack);
        attack.attempts += record.attempts;
        attack.hits = (attack.hits + usize::from(record.hit)).min(attack.trials);
        record.findings.into_iter().for_each(|finding| self.findings.add(finding));
    }

    /// Adds a finding from the surface alone.
    pub(super) fn listed(&mut self, attack: &str, finding: Finding) {
        let report = self.attack(attack);
        report.hits = (report.hits + 1).min(report.trials);
        self.findings.add(finding);
    }

    fn attack(&mut self, id: &str) -> &mut AttackReport {
        let new = || AttackReport { attack: id.to_owned(), ..AttackReport::default() };
        self.attacks.entry(id.to_owned()).or_insert_with(new)
    }

    /// The findings, most severe first; the attacks in suite order; and the coverage of every tool.
    pub(super) fn finish(
        mut self,
        orders: &Orders,
        surfaces: &[(String, Surface)],
        knowledge: &Knowledge,
    ) -> (Vec<Finding>, Vec<AttackReport>, Vec<ToolCoverage>) {
        let mut attacks = Vec::new();
        let requested = orders.plugins.iter().any(|one| one.attack.meta().id == CRASH_ATTACK);
        let crash = crash_order(orders).filter(|_| !requested);
        for plugin in orders.plugins.iter().chain(&crash) {
            let Some(mut report) = self.attacks.remove(plugin.attack.meta().id) else { continue };
            report.rate =
                if report.trials == 0 { 0.0 } else { report.hits as f64 / report.trials as f64 };
            report.interval = interval(report.hits, report.trials);
            let prompts = self.prompts.get(plugin.attack.meta().id);
            report.pass_at = prompts.map(|counts| pass_at(counts)).unwrap_or_default();
            report.about = described(&plugin.attack);
            attacks.push(report);
        }
        (self.findings.sorted(), attacks, tools(surfaces, knowledge, self.coverage))
    }
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
