//! Coverage: tools and attacks, success rates, frameworks, and what did not run.

use std::io::{self, Write};

use quintain_evidence::finding::Finding;
use quintain_evidence::redteam_report::CoverageState;
use quintain_evidence::redteam_report::{RedteamReport, ToolCoverage};
use quintain_evidence::tally::Summary;

use super::super::escape;
use crate::findings::{Standing, pace, per_second, percents};
use crate::text::{duration, line};

const MAX_ROWS: usize = 500;
const MAX_COLUMNS: usize = 60;
const MAX_LISTED: usize = 500;

/// The result of an attack on a tool.
enum Cell<'f> {
    Hit(&'f Finding),
    Accepted(&'f Finding),
    Clean,
    Untried,
}

pub(super) fn matrix(out: &mut impl Write, report: &RedteamReport) -> io::Result<()> {
    let attacks: Vec<&str> = report
        .attacks
        .iter()
        .filter(|attack| attack.trials > 0)
        .map(|attack| attack.attack.as_str())
        .take(MAX_COLUMNS)
        .collect();
    if attacks.is_empty() || report.tools.is_empty() {
        return Ok(());
    }
    writeln!(out, "<section id=\"matrix\" class=\"panel\" aria-label=\"Tools and attacks\">")?;
    writeln!(out, "<h2>Tools and attacks</h2>")?;
    writeln!(out, "<div class=\"scroll\"><table class=\"grid\"><thead><tr><th>Tool</th>")?;
    for attack in &attacks {
        writeln!(out, "<th scope=\"col\"><span>{}</span></th>", escape(&line(attack, 60)))?;
    }
    writeln!(out, "</tr></thead><tbody>")?;
    for tool in report.tools.iter().take(MAX_ROWS) {
        let silent = if tool.works { "" } else { "<small>no call worked</small>" };
        let name = line(&tool.tool, 100);
        let name = escape(&name);
        writeln!(out, "<tr><th scope=\"row\" title=\"{name}\">{name}{silent}</th>")?;
        for attack in &attacks {
            cell(out, &of_tool(report, tool, attack))?;
        }
        writeln!(out, "</tr>")?;
    }
    elsewhere(out, report, &attacks)?;
    writeln!(out, "</tbody></table></div><p class=\"legend key\">")?;
    writeln!(out, "<span class=\"fail\">✗ worked</span><span class=\"error\">? suspected</span>")?;
    writeln!(out, "<span>○ by design</span><span class=\"pass\">✓ tried, nothing found</span>")?;
    writeln!(out, "<span>– not tried</span></p></section>")
}

/// A place that is not a tool has a row only if it has a finding.
fn elsewhere(out: &mut impl Write, report: &RedteamReport, attacks: &[&str]) -> io::Result<()> {
    let mut places: Vec<String> = Vec::new();
    let found = || report.findings.iter().flat_map(Finding::parts);
    for finding in found().filter(|finding| finding.place.tool().is_none()) {
        let place = finding.place.to_string();
        if places.len() < MAX_ROWS && !places.contains(&place) {
            places.push(place);
        }
    }
    for place in places {
        let name = line(&place, 100);
        let name = escape(&name);
        writeln!(out, "<tr><th scope=\"row\" title=\"{name}\">{name}</th>")?;
        for attack in attacks {
            let here = |one: &&Finding| one.rule == *attack && one.place.to_string() == place;
            let hit = found().find(here);
            cell(out, &hit.map_or(Cell::Untried, Cell::Hit))?;
        }
        writeln!(out, "</tr>")?;
    }
    Ok(())
}

fn of_tool<'r>(report: &'r RedteamReport, tool: &ToolCoverage, attack: &str) -> Cell<'r> {
    let here = |one: &&Finding| {
        one.rule == attack
            && one.place.tool() == Some(&tool.tool)
            && (one.place.server().is_empty() || one.place.server() == tool.server)
    };
    if let Some(finding) = report.findings.iter().flat_map(Finding::parts).find(here) {
        return Cell::Hit(finding);
    }
    if let Some(finding) = report.suppressed.iter().flat_map(Finding::parts).find(here) {
        return Cell::Accepted(finding);
    }
    let tried = tool.arguments.iter().any(|(_, tried)| tried.iter().any(|id| id == attack));
    if tried { Cell::Clean } else { Cell::Untried }
}

