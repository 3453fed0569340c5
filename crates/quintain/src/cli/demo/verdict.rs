//! Which planted weaknesses were found, and which findings are false positives.

use quintain_demo::{PlantedPlace, PlantedWeakness, Twin, weaknesses};
use quintain_evidence::finding::{Confidence, Finding, Place};

use super::attack_suites::{AttackSuite, AttackedTwin};

/// The combined result of all attacks.
pub(super) struct DemoResult<'r> {
    /// Every planted weakness, with the name of the suite and the finding that proves it best.
    pub(super) planted: Vec<(&'static PlantedWeakness, Option<(&'r str, &'r Finding)>)>,
    /// Findings in the patched twin.
    pub(super) wrong: Vec<(&'r str, &'r Finding)>,
}

impl<'r> DemoResult<'r> {
    pub(super) fn of(attack_suites: &[&AttackSuite], attacked: &'r [AttackedTwin]) -> Self {
        let of_twin = |twin: Twin| {
            let attack_suites = attacked.iter().filter(move |one| one.twin == twin);
            let found = |one: &'r AttackedTwin| one.findings.iter().flat_map(Finding::parts);
            attack_suites.flat_map(move |one| found(one).map(|finding| (one.attack_suite, finding)))
        };
        let counts = |found: &(&str, &Finding)| found.1.note.is_none();
        let best = |weakness: &'static PlantedWeakness| {
            let mine = of_twin(Twin::Vulnerable)
                .filter(counts)
                .filter(|(_, finding)| proves(finding, weakness));
            let rank = |found: &(&str, &Finding)| (found.1.confidence, found.1.severity);
            // The first of equals; `max_by_key` would take the last.
            let best =
                mine.reduce(|best, next| if rank(&next) > rank(&best) { next } else { best });
            (weakness, best)
        };
        let sought = weaknesses()
            .iter()
            .filter(|one| attack_suites.iter().any(|attack_suite| attack_suite.seeks(one)));
        let planted = sought.map(best).collect();
        let wrong = of_twin(Twin::Patched).filter(counts).collect();
        Self { planted, wrong }
    }

    pub(super) fn found(&self) -> usize {
        self.planted.iter().filter(|(_, found)| found.is_some()).count()
    }

    pub(super) fn missed(&self) -> impl Iterator<Item = &'static PlantedWeakness> {
        self.planted.iter().filter(|(_, found)| found.is_none()).map(|(weakness, _)| *weakness)
    }

    pub(super) fn is_complete(&self) -> bool {
        self.missed().next().is_none() && self.wrong.is_empty()
    }

    /// Number of weaknesses with a confirmed finding.
    pub(super) fn confirmed(&self) -> usize {
        let sure = |found: &Option<(&str, &Finding)>| {
            found.is_some_and(|(_, finding)| finding.confidence == Confidence::Confirmed)
        };
        self.planted.iter().filter(|(_, found)| sure(found)).count()
    }
}

/// Whether a finding is about a planted weakness.
fn proves(finding: &Finding, weakness: &PlantedWeakness) -> bool {
    finding.rule == weakness.rule
        && match (weakness.place, &finding.place) {
            (PlantedPlace::Argument { tool, argument }, found) => {
                found.tool() == Some(tool) && found.argument().is_none_or(|name| name == argument)
            }
            (PlantedPlace::Tool(tool), found) => found.tool() == Some(tool),
            (
                PlantedPlace::TemplateVariable { template, .. },
                Place::Variable { template: found, .. },
            ) => found == template,
            (PlantedPlace::AnyTool, found) => found.tool().is_some(),
            (PlantedPlace::Http(what), found) => is_at(what, found, &finding.title),
            _ => false,
        }
}

/// Whether a finding is about this header or this aspect of HTTP.
fn is_at(what: &str, place: &Place, title: &str) -> bool {
    match what {
        "query" => title.contains("in the query"),
        "expired" => title.contains("expired token"),
        "audience" => title.contains("another audience"),
        "scope" => title.contains("read-only token"),
        what => match place {
            Place::Header { header, .. } => header.eq_ignore_ascii_case(what),
            Place::Http { aspect, .. } => aspect == what,
            _ => false,
        },
    }
}
