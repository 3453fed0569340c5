//! Tool selection on the page: the confusion matrix as a heat map, precision and recall of each tool, and the arguments.

use std::fmt::Write as _;
use std::io::{self, Write};

use quintain_evidence::tool_selection::SelectionReport;

use super::escape;
use crate::selection::{Matrix, f1, figures, interval, share, share_of, tools};
use crate::text::{count, line};

/// More labels would not be readable in a picture.
const MAX_LABELS: usize = 20;
/// Up to this number the matrix fits next to the table of tools.
const NARROW: usize = 8;
const MAX_TOOLS: usize = 100;
const MAX_SAID: usize = 20;
/// Characters of a name above a column and left of a row.
const MAX_HEAD: usize = 18;
const MAX_SIDE: usize = 26;
const LABEL: f64 = 170.0;
const HEAD: f64 = 104.0;
const CELL: f64 = 44.0;
const ROW: f64 = 32.0;
/// How much a full cell covers, so that its number stays readable.
const STRONGEST: f64 = 0.6;

pub(super) fn write(out: &mut impl Write, report: &SelectionReport) -> io::Result<()> {
    writeln!(out, "<h2 class=\"part\" id=\"selection\">Tool selection</h2>")?;
    let cases = count(usize::try_from(report.cases).unwrap_or(usize::MAX), "case", "cases");
    writeln!(out, "<section class=\"charts\" aria-label=\"Accuracy and arguments\">")?;
    writeln!(
        out,
        "<div class=\"panel\"><h2>Accuracy</h2><p class=\"figure\"><b>{}</b> of the calls that were expected or made are calls of the \
         expected tool <small>{}; {cases} with expected calls</small></p></div>",
        report.accuracy.value.map_or("n/a".to_owned(), |value| format!("{:.1} %", value * 100.0)),
        share_of(&report.accuracy)
    )?;
    arguments(out, report)?;
    writeln!(out, "</section>")?;
    let matrix = Matrix::of(&report.confusion, MAX_LABELS);
    let is_narrow = matrix.labels.len() <= NARROW;
    if is_narrow {
        writeln!(out, "<section class=\"charts\" aria-label=\"Tools\">")?;
    }
    heat_map(out, &matrix)?;
    tool_table(out, report)?;
    if is_narrow {
        writeln!(out, "</section>")?;
    }
    Ok(())
}

fn arguments(out: &mut impl Write, report: &SelectionReport) -> io::Result<()> {
    writeln!(out, "<div class=\"panel\"><h2>Arguments of calls of the expected tool</h2>")?;
    writeln!(
        out,
        "<div class=\"scroll\"><table class=\"even\"><thead><tr><th>Calls</th><th class=\"n\">Share</th>"
    )?;
    writeln!(out, "<th class=\"n\">95 % interval</th></tr></thead><tbody>")?;
    for (name, figure) in figures(&report.arguments) {
        writeln!(
            out,
            "<tr><td>{name}</td><td class=\"n\"><b>{}</b></td><td class=\"n\">{}</td></tr>",
            share(figure),
            interval(figure)
        )?;
    }
    writeln!(out, "</tbody></table></div></div>")
}

