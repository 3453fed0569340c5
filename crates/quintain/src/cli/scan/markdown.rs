//! A scan as Markdown, for a comment or the summary of a pipeline.

use std::fmt::Write as _;

use quintain_evidence::finding::Finding;
use quintain_report::markdown_inline as inline;

use super::sheet::{Line, Scan};
use super::table;
use crate::cli::App;

pub(super) fn text(scan: &Scan, app: &App) -> String {
    let mut out = String::from("# MCP servers\n\n");
    let _ = writeln!(out, "{}\n", inline(&table::summary(scan)));
    out.push_str("| file | server | how | findings |\n|---|---|---|---|\n");
    for sheet in &scan.sheets {
        let config = scan.config(sheet);
        let path = inline(&table::short(&sheet.path, app));
        for problem in config.into_iter().flat_map(|config| &config.problems) {
            let (line, column) = (problem.line, problem.column);
            let _ = writeln!(out, "| {path} |  | {line}:{column}: {} |  |", inline(&problem.what));
        }
        for (at, line) in sheet.lines.iter().enumerate() {
            let entry = config.map(|config| &config.entries[at]);
            let launch = entry.and_then(|entry| entry.launch.as_ref()).map(table::launch);
            let mut how: Vec<String> = launch.into_iter().collect();
            how.extend(entry.filter(|entry| entry.disabled).map(|_| "[disabled]".to_owned()));
            how.extend(table::state(&line.state));
            let problems = entry.into_iter().flat_map(|entry| &entry.problems);
            how.extend(problems.map(|problem| format!("[{}]", problem.what)));
            let _ = writeln!(
                out,
                "| {path} | {} | {} | {} |",
                inline(&line.name),
                inline(&how.join(" ")),
                count(line)
            );
        }
    }
    for finding in scan.findings() {
        out.push_str(&section(finding));
    }
    out
}

fn count(line: &Line) -> String {
    match (line.findings.len(), line.findings.iter().map(|finding| finding.severity).max()) {
        (count, Some(worst)) => format!("{count}, up to {}", worst.word()),
        (_, None) => "none".to_owned(),
    }
}

fn section(finding: &Finding) -> String {
    let mut out = format!(
        "\n## {}: {}\n\n`{}`, {}",
        finding.severity.word(),
        inline(&finding.title),
        finding.rule,
        finding.confidence.word(),
    );
    let server = finding.place.server();
    let place = inline(&finding.place.to_string());
    if server.is_empty() {
        let _ = writeln!(out, ", at {place}\n");
    } else {
        let _ = writeln!(out, ", server {}, at {place}\n", inline(server));
    }
    for what in finding.proofs.iter().flat_map(|proof| proof.what.lines()) {
        let _ = writeln!(out, "- {}", inline(what));
    }
    if let Some(help) = table::help(finding) {
        let _ = writeln!(out, "\n{}", inline(help));
    }
    out
}