fn cell(out: &mut impl Write, cell: &Cell<'_>) -> io::Result<()> {
    match cell {
        Cell::Hit(finding) => {
            let (class, mark) = match Standing::of(finding) {
                Standing::Confirmed => ("fail", "✗"),
                Standing::Suspected => ("error", "?"),
                Standing::ByDesign => ("", "○"),
            };
            let (id, title) = (line(&finding.id, 40), line(&finding.title, 200));
            writeln!(
                out,
                "<td><a class=\"{class}\" href=\"#{}\" title=\"{}\">{mark}</a></td>",
                escape(&id),
                escape(&title)
            )
        }
        Cell::Accepted(finding) => {
            let (id, title) = (line(&finding.id, 40), line(&finding.title, 200));
            writeln!(
                out,
                "<td><a href=\"#{}\" title=\"accepted: {}\">○</a></td>",
                escape(&id),
                escape(&title)
            )
        }
        Cell::Clean => writeln!(out, "<td class=\"pass\" title=\"nothing found\">✓</td>"),
        Cell::Untried => writeln!(out, "<td class=\"none\" title=\"not tried\">–</td>"),
    }
}

pub(super) fn rates(out: &mut impl Write, report: &RedteamReport) -> io::Result<()> {
    if report.attacks.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "<section id=\"rates\" class=\"panel\" aria-label=\"Attacks\"><h2>Success rates</h2>"
    )?;
    writeln!(
        out,
        "<div class=\"scroll\"><table><thead><tr><th>Attack</th><th class=\"n\">Places</th>"
    )?;
    writeln!(out, "<th class=\"n\">Hits</th><th class=\"n\">Attempts</th><th>Success rate</th>")?;
    writeln!(out, "<th></th><th class=\"n\">Risk</th></tr></thead><tbody>")?;
    for attack in &report.attacks {
        let (low, high) = attack.interval;
        let risk = report.risk.iter().flat_map(|risk| &risk.attacks);
        let risk = risk.filter(|(name, _)| *name == attack.attack).map(|(_, score)| *score).next();
        write!(out, "<tr><td class=\"test\">{}</td>", escape(&line(&attack.attack, 80)))?;
        let (trials, hits, attempts) = (attack.trials, attack.hits, attack.attempts);
        write!(out, "<td class=\"n\">{trials}</td><td class=\"n\">{hits}</td>")?;
        write!(out, "<td class=\"n\">{attempts}</td>")?;
        if trials == 0 {
            write!(out, "<td class=\"none\">no place to attack</td><td></td>")?;
        } else {
            write!(out, "<td class=\"share\">{}</td><td>", percents(attack.rate, low, high))?;
            whisker(out, attack.rate, low, high)?;
            write!(out, "</td>")?;
        }
        let risk = risk.map_or_else(String::new, |score| format!("{score:.1}"));
        writeln!(out, "<td class=\"n\">{risk}</td></tr>")?;
    }
    writeln!(out, "</tbody></table></div></section>")
}

/// A rate and its confidence interval, on a line from 0 to 1.
fn whisker(out: &mut impl Write, rate: f64, low: f64, high: f64) -> io::Result<()> {
    let [rate, low, high] = [rate, low, high].map(|share| share.clamp(0.0, 1.0) * 156.0 + 2.0);
    write!(
        out,
        "<svg class=\"whisker\" viewBox=\"0 0 160 12\" aria-hidden=\"true\">\
         <rect class=\"f-missing\" x=\"2\" y=\"5\" width=\"156\" height=\"2\"/>\
         <rect class=\"f-soft\" x=\"{low:.1}\" y=\"3\" width=\"{:.1}\" height=\"6\" rx=\"2\"/>\
         <rect class=\"f-accent\" x=\"{:.1}\" y=\"1\" width=\"3\" height=\"10\" rx=\"1\"/></svg>",
        (high - low).max(1.0),
        rate - 1.5
    )
}

