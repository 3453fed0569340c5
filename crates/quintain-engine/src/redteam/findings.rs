//! Turns hits into findings: one per fault and place, with all proofs.

use std::collections::BTreeMap;

use quintain_evidence::evidence::Evidence;
use quintain_evidence::finding::{ATTACK_SUMMARY, Finding, Place, Proof, Severity, fingerprint};
use quintain_evidence::probe::Step;
use quintain_evidence::trial_record::{TrialKey, TrialRecord};
use quintain_redteam::attack::{Hit, Tried};
use quintain_redteam::orders::PluginOrder;

use super::RedteamRun;
use super::trial_outcome::{ConfirmedHit, TrialOutcome};
use super::trial_plan::strategy_of;
use crate::masked;

/// Returns a command that reproduces a step by hand.
pub type Reproduce<'a> = &'a dyn Fn(&Step) -> Option<String>;

/// Findings so far, by fingerprint.
#[derive(Default)]
pub(super) struct Findings {
    all: BTreeMap<String, Finding>,
}

impl Findings {
    /// Adds a finding, or its proofs to the existing finding with the same fingerprint.
    pub(super) fn add(&mut self, new: Finding) {
        let Some(known) = self.all.get_mut(&new.fingerprint) else {
            self.all.insert(new.fingerprint.clone(), new);
            return;
        };
        let plainly = known.strategies.is_empty() || new.strategies.is_empty();
        // Keep the finding with the higher confidence.
        if new.confidence > known.confidence {
            let proofs = std::mem::replace(known, new).proofs;
            known.proofs.extend(proofs);
        } else {
            known.proofs.extend(new.proofs);
        }
        if plainly {
            known.strategies.clear();
        }
    }

    /// Sorts the findings, most severe first.
    pub(super) fn sorted(self) -> Vec<Finding> {
        let mut findings: Vec<Finding> = self.all.into_values().collect();
        findings.sort_by(|a, b| {
            let rank = |one: &Finding| (one.severity, one.confidence);
            rank(b)
                .cmp(&rank(a))
                .then_with(|| a.rule.cmp(&b.rule))
                .then_with(|| a.place.cmp(&b.place))
        });
        findings
    }
}

/// Turns the outcomes of trials into records with findings.
pub(super) struct FindingWriter<'a> {
    redteam_run: &'a RedteamRun<'a>,
}

impl<'a> FindingWriter<'a> {
    pub(super) fn of(redteam_run: &'a RedteamRun<'a>) -> Self {
        Self { redteam_run }
    }

    /// The record of a trial, without secrets.
    pub(super) fn record(&self, key: TrialKey, outcome: TrialOutcome) -> TrialRecord {
        let plugins = &self.redteam_run.orders.plugins;
        let plugin = &plugins[outcome.plugin];
        let place = &outcome.aim.place;
        let baseline = outcome.aim.baseline.as_ref().map(|baseline| Evidence {
            exchanges: vec![baseline.exchange.clone()],
            ..Evidence::default()
        });
        let hit = !outcome.hits.is_empty();
        let mut findings: Vec<Finding> = outcome
            .hits
            .into_iter()
            .map(|confirmed| self.finding(plugin, place, baseline.clone(), confirmed))
            .collect();
        if let Some(crash) = outcome.crash {
            let malformed = plugins.iter().find(|one| one.attack.meta().id == "dos-malformed");
            let hit = crash_hit(&crash, place);
            let confirmed = ConfirmedHit { hit, tried: vec![crash], identity: None };
            findings.push(self.finding(malformed.unwrap_or(plugin), place, baseline, confirmed));
        }
        for finding in &mut findings {
            let usual = key.attack == finding.rule && key.place == finding.place.key();
            finding.trial = (!usual).then(|| key.clone());
        }
        let (place, attempts, state) = (place.clone(), outcome.attempts, outcome.state);
        TrialRecord { key, place, attempts, hit, findings, state }
    }

