//! The console's part for a run that grades traces: the findings of a failed trace, and what was found in all of them.

use std::io::{self, Write as _};

use quintain_evidence::graded::{GradeSummary, GradedTrace, Level, TraceFinding};
use quintain_evidence::result::CaseResult;
use quintain_evidence::tool_selection::SelectionReport;

use super::{INDENT, Screen, Tone};
use crate::selection::{Matrix, f1, figures, interval, share, share_in_full, tools};
use crate::text::{cell, columns, count, excerpt, fit, line, wrap};
use crate::traces;

/// Maximum number of findings per trace; the others are counted.
const MAX_FINDINGS: usize = 12;
const MAX_METRICS: usize = 20;
const MAX_TOOLS: usize = 20;
const MAX_LABELS: usize = 12;
/// A longer title of a table is on a line of its own.
const MAX_TITLE: usize = 28;
/// Column where the text of a finding begins, after its severity.
const SEVERITY: usize = 9;

impl Screen {
    /// `2 errors, 1 warning`, right of the name of a trace.
    pub(super) fn trace_row(&self, case: &CaseResult, graded: &GradedTrace, name: &str) -> String {
        let found = traces::severities(graded);
        let score = if graded.metrics.iter().any(|metric| metric.score.is_some()) {
            format!(" {:>5.2}", case.score.clamp(-99.0, 99.0))
        } else {
            String::new()
        };
        let room = self.width.saturating_sub(INDENT + columns(&found) + score.len() + 1);
        let name = cell(name, room.max(8));
        let row = format!(
            "{}  {name} {}{score}",
            self.status(case.status),
            self.paint(Tone::Dim, &found)
        );
        row.trim_end().to_owned()
    }

    /// The findings of a failed trace, the worst first, and the metrics below their threshold.
    pub(super) fn trace_findings(
        &self,
        case: &CaseResult,
        graded: &GradedTrace,
        block: &mut Vec<String>,
    ) {
        for why in traces::other_reasons(graded).take(MAX_METRICS) {
            let why = line(why, self.options.max_cell);
            block.extend(self.indented(0, &why, 3));
        }
        let found = traces::worst_first(graded);
        let verbose = self.options.verbose;
        let is_listed = |finding: &&&TraceFinding| verbose || finding.severity > Level::Info;
        let max = if verbose { found.len() } else { MAX_FINDINGS };
        let listed: Vec<_> = found.iter().filter(is_listed).take(max).collect();
        for finding in &listed {
            self.trace_finding(case, finding, block);
        }
        let more = found.len() - listed.len();
        if more > 0 {
            let infos = found.iter().filter(|one| one.severity == Level::Info).count();
            let which = match infos {
                0 => String::new(),
                infos if infos == more => " of severity info".to_owned(),
                infos => format!(", {infos} of them of severity info"),
            };
            block.extend(self.indented(0, &format!("... and {more} more{which}"), 2));
        }
        for metric in traces::failed_metrics(graded).take(MAX_METRICS) {
            let reason = excerpt(traces::reason(metric), self.options.max_cell * 2);
            let text = format!("{} {}: {reason}", line(&metric.name, 80), traces::score(metric));
            let label = self.paint(Tone::Red, &cell("metric", SEVERITY));
            self.beside_label(&label, &text, 4, block);
        }
    }

    fn trace_finding(&self, case: &CaseResult, finding: &TraceFinding, block: &mut Vec<String>) {
        let tone = match finding.severity {
            Level::Error => Tone::Red,
            Level::Warning => Tone::Yellow,
            Level::Info => Tone::Dim,
        };
        let label = self.paint(tone, &cell(finding.severity.word(), SEVERITY));
        let place = traces::place(finding, case.evidence.trace.as_deref());
        let title = format!("{} at {place}", line(&finding.check, 80));
        self.beside_label(&label, &title, 2, block);
        let message = excerpt(&finding.message, self.options.max_cell * 2);
        block.extend(self.indented(SEVERITY, &message, 4));
        if !finding.hint.is_empty() {
            let hint = format!("hint: {}", line(&finding.hint, self.options.max_cell));
            let lines = self.indented(SEVERITY, &hint, 2);
            block.extend(lines.iter().map(|text| self.paint(Tone::Dim, text)));
        }
    }

    fn indented(&self, more: usize, text: &str, max: usize) -> Vec<String> {
        let by = INDENT + more;
        let lines = wrap(text, self.width.saturating_sub(by), max);
        lines.iter().map(|text| format!("{:by$}{text}", "")).collect()
    }

    /// The first line begins with a label, the others are indented as much.
    fn beside_label(&self, label: &str, text: &str, max: usize, block: &mut Vec<String>) {
        let lines = wrap(text, self.width.saturating_sub(INDENT + SEVERITY), max);
        for (at, text) in lines.iter().enumerate() {
            let blank = cell("", SEVERITY);
            let label = if at == 0 { label } else { &blank };
            block.push(format!("{:INDENT$}{label}{text}", ""));
        }
    }

