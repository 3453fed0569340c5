//! The part of the page for a run that grades traces: findings by check, metrics, and the choice of tools.

use std::io::{self, Write};

use quintain_evidence::graded::{GradeSummary, Level, LevelCounts};

use super::{escape, selection};
use crate::text::{count, line};
use crate::traces::{counted, level_count};

/// Maximum number of checks in the chart; there are fewer.
const MAX_CHECKS: usize = 60;
const WIDTH: f64 = 560.0;
const LABEL: f64 = 190.0;
const STEP: f64 = 26.0;

const WORST_FIRST: [Level; 3] = [Level::Error, Level::Warning, Level::Info];

pub(super) fn write(out: &mut impl Write, summary: &GradeSummary) -> io::Result<()> {
    let class = if summary.metrics.is_empty() { "charts one" } else { "charts" };
    writeln!(out, "<section class=\"{class}\" aria-label=\"Findings and metrics\">")?;
    findings(out, summary)?;
    metrics(out, summary)?;
    writeln!(out, "</section>")?;
    match &summary.selection {
        Some(report) => selection::write(out, report),
        None => Ok(()),
    }
}

/// The checks with their counts, the worst first.
fn ordered(summary: &GradeSummary) -> Vec<(&String, &LevelCounts)> {
    let mut checks: Vec<_> = summary.findings.iter().collect();
    let weight = |counts: &LevelCounts| (counts.error, counts.warning, counts.info);
    checks.sort_by_key(|(_, counts)| std::cmp::Reverse(weight(counts)));
    checks
}

fn findings(out: &mut impl Write, summary: &GradeSummary) -> io::Result<()> {
    writeln!(out, "<div class=\"panel\"><h2>Findings by check</h2>")?;
    let checks = ordered(summary);
    if checks.is_empty() {
        return writeln!(out, "<p class=\"facts\">No findings.</p></div>");
    }
    let total = |counts: &LevelCounts| counts.error + counts.warning + counts.info;
    let highest = checks.iter().map(|(_, counts)| total(counts)).max().unwrap_or(1).max(1) as f64;
    let says: Vec<String> = checks
        .iter()
        .take(MAX_CHECKS)
        .map(|(check, counts)| {
            let LevelCounts { error, warning, info } = counts;
            format!("{}: {error} errors, {warning} warnings, {info} info", line(check, 60))
        })
        .collect();
    let height = STEP * says.len() as f64;
    writeln!(
        out,
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{}\">",
        escape(&says.join("; "))
    )?;
    let room = WIDTH - LABEL - 50.0;
    for (at, (check, counts)) in checks.iter().take(MAX_CHECKS).enumerate() {
        let y = at as f64 * STEP;
        let name = line(check, 32);
        writeln!(
            out,
            "<text class=\"name\" x=\"0\" y=\"{:.1}\">{}</text>",
            y + 17.0,
            escape(&name)
        )?;
        let mut x = LABEL;
        for level in WORST_FIRST {
            let number = counted(counts, level);
            if number == 0 {
                continue;
            }
            let width = (number as f64 / highest * room).max(2.0);
            let word = level.word();
            writeln!(
                out,
                "<rect class=\"f-l-{word}\" x=\"{x:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"12\" rx=\"2\"><title>{number} {word}</title></rect>",
                y + 7.0
            )?;
            x += width;
        }
        let number = total(counts);
        writeln!(out, "<text x=\"{:.1}\" y=\"{:.1}\">{number}</text>", x + 8.0, y + 17.0)?;
    }
    writeln!(out, "</svg><p class=\"legend\">")?;
    for level in WORST_FIRST {
        let number: usize = summary.findings.values().map(|counts| counted(counts, level)).sum();
        let word = level.word();
        writeln!(out, "<span class=\"l-{word}\">{}</span>", level_count(number, level))?;
    }
    writeln!(out, "</p></div>")
}

fn metrics(out: &mut impl Write, summary: &GradeSummary) -> io::Result<()> {
    if summary.metrics.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "<div class=\"panel\"><h2>Metrics</h2><div class=\"scroll\"><table class=\"even\">"
    )?;
    writeln!(
        out,
        "<thead><tr><th>Metric</th><th class=\"n\">Mean</th><th class=\"n\">Passed</th>"
    )?;
    writeln!(out, "<th class=\"n\">Failed</th><th class=\"n\">n/a</th></tr></thead><tbody>")?;
    for (name, counts) in summary.metrics.iter().take(MAX_CHECKS) {
        let mean = counts.mean.map_or("n/a".to_owned(), |mean| format!("{:.2}", mean.abs()));
        let class = |number: usize, class| if number > 0 { class } else { "" };
        writeln!(
            out,
            "<tr><td>{}</td><td class=\"n\"><b>{mean}</b></td><td class=\"n {}\">{}</td>\
             <td class=\"n {}\">{}</td><td class=\"n\">{}</td></tr>",
            escape(&line(name, 80)),
            class(counts.passed, "pass"),
            counts.passed,
            class(counts.failed, "fail"),
            counts.failed,
            counts.not_applicable
        )?;
    }
    writeln!(out, "</tbody></table></div>")?;
    let more = summary.metrics.len().saturating_sub(MAX_CHECKS);
    if more > 0 {
        writeln!(
            out,
            "<p class=\"facts\">... and {}</p>",
            count(more, "more metric", "more metrics")
        )?;
    }
    writeln!(out, "</div>")
}