    /// The record of a trial that was repeated because of late observations.
    pub(super) fn late(&self, outcome: TrialOutcome) -> TrialRecord {
        let attack = self.redteam_run.orders.plugins[outcome.plugin].attack.meta().id.to_owned();
        let key = TrialKey { attack, place: outcome.aim.place.key(), nth: 0 };
        self.record(key, outcome)
    }

    /// A finding from the surface alone.
    pub(super) fn listed(&self, plugin: &PluginOrder, hit: Hit) -> Finding {
        let place = Place::Server { server: String::new() };
        self.finding(plugin, &place, None, ConfirmedHit { hit, tried: Vec::new(), identity: None })
    }

    fn finding(
        &self,
        plugin: &PluginOrder,
        place: &Place,
        baseline: Option<Evidence>,
        confirmed: ConfirmedHit,
    ) -> Finding {
        let ConfirmedHit { hit, tried, identity } = confirmed;
        let place = hit.place.clone().unwrap_or_else(|| place.clone());
        let (rule, facts) = (plugin.attack.rule(), plugin.attack.weakness());
        let last = tried.last();
        let steps: Vec<Step> =
            last.map(|one| one.attempt.action.steps().to_vec()).unwrap_or_default();
        let proof = Proof {
            form: last.map_or_else(|| "as listed".to_owned(), |one| one.attempt.form.clone()),
            what: hit.what.clone(),
            payload: last.and_then(|one| one.attempt.payload.clone()),
            baseline,
            attempt: join(tried.iter().map(|one| &one.evidence)),
            pointer: hit.pointer.clone(),
            sign: hit.sign.clone(),
            identity,
        };
        let several = self.redteam_run.target.servers.len() > 1;
        let whose = if several { place.server() } else { "" };
        let fingerprint = fingerprint(rule, whose, &place, hit.fault);
        let severity = hit.severity.or(plugin.severity).unwrap_or(facts.severity);
        // Group informational findings, so that they are reported once for all places.
        let group = (severity == Severity::Info).then(|| Finding::group_of(rule, whose, hit.fault));
        let orders = self.redteam_run.orders;
        let strategy = last.and_then(|one| strategy_of(orders, one.attempt.set));
        let about = || (ATTACK_SUMMARY.to_owned(), plugin.attack.meta().summary.into());
        let summary = plugin.attack.is_defined().then(about);
        let mut finding = Finding {
            id: Finding::id_of(&fingerprint),
            rule: rule.to_owned(),
            title: hit.title,
            severity,
            confidence: hit.confidence,
            target: self.redteam_run.name.to_owned(),
            tool: place.tool().map(str::to_owned),
            argument: place.argument(),
            written: orders.written.get(place.server()).cloned(),
            place,
            cwe: facts.cwe.to_vec(),
            owasp: facts.frameworks.iter().map(|id| (*id).to_owned()).collect(),
            proofs: vec![proof],
            reproduce: steps.last().and_then(self.redteam_run.reproduce),
            replay: None,
            group,
            places: Vec::new(),
            fingerprint,
            trial: None,
            strategies: strategy.map(str::to_owned).into_iter().collect(),
            note: hit.note,
            accepted: None,
            steps,
            metadata: summary.into_iter().collect(),
        };
        orders.reproduction_target.iter().for_each(|target| finding.seen_again_at(target));
        masked::finding(&finding, &self.redteam_run.world.redactor).into_owned()
    }
}

/// The hit for a call that ended the server twice, the second time alone.
fn crash_hit(tried: &Tried, place: &Place) -> Hit {
    let title = format!("{place} crashes the server ({})", tried.attempt.form);
    Hit::confirmed(
        title,
        "the process exited during the call, and again when the call was sent alone",
    )
    .severity(Severity::High)
    .by(tried)
    .fault("death")
}

pub(super) fn join<'e>(all: impl Iterator<Item = &'e Evidence>) -> Evidence {
    let mut joined = Evidence::default();
    for evidence in all {
        joined.exchanges.extend(evidence.exchanges.iter().cloned());
        joined.observations.extend(evidence.observations.iter().cloned());
    }
    joined
}
