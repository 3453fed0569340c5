//! A summary of a red-team run: counts, findings, what did not run.

use std::io::{self, Write};

use quintain_evidence::event::RunInfo;
use quintain_evidence::finding::Finding;
use quintain_evidence::redteam_report::RedteamReport;
use quintain_evidence::tally::Summary;

use super::{code, fenced, inline};
use crate::exchanges;
use crate::findings::{
    self, Counts, Standing, WORST_FIRST, covered, learned, level, pace, percents, phase, places,
    reach, tags,
};
use crate::text::{count, line};

const MAX_FINDINGS: usize = 100;
const MAX_DETAILS: usize = 30;
const MAX_PROOFS: usize = 5;
const MAX_LISTED: usize = 50;
/// Maximum bytes of one side of an exchange, because CI job pages limit the size of a summary.
const MAX_SIDE: usize = 1_500;
const MAX_ROWS: usize = 300;
/// Longer commands are omitted, because a truncated command is useless.
const MAX_COMMAND: usize = 1_000;

pub(super) fn write(
    out: &mut impl Write,
    run: &RunInfo,
    report: &RedteamReport,
    summary: &Summary,
) -> io::Result<()> {
    let title = run.description.as_deref().map_or("Quintain".into(), |text| line(text, 200));
    let counts = Counts::of(&report.findings);
    let found = count(counts.confirmed, "confirmed finding", "confirmed findings");
    writeln!(out, "## {}: {found}\n", inline(&title))?;
    let interrupted = summary.interrupted.then(|| "interrupted".to_owned());
    if let Some(why) = report.cut_short.as_deref().map(|why| line(why, 300)).or(interrupted) {
        writeln!(out, "> **Not finished**: {}.\n", inline(&why))?;
    }
    sums(out, report)?;
    let risk = match &report.risk {
        Some(risk) => format!("Risk **{:.1}** of 10 ({}). ", risk.score, level(risk.level)),
        None => "Risk **n/a**: nothing was attacked. ".to_owned(),
    };
    let (reach, pace) = (reach(report), pace(report, summary));
    writeln!(out, "{risk}Attacked {reach}; {pace}.\n")?;
    let phases: Vec<String> = report.phases.iter().map(phase).collect();
    if !phases.is_empty() {
        writeln!(out, "Phases: {}. Seed {}.\n", inline(&phases.join("; ")), report.seed)?;
    }
    findings(out, report)?;
    not_run(out, report)?;
    changes(out, report)?;
    rates(out, report)?;
    reached(out, report)?;
    learned_facts(out, report)?;
    frameworks(out, report)
}

fn sums(out: &mut impl Write, report: &RedteamReport) -> io::Result<()> {
    writeln!(out, "| | critical | high | medium | low | info |")?;
    writeln!(out, "| --- | ---: | ---: | ---: | ---: | ---: |")?;
    let each = WORST_FIRST.map(|severity| Counts::at(report, severity));
    let mut row = |name: &str, numbers: [usize; 5]| {
        let cells: Vec<String> = numbers.iter().map(usize::to_string).collect();
        writeln!(out, "| {name} | {} |", cells.join(" | "))
    };
    row("confirmed", each.map(|counts| counts.confirmed))?;
    row("suspected", each.map(|counts| counts.suspected))?;
    if each.iter().any(|counts| counts.by_design > 0) {
        row("by design", each.map(|counts| counts.by_design))?;
    }
    writeln!(out)
}

fn findings(out: &mut impl Write, report: &RedteamReport) -> io::Result<()> {
    if !report.findings.is_empty() {
        writeln!(out, "| severity | confidence | rule | place | title |")?;
        writeln!(out, "| --- | --- | --- | --- | --- |")?;
    }
    for finding in report.findings.iter().take(MAX_FINDINGS) {
        writeln!(
            out,
            "| {} | {} | {} | {} | {} |",
            finding.severity.word(),
            Standing::of(finding).word(),
            code(&line(&finding.rule, 60)),
            code(&places(finding, 100)),
            inline(&line(&finding.title, 250)),
        )?;
    }
    let more = report.findings.len().saturating_sub(MAX_FINDINGS);
    if more > 0 {
        writeln!(out, "\n... and {more} more.")?;
    }
    if !report.findings.is_empty() {
        writeln!(out)?;
    }
    report.findings.iter().take(MAX_DETAILS).try_for_each(|finding| details(out, finding))?;
    accepted(out, report)
}

