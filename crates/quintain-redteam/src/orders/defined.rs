//! Attacks that a suite defines: payloads or whole calls, where to try them, and what proves that they worked. They
//! behave like those of the registry.

mod proof;
mod reach;
mod read;
mod shape;
mod text;

pub(crate) use proof::{JudgedRule, Proof, Sign};
pub(crate) use reach::KINDS;
use reach::Reach;
pub use read::Reading;
pub(crate) use read::{Probes, WORDS, demands, framework_ids, pattern};
pub(crate) use shape::Shape;

use proof::AttemptView;
use text::Values;

/// Placeholders and their meanings.
pub(crate) const PLACEHOLDERS: [(&str, text::Name, &str); 15] = text::Name::ALL;
/// Kinds of errors.
pub(crate) const FAULTS: [(&str, proof::Fault); 5] = proof::Fault::WORDS;

use quintain_content::registry::About;
use quintain_evidence::finding::{Confidence, Place, Severity};
use quintain_evidence::probe::{self, Step};
use quintain_evidence::question::Question;
use quintain_evidence::weakness::Weakness;

use crate::attack::{Action, Aim, Attack, Attempt, Brief, Hit, Need, TargetView, Trial, Tried};
use crate::attacks::leaks;
use crate::attacks::reach::{attempt, plausible};
use crate::opinion::Votes;

/// An attack that a suite defines.
#[derive(Debug)]
pub struct Defined {
    pub(crate) id: String,
    pub(crate) summary: String,
    /// Markdown, for reports.
    pub(crate) docs: String,
    pub(crate) severity: Severity,
    pub(crate) cwe: Vec<u32>,
    pub(crate) frameworks: Vec<&'static str>,
    pub(crate) needs: Vec<Need>,
    pub(crate) body: AttackBody,
    /// Any one of them is enough.
    pub(crate) proofs: Vec<Proof>,
    /// Patterns of tools that must not be listed.
    pub(crate) unwanted: Vec<String>,
}

/// What to send.
#[derive(Debug)]
pub(crate) enum AttackBody {
    /// Hostile values instead of harmless ones.
    Payloads { reach: Reach, payloads: Vec<Payload> },
    /// Whole calls as written.
    Probes(Vec<CallForm>),
    /// Every harmless valid call again, and these.
    Again(Vec<CallForm>),
}

/// One form of the attack: a value.
#[derive(Debug, Clone)]
pub(crate) struct Payload {
    pub(crate) form: String,
    pub(crate) shape: Shape,
}

/// One form of the attack: one call or several in sequence.
#[derive(Debug)]
pub(crate) struct CallForm {
    pub(crate) form: String,
    pub(crate) shape: Shape,
    /// The step that the proof is about, before placeholders are filled in.
    pub(crate) last: Step,
    /// Used instead of the proofs of the attack.
    pub(crate) own: Vec<Proof>,
}

impl Attack for Defined {
    fn meta(&self) -> About<'_> {
        About { id: &self.id, aliases: &[], summary: &self.summary, docs: &self.docs, since: "" }
    }

    fn weakness(&self) -> Weakness<'_> {
        Weakness { severity: self.severity, cwe: &self.cwe, frameworks: &self.frameworks }
    }

    fn needs(&self) -> &[Need] {
        &self.needs
    }

    fn asks(&self, trial: &Trial<'_>, tried: &Tried) -> Vec<Question> {
        let rules =
            self.proofs.iter().flat_map(|proof| &proof.signs).filter_map(|sign| match sign {
                Sign::Judged(judged) => Some(judged),
                _ => None,
            });
        let reply = tried.said();
        let (Some(judge), false) = (&trial.view.capabilities.judge, reply.trim().is_empty()) else {
            return Vec::new();
        };
        let sent = serde_json::to_string(tried.attempt.action.steps()).unwrap_or_default();
        let ask = |one: &JudgedRule| judge.questions(&one.asked_by, &one.rule, &sent, &reply);
        rules.flat_map(ask).collect()
    }

    fn is_undecided(&self, trial: &Trial<'_>) -> bool {
        let only_judged = |proof: &Proof| match &proof.signs[..] {
            [Sign::Judged(one)] => {
                Votes::none_in(trial.tried.iter().map(|tried| &tried.evidence), &one.asked_by)
            }
            _ => false,
        };
        !self.proofs.is_empty() && self.proofs.iter().all(only_judged)
    }

    fn may_end_target(&self) -> bool {
        let fatal = |proof: &Proof| proof.signs.iter().any(|sign| matches!(sign, Sign::Exit));
        self.proofs.iter().any(fatal)
    }

    fn inspects(&self) -> bool {
        !self.unwanted.is_empty()
    }

    fn inspect(&self, view: &TargetView<'_>) -> Vec<Hit> {
        let unwanted = view.tools().filter_map(|(server, tool)| {
            let name = tool.name().filter(|name| reach::matches(&self.unwanted, name))?;
            let place = Place::Tool { server: server.to_owned(), tool: name.to_owned() };
            let title = format!("{}: the server lists {name}", self.summary);
            Some(Hit::confirmed(title, format!("`{name}` is listed")).at(place).fault("listed"))
        });
        unwanted.collect()
    }

    fn aims(&self, view: &TargetView<'_>) -> Vec<Aim> {
        match &self.body {
            AttackBody::Payloads { reach, .. } => reach.aims(view),
            AttackBody::Probes(probes) => with_places(Vec::new(), probes, view),
            AttackBody::Again(probes) => with_places(leaks::aims(view), probes, view),
        }
    }

    fn attempts(&self, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
        match &self.body {
            AttackBody::Payloads { payloads, .. } => {
                let body = payloads.iter().enumerate();
                body.filter_map(|(set, shot)| value(aim, brief, set, shot)).collect()
            }
            AttackBody::Probes(probes) => calls(probes, aim, brief),
            AttackBody::Again(probes) => {
                let mut attempts = leaks::again(aim, brief);
                attempts.extend(calls(probes, aim, brief));
                attempts
            }
        }
    }

    fn detect(&self, trial: &Trial<'_>) -> Vec<Hit> {
        let hit = |tried: &Tried| {
            let attempt_view =
                AttemptView::new(trial, tried, !matches!(self.body, AttackBody::Payloads { .. }));
            let seen = self.proofs_of(&attempt_view).iter().filter_map(|proof| {
                let fatal = proof.signs.iter().any(|sign| matches!(sign, Sign::Exit));
                Some((proof.seen(&attempt_view)?, fatal))
            });
            // Certain proofs first, then in order.
            let (seen, fatal) =
                seen.reduce(|best, one| if one.0.sure && !best.0.sure { one } else { best })?;
            let confidence = if seen.sure { Confidence::Confirmed } else { Confidence::Suspected };
            let title = format!("{}: {} ({})", trial.aim.place, self.summary, tried.attempt.form);
            let mut hit = Hit::new(confidence, title, seen.what).by(tried);
            hit.pointer = seen.pointer;
            // The crash of a server is reported once, whichever attack looks for it.
            Some(if fatal { hit.fault("death") } else { hit })
        };
        trial.tried.iter().filter_map(hit).collect()
    }
}

