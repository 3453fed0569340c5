//! What people want to know of findings first: how many of what weight, where, and what proves them.

use std::path::Path;

use quintain_core::evidence::Observation;
use quintain_core::finding::{Confidence, Finding, Place, Severity};
use quintain_core::redteam::{Level, PhaseTime, RedteamReport};
use quintain_core::result::CaseResult;

use crate::gist;
use crate::text::{count, duration, line};

pub(crate) const WORST_FIRST: [Severity; 5] =
    [Severity::Critical, Severity::High, Severity::Medium, Severity::Low, Severity::Info];

/// How the assertion of a bout is called; the id of the attack follows.
pub(crate) const BOUT: &str = "quintain:redteam:";

/// The attack whose bout a case is; none for a test of a suite.
pub(crate) fn bout(case: &CaseResult) -> Option<&str> {
    let first = case.grade.as_ref()?.components.first()?;
    gist::kind(first).strip_prefix(BOUT)
}

/// The findings that a bout of this attack shows, told by their place or by their words.
pub(crate) fn shown_by<'r>(
    report: &'r RedteamReport,
    attack: &str,
    name: &str,
    reason: &str,
) -> impl Iterator<Item = &'r Finding> {
    let of_bout = move |finding: &&Finding| {
        finding.rule == attack
            && (finding.title == reason || name == format!("{attack} at {}", finding.place))
    };
    report.findings.iter().filter(of_bout)
}

/// What a finding counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    Confirmed,
    Suspected,
    /// Told, but not held against the target.
    ByDesign,
}

impl Standing {
    pub(crate) fn of(finding: &Finding) -> Self {
        match (&finding.note, finding.confidence) {
            (Some(_), _) => Self::ByDesign,
            (None, Confidence::Confirmed) => Self::Confirmed,
            (None, Confidence::Suspected) => Self::Suspected,
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Suspected => "suspected",
            Self::ByDesign => "by design",
        }
    }
}

/// Findings of one severity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) confirmed: usize,
    pub(crate) suspected: usize,
    pub(crate) by_design: usize,
}

impl Counts {
    pub(crate) fn of<'f>(findings: impl IntoIterator<Item = &'f Finding>) -> Self {
        findings.into_iter().fold(Self::default(), |mut counts, finding| {
            match Standing::of(finding) {
                Standing::Confirmed => counts.confirmed += 1,
                Standing::Suspected => counts.suspected += 1,
                Standing::ByDesign => counts.by_design += 1,
            }
            counts
        })
    }

    pub(crate) fn at(report: &RedteamReport, severity: Severity) -> Self {
        Self::of(report.findings.iter().filter(|finding| finding.severity == severity))
    }

    pub(crate) fn total(self) -> usize {
        self.confirmed + self.suspected + self.by_design
    }

    /// `3 confirmed, 1 suspected`; the rest only if there is any.
    pub(crate) fn text(self, suppressed: usize) -> String {
        let mut parts =
            vec![format!("{} confirmed", self.confirmed), format!("{} suspected", self.suspected)];
        parts.extend((self.by_design > 0).then(|| format!("{} by design", self.by_design)));
        parts.extend((suppressed > 0).then(|| format!("{suppressed} suppressed")));
        parts.join(", ")
    }
}

/// `CWE-78`, `MCP05`, ...
pub(crate) fn tags(finding: &Finding) -> Vec<String> {
    let cwe = finding.cwe.iter().map(|number| format!("CWE-{number}"));
    cwe.chain(finding.owasp.iter().map(|id| line(id, 40))).collect()
}

