//! Summaries of findings: how many of which severity, where, and what proves them.

use std::fmt::Write as _;
use std::path::Path;

use quintain_evidence::evidence::Observation;
pub(crate) use quintain_evidence::finding::Standing;
use quintain_evidence::finding::{Accepted, Finding, Place, Severity};
use quintain_evidence::frameworks;
use quintain_evidence::redteam_report::{
    Chain, DisclosedValue, Insight, PhaseTime, RedteamReport, RiskLevel, ToolCoverage,
};
use quintain_evidence::redteam_report::{Coverage, CoverageState};
use quintain_evidence::result::CaseResult;
use quintain_evidence::tally::Summary;

use crate::gist;
use crate::text::{count, duration, line};

/// Maximum number of names of one kind in a summary.
const MAX_NAMED: usize = 12;
/// Maximum number of framework entries without findings in a summary.
const MAX_UNTROUBLED: usize = 12;

pub(crate) const WORST_FIRST: [Severity; 5] =
    [Severity::Critical, Severity::High, Severity::Medium, Severity::Low, Severity::Info];

/// Prefix of the assertion of a trial; the id of the attack follows.
pub(crate) const TRIAL_TYPE: &str = "quintain:redteam:";

/// The attack that a case belongs to; none for a test of a suite.
pub(crate) fn attack_of_trial(case: &CaseResult) -> Option<&str> {
    let first = case.grade.as_ref()?.components.first()?;
    gist::kind(first).strip_prefix(TRIAL_TYPE)
}

/// The findings that a trial of this attack shows, matched by place or by title.
pub(crate) fn shown_by<'r>(
    report: &'r RedteamReport,
    attack: &str,
    name: &str,
    reason: &str,
) -> impl Iterator<Item = &'r Finding> {
    let of_trial = move |finding: &&Finding| {
        finding.rule == attack
            && (finding.title == reason || name == format!("{attack} at {}", finding.place))
    };
    report.findings.iter().flat_map(Finding::parts).filter(of_trial)
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

    /// `3 confirmed, 1 suspected`; other counts only if they are not zero.
    pub(crate) fn text(self, suppressed: usize) -> String {
        let mut parts =
            vec![format!("{} confirmed", self.confirmed), format!("{} suspected", self.suspected)];
        parts.extend((self.by_design > 0).then(|| format!("{} by design", self.by_design)));
        parts.extend((suppressed > 0).then(|| format!("{suppressed} suppressed")));
        parts.join(", ")
    }
}