impl Defined {
    /// The proofs that apply to this attempt.
    fn proofs_of(&self, attempt_view: &AttemptView<'_>) -> &[Proof] {
        let (AttackBody::Probes(probes) | AttackBody::Again(probes)) = &self.body else {
            return &self.proofs;
        };
        let own = attempt_view.shot().and_then(|at| probes.get(at)).map(|call_form| &call_form.own);
        own.filter(|own| !own.is_empty()).unwrap_or(&self.proofs)
    }
}

fn value(aim: &Aim, brief: &Brief<'_>, set: usize, payload: &Payload) -> Option<Attempt> {
    let (nonce, values) = Values::draw(brief, plausible(aim), set);
    let value = payload.shape.fill(&values)?;
    let made = attempt(aim, (set, &payload.form), nonce, value)?;
    Some(Attempt { role: values.role(), ..made })
}

/// The calls that belong to the place of an aim.
fn calls(probes: &[CallForm], aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
    let Some(view) = brief.view else { return Vec::new() };
    let mine = probes.iter().enumerate();
    let mine = mine.filter(|(_, probe)| place(&probe.last, view) == aim.place);
    mine.filter_map(|(at, probe)| call(brief, at, probe)).collect()
}

fn call(brief: &Brief<'_>, at: usize, call_form: &CallForm) -> Option<Attempt> {
    let (nonce, values) = Values::draw(brief, String::new(), at);
    let planned = probe::steps(&call_form.shape.fill(&values)?).ok()?;
    let steps = planned.into_iter().map(|one| one.step).collect();
    // Set 0 is the baseline call.
    let (form, set, role) = (call_form.form.clone(), at + 1, values.role());
    let action = Action::Steps { steps, identity: 0 };
    Some(Attempt { form, set, role, action, nonce, payload: None })
}

/// Aims, including the places of whole calls.
fn with_places(mut aims: Vec<Aim>, probes: &[CallForm], view: &TargetView<'_>) -> Vec<Aim> {
    for probe in probes {
        let place = place(&probe.last, view);
        if aims.iter().all(|aim| aim.place != place) {
            aims.push(Aim::at(place));
        }
    }
    aims
}

/// The place of a call: the tool that it calls, or the request.
fn place(step: &Step, view: &TargetView<'_>) -> Place {
    let first = || view.surfaces.first().map_or("", |(server, _)| server.as_str());
    let home = |tool: &str| {
        let listed = view.tools().find(|(_, known)| known.name() == Some(tool));
        listed.map_or_else(first, |(server, _)| server).to_owned()
    };
    match step {
        Step::Call(call) => Place::Tool {
            server: call.server.clone().unwrap_or_else(|| home(&call.tool)),
            tool: call.tool.clone(),
        },
        Step::Request { method, server, .. } => Place::Message {
            server: server.clone().unwrap_or_else(|| first().to_owned()),
            message: method.clone(),
        },
    }
}

#[cfg(test)]
mod tests;