fn accepted(out: &mut impl Write, report: &RedteamReport) -> io::Result<()> {
    if report.suppressed.is_empty() {
        return Ok(());
    }
    let known = count(report.suppressed.len(), "finding is", "findings are");
    writeln!(out, "<details><summary>{known} suppressed by a baseline</summary>\n")?;
    for finding in report.suppressed.iter().take(MAX_LISTED) {
        let title = inline(&line(&finding.title, 250));
        let why = finding.accepted.as_ref().map(findings::acceptance).unwrap_or_default();
        writeln!(out, "- {} {title}: {}", code(&line(&finding.id, 40)), inline(&why))?;
    }
    writeln!(out, "\n</details>\n")
}

fn details(out: &mut impl Write, finding: &Finding) -> io::Result<()> {
    let title = inline(&line(&finding.title, 250));
    let word = finding.severity.word();
    writeln!(out, "<details><summary>{word}: {title}</summary>\n")?;
    let tags = tags(finding).iter().map(|tag| inline(tag)).collect::<Vec<_>>().join(", ");
    writeln!(out, "{} {tags}\n", code(&line(&finding.id, 40)))?;
    for one in finding.places.iter().take(MAX_LISTED) {
        let place = code(&line(&one.place.to_string(), 100));
        writeln!(out, "- {place}: {}", inline(&line(&one.title, 250)))?;
    }
    for proof in finding.proofs.iter().take(MAX_PROOFS) {
        let (form, what) = (line(proof.form.trim_end_matches(':'), 250), line(&proof.what, 500));
        writeln!(out, "- {}: {}", inline(&form), inline(&what))?;
    }
    let more = finding.proofs.len().saturating_sub(MAX_PROOFS);
    if more > 0 {
        writeln!(out, "- ... and {}", count(more, "more proof", "more proofs"))?;
    }
    if let Some(note) = &finding.note {
        writeln!(out, "- by design: {}", inline(&line(note, 500)))?;
    }
    if let Some(proof) = finding.proofs.first() {
        let sides = [("Baseline call", proof.baseline.as_ref()), ("Attempt", Some(&proof.attempt))];
        for (title, evidence) in sides {
            let text = evidence.map(|one| exchanges::of_wire(one, MAX_SIDE)).unwrap_or_default();
            if !text.is_empty() {
                writeln!(out, "\n{title}:\n\n{}", fenced(&text))?;
            }
        }
    }
    let commands = [finding.reproduce.as_deref(), finding.replay.as_deref()];
    let mut commands: Vec<&str> = commands.into_iter().flatten().collect();
    commands.dedup();
    commands.retain(|text| text.len() <= MAX_COMMAND);
    if !commands.is_empty() {
        writeln!(out, "\nReproduce:\n\n{}", fenced(&commands.join("\n")))?;
    }
    writeln!(out, "\n</details>\n")
}

/// Always visible, because an attack that did not run is not clean.
fn not_run(out: &mut impl Write, report: &RedteamReport) -> io::Result<()> {
    let orders = report.not_run.iter().map(|one| (&one.what, &one.why));
    let silent = report.silent.iter().map(|one| (&one.tool, &one.why));
    let all: Vec<_> = orders.chain(silent).collect();
    if all.is_empty() {
        return Ok(());
    }
    writeln!(out, "### Not run\n")?;
    for (what, why) in all.iter().take(MAX_LISTED) {
        writeln!(out, "- {}: {}", code(&line(what, 100)), inline(&line(why, 250)))?;
    }
    if all.len() > MAX_LISTED {
        writeln!(out, "- ... and {} more", all.len() - MAX_LISTED)?;
    }
    writeln!(out)
}

