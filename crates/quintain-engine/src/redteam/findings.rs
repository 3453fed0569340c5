//! Turns hits into findings: one per fault and place, with all proofs.

use std::collections::BTreeMap;

use quintain_evidence::connection::Launch;
use quintain_evidence::evidence::Evidence;
use quintain_evidence::finding::{
    ATTACK_SUMMARY, Finding, FindingProof, Place, SENT_PROMPT, Severity, fingerprint,
};
use quintain_evidence::probe::Step;
use quintain_evidence::trial_record::{TrialKey, TrialRecord};
use quintain_redteam::attack::{AnyAttack, Chat, Hit, Hostile, Tried};
use quintain_redteam::attacks::{self, CRASH_ATTACK, CRASH_FAULT};
use quintain_redteam::orders::{Orders, PluginOrder};

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
        if let Some((order, crash)) = crash_order(self.redteam_run.orders).zip(outcome.crash) {
            let hit = self.crash_hit(&crash, place);
            let confirmed = ConfirmedHit { hit, tried: vec![crash], shown: 0, identity: None };
            findings.push(self.finding(&order, place, baseline, confirmed));
        }
        for finding in &mut findings {
            let usual = key.attack == finding.rule && key.place == finding.place.key();
            finding.trial = (!usual).then(|| key.clone());
        }
        let (place, attempts, state) = (place.clone(), outcome.attempts, outcome.state);
        let prompts = outcome.prompts;
        TrialRecord { key, place, attempts, hit, findings, state, prompts }
    }

    /// The record of a trial that was repeated because of late observations.
    pub(super) fn late(&self, outcome: TrialOutcome) -> TrialRecord {
        let attack = self.redteam_run.orders.plugins[outcome.plugin].attack.meta().id.to_owned();
        let key = TrialKey { attack, place: outcome.aim.place.key(), nth: 0 };
        self.record(key, outcome)
    }

    /// The hit for a call that ended the server twice, the second time alone.
    pub(super) fn crash_hit(&self, tried: &Tried, place: &Place) -> Hit {
        let called = tried.attempt.action.steps().iter().rev().find_map(|step| match step {
            Step::Call(call) => Some(call.tool.clone()),
            Step::Request { .. } => None,
        });
        let place = match called {
            Some(tool) if place.tool().is_none() => {
                Place::Tool { server: place.server().to_owned(), tool }
            }
            _ => place.clone(),
        };
        let form = &tried.attempt.form;
        let hit = Hit::confirmed(
            format!("Denial of service: `{place}` crashes the server ({form})"),
            "the process exited during the call, and again when the call was sent alone",
        );
        let hit = hit.by(tried).fault(CRASH_FAULT).at(place);
        let mut servers =
            self.redteam_run.target.as_mcp().into_iter().flat_map(|target| &target.servers);
        // An HTTP server is then unavailable to other clients as well.
        let http = servers.any(|server| matches!(server.launch, Launch::Url { .. }));
        if http { hit.severity(Severity::High) } else { hit }
    }

    /// A finding from the surface alone.
    pub(super) fn listed(&self, plugin: &PluginOrder, hit: Hit) -> Finding {
        let place = Place::Server { server: String::new() };
        let confirmed = ConfirmedHit { hit, tried: Vec::new(), shown: 0, identity: None };
        self.finding(plugin, &place, None, confirmed)
    }

    fn finding(
        &self,
        plugin: &PluginOrder,
        place: &Place,
        baseline: Option<Evidence>,
        confirmed: ConfirmedHit,
    ) -> Finding {
        let ConfirmedHit { hit, tried, shown, identity } = confirmed;
        let place = hit.place.clone().unwrap_or_else(|| place.clone());
        let (rule, facts) = (plugin.attack.rule(), plugin.attack.weakness());
        let shown = tried.get(shown);
        let steps: Vec<Step> =
            shown.map(|one| one.attempt.action.steps().to_vec()).unwrap_or_default();
        let proof = FindingProof {
            form: shown.map_or_else(|| "as listed".to_owned(), |one| one.attempt.form.clone()),
            what: hit.what.clone(),
            payload: shown.and_then(|one| one.attempt.payload.clone()),
            baseline,
            attempt: join(tried.iter().map(|one| &one.evidence)),
            pointer: hit.pointer.clone(),
            sign: hit.sign.clone(),
            identity,
        };
        let several = self.redteam_run.target.has_several_servers();
        let whose = if several { place.server() } else { "" };
        let fingerprint = fingerprint(rule, whose, &place, hit.fault);
        let severity = hit.severity.or(plugin.severity).unwrap_or(facts.severity);
        // Group informational findings, so that they are reported once for all places.
        let group = (severity == Severity::Info).then(|| Finding::group_of(rule, whose, hit.fault));
        let orders = self.redteam_run.orders;
        let strategy = shown.and_then(|one| strategy_of(orders, one.attempt.set));
        let about = || (ATTACK_SUMMARY.to_owned(), plugin.attack.meta().summary.into());
        let summary = plugin.attack.is_defined().then(about);
        // A prompt that only shows the effect of another conversation, or of what the target remembers, shows nothing alone.
        let is_whole = |chat: &Chat| {
            let is_remembered = orders.prompts.is_stateful && chat.messages.len() > 1;
            chat.hostile != Hostile::Nothing && !is_remembered
        };
        let sent = shown.filter(|one| one.attempt.action.chat().is_some_and(is_whole));
        let sent = sent.and_then(|one| one.last()?.sent.get("prompt").cloned());
        let sent = sent.map(|prompt| (SENT_PROMPT.to_owned(), prompt));
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
            metadata: summary.into_iter().chain(sent).collect(),
        };
        orders.reproduction_target.iter().for_each(|target| finding.seen_again_at(target));
        masked::finding(&finding, &self.redteam_run.world.redactor).into_owned()
    }
}

/// The attack that every crash is reported as, with the severity that the user gives it; also if it was not requested.
pub(super) fn crash_order(orders: &Orders) -> Option<PluginOrder> {
    let requested = orders.plugins.iter().find(|one| one.attack.meta().id == CRASH_ATTACK);
    requested.cloned().or_else(|| {
        let attack = AnyAttack::Builtin(attacks::find(CRASH_ATTACK)?);
        Some(PluginOrder { attack, num_tests: None, severity: None })
    })
}

pub(super) fn join<'e>(all: impl Iterator<Item = &'e Evidence>) -> Evidence {
    let mut joined = Evidence::default();
    for evidence in all {
        joined.exchanges.extend(evidence.exchanges.iter().cloned());
        joined.observations.extend(evidence.observations.iter().cloned());
    }
    joined
}