pub(super) fn frameworks(out: &mut impl Write, report: &RedteamReport) -> io::Result<()> {
    if report.frameworks.is_empty() {
        return Ok(());
    }
    writeln!(out, "<section id=\"frameworks\" class=\"charts\" aria-label=\"Frameworks\">")?;
    for coverage in &report.frameworks {
        let title = line(&coverage.title, 100);
        writeln!(out, "<div class=\"panel\"><h2>{}</h2>", escape(&title))?;
        writeln!(out, "<ul class=\"framework\">")?;
        for entry in &coverage.entries {
            let class = match entry.state {
                CoverageState::Confirmed => "fail",
                CoverageState::Suspected => "error",
                CoverageState::Clean => "pass",
                CoverageState::ByDesign
                | CoverageState::Accepted
                | CoverageState::Partial
                | CoverageState::NotRun
                | CoverageState::NoAttack => "none",
            };
            let (id, title) = (line(&entry.id, 40), line(&entry.title, 200));
            writeln!(
                out,
                "<li><b>{}</b><span>{}<small>{}</small></span><i class=\"pill {class}\">{}</i></li>",
                escape(&id),
                escape(&title),
                escape(&line(&entry.why(), 400)),
                entry.word()
            )?;
        }
        writeln!(out, "</ul></div>")?;
    }
    writeln!(out, "</section>")
}

/// An entry without an attack is not clean.
pub(super) fn undone(out: &mut impl Write, report: &RedteamReport) -> io::Result<()> {
    let not_run = report.not_run.iter().map(|one| (one.what.as_str(), one.why.as_str()));
    let silent = report.silent.iter().map(|one| (one.tool.as_str(), one.why.as_str()));
    let changed = report.changes.iter();
    let changed: Vec<(String, String)> =
        changed.map(|one| (one.path.display().to_string(), one.to_string())).collect();
    if report.not_run.is_empty() && report.silent.is_empty() && changed.is_empty() {
        return Ok(());
    }
    writeln!(out, "<section id=\"undone\" class=\"charts\" aria-label=\"Not attacked\">")?;
    list(out, "Not run", not_run)?;
    list(out, "Untested tools", silent)?;
    list(out, "Changed files", changed.iter().map(|(path, how)| (path.as_str(), how.as_str())))?;
    writeln!(out, "</section>")
}

fn list<'t>(
    out: &mut impl Write,
    title: &str,
    all: impl Iterator<Item = (&'t str, &'t str)>,
) -> io::Result<()> {
    let all: Vec<_> = all.collect();
    if all.is_empty() {
        return Ok(());
    }
    writeln!(out, "<div class=\"panel\"><h2>{title}</h2><ul class=\"plain\">")?;
    for (what, why) in all.iter().take(MAX_LISTED) {
        let (what, why) = (line(what, 120), line(why, 400));
        writeln!(out, "<li><b>{}</b> {}</li>", escape(&what), escape(&why))?;
    }
    let more = all.len().saturating_sub(MAX_LISTED);
    if more > 0 {
        writeln!(out, "<li>... and {more} more</li>")?;
    }
    writeln!(out, "</ul></div>")
}

pub(super) fn phases(
    out: &mut impl Write,
    report: &RedteamReport,
    summary: &Summary,
) -> io::Result<()> {
    writeln!(out, "<div class=\"panel\"><h2>Phases</h2><div class=\"scroll\"><table><thead><tr>")?;
    writeln!(out, "<th>Phase</th><th class=\"n\">Time</th><th class=\"n\">Calls</th>")?;
    writeln!(out, "<th class=\"n\">Calls/s</th></tr></thead><tbody>")?;
    for phase in &report.phases {
        let rate = |calls: usize| format!("{:.0}", per_second(calls, phase.seconds));
        let calls = phase.calls.map_or_else(String::new, |calls| calls.to_string());
        writeln!(
            out,
            "<tr><td class=\"test\">{}</td><td class=\"n\">{}</td><td class=\"n\">{calls}</td>\
             <td class=\"n\">{}</td></tr>",
            escape(&line(&phase.phase, 60)),
            duration(phase.seconds * 1e3),
            phase.calls.map_or_else(String::new, rate)
        )?;
    }
    writeln!(out, "</tbody></table></div>")?;
    let pace = pace(report, summary);
    writeln!(out, "<p class=\"legend key\">{pace}, seed {}</p></div>", report.seed)
}