/// Files that changed around the target.
fn changes(out: &mut impl Write, report: &RedteamReport) -> io::Result<()> {
    if report.changes.is_empty() {
        return Ok(());
    }
    writeln!(out, "### Changed files\n")?;
    for one in report.changes.iter().take(MAX_LISTED) {
        writeln!(out, "- {}: {one}", code(&line(&one.path.display().to_string(), 200)))?;
    }
    if report.changes.len() > MAX_LISTED {
        writeln!(out, "- ... and {} more", report.changes.len() - MAX_LISTED)?;
    }
    writeln!(out)
}

fn rates(out: &mut impl Write, report: &RedteamReport) -> io::Result<()> {
    let ran: Vec<_> = report.attacks.iter().filter(|attack| attack.trials > 0).collect();
    if ran.is_empty() {
        return Ok(());
    }
    let attacks = count(ran.len(), "attack", "attacks");
    writeln!(out, "<details><summary>Success rates of {attacks}</summary>\n")?;
    writeln!(out, "| attack | places | hits | success rate |\n| --- | ---: | ---: | --- |")?;
    for attack in ran {
        let (low, high) = attack.interval;
        let name = code(&line(&attack.attack, 60));
        let share = percents(attack.rate, low, high);
        writeln!(out, "| {name} | {} | {} | {share} |", attack.trials, attack.hits)?;
    }
    writeln!(out, "\n</details>\n")
}

/// The attacks on each argument, and which of them succeeded.
fn reached(out: &mut impl Write, report: &RedteamReport) -> io::Result<()> {
    if report.tools.is_empty() {
        return Ok(());
    }
    let tools = count(report.tools.len(), "tool", "tools");
    writeln!(out, "<details><summary>Attacks on {tools}</summary>\n")?;
    writeln!(out, "| tool | argument | worked | tried |\n| --- | --- | --- | --- |")?;
    let rows = report.tools.iter().flat_map(|tool| {
        let silent = tool.arguments.is_empty().then_some((tool, None));
        silent.into_iter().chain(tool.arguments.iter().map(move |tried| (tool, Some(tried))))
    });
    for (tool, tried) in rows.take(MAX_ROWS) {
        let name = code(&line(&tool.tool, 80));
        let Some((argument, attacks)) = tried else {
            writeln!(out, "| {name} | | | nothing |")?;
            continue;
        };
        let worked = findings::worked(report, tool, argument).join(", ");
        let argument = if argument.is_empty() { String::new() } else { code(&line(argument, 80)) };
        let (worked, tried) = (inline(&worked), inline(&attacks.join(", ")));
        writeln!(out, "| {name} | {argument} | {worked} | {tried} |")?;
    }
    writeln!(out, "\n</details>\n")
}

fn learned_facts(out: &mut impl Write, report: &RedteamReport) -> io::Result<()> {
    let lines = learned(report);
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(out, "<details><summary>Learned about the target</summary>\n")?;
    for (label, text) in lines {
        writeln!(out, "- {label}: {}", inline(&text))?;
    }
    writeln!(out, "\n</details>\n")
}

fn frameworks(out: &mut impl Write, report: &RedteamReport) -> io::Result<()> {
    if report.frameworks.is_empty() {
        return Ok(());
    }
    writeln!(out, "### Coverage of frameworks\n")?;
    for coverage in &report.frameworks {
        let (name, states) = (line(&coverage.title, 100), covered(coverage));
        writeln!(out, "- **{}**: {}", inline(&name), inline(&states))?;
    }
    writeln!(out, "\n<details><summary>Each entry</summary>\n")?;
    writeln!(out, "| | weakness | state | by |\n| --- | --- | --- | --- |")?;
    for entry in report.frameworks.iter().flat_map(|coverage| &coverage.entries) {
        writeln!(
            out,
            "| {} | {} | {} | {} |",
            inline(&line(&entry.id, 40)),
            inline(&line(&entry.title, 100)),
            entry.word(),
            inline(&line(&entry.why(), 300)),
        )?;
    }
    writeln!(out, "\n</details>\n")
}
