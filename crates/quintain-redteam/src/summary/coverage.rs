//! How far a run covered the frameworks. What was not attacked is not clean.

use quintain_evidence::finding::{Finding, Standing};
use quintain_evidence::frameworks::{FRAMEWORKS, find, ids};
use quintain_evidence::redteam_report::{
    AttackReport, Coverage, CoverageState, Covered, DefinedAttack, NotRun, RedteamReport,
};

use super::risk::risk;
use crate::attack::{AnyAttack, Attack};
use crate::attacks;
use crate::suits::Receiver;

/// Adds what follows from the rest of a report: the risk, and the coverage of frameworks.
#[must_use]
pub fn summed_up(mut report: RedteamReport) -> RedteamReport {
    report.risk = was_attacked(&report).then(|| risk(&report.findings, &report.attacks));
    report.frameworks = coverage(&report);
    report
}

/// Whether the run can say something about the risk of its target: an attack found something or was answered, or the
/// run looked at all that it was asked to look at.
fn was_attacked(report: &RedteamReport) -> bool {
    let is_whole = report.cut_short.is_none() && report.attacks.iter().all(|one| one.left_out == 0);
    let mut looked = report.attacks.iter().filter(|one| one.trials > 0);
    !report.findings.is_empty() || looked.any(|one| one.attempts > 0 || is_whole)
}

/// The description of an attack, if a suite defines it.
pub fn described(attack: &AnyAttack) -> Option<Box<DefinedAttack>> {
    let (meta, weakness) = (attack.meta(), attack.weakness());
    attack.is_defined().then(|| {
        Box::new(DefinedAttack {
            summary: meta.summary.to_owned(),
            docs: meta.docs.to_owned(),
            severity: weakness.severity,
            cwe: weakness.cwe.to_vec(),
            frameworks: weakness.frameworks.iter().map(|id| (*id).to_owned()).collect(),
        })
    })
}

/// The coverage of every framework, and of ids in findings that belong to none.
pub(super) fn coverage(report: &RedteamReport) -> Vec<Coverage> {
    let receiver = if report.takes_text { Receiver::Model } else { Receiver::Arguments };
    let mut all = covered_by(report, &attacks::suiting(receiver).collect::<Vec<_>>());
    if report.takes_text {
        // Lists about MCP servers say nothing about other targets.
        all.retain(|one| one.entries.iter().any(|entry| entry.state != CoverageState::NoAttack));
    }
    all
}

