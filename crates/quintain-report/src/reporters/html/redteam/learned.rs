//! What the run learned about the target, and the attacks on each argument.

use std::io::{self, Write};

use quintain_evidence::redteam_report::RedteamReport;

use super::super::escape;
use crate::findings::{self, worked};
use crate::text::line;

const MAX_ROWS: usize = 1_000;

/// Every argument with the attacks on it.
pub(super) fn arguments(out: &mut impl Write, report: &RedteamReport) -> io::Result<()> {
    let all: usize = report.tools.iter().map(|tool| tool.arguments.len()).sum();
    if all == 0 {
        return Ok(());
    }
    let title = "Attacks on each argument";
    writeln!(out, "<details class=\"panel fold\"><summary>{title}</summary>")?;
    writeln!(out, "<div class=\"scroll\"><table><thead><tr><th>Tool</th><th>Argument</th>")?;
    writeln!(out, "<th>Worked</th><th>Tried</th></tr></thead><tbody>")?;
    let rows = report.tools.iter().flat_map(|tool| {
        tool.arguments.iter().map(move |(argument, tried)| (tool, argument, tried))
    });
    for (tool, argument, tried) in rows.take(MAX_ROWS) {
        let name = if argument.is_empty() { "the whole call" } else { argument };
        let (name, worked) = (line(name, 100), worked(report, tool, argument).join(", "));
        writeln!(
            out,
            "<tr><td class=\"test\">{}</td><td class=\"test\">{}</td>\
             <td class=\"test worked\">{}</td><td class=\"test\">{}</td></tr>",
            escape(&line(&tool.tool, 100)),
            escape(&name),
            escape(&worked),
            escape(&tried.join(", "))
        )?;
    }
    writeln!(out, "</tbody></table></div></details>")
}

pub(super) fn insight(out: &mut impl Write, report: &RedteamReport) -> io::Result<()> {
    let learned = findings::learned(report);
    writeln!(
        out,
        "<section id=\"learned\" class=\"panel\" aria-label=\"Learned about the target\">"
    )?;
    writeln!(out, "<h2>Learned about the target</h2>")?;
    if learned.is_empty() {
        return writeln!(out, "<p class=\"facts\">No call worked.</p></section>");
    }
    writeln!(out, "<dl>")?;
    for (label, text) in learned {
        writeln!(out, "<dt>{label}</dt><dd>{}</dd>", escape(&text))?;
    }
    writeln!(out, "</dl></section>")
}
