//! Merges informational findings about the same fault at several places into one finding with a list of places.

use crate::attacks;
use quintain_evidence::finding::{Finding, Place};

/// Merges findings with the same group, confidence, note and acceptance. A single finding stays unchanged, with its
/// fingerprint; the order is kept.
pub fn merge(findings: Vec<Finding>) -> Vec<Finding> {
    let mut merged: Vec<Vec<Finding>> = Vec::new();
    for finding in findings {
        let known = finding.group.as_ref().and_then(|_| {
            merged
                .iter_mut()
                .find(|places| places.first().is_some_and(|one| is_same(one, &finding)))
        });
        match known {
            Some(places) => places.push(finding),
            None => merged.push(vec![finding]),
        }
    }
    merged.into_iter().filter_map(as_one).collect()
}

fn is_same(one: &Finding, other: &Finding) -> bool {
    one.group == other.group
        && (one.confidence, &one.note, &one.accepted)
            == (other.confidence, &other.note, &other.accepted)
}

fn as_one(places: Vec<Finding>) -> Option<Finding> {
    let first = match <[Finding; 1]>::try_from(places) {
        Ok([only]) => return Some(only),
        Err(places) => places,
    };
    let (one, places) = (first.first()?.clone(), first);
    let fingerprint = one.group.clone()?;
    let id = Finding::id_of(&fingerprint);
    let summary = one.attack_summary().map(str::to_owned);
    let summary = summary.or_else(|| Some(attacks::find(&one.rule)?.meta().summary.to_owned()));
    let thing = if places.iter().all(|one| one.tool.is_some()) { "tools" } else { "places" };
    let mut things: Vec<_> = places.iter().map(|one| (&one.tool, &one.place)).collect();
    if thing == "tools" {
        things.dedup_by_key(|(tool, _)| *tool);
    }
    let title = format!("{} ({} {thing})", summary.as_deref().unwrap_or(&one.title), things.len());
    let again = |command: Option<String>| command.map(|text| text.replace(&one.id, &id));
    Some(Finding {
        title,
        place: Place::Server { server: one.place.server().to_owned() },
        tool: None,
        argument: None,
        // Every place keeps its proofs; one is enough to show what they are about.
        proofs: one.proofs.first().cloned().into_iter().collect(),
        reproduce: again(one.reproduce.clone()),
        replay: again(one.replay.clone()),
        trial: None,
        id: id.clone(),
        fingerprint,
        group: None,
        places,
        ..one.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accepted_findings::{Suppression, part_suppressed, unused};
    use quintain_evidence::finding::{Confidence, Severity, fingerprint};

    fn at(rule: &str, tool: &str, severity: Severity) -> Finding {
        let place = Place::Tool { server: "s".into(), tool: tool.into() };
        let print = fingerprint(rule, "", &place, "");
        let id = Finding::id_of(&print);
        let group = (severity == Severity::Info).then(|| Finding::group_of(rule, "", ""));
        let finding = serde_json::json!({
            "id": id, "rule": rule, "title": format!("{tool} accepts"), "severity": severity,
            "confidence": "confirmed", "target": "t", "place": place, "tool": tool, "cwe": "CWE-20",
            "owasp": [], "proofs": [], "fingerprint": print, "group": group,
            "replay": format!("quintain replay {id} -- server"),
        });
        serde_json::from_value(finding).unwrap()
    }

    #[test]
    fn what_is_said_of_several_tools_is_said_once() {
        let mut doubtful = at("schema-bypass", "d", Severity::Info);
        doubtful.confidence = Confidence::Suspected;
        let findings = vec![
            at("sql-injection", "a", Severity::High),
            at("sql-injection", "b", Severity::High),
            at("schema-bypass", "a", Severity::Info),
            at("error-leak", "a", Severity::Info),
            at("schema-bypass", "b", Severity::Info),
            doubtful.clone(),
        ];
        let merged = merge(findings.clone());
        assert_eq!(merged.len(), 5, "{merged:#?}");
        assert_eq!(merged[..2], findings[..2], "weaknesses are not merged");
        assert_eq!(merged[3], findings[3], "nor is a finding at a single place");
        assert_eq!(merged[4], doubtful);
        let one = &merged[2];
        assert!(one.title.ends_with("(2 tools)"), "{}", one.title);
        assert_eq!(one.places, [findings[2].clone(), findings[4].clone()]);
        assert_eq!(one.parts(), one.places);
        assert_eq!(one.replay, Some(format!("quintain replay {} -- server", one.id)));
        assert_eq!(one.fingerprint, Finding::group_of("schema-bypass", "", ""));
        assert_eq!(findings[0].parts(), &findings[..1]);
    }

    #[test]
    fn baselines_accept_one_place_or_all_of_them() {
        let findings = ["a", "b", "c"].map(|tool| at("schema-bypass", tool, Severity::Info));
        let entry = |fingerprint: &str| Suppression {
            fingerprint: fingerprint.to_owned(),
            accepted: quintain_evidence::finding::Accepted {
                reason: "known".into(),
                expires: None,
            },
        };
        let parted = |entry: Suppression| {
            let list = [entry];
            let (open, accepted) = part_suppressed(findings.to_vec(), &list, "2027-01-01");
            let (open, accepted) = (merge(open), merge(accepted));
            let unused = unused(&list, open.iter().chain(&accepted), "2027-01-01");
            assert!(unused.is_empty(), "{unused:?}");
            let count = |all: &[Finding]| all.iter().flat_map(Finding::parts).count();
            (count(&open), count(&accepted))
        };
        assert_eq!(parted(entry(&findings[1].fingerprint)), (2, 1), "written before");
        assert_eq!(parted(entry(&Finding::group_of("schema-bypass", "", ""))), (0, 3));
        // All but one are fixed: the remaining one is still accepted.
        let list = [entry(&Finding::group_of("schema-bypass", "", ""))];
        let (open, accepted) = part_suppressed(findings[..1].to_vec(), &list, "2027-01-01");
        assert_eq!((open.len(), merge(accepted).len()), (0, 1));
    }
}
