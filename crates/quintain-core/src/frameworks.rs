//! What frameworks call weaknesses, and how far a run has covered them. What was not attacked is not
//! clean.

mod tables;

use serde::{Deserialize, Serialize};

use crate::attack::Attack;
use crate::attacks;
use crate::finding::{Finding, Standing};
use crate::redteam::{NotRun, RedteamReport};

pub use tables::FRAMEWORKS;

/// A list of weaknesses that others keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Framework {
    pub id: &'static str,
    /// Short, for a line of a report.
    pub name: &'static str,
    /// With its edition.
    pub title: &'static str,
    pub organization: &'static str,
    /// What ids begin with: `MCP`.
    pub prefix: &'static str,
    pub entries: &'static [Entry],
}

/// One weakness of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    pub id: &'static str,
    pub title: &'static str,
}

/// The framework and the entry that an id stands for.
pub fn find(id: &str) -> Option<(&'static Framework, &'static Entry)> {
    FRAMEWORKS.iter().find_map(|framework| {
        let entry = framework.entries.iter().find(|entry| entry.id == id)?;
        Some((framework, entry))
    })
}

/// The ids that a finding bears: `CWE-78`, `MCP05`.
pub fn ids(finding: &Finding) -> Vec<String> {
    let cwe = finding.cwe.iter().map(|number| format!("CWE-{number}"));
    cwe.chain(finding.owasp.iter().cloned()).collect()
}

/// How far a run covered a framework.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    pub id: String,
    pub name: String,
    pub title: String,
    pub entries: Vec<Covered>,
}

impl Coverage {
    /// The entries of which this can be said.
    pub fn of(&self, state: State) -> impl Iterator<Item = &Covered> {
        self.entries.iter().filter(move |entry| entry.state == state)
    }
}

/// How far a run covered one entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Covered {
    pub id: String,
    pub title: String,
    pub state: State,
    /// Findings by their standing.
    pub confirmed: usize,
    pub suspected: usize,
    pub by_design: usize,
    /// Attacks that looked.
    pub attacks: Vec<String>,
    /// Attacks that would have looked, and why they did not. What they look for is not covered.
    pub not_run: Vec<NotRun>,
}

impl Covered {
    /// What can be said of it, in one or two words. What was not attacked is never told as clean.
    pub fn word(&self) -> String {
        match self.state {
            State::Confirmed => format!("{} confirmed", self.confirmed),
            State::Suspected => format!("{} suspected", self.suspected),
            State::ByDesign => format!("{} by design", self.by_design),
            State::Clean => "nothing found".to_owned(),
            State::NotRun | State::NoAttack => "not run".to_owned(),
        }
    }

    /// Who looked, and who did not and why.
    pub fn why(&self) -> String {
        if self.state == State::NoAttack {
            return "no attack tests it".to_owned();
        }
        let mut parts = Vec::new();
        if !self.attacks.is_empty() {
            parts.push(self.attacks.join(", "));
        }
        // Attacks that lack the same are told together.
        let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
        for one in &self.not_run {
            match reasons.iter_mut().find(|(why, _)| *why == one.why) {
                Some((_, attacks)) => attacks.push(&one.what),
                None => reasons.push((&one.why, vec![&one.what])),
            }
        }
        let told = |(why, attacks): &(&str, Vec<&str>)| format!("{} {why}", attacks.join(", "));
        let reasons: Vec<String> = reasons.iter().map(told).collect();
        if !reasons.is_empty() {
            let label = if self.attacks.is_empty() { "" } else { "not run: " };
            parts.push(format!("{label}{}", reasons.join("; ")));
        }
        parts.join("; ")
    }
}

/// What can be said of an entry: the worst of its findings, or how far it was looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    Confirmed,
    Suspected,
    ByDesign,
    /// At least one attack looked, and none found anything.
    Clean,
    /// There are attacks for it, and none of them looked.
    NotRun,
    /// There is no attack for it.
    NoAttack,
}

/// How far a run covered every framework, and what findings name beyond them.
pub fn coverage(report: &RedteamReport) -> Vec<Coverage> {
    covered_by(report, attacks::all())
}

