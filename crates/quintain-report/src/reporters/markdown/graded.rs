//! The summary's part for a run that grades traces: findings, metrics and the choice of tools as tables.

use std::io::{self, Write};

use quintain_evidence::graded::{GradeSummary, GradedTrace};
use quintain_evidence::result::CaseResult;
use quintain_evidence::tool_selection::SelectionReport;

use super::{code, inline};
use crate::selection::{Matrix, f1, figures, interval, share, share_in_full, tools};
use crate::text::{count, fit, line};
use crate::traces;

const MAX_ROWS: usize = 60;
const MAX_TOOLS: usize = 40;
const MAX_LABELS: usize = 12;
const MAX_LABEL: usize = 40;
const MAX_FINDINGS: usize = 20;

/// The findings of a trace, the worst first.
pub(super) fn findings(
    out: &mut impl Write,
    case: &CaseResult,
    graded: &GradedTrace,
) -> io::Result<()> {
    let found = traces::worst_first(graded);
    for finding in found.iter().take(MAX_FINDINGS) {
        let place = traces::place(finding, case.evidence.trace.as_deref());
        writeln!(
            out,
            "- **{}** {} at {}: {}",
            finding.severity.word(),
            code(&line(&finding.check, 80)),
            inline(&place),
            inline(&line(&finding.message, 500))
        )?;
    }
    let more = found.len().saturating_sub(MAX_FINDINGS);
    if more > 0 {
        writeln!(out, "- ... and {more} more")?;
    }
    for metric in traces::failed_metrics(graded).take(20) {
        let reason = inline(&line(traces::reason(metric), 500));
        let name = code(&line(&metric.name, 80));
        writeln!(out, "- **metric** {name} {}: {reason}", traces::score(metric))?;
    }
    Ok(())
}

pub(super) fn totals(out: &mut impl Write, summary: &GradeSummary) -> io::Result<()> {
    if !summary.findings.is_empty() {
        writeln!(out, "### Findings\n\n| check | error | warning | info |")?;
        writeln!(out, "| --- | ---: | ---: | ---: |")?;
        for (check, counts) in summary.findings.iter().take(MAX_ROWS) {
            let check = code(&line(check, 60));
            writeln!(out, "| {check} | {} | {} | {} |", counts.error, counts.warning, counts.info)?;
        }
        writeln!(out)?;
    }
    if !summary.metrics.is_empty() {
        writeln!(out, "### Metrics\n\n| metric | mean | passed | failed | n/a |")?;
        writeln!(out, "| --- | ---: | ---: | ---: | ---: |")?;
        for (name, counts) in summary.metrics.iter().take(MAX_ROWS) {
            let mean = counts.mean.map_or("n/a".to_owned(), |mean| format!("{:.2}", mean.abs()));
            writeln!(
                out,
                "| {} | {mean} | {} | {} | {} |",
                code(&line(name, 60)),
                counts.passed,
                counts.failed,
                counts.not_applicable
            )?;
        }
        writeln!(out)?;
    }
    match &summary.selection {
        Some(report) => selection(out, report),
        None => Ok(()),
    }
}

fn selection(out: &mut impl Write, report: &SelectionReport) -> io::Result<()> {
    let cases = count(usize::try_from(report.cases).unwrap_or(usize::MAX), "case", "cases");
    writeln!(out, "### Tool selection\n")?;
    let accuracy = share_in_full(&report.accuracy);
    writeln!(out, "Accuracy {accuracy}; {cases} with expected calls.\n")?;
    let (shown, more) = tools(report, MAX_TOOLS);
    if !shown.is_empty() {
        writeln!(out, "| tool | precision | recall | F1 |\n| --- | ---: | ---: | ---: |")?;
    }
    for tool in shown {
        writeln!(
            out,
            "| {} | {} | {} | {} |",
            code(&line(&tool.tool, 60)),
            share(&tool.precision),
            share(&tool.recall),
            f1(tool.f1)
        )?;
    }
    if more > 0 {
        writeln!(out, "\n... and {}.", count(more, "more tool", "more tools"))?;
    }
    writeln!(out, "\n| arguments of expected calls | share | 95 % interval |")?;
    writeln!(out, "| --- | ---: | ---: |")?;
    for (name, figure) in figures(&report.arguments) {
        writeln!(out, "| {name} | {} | {} |", share(figure), interval(figure))?;
    }
    writeln!(out)?;
    matrix(out, &Matrix::of(&report.confusion, MAX_LABELS))
}

/// The columns have numbers instead of names, which would make the table too wide.
fn matrix(out: &mut impl Write, matrix: &Matrix) -> io::Result<()> {
    if matrix.labels.is_empty() {
        return Ok(());
    }
    write!(out, "| expected \\ called |")?;
    (1..=matrix.labels.len()).try_for_each(|at| write!(out, " {at} |"))?;
    write!(out, "\n| --- |")?;
    matrix.labels.iter().try_for_each(|_| write!(out, " ---: |"))?;
    writeln!(out)?;
    for (at, (label, row)) in matrix.labels.iter().zip(&matrix.counts).enumerate() {
        write!(out, "| {} {} |", at + 1, code(&fit(label, MAX_LABEL)))?;
        for (column, number) in row.iter().enumerate() {
            match number {
                0 => write!(out, " |")?,
                number if column == at => write!(out, " **{number}** |")?,
                number => write!(out, " {number} |")?,
            }
        }
        writeln!(out)?;
    }
    if matrix.more > 0 {
        writeln!(out, "\n... and {}.", count(matrix.more, "more tool", "more tools"))?;
    }
    writeln!(out)
}