    pub(super) fn grade_totals(&mut self, summary: &GradeSummary) -> io::Result<()> {
        let checks = summary.findings.iter().map(|(check, counts)| {
            let numbers =
                [counts.error, counts.warning, counts.info].map(|number| number.to_string());
            (line(check, 60), numbers.to_vec())
        });
        self.table("Findings", &["error", "warning", "info"], &checks.collect::<Vec<_>>())?;
        let metrics = summary.metrics.iter().map(|(name, counts)| {
            let mean = counts.mean.map_or("n/a".to_owned(), |mean| format!("{:.2}", mean.abs()));
            let numbers = [counts.passed, counts.failed, counts.not_applicable];
            let numbers = numbers.map(|number| number.to_string());
            (line(name, 60), std::iter::once(mean).chain(numbers).collect())
        });
        let heads = ["mean", "passed", "failed", "n/a"];
        self.table("Metrics", &heads, &metrics.collect::<Vec<_>>())?;
        match &summary.selection {
            Some(report) => self.selection(report),
            None => Ok(()),
        }
    }

    fn selection(&mut self, report: &SelectionReport) -> io::Result<()> {
        let cases = count(usize::try_from(report.cases).unwrap_or(usize::MAX), "case", "cases");
        let title = self.paint(Tone::Bold, "Tool selection");
        writeln!(self.out, "\n{title} ({cases} with expected calls)")?;
        for text in
            wrap(&format!("accuracy {}", share_in_full(&report.accuracy)), self.width - 2, 3)
        {
            writeln!(self.out, "  {text}")?;
        }
        let (shown, more) = tools(report, MAX_TOOLS);
        let rows = shown.iter().map(|tool| {
            let name = line(&tool.tool, 60);
            (name, vec![share(&tool.precision), share(&tool.recall), f1(tool.f1)])
        });
        self.table("Tools", &["precision", "recall", "F1"], &rows.collect::<Vec<_>>())?;
        self.more_tools(more)?;
        let rows = figures(&report.arguments)
            .map(|(name, figure)| (name.to_owned(), vec![share(figure), interval(figure)]));
        self.table("Arguments of expected calls", &["share", "95 % interval"], &rows)?;
        self.matrix(&Matrix::of(&report.confusion, MAX_LABELS))
    }

    /// The columns have numbers instead of names, which would not fit.
    fn matrix(&mut self, matrix: &Matrix) -> io::Result<()> {
        if matrix.labels.is_empty() {
            return Ok(());
        }
        let numbers: Vec<String> = (1..=matrix.labels.len()).map(|at| at.to_string()).collect();
        let heads: Vec<&str> = numbers.iter().map(String::as_str).collect();
        let rows =
            matrix.labels.iter().zip(&matrix.counts).enumerate().map(|(at, (label, row))| {
                let cells = row.iter().map(|number| match number {
                    0 => "·".to_owned(),
                    number => number.to_string(),
                });
                (format!("{:>2} {label}", at + 1), cells.collect())
            });
        let title = "Confusion (row: expected, column: called)";
        self.table(title, &heads, &rows.collect::<Vec<_>>())?;
        self.more_tools(matrix.more)
    }

    fn more_tools(&mut self, number: usize) -> io::Result<()> {
        if number == 0 {
            return Ok(());
        }
        writeln!(self.out, "  ... and {}", count(number, "more tool", "more tools"))
    }

    /// Names on the left, numbers on the right. Columns are as wide as they need to be.
    fn table(
        &mut self,
        title: &str,
        heads: &[&str],
        rows: &[(String, Vec<String>)],
    ) -> io::Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let width = |at: usize| {
            let cells =
                rows.iter().filter_map(|(_, cells)| cells.get(at)).map(|text| columns(text));
            cells.chain([columns(heads[at])]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..heads.len()).map(width).collect();
        let numbers: usize = widths.iter().map(|width| width + 2).sum();
        let short = Some(columns(title)).filter(|width| *width <= MAX_TITLE);
        let longest = rows.iter().map(|(name, _)| columns(name)).chain(short).max();
        let names = longest.unwrap_or(0).min(self.width.saturating_sub(numbers + 2)).max(8);
        let right = |text: &str, width: usize| {
            let text = fit(text, width);
            format!("{:1$}{text}", "", 2 + width - columns(&text))
        };
        let title_fits = columns(title) <= names + 2;
        let head: String =
            heads.iter().zip(&widths).map(|(head, width)| right(head, *width)).collect();
        let shown =
            if title_fits { cell(title, names + 2) } else { fit(title, self.width).into_owned() };
        let (shown, head) = (self.paint(Tone::Bold, &shown), self.paint(Tone::Dim, &head));
        if title_fits {
            writeln!(self.out, "\n{shown}{head}")?;
        } else {
            writeln!(self.out, "\n{shown}\n{:1$}{head}", "", names + 2)?;
        }
        for (name, cells) in rows {
            let cells: String =
                cells.iter().zip(&widths).map(|(text, width)| right(text, *width)).collect();
            let row = format!("  {}{cells}", cell(name, names));
            writeln!(self.out, "{}", row.trim_end())?;
        }
        Ok(())
    }
}