/// The place as a path of names: `transfer/amount`.
pub(crate) fn qualified(place: &Place) -> String {
    match place {
        Place::Argument { tool, .. } => {
            let argument = place.argument().unwrap_or_default();
            format!("{tool}/{}", argument.trim_start_matches('/'))
        }
        Place::Tool { tool, .. } => tool.clone(),
        Place::Resource { uri, .. } => uri.clone(),
        Place::Variable { template, variable, .. } => format!("{template}/{variable}"),
        Place::Uri { .. } => "resources/read/uri".to_owned(),
        Place::PromptArgument { prompt, argument, .. } => format!("{prompt}/{argument}"),
        Place::Completion { of, argument, .. } => format!("completion/{of}/{argument}"),
        Place::Prompt { prompt, .. } => prompt.clone(),
        Place::Header { header, .. } => format!("header/{header}"),
        Place::Http { aspect, .. } => format!("http/{aspect}"),
        Place::Message { message, .. } => format!("message/{message}"),
        Place::Server { server } if server.is_empty() => "server".to_owned(),
        Place::Server { server } => server.clone(),
        Place::Launch { server, part } => format!("{server}/{part}"),
        Place::Flow { steps } => steps.join("/"),
    }
}

/// What was seen outside of the wire, in words.
pub(crate) fn seen(observation: &Observation, max_chars: usize) -> String {
    let path = |path: &Path| path.display().to_string();
    let text = match observation {
        Observation::Connection { request, headers } if headers.is_empty() => {
            format!("connection to the listener: {request}")
        }
        Observation::Connection { request, headers } => {
            format!("connection to the listener: {request} [{}]", headers.join(", "))
        }
        Observation::File { path: file, content } => {
            format!("the file {} holds: {content}", path(file))
        }
        Observation::Program { program, arguments } => {
            format!("{program} was started with {arguments:?}")
        }
        Observation::Exit { why } => format!("the target ended: {why}"),
    };
    line(&text, max_chars)
}

/// `30 %, 11 to 60 %`: a share, and what it may be.
pub(crate) fn percents(rate: f64, low: f64, high: f64) -> String {
    format!("{:.0} %, {:.0} to {:.0} %", rate * 100.0, low * 100.0, high * 100.0)
}

/// `attack 2.5 s, 400 calls, 160/s`.
pub(crate) fn phase(phase: &PhaseTime) -> String {
    let PhaseTime { phase, seconds, calls } = phase;
    let calls_text = count(*calls, "call", "calls");
    let took = duration(seconds * 1e3);
    format!("{} {took}, {calls_text}, {:.0}/s", line(phase, 40), per_second(*calls, *seconds))
}

pub(crate) fn per_second(calls: usize, seconds: f64) -> f64 {
    calls as f64 / seconds.max(0.001)
}

pub(crate) fn level(level: Level) -> &'static str {
    match level {
        Level::Low => "low",
        Level::Medium => "medium",
        Level::High => "high",
        Level::Critical => "critical",
    }
}

/// How far a run looked: `34 places of 5 of 7 tools`.
pub(crate) fn reach(report: &RedteamReport) -> String {
    let bouts: usize = report.attacks.iter().map(|attack| attack.bouts).sum();
    let attacks = report.attacks.iter().filter(|attack| attack.bouts > 0).count();
    let attacked = report.tools.iter().filter(|tool| !tool.arguments.is_empty()).count();
    format!(
        "{} by {}; {attacked} of {} attacked",
        count(bouts, "bout", "bouts"),
        count(attacks, "attack", "attacks"),
        count(report.tools.len(), "tool", "tools"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_paths_of_names() {
        let place = |pointer: &str| Place::Argument {
            server: "s".into(),
            tool: "read".into(),
            pointer: pointer.into(),
        };
        assert_eq!(qualified(&place("/path")), "read/path");
        assert_eq!(qualified(&place("/files/0/path")), "read/files/0/path");
        let header = Place::Header { server: "s".into(), header: "Host".into() };
        assert_eq!(qualified(&header), "header/Host");
    }

    #[test]
    fn observations_are_told_on_one_line() {
        let file = Observation::File { path: "/x".into(), content: "a\n\u{1b}b".into() };
        assert_eq!(seen(&file, 80), "the file /x holds: a <U+001B>b");
    }
}