/// Where a finding is, on one line: its place, or the first of several, each truncated to `max_chars`.
pub(crate) fn places(finding: &Finding, max_chars: usize) -> String {
    let shown = finding.parts().iter().take(MAX_NAMED);
    let shown: Vec<String> = shown.map(|one| line(&one.place.to_string(), max_chars)).collect();
    let shown = shown.join(", ");
    match finding.parts().len().saturating_sub(MAX_NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// `CWE-78`, `MCP05`, ...
pub(crate) fn tags(finding: &Finding) -> Vec<String> {
    frameworks::ids(finding).iter().map(|id| line(id, 40)).collect()
}

/// Entries of a framework with findings, without findings, and not run: `found MCP05; clean MCP03; not run
/// MCP08`.
pub(crate) fn covered(coverage: &Coverage) -> String {
    let of = |states: &[CoverageState], max: usize| {
        let entries = coverage.entries.iter().filter(|entry| states.contains(&entry.state));
        let ids: Vec<String> = entries.map(|entry| line(&entry.id, 40)).collect();
        if ids.len() > max { format!("{} others", ids.len()) } else { ids.join(", ") }
    };
    let parts = [
        ("found", of(&[CoverageState::Confirmed], usize::MAX)),
        ("suspected", of(&[CoverageState::Suspected], usize::MAX)),
        ("by design", of(&[CoverageState::ByDesign], usize::MAX)),
        ("accepted", of(&[CoverageState::Accepted], usize::MAX)),
        ("clean", of(&[CoverageState::Clean], MAX_UNTROUBLED)),
        ("partly tested", of(&[CoverageState::Partial], MAX_UNTROUBLED)),
        ("not run", of(&[CoverageState::NotRun, CoverageState::NoAttack], MAX_UNTROUBLED)),
    ];
    let shown = parts.iter().filter(|(_, ids)| !ids.is_empty());
    shown.map(|(word, ids)| format!("{word} {ids}")).collect::<Vec<_>>().join("; ")
}

/// What the learn phase found, one line per subject.
pub(crate) fn learned(report: &RedteamReport) -> Vec<(&'static str, String)> {
    let Insight { answered, roots, values, chains } = &report.learned;
    let listed = |all: &[String]| {
        let shown: Vec<String> = all.iter().take(MAX_NAMED).map(|one| line(one, 80)).collect();
        let more = all.len().saturating_sub(MAX_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{}{more}", shown.join(", "))
    };
    let mut lines = Vec::new();
    if !answered.is_empty() {
        let of = format!("{} of {}", answered.len(), report.tools.len());
        lines.push(("Tools", format!("{of} have a working call: {}", listed(answered))));
    }
    if !roots.is_empty() {
        lines.push(("Roots", listed(roots)));
    }
    if !values.is_empty() {
        let total: usize = values.iter().map(|gift| gift.count).sum();
        let gift = |gift: &DisclosedValue| {
            let name = if gift.name.is_empty() { "item" } else { &gift.name };
            let examples = gift.examples.iter().map(|one| line(one, 30)).collect::<Vec<_>>();
            format!("{}.{} ({})", line(&gift.tool, 40), line(name, 40), examples.join(", "))
        };
        let gifts: Vec<String> = values.iter().map(gift).collect();
        lines.push(("Values", format!("{total}: {}", listed(&gifts))));
    }
    if !chains.is_empty() {
        let chain = |one: &Chain| format!("{} → {}.{}", one.from, one.to, one.argument);
        lines.push(("Chains", listed(&chains.iter().map(chain).collect::<Vec<_>>())));
    }
    lines
}

/// `1285 calls in 13 s, 98/s`.
pub(crate) fn pace(report: &RedteamReport, summary: &Summary) -> String {
    let calls = count(report.calls, "call", "calls");
    let rate = per_second(report.calls, summary.duration_ms / 1e3);
    let mut pace = format!("{calls} in {}, {rate:.0}/s", duration(summary.duration_ms));
    if report.tokens > 0 {
        let _ = write!(pace, ", {}", count(as_usize(report.tokens), "token", "tokens"));
    }
    if report.cost > 0.0 {
        let _ = write!(pace, ", ${:.4}", report.cost);
    }
    pace
}

fn as_usize(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
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
        Place::Input { prompt, variable, .. } if prompt.is_empty() => format!("input/{variable}"),
        Place::Input { prompt, variable, .. } => format!("input/{prompt}/{variable}"),
        Place::Server { server } if server.is_empty() => "server".to_owned(),
        Place::Server { server } => server.clone(),
        Place::Launch { server, part } => format!("{server}/{part}"),
        Place::Flow { steps } => steps.join("/"),
    }
}

/// An observation outside the connection, in words.
pub(crate) fn seen(observation: &Observation, max_chars: usize) -> String {
    let path = |path: &Path| path.display().to_string();
    let text = match observation {
        Observation::Connection { request, headers } if headers.is_empty() => {
            format!("connection to the listener: {request}")
        }
        Observation::Connection { request, headers } => {
            format!("connection to the listener: {request} [{}]", headers.join(", "))
        }
        Observation::File { path: file, content } if content.is_empty() => {
            format!("an empty file {} appeared", path(file))
        }
        Observation::File { path: file, content } => {
            format!("the file {} contains: {content}", path(file))
        }
        Observation::Program { program, arguments } => {
            format!("{program} was started with {arguments:?}")
        }
        Observation::Changed { path: file, gone: true, .. } => {
            format!("the file {} was removed", path(file))
        }
        Observation::Changed { path: file, .. } => format!("the file {} changed", path(file)),
        Observation::Exit { why } => format!("the target exited: {why}"),
    };
    line(&text, max_chars)
}

/// `30 % (CI 11–60 %)`: a rate and its 95 % confidence interval.
pub(crate) fn percents(rate: f64, low: f64, high: f64) -> String {
    format!("{:.0} % (CI {:.0}–{:.0} %)", rate * 100.0, low * 100.0, high * 100.0)
}

/// `attack 2.5 s, 400 calls, 160/s`.
pub(crate) fn phase(phase: &PhaseTime) -> String {
    format!("{} {}", line(&phase.phase, 40), timing(phase))
}

/// `2.5 s, 400 calls, 160/s`; `2.5 s` for a phase without calls.
pub(crate) fn timing(phase: &PhaseTime) -> String {
    let took = duration(phase.seconds * 1e3);
    let Some(calls) = phase.calls else { return took };
    format!("{took}, {}, {:.0}/s", count(calls, "call", "calls"), per_second(calls, phase.seconds))
}

/// `7.3 of 10, high`.
pub(crate) fn risk(report: &RedteamReport) -> String {
    match &report.risk {
        Some(risk) => format!("{:.1} of 10, {}", risk.score, level(risk.level)),
        None => "n/a, since nothing was attacked".to_owned(),
    }
}

pub(crate) fn per_second(calls: usize, seconds: f64) -> f64 {
    calls as f64 / seconds.max(0.001)
}

pub(crate) fn level(level: RiskLevel) -> &'static str {
    match level {
        RiskLevel::Low => "low",
        RiskLevel::Medium => "medium",
        RiskLevel::High => "high",
        RiskLevel::Critical => "critical",
    }
}

/// The attacks that succeeded on an argument of a tool: `sql-injection`, `bola (suspected)`.
pub(crate) fn worked(report: &RedteamReport, tool: &ToolCoverage, argument: &str) -> Vec<String> {
    let here = |finding: &&Finding| {
        finding.place.tool() == Some(&tool.tool)
            && [tool.server.as_str(), ""].contains(&finding.place.server())
            && finding.argument.as_deref().unwrap_or_default() == argument
    };
    let mut attacks: Vec<String> = Vec::new();
    for finding in report.findings.iter().flat_map(Finding::parts).filter(here) {
        let rule = line(&finding.rule, 60);
        let text = match Standing::of(finding) {
            Standing::Confirmed => rule,
            other => format!("{rule} ({})", other.word()),
        };
        if !attacks.contains(&text) {
            attacks.push(text);
        }
    }
    attacks
}

/// `goes away in spring (until 2027-03-31)`.
pub(crate) fn acceptance(accepted: &Accepted) -> String {
    let until = accepted.expires.as_ref().map(|end| format!(" (until {})", line(end, 20)));
    format!("{}{}", line(&accepted.reason, 500), until.unwrap_or_default())
}

/// What was attacked: `5 of 7 tools with 27 attacks in 316 trials`.
pub(crate) fn reach(report: &RedteamReport) -> String {
    let trials: usize = report.attacks.iter().map(|attack| attack.trials).sum();
    let attacks = report.attacks.iter().filter(|attack| attack.trials > 0).count();
    if report.takes_text {
        let attacks = count(attacks, "attack", "attacks");
        return format!("{attacks} in {}", count(trials, "prompt", "prompts"));
    }
    let attacked = report.tools.iter().filter(|tool| !tool.arguments.is_empty()).count();
    format!(
        "{attacked} of {} with {} in {}",
        count(report.tools.len(), "tool", "tools"),
        count(attacks, "attack", "attacks"),
        count(trials, "trial", "trials"),
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
    fn observations_are_shown_on_one_line() {
        let file = Observation::File { path: "/x".into(), content: "a\n\u{1b}b".into() };
        assert_eq!(seen(&file, 80), "the file /x contains: a <U+001B>b");
    }
}