fn covered_by(report: &RedteamReport, attacks: &[&'static dyn Attack]) -> Vec<Coverage> {
    let mut all: Vec<Coverage> = FRAMEWORKS
        .iter()
        .map(|framework| {
            let entries = framework.entries.iter();
            let entries = entries.map(|entry| covered(entry.id, entry.title, report, attacks));
            // CWE is too long to list: entries that no attack tests are left out.
            let whole = framework.id != "cwe";
            Coverage {
                id: framework.id.to_owned(),
                name: framework.name.to_owned(),
                title: framework.title.to_owned(),
                entries: entries
                    .filter(|one| whole || one.state != CoverageState::NoAttack)
                    .collect(),
            }
        })
        .collect();
    let found = report.findings.iter().chain(&report.suppressed);
    let mut others: Vec<String> = found.flat_map(ids).collect();
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
        state: CoverageState::NoAttack,
        confirmed: count(Standing::Confirmed),
        suspected: count(Standing::Suspected),
        by_design: count(Standing::ByDesign),
        accepted: report.suppressed.iter().filter(named).count(),
        attacks: Vec::new(),
        not_run: Vec::new(),
    };
    // Attacks defined in a suite declare their ids.
    for one in report.attacks.iter().filter(|one| one.trials > 0) {
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
    // Of the attacks for this entry, those that did not test all their places.
    let of_entry = |one: &&AttackReport| {
        let mut not_run = covered.not_run.iter();
        covered.attacks.contains(&one.attack) || not_run.any(|other| other.what == one.attack)
    };
    let gaps: Vec<&AttackReport> = report.attacks.iter().filter(of_entry).collect();
    let gaps: Vec<&AttackReport> = gaps.into_iter().filter(|one| has_gap(one)).collect();
    let has_gaps = !gaps.is_empty() || report.unreachable.is_some();
    let part = |one: &&AttackReport| one.trials > 0;
    let partly: Vec<NotRun> = gaps
        .into_iter()
        .filter(part)
        .map(|one| NotRun { what: one.attack.clone(), why: gap(one, report) })
        .collect();
    covered.not_run.extend(partly);
    covered.state = match &covered {
        Covered { confirmed: 1.., .. } => CoverageState::Confirmed,
        Covered { suspected: 1.., .. } => CoverageState::Suspected,
        Covered { by_design: 1.., .. } => CoverageState::ByDesign,
        Covered { accepted: 1.., .. } => CoverageState::Accepted,
        Covered { attacks, .. } if !attacks.is_empty() && has_gaps => CoverageState::Partial,
        Covered { attacks, .. } if !attacks.is_empty() => CoverageState::Clean,
        Covered { not_run, .. } if !not_run.is_empty() => CoverageState::NotRun,
        _ => CoverageState::NoAttack,
    };
    covered
}

/// Why an attack did not run; none if it did.
fn why_not(attack: &str, report: &RedteamReport) -> Option<String> {
    let run = report.attacks.iter().find(|one| one.attack == attack);
    if run.is_some_and(|run| run.trials > 0) {
        return None;
    }
    let told = report.not_run.iter().find(|one| one.what == attack);
    Some(match (told, run) {
        (Some(told), _) => told.why.clone(),
        (None, Some(run)) if has_gap(run) => gap(run, report),
        (None, Some(_)) => "found no place to attack".to_owned(),
        (None, None) => "was not selected".to_owned(),
    })
}

/// Whether an attack did not test all places that it applies to.
fn has_gap(run: &AttackReport) -> bool {
    run.unanswered + run.left_out + run.beyond_limit > 0
}

/// Which places of an attack are not tested, and why.
fn gap(run: &AttackReport, report: &RedteamReport) -> String {
    let planned = run.trials + run.unanswered + run.left_out;
    let all = planned + run.beyond_limit;
    let mut parts = Vec::new();
    if run.unanswered > 0 {
        parts.push(format!("got no answer at {} of {planned} places", run.unanswered));
    }
    if run.left_out > 0 {
        let why = report.cut_short.as_deref().unwrap_or("the run was interrupted");
        parts.push(format!("did not finish at {} of {planned} places: {why}", run.left_out));
    }
    if run.beyond_limit > 0 {
        parts.push(format!("skipped {} of {all} places: `numTests`", run.beyond_limit));
    }
    parts.join(" and ")
}

fn is_about(attack: &dyn Attack, entry: &str) -> bool {
    let facts = attack.weakness();
    facts.frameworks.iter().any(|id| belongs(id, entry))
        || facts.cwe.iter().any(|number| format!("CWE-{number}") == entry)
}

/// Whether an id is an entry or part of one: `AML.T0051.001` belongs to `AML.T0051`.
fn belongs(id: &str, entry: &str) -> bool {
    id.strip_prefix(entry).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use quintain_evidence::weakness::Weakness;
    use quintain_scan::launch_checks;

    use super::*;

    fn report(looked: &[(&str, usize)]) -> RedteamReport {
        let ran = |(attack, trials): &(&str, usize)| AttackReport {
            attack: (*attack).to_owned(),
            trials: *trials,
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
        let attacks = attacks::all().iter().map(|one| (one.meta().id, one.weakness()));
        let checks = launch_checks::all().iter().map(|one| (one.meta.id, one.weakness));
        for (rule, facts) in attacks.chain(checks) {
            let Weakness { frameworks, cwe, .. } = facts;
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
        assert_eq!((clean.state, clean.word().as_str()), (CoverageState::Clean, "nothing found"));
        assert_eq!(clean.attacks, ["bola"]);
        report.attacks[0].trials = 0;
        let idle = entry(&report, "API1");
        assert_eq!((idle.state, idle.word().as_str()), (CoverageState::NotRun, "not run"));
        assert_eq!(idle.why(), "bola found no place to attack");
        report.attacks.clear();
        assert_eq!(entry(&report, "API1").why(), "bola was not selected");
        report.not_run.push(NotRun { what: "bola".into(), why: "needs two identities".into() });
        assert_eq!(entry(&report, "API1").why(), "bola needs two identities");
        let nobody = entry(&report, "MCP08");
        assert_eq!((nobody.state, nobody.word().as_str()), (CoverageState::NoAttack, "not run"));
        assert_eq!(nobody.why(), "no attack tests it");
    }

    #[test]
    fn what_did_not_answer_or_was_cut_short_is_not_clean() {
        let mut report = report(&[("command-injection", 3)]);
        assert_eq!(entry(&report, "CWE-78").state, CoverageState::Clean);
        report.attacks[0].unanswered = 2;
        let partial = entry(&report, "CWE-78");
        assert_eq!(
            (partial.state, partial.word().as_str()),
            (CoverageState::Partial, "partly tested")
        );
        assert!(partial.why().contains("got no answer at 2 of 5 places"), "{}", partial.why());
        report.attacks[0].trials = 0;
        let none = entry(&report, "CWE-78");
        assert_eq!(none.state, CoverageState::NotRun);
        assert!(none.why().contains("got no answer at 2 of 2 places"), "{}", none.why());
        report.attacks[0].unanswered = 0;
        report.attacks[0].left_out = 1;
        report.cut_short = Some("call limit of 25 reached".to_owned());
        let cut = entry(&report, "CWE-78");
        assert_eq!(cut.state, CoverageState::NotRun);
        assert!(cut.why().contains("1 of 1 places: call limit of 25 reached"), "{}", cut.why());
        report.attacks[0].trials = 1;
        assert_eq!(entry(&report, "CWE-78").state, CoverageState::Partial);
        report.attacks[0].left_out = 0;
        report.unreachable = Some("tools/list failed".to_owned());
        assert_eq!(entry(&report, "CWE-78").state, CoverageState::Partial);
    }

    #[test]
    fn what_num_tests_excludes_is_not_clean() {
        let mut report = report(&[("command-injection", 10)]);
        report.attacks[0].beyond_limit = 9;
        let partial = entry(&report, "CWE-78");
        assert_eq!(partial.state, CoverageState::Partial);
        assert!(partial.why().contains("skipped 9 of 19 places: `numTests`"), "{}", partial.why());
    }

    #[test]
    fn what_a_baseline_accepts_is_not_clean() {
        let mut report = report(&[("command-injection", 3)]);
        assert_eq!(entry(&report, "CWE-78").state, CoverageState::Clean);
        let finding = serde_json::json!({
            "id": "F-1", "rule": "command-injection", "title": "t", "severity": "high",
            "confidence": "confirmed", "target": "t", "place": {"kind": "server", "server": "s"},
            "cwe": "CWE-78", "owasp": [], "proofs": [], "fingerprint": "1",
        });
        report.suppressed.push(serde_json::from_value(finding).expect("a finding"));
        let covered = entry(&report, "CWE-78");
        assert_eq!(
            (covered.state, covered.word().as_str()),
            (CoverageState::Accepted, "1 accepted")
        );
    }

    #[test]
    fn what_did_not_look_is_told_beside_what_did() {
        let clean = entry(&report(&[("bfla", 1)]), "API5");
        assert_eq!(clean.state, CoverageState::Clean);
        assert!(clean.not_run.iter().any(|one| one.what == "rbac"));
        assert!(clean.why().starts_with("bfla; not run: "), "{}", clean.why());
    }

    #[test]
    fn weaknesses_that_no_attack_knows_are_left_out() {
        let all = coverage(&RedteamReport::default());
        let cwe = all.iter().find(|one| one.id == "cwe").unwrap();
        assert!(cwe.entries.iter().any(|one| one.id == "CWE-78"));
        assert!(cwe.entries.iter().all(|one| one.state != CoverageState::NoAttack));
        assert!(!all.iter().any(|one| one.id == "others"));
    }

    #[test]
    fn parts_of_a_technique_count_for_it() {
        assert!(belongs("AML.T0051.001", "AML.T0051") && !belongs("AML.T0051", "AML.T0051.001"));
        assert!(!belongs("API10", "API1"));
    }
}