fn heat_map(out: &mut impl Write, matrix: &Matrix) -> io::Result<()> {
    let size = matrix.labels.len();
    writeln!(out, "<div class=\"panel\"><h2>Confusion matrix</h2>")?;
    if size == 0 {
        return writeln!(out, "<p class=\"facts\">No calls were expected or made.</p></div>");
    }
    let needed = LABEL + CELL * size as f64 + 90.0;
    let width = needed.max(if size <= NARROW { 560.0 } else { 1_100.0 });
    let height = HEAD + ROW * size as f64 + 4.0;
    writeln!(
        out,
        "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\">",
        escape(&in_words(matrix))
    )?;
    let highest = matrix.highest().max(1) as f64;
    for (at, label) in matrix.labels.iter().enumerate() {
        let x = LABEL + CELL * (at as f64 + 0.5);
        let (label, y) = (shorten(label, MAX_HEAD), HEAD - 8.0);
        writeln!(
            out,
            "<text class=\"name\" x=\"{x:.1}\" y=\"{y:.1}\" transform=\"rotate(-45 {x:.1} {y:.1})\">{}</text>",
            escape(&label)
        )?;
    }
    for (row, (label, counts)) in matrix.labels.iter().zip(&matrix.counts).enumerate() {
        let y = HEAD + ROW * row as f64;
        writeln!(
            out,
            "<text class=\"name\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LABEL - 8.0,
            y + ROW / 2.0 + 4.0,
            escape(&shorten(label, MAX_SIDE))
        )?;
        for (column, number) in counts.iter().enumerate() {
            let x = LABEL + CELL * column as f64;
            let class = match (*number, row == column) {
                (0, _) => "f-missing",
                (_, true) => "f-pass",
                (_, false) => "f-fail",
            };
            // The root keeps single confusions visible next to frequent calls.
            let strength = match number {
                0 => 0.3,
                number => (0.15 + (*number as f64 / highest).sqrt() * 0.85) * STRONGEST,
            };
            let called = escape(&matrix.labels[column]);
            writeln!(
                out,
                "<rect class=\"{class}\" fill-opacity=\"{strength:.2}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"3\">\
                 <title>expected {}, called {called}: {number}</title></rect>",
                x + 1.0,
                y + 1.0,
                CELL - 2.0,
                ROW - 2.0,
                escape(label)
            )?;
            if *number > 0 {
                let (x, y) = (x + CELL / 2.0, y + ROW / 2.0 + 4.0);
                writeln!(
                    out,
                    "<text class=\"count\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{number}</text>"
                )?;
            }
        }
    }
    writeln!(
        out,
        "</svg><p class=\"legend key\">rows: expected tool; columns: called tool; (none): no call"
    )?;
    if matrix.more > 0 {
        let more = count(matrix.more, "tool", "tools");
        writeln!(out, "<span>{more} with fewer mistakes not shown</span>")?;
    }
    writeln!(out, "</p></div>")
}

/// Names of tools often begin alike, so the middle is left out.
fn shorten(label: &str, max: usize) -> String {
    let letters: Vec<char> = label.chars().collect();
    if letters.len() <= max {
        return label.to_owned();
    }
    let end = max / 2;
    let start = letters[..max - end - 1].iter();
    start.chain(&['…']).chain(&letters[letters.len() - end..]).collect()
}

/// What the picture shows, for people who do not see it.
fn in_words(matrix: &Matrix) -> String {
    let mut confused: Vec<(u64, &str, &str)> = Vec::new();
    let mut right = 0;
    for (row, counts) in matrix.counts.iter().enumerate() {
        for (column, number) in counts.iter().enumerate() {
            if row == column {
                right += number;
            } else if *number > 0 {
                confused.push((*number, &matrix.labels[row], &matrix.labels[column]));
            }
        }
    }
    confused.sort_by_key(|(number, ..)| std::cmp::Reverse(*number));
    let mut text = format!("Confusion matrix: {right} calls of the expected tool");
    for (number, expected, called) in confused.iter().take(MAX_SAID) {
        let _ = write!(text, "; expected {expected}, called {called}: {number}");
    }
    let more = confused.len().saturating_sub(MAX_SAID);
    if more > 0 {
        let _ = write!(text, "; and {more} more");
    }
    text
}

fn tool_table(out: &mut impl Write, report: &SelectionReport) -> io::Result<()> {
    writeln!(
        out,
        "<div class=\"panel\"><h2>Tools</h2><div class=\"scroll\"><table class=\"even\">"
    )?;
    writeln!(
        out,
        "<thead><tr><th>Tool</th><th class=\"n\">Precision</th><th class=\"n\">Recall</th>"
    )?;
    writeln!(out, "<th class=\"n\">F1</th></tr></thead><tbody>")?;
    let (shown, more) = tools(report, MAX_TOOLS);
    for tool in shown {
        writeln!(
            out,
            "<tr><td class=\"tool\">{}</td><td class=\"n\">{}<small>{}</small></td>\
             <td class=\"n\">{}<small>{}</small></td><td class=\"n\"><b>{}</b></td></tr>",
            escape(&line(&tool.tool, 80)),
            share(&tool.precision),
            interval(&tool.precision),
            share(&tool.recall),
            interval(&tool.recall),
            f1(tool.f1)
        )?;
    }
    writeln!(out, "</tbody></table></div>")?;
    if more > 0 {
        writeln!(
            out,
            "<p class=\"legend key\">{} with a higher F1 not shown</p>",
            count(more, "tool", "tools")
        )?;
    }
    writeln!(out, "</div>")
}
