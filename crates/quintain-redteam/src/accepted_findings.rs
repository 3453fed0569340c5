//! Accepted findings: a file of fingerprints, each with a reason and an expiry date.

use quintain_evidence::finding::{Accepted, Finding};
use quintain_evidence::redteam_report::Unused;
use quintain_evidence::redteam_report::Why;
use quintain_source::{Diagnostic, Diagnostics, Fields, Node, Severity, wrong_type};
use serde::{Deserialize, Serialize};

/// Minimum number of digits: fewer match too many findings.
const MIN_DIGITS: usize = 8;

/// One accepted finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suppression {
    pub fingerprint: String,
    pub accepted: Accepted,
}

impl Suppression {
    /// Whether a finding has this fingerprint or begins with it.
    fn names(&self, finding: &Finding) -> bool {
        let named = self.fingerprint.strip_prefix("F-").unwrap_or(&self.fingerprint);
        named.len() >= MIN_DIGITS && finding.is_called(named)
    }

    fn is_live(&self, today: &str) -> bool {
        self.accepted.expires.as_deref().is_none_or(|end| today < end)
    }
}

/// Reads a list of accepted findings and reports all errors.
pub fn read_suppressions(node: &Node, dx: &mut Diagnostics) -> Vec<Suppression> {
    let list = node.get("suppressions").unwrap_or(node);
    if list.is_null() {
        return Vec::new();
    }
    let Some(items) = list.as_seq() else {
        wrong_type("suppressions", "a list", list, dx);
        return Vec::new();
    };
    let mut found = Vec::new();
    for item in items {
        let Some(mut fields) = Fields::of(item, "a baseline entry", dx) else { continue };
        let fingerprint = fields.required("fingerprint", dx).and_then(Node::raw);
        let reason = fields.required("reason", dx).and_then(Node::raw);
        let expires = fields.get("expires");
        if let Some(node) = expires
            && !node.raw().is_some_and(is_date)
        {
            let title = "`expires` is not a valid date";
            let diagnostic = Diagnostic::error("config::bad-date", title).at(node.span, "");
            dx.push(diagnostic.help("write it as 2027-01-31"));
        }
        fields.finish(Severity::Error, dx);
        let (Some(fingerprint), Some(reason)) = (fingerprint, reason) else { continue };
        found.push(Suppression {
            fingerprint: fingerprint.to_owned(),
            accepted: Accepted {
                reason: reason.to_owned(),
                expires: expires.and_then(Node::raw).map(str::to_owned),
            },
        });
    }
    found
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let digits =
        |part: &str, count: usize| part.len() == count && part.chars().all(|c| c.is_ascii_digit());
    matches!(&parts[..], [y, m, d] if digits(y, 4) && digits(m, 2) && digits(d, 2))
}

/// Splits findings into those that count and those that are accepted on this day. A fingerprint may be shortened to a
/// unique beginning, or written as the id of the finding.
pub fn part_suppressed(
    findings: Vec<Finding>,
    suppressions: &[Suppression],
    today: &str,
) -> (Vec<Finding>, Vec<Finding>) {
    let (mut open, mut accepted) = (Vec::new(), Vec::new());
    for mut finding in findings {
        let live = |one: &&Suppression| one.names(&finding) && one.is_live(today);
        match suppressions.iter().find(live) {
            Some(one) => {
                finding.accepted = Some(one.accepted.clone());
                accepted.push(finding);
            }
            None => open.push(finding),
        }
    }
    (open, accepted)
}

/// Entries that accept none of these findings on this day.
pub fn unused<'f>(
    suppressions: &[Suppression],
    findings: impl Iterator<Item = &'f Finding> + Clone,
    today: &str,
) -> Vec<Unused> {
    let of = |one: &Suppression| {
        let named = findings.clone().any(|finding| one.names(finding));
        let why = match (named, one.is_live(today)) {
            (true, true) => return None,
            (true, false) => Why::Expired,
            (false, _) => Why::MatchesNothing,
        };
        let (fingerprint, accepted) = (one.fingerprint.clone(), one.accepted.clone());
        Some(Unused { fingerprint, accepted, why })
    };
    suppressions.iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use quintain_source::{SourceFile, Sources};

    use super::*;

    fn list(text: &str) -> (Vec<Suppression>, Vec<&'static str>) {
        let mut sources = Sources::new();
        let mut dx = Diagnostics::new();
        let id = sources.add(SourceFile::new("x.yaml", text));
        let node = quintain_source::read(&sources, id, &mut dx).unwrap();
        let found = read_suppressions(&node, &mut dx);
        (found, dx.iter().map(|found| found.code).collect())
    }

    #[test]
    fn a_suppression_needs_a_reason_and_a_date_that_is_one() {
        let (found, codes) = list(
            "suppressions:\n- {fingerprint: abcdef0123, reason: known, expires: 2027-01-31}\n",
        );
        assert!(codes.is_empty() && found.len() == 1, "{codes:?}");
        assert_eq!(list("- {fingerprint: abcdef0123}").1, ["config::missing-key"]);
        let (_, codes) = list("- {fingerprint: abcdef0123, reason: x, expires: soon}");
        assert_eq!(codes, ["config::bad-date"]);
    }

    #[test]
    fn unused_and_expired_entries_are_distinguished() {
        let (entries, _) = list(
            "- {fingerprint: F-abcdef01, reason: live}\n\
             - {fingerprint: abcdef01, reason: over, expires: 2020-01-01}\n\
             - {fingerprint: F-00000000, reason: elsewhere, expires: 2020-01-01}\n\
             - {fingerprint: abcd, reason: too short}\n",
        );
        let facts = crate::attacks::find("pii").unwrap().weakness();
        let place = quintain_evidence::finding::Place::Server { server: String::new() };
        let told = quintain_evidence::static_finding::FindingText {
            title: String::new(),
            what: String::new(),
            help: None,
            severity: None,
            confidence: quintain_evidence::finding::Confidence::Confirmed,
            note: None,
            fault: "",
        };
        let finding = quintain_evidence::static_finding::finding("pii", facts, "t", place, told);
        let finding = Finding { fingerprint: "abcdef0123".into(), ..finding };
        let told = unused(&entries, [&finding].into_iter(), "2026-01-01");
        let whys: Vec<(&str, Why)> =
            told.iter().map(|one| (one.accepted.reason.as_str(), one.why)).collect();
        let nothing = Why::MatchesNothing;
        assert_eq!(whys, [("over", Why::Expired), ("elsewhere", nothing), ("too short", nothing)]);
    }
}
