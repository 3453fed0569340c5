//! The part of the page for a red-team run: risk, counts, findings and coverage.

mod card;
mod learned;
mod reach;

use std::io::{self, Write};

use quintain_evidence::finding::{Finding, Severity};
use quintain_evidence::redteam_report::{RedteamReport, RiskLevel};
use quintain_evidence::tally::Summary;

use super::escape;
use crate::RuleDocs;
use crate::findings::{self, Counts, WORST_FIRST};
use crate::text::{count, line};

/// Maximum number of findings; the JSON report lists all.
const MAX_FINDINGS: usize = 1_000;
const WIDTH: f64 = 560.0;
const LABEL: f64 = 80.0;
const STEP: f64 = 30.0;

/// Class and text of the verdict at the top.
pub(super) fn verdict(report: &RedteamReport) -> (&'static str, String) {
    let counts = Counts::of(&report.findings);
    let attacked = report.attacks.iter().any(|attack| attack.trials > 0);
    match counts {
        Counts { confirmed: 0, suspected: 0, .. } if attacked => ("pass", "Nothing found".into()),
        Counts { confirmed: 0, suspected: 0, .. } => ("error", "Nothing was attacked".into()),
        Counts { confirmed: 0, suspected, .. } => ("error", format!("{suspected} suspected")),
        Counts { confirmed, .. } => ("fail", format!("{confirmed} confirmed")),
    }
}

pub(super) fn write(
    out: &mut impl Write,
    report: &RedteamReport,
    summary: &Summary,
    docs: RuleDocs,
) -> io::Result<()> {
    if let Some(why) = &report.cut_short {
        let why = line(why, 500);
        writeln!(out, "<p class=\"notice\">Not finished: {}.</p>", escape(&why))?;
    }
    cards(out, report, summary)?;
    write!(out, "{}", include_str!("redteam/nav.html"))?;
    writeln!(out, "<section class=\"charts\" aria-label=\"Charts\">")?;
    by_severity(out, report)?;
    reach::phases(out, report, summary)?;
    writeln!(out, "</section>")?;
    let found = report.findings.len();
    writeln!(out, "<section id=\"findings\" aria-label=\"Findings\">")?;
    writeln!(out, "<h2 class=\"part\">{}</h2>", count(found, "finding", "findings"))?;
    let shown = || report.findings.iter().take(MAX_FINDINGS);
    let weighs = |finding: &&Finding| finding.severity > Severity::Info;
    for finding in shown().filter(weighs) {
        card::write(out, finding, docs)?;
    }
    let light: Vec<&Finding> = shown().filter(|finding| !weighs(finding)).collect();
    if !light.is_empty() {
        let known = count(light.len(), "finding", "findings");
        writeln!(out, "<details class=\"panel fold\"><summary>{known} of severity info</summary>")?;
        light.iter().try_for_each(|finding| card::write(out, finding, docs))?;
        writeln!(out, "</details>")?;
    }
    let more = found.saturating_sub(MAX_FINDINGS);
    if more > 0 {
        writeln!(out, "<p class=\"empty\">... and {more} more in the JSON report.</p>")?;
    }
    if !report.suppressed.is_empty() {
        let known = count(report.suppressed.len(), "finding", "findings");
        writeln!(
            out,
            "<details class=\"panel fold\"><summary>{known} suppressed by a baseline</summary>"
        )?;
        for finding in report.suppressed.iter().take(MAX_FINDINGS) {
            card::write(out, finding, docs)?;
        }
        writeln!(out, "</details>")?;
    }
    writeln!(out, "</section>")?;
    reach::matrix(out, report)?;
    learned::arguments(out, report)?;
    reach::rates(out, report)?;
    learned::insight(out, report)?;
    reach::frameworks(out, report)?;
    reach::undone(out, report)
}

fn cards(out: &mut impl Write, report: &RedteamReport, summary: &Summary) -> io::Result<()> {
    writeln!(out, "<section class=\"cards\" aria-label=\"Summary\">")?;
    let mut card = |value: &str, class: &str, label: &str| {
        let class = if value == "0" { "" } else { class };
        writeln!(
            out,
            "<div class=\"card\"><b class=\"{class}\">{value}</b><small>{label}</small></div>"
        )
    };
    if let Some(risk) = &report.risk {
        let class = match risk.level {
            RiskLevel::Critical | RiskLevel::High => "fail",
            RiskLevel::Medium => "error",
            RiskLevel::Low => "",
        };
        let label = format!("risk of 10: {}", findings::level(risk.level));
        card(&format!("{:.1}", risk.score), class, &label)?;
    } else {
        card("n/a", "", "risk: nothing was attacked")?;
    }
    let counts = Counts::of(&report.findings);
    card(&counts.confirmed.to_string(), "fail", "confirmed")?;
    card(&counts.suspected.to_string(), "error", "suspected")?;
    if counts.by_design > 0 {
        card(&counts.by_design.to_string(), "", "by design")?;
    }
    if !report.suppressed.is_empty() {
        card(&report.suppressed.len().to_string(), "", "suppressed")?;
    }
    let trials: usize = report.attacks.iter().map(|attack| attack.trials).sum();
    card(&trials.to_string(), "", "trials")?;
    let attacked = report.tools.iter().filter(|tool| !tool.arguments.is_empty()).count();
    card(&format!("{attacked}/{}", report.tools.len()), "", "tools attacked")?;
    let rate = findings::per_second(report.calls, summary.duration_ms / 1e3);
    card(&report.calls.to_string(), "", &format!("calls, {rate:.0} per second"))?;
    writeln!(out, "</section>")
}

fn by_severity(out: &mut impl Write, report: &RedteamReport) -> io::Result<()> {
    let each = WORST_FIRST.map(|severity| (severity, Counts::at(report, severity)));
    let highest = each.iter().map(|(_, counts)| counts.total()).max().unwrap_or(0).max(1) as f64;
    let height = STEP * each.len() as f64;
    let says: Vec<String> = each
        .iter()
        .map(|(severity, counts)| format!("{} {}", counts.total(), severity.word()))
        .collect();
    writeln!(out, "<div class=\"panel\"><h2>Findings by severity</h2>")?;
    writeln!(
        out,
        "<svg class=\"by-severity\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{}\">",
        says.join(", ")
    )?;
    let room = WIDTH - LABEL - 40.0;
    for (at, (severity, counts)) in each.into_iter().enumerate() {
        let (y, word) = (at as f64 * STEP, severity.word());
        writeln!(out, "<text class=\"name\" x=\"0\" y=\"{:.1}\">{word}</text>", y + 18.0)?;
        let mut x = LABEL;
        let parts =
            [(counts.confirmed, ""), (counts.suspected, " soft"), (counts.by_design, " faint")];
        for (number, class) in parts.into_iter().filter(|(number, _)| *number > 0) {
            let width = number as f64 / highest * room;
            writeln!(
                out,
                "<rect class=\"f-{word}{class}\" x=\"{x:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"14\" rx=\"2\"/>",
                y + 7.0
            )?;
            x += width;
        }
        let total = counts.total();
        writeln!(out, "<text x=\"{:.1}\" y=\"{:.1}\">{total}</text>", x + 8.0, y + 18.0)?;
    }
    let legend = "solid: confirmed, half-tone: suspected, faint: by design";
    writeln!(out, "</svg><p class=\"legend\">{legend}</p></div>")
}