fn covered_by(report: &RedteamReport, attacks: &[&'static dyn Attack]) -> Vec<Coverage> {
    let mut all: Vec<Coverage> = FRAMEWORKS
        .iter()
        .map(|framework| {
            let entries = framework.entries.iter();
            let entries = entries.map(|entry| covered(entry.id, entry.title, report, attacks));
            // Of weaknesses of all kinds, those that concern nobody are left out.
            let whole = framework.id != "cwe";
            Coverage {
                id: framework.id.to_owned(),
                name: framework.name.to_owned(),
                title: framework.title.to_owned(),
                entries: entries.filter(|one| whole || one.state != State::NoAttack).collect(),
            }
        })
        .collect();
    let mut others: Vec<String> = report.findings.iter().flat_map(ids).collect();
    others.retain(|id| find(id).is_none());
    others.sort_unstable();
    others.dedup();
    if !others.is_empty() {
        all.push(Coverage {
            id: "others".to_owned(),
            name: "Others".to_owned(),
            title: "Others".to_owned(),
            entries: others.iter().map(|id| covered(id, "", report, attacks)).collect(),
        });
    }
    all
}

fn covered(
    id: &str,
    title: &str,
    report: &RedteamReport,
    attacks: &[&'static dyn Attack],
) -> Covered {
    let named = |finding: &&Finding| ids(finding).iter().any(|one| belongs(one, id));
    let count = |standing: Standing| {
        let found = report.findings.iter().filter(named);
        found.filter(|finding| Standing::of(finding) == standing).count()
    };
    let mut covered = Covered {
        id: id.to_owned(),
        title: title.to_owned(),
        state: State::NoAttack,
        confirmed: count(Standing::Confirmed),
        suspected: count(Standing::Suspected),
        by_design: count(Standing::ByDesign),
        attacks: Vec::new(),
        not_run: Vec::new(),
    };
    // Attacks of the suite say themselves what they are about.
    for one in report.attacks.iter().filter(|one| one.bouts > 0) {
        let about = one.about.iter().flat_map(|about| &about.frameworks);
        if about.into_iter().any(|known| belongs(known, id)) {
            covered.attacks.push(one.attack.clone());
        }
    }
    for attack in attacks.iter().filter(|attack| is_about(**attack, id)) {
        let what = attack.meta().id;
        match why_not(what, report) {
            None => covered.attacks.push(what.to_owned()),
            Some(why) => covered.not_run.push(NotRun { what: what.to_owned(), why }),
        }
    }
    // Attacks of the suite say themselves what they are about.
    let defined = report.attacks.iter().filter(|one| {
        let about = one.about.as_ref().filter(|_| one.bouts > 0);
        about.is_some_and(|about| about.frameworks.iter().any(|known| known == id))
    });
    covered.attacks.extend(defined.map(|one| one.attack.clone()));
    covered.state = match &covered {
        Covered { confirmed: 1.., .. } => State::Confirmed,
        Covered { suspected: 1.., .. } => State::Suspected,
        Covered { by_design: 1.., .. } => State::ByDesign,
        Covered { attacks, .. } if !attacks.is_empty() => State::Clean,
        Covered { not_run, .. } if !not_run.is_empty() => State::NotRun,
        _ => State::NoAttack,
    };
    covered
}

/// Why an attack did not look; none if it did.
fn why_not(attack: &str, report: &RedteamReport) -> Option<String> {
    let run = report.attacks.iter().find(|one| one.attack == attack);
    if run.is_some_and(|run| run.bouts > 0) {
        return None;
    }
    let told = report.not_run.iter().find(|one| one.what == attack);
    Some(match (told, run) {
        (Some(told), _) => told.why.clone(),
        (None, Some(_)) => "found no place to attack".to_owned(),
        (None, None) => "was not asked for".to_owned(),
    })
}

fn is_about(attack: &dyn Attack, entry: &str) -> bool {
    let facts = attack.facts();
    facts.frameworks.iter().any(|id| belongs(id, entry))
        || facts.cwe.iter().any(|number| format!("CWE-{number}") == entry)
}

/// Whether an id is an entry, or a part of it: `AML.T0051.001` is one of `AML.T0051`.
fn belongs(id: &str, entry: &str) -> bool {
    id.strip_prefix(entry).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attack::Facts;
    use crate::launch_checks;
    use crate::redteam::AttackReport;

    fn report(looked: &[(&str, usize)]) -> RedteamReport {
        let ran = |(attack, bouts): &(&str, usize)| AttackReport {
            attack: (*attack).to_owned(),
            bouts: *bouts,
            ..AttackReport::default()
        };
        RedteamReport { attacks: looked.iter().map(ran).collect(), ..RedteamReport::default() }
    }

    fn entry(report: &RedteamReport, id: &str) -> Covered {
        let all = coverage(report);
        all.into_iter().flat_map(|one| one.entries).find(|entry| entry.id == id).unwrap()
    }

    #[test]
    fn every_id_of_every_attack_and_check_has_a_title() {
        let attacks = attacks::all().iter().map(|one| (one.meta().id, one.facts()));
        let checks = launch_checks::all().iter().map(|one| (one.meta().id, one.facts()));
        for (rule, facts) in attacks.chain(checks) {
            let Facts { frameworks, cwe, .. } = facts;
            let numbers = cwe.iter().map(|number| format!("CWE-{number}"));
            for id in frameworks.iter().map(|id| (*id).to_owned()).chain(numbers) {
                assert!(find(&id).is_some(), "{rule}: {id}");
            }
        }
    }

    #[test]
    fn ids_are_unique_and_begin_like_their_framework() {
        let mut seen = std::collections::HashSet::new();
        for framework in FRAMEWORKS {
            assert!(seen.insert(framework.id));
            for entry in framework.entries {
                assert!(seen.insert(entry.id) && entry.id.starts_with(framework.prefix));
            }
        }
    }

    #[test]
    fn what_was_not_run_is_not_clean() {
        let mut report = report(&[("bola", 3)]);
        let clean = entry(&report, "API1");
        assert_eq!((clean.state, clean.word().as_str()), (State::Clean, "nothing found"));
        assert_eq!(clean.attacks, ["bola"]);
        report.attacks[0].bouts = 0;
        let idle = entry(&report, "API1");
        assert_eq!((idle.state, idle.word().as_str()), (State::NotRun, "not run"));
        assert_eq!(idle.why(), "bola found no place to attack");
        report.attacks.clear();
        assert_eq!(entry(&report, "API1").why(), "bola was not asked for");
        report.not_run.push(NotRun { what: "bola".into(), why: "needs two identities".into() });
        assert_eq!(entry(&report, "API1").why(), "bola needs two identities");
        let nobody = entry(&report, "MCP08");
        assert_eq!((nobody.state, nobody.word().as_str()), (State::NoAttack, "not run"));
        assert_eq!(nobody.why(), "no attack tests it");
    }

    #[test]
    fn what_did_not_look_is_told_beside_what_did() {
        let clean = entry(&report(&[("bfla", 1)]), "API5");
        assert_eq!(clean.state, State::Clean);
        assert!(clean.not_run.iter().any(|one| one.what == "rbac"));
        assert!(clean.why().starts_with("bfla; not run: "), "{}", clean.why());
    }

    #[test]
    fn weaknesses_that_no_attack_knows_are_left_out() {
        let all = coverage(&RedteamReport::default());
        let cwe = all.iter().find(|one| one.id == "cwe").unwrap();
        assert!(cwe.entries.iter().any(|one| one.id == "CWE-78"));
        assert!(cwe.of(State::NoAttack).next().is_none());
        assert!(!all.iter().any(|one| one.id == "others"));
    }

    #[test]
    fn parts_of_a_technique_count_for_it() {
        assert!(belongs("AML.T0051.001", "AML.T0051") && !belongs("AML.T0051", "AML.T0051.001"));
        assert!(!belongs("API10", "API1"));
    }
}
