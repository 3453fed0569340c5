//! A red-team run in the terminal: the findings with their proofs, success rates, what did not run,
//! the totals. Trials without a hit are counted, not listed.

use std::io::{self, Write as _};

use quintain_evidence::finding::{Finding, FindingProof, Severity};
use quintain_evidence::redteam_report::RedteamReport;
use quintain_evidence::tally::Summary;

use super::{Screen, Tone};
use crate::exchanges;
use crate::findings::{
    Counts, Standing, WORST_FIRST, covered, learned, pace, percents, phase, places, reach, risk,
    seen, tags,
};
use crate::text::{bytes_text, cell, columns, count, json_excerpt, line, plain, wrap};

const MAX_FINDINGS: usize = 100;
const MAX_PROOFS: usize = 4;
const MAX_SEEN: usize = 3;
/// Maximum lines of a list of what did not run.
const MAX_LISTED: usize = 12;
/// Maximum lines of one subject.
const MAX_LINES: usize = 6;
/// Longer commands are omitted: they do not fit a screen, and a truncated command is useless.
const MAX_COMMAND: usize = 800;
/// Column where text begins, after a severity or a label.
const INDENT: usize = 10;

impl Screen {
    pub(super) fn redteam(&mut self, report: &RedteamReport, summary: &Summary) -> io::Result<()> {
        for finding in report.findings.iter().take(MAX_FINDINGS) {
            let lines = self.finding(finding);
            writeln!(self.out, "{}\n", lines.join("\n"))?;
        }
        let more = report.findings.len().saturating_sub(MAX_FINDINGS);
        if more > 0 {
            writeln!(self.out, "{:INDENT$}... and {more} more\n", "")?;
        }
        self.rates(report)?;
        for (label, text) in learned(report) {
            let lines = if self.options.verbose { MAX_LINES } else { 2 };
            self.at_most(lines, label, Some(Tone::Dim), &text)?;
        }
        let not_run = report.not_run.iter().map(|one| (one.what.as_str(), one.why.as_str()));
        self.undone("Not run", not_run)?;
        let silent = report.silent.iter().map(|one| (one.tool.as_str(), one.why.as_str()));
        self.undone("Untested", silent)?;
        let changed = report.changes.iter();
        let changed: Vec<(String, String)> =
            changed.map(|one| (one.path.display().to_string(), one.to_string())).collect();
        self.undone("Changed", changed.iter().map(|(path, how)| (path.as_str(), how.as_str())))?;
        for (at, coverage) in report.frameworks.iter().enumerate() {
            let text = format!("{}: {}", line(&coverage.name, 40), covered(coverage));
            self.labelled(if at == 0 { "Coverage" } else { "" }, Some(Tone::Dim), &text)?;
        }
        self.sums(report, summary)?;
        self.out.flush()
    }

    fn finding(&self, finding: &Finding) -> Vec<String> {
        let mut block = Vec::new();
        let word = cell(&finding.severity.word().to_uppercase(), INDENT);
        let word = self.paint(tone_of(finding), &word);
        let title = line(&finding.title, self.options.max_cell * 2);
        for (at, text) in wrap(&title, self.width - INDENT, 4).iter().enumerate() {
            let start = if at == 0 { word.clone() } else { " ".repeat(INDENT) };
            block.push(format!("{start}{}", self.paint(Tone::Bold, text)));
        }
        let mut about = vec![Standing::of(finding).word().to_owned(), line(&finding.id, 40)];
        about.push(line(&finding.rule, 60));
        about.push(places(finding, 100));
        about.extend(tags(finding));
        let about = wrap(&about.join(" · "), self.width - INDENT, 3);
        block.extend(about.iter().map(|text| indented(&self.paint(Tone::Dim, text))));
        for proof in finding.proofs.iter().take(MAX_PROOFS) {
            self.proof(proof, &mut block);
        }
        let more = finding.proofs.len().saturating_sub(MAX_PROOFS);
        if more > 0 {
            let more = count(more, "more proof", "more proofs");
            block.push(indented(&format!("... and {more}")));
        }
        let notes = [("by design", &finding.note), ("strategies", &strategies(finding))];
        for (label, note) in notes {
            let Some(note) = note else { continue };
            let note = format!("{label}: {}", line(note, self.options.max_cell * 2));
            block.extend(wrap(&note, self.width - INDENT, 4).iter().map(|text| indented(text)));
        }
        block.extend(finding.reproduce.as_deref().map(command));
        // If one call shows the finding, the command for the whole attack is left to other formats.
        let whole = finding.replay.as_deref().filter(|_| self.options.verbose);
        block.extend(whole.map(command));
        block
    }

    fn proof(&self, proof: &FindingProof, block: &mut Vec<String>) {
        let max = self.options.max_cell;
        let text = format!(
            "{}: {}",
            line(proof.form.trim_end_matches(':'), max),
            line(&proof.what, max * 2)
        );
        block.extend(wrap(&text, self.width - INDENT, 4).iter().map(|text| indented(text)));
        let mut add = |label: &str, text: &str| {
            for (at, text) in wrap(text, self.width - INDENT - 11, 3).iter().enumerate() {
                let label = cell(if at == 0 { label } else { "" }, 9);
                block.push(indented(&format!("  {}{text}", self.paint(Tone::Dim, &label))));
            }
        };
        if let Some(payload) = &proof.payload {
            let text = payload.as_str().map_or_else(
                || line(&json_excerpt(payload, false, max * 4), max),
                |text| line(text, max),
            );
            add("payload", &text);
        }
        for observation in proof.attempt.observations.iter().take(MAX_SEEN) {
            add("seen", &seen(observation, max));
        }
        if self.options.verbose {
            let text = exchanges::of_wire(&proof.attempt, max * 20);
            block.extend(text.lines().map(indented));
        }
    }

    /// The success rate of each attack.
    fn rates(&mut self, report: &RedteamReport) -> io::Result<()> {
        let attacks = report.attacks.iter().filter(|attack| attack.trials > 0);
        let rows: Vec<_> = attacks.map(|attack| (line(&attack.attack, 40), attack)).collect();
        let widest = rows.iter().map(|(name, _)| columns(name)).max().unwrap_or(0);
        let widest = widest.min(self.width - INDENT - 44);
        for (at, (name, attack)) in rows.iter().enumerate() {
            let (low, high) = attack.interval;
            let label = self.heading(if at == 0 { "Attacks" } else { "" });
            let (one, more) =
                if report.takes_text { ("prompt", "prompts") } else { ("place", "places") };
            let hits = format!("{:>4} of {}", attack.hits, count(attack.trials, one, more));
            let hits = cell(&hits, 20);
            let hits = if attack.hits > 0 { self.paint(Tone::Red, &hits) } else { hits };
            let mut share = vec![percents(attack.rate, low, high)];
            let repeated = attack.pass_at.iter().filter(|(tries, _)| *tries > 1);
            share.extend(
                repeated.map(|(tries, rate)| format!("{:.0} % in {tries} tries", rate * 100.0)),
            );
            let share = share.join(", ");
            writeln!(self.out, "{label}{} {hits} {share}", cell(name, widest))?;
        }
        Ok(())
    }

    fn undone<'t>(
        &mut self,
        label: &str,
        all: impl Iterator<Item = (&'t str, &'t str)>,
    ) -> io::Result<()> {
        let all: Vec<_> = all.collect();
        for (at, (what, why)) in all.iter().take(MAX_LISTED).enumerate() {
            let text = format!("{}: {}", line(what, 60), line(why, 300));
            self.labelled(if at == 0 { label } else { "" }, Some(Tone::Dim), &text)?;
        }
        match all.len().saturating_sub(MAX_LISTED) {
            0 => Ok(()),
            more => self.labelled("", None, &format!("... and {more} more")),
        }
    }

    fn sums(&mut self, report: &RedteamReport, summary: &Summary) -> io::Result<()> {
        let phases: Vec<String> = report.phases.iter().map(phase).collect();
        self.labelled("Phases", Some(Tone::Dim), &phases.join("; "))?;
        let text = format!("{}; {}", reach(report), pace(report, summary));
        self.labelled("Attacked", None, &text)?;
        let unfinished = report.cut_short.as_deref().map(|why| line(why, 300));
        let interrupted = summary.interrupted.then(|| "interrupted".to_owned());
        if let Some(why) = unfinished.or(interrupted) {
            self.labelled("Run", Some(Tone::Yellow), &format!("not finished: {why}"))?;
        }
        let by_severity = WORST_FIRST.into_iter().filter_map(|severity| {
            let total = Counts::at(report, severity).total();
            let text = format!("{total} {}", severity.word());
            (total > 0).then(|| self.paint(tone(severity), &text))
        });
        let by_severity: Vec<String> = by_severity.collect();
        if !by_severity.is_empty() {
            writeln!(self.out, "{}{}", self.heading("Findings"), by_severity.join(", "))?;
        }
        let counts = Counts::of(&report.findings).text(report.suppressed.len());
        self.labelled("Results", None, &counts)?;
        if let Some(again) = report.findings.iter().find_map(|one| one.replay.as_deref()) {
            writeln!(self.out, "{}{}", self.heading("Replay"), line(again, MAX_COMMAND))?;
        }
        self.labelled("Risk", Some(Tone::Bold), &risk(report))?;
        Ok(())
    }

    fn labelled(&mut self, label: &str, tone: Option<Tone>, text: &str) -> io::Result<()> {
        self.at_most(MAX_LINES, label, tone, text)
    }

    fn at_most(
        &mut self,
        lines: usize,
        label: &str,
        tone: Option<Tone>,
        text: &str,
    ) -> io::Result<()> {
        for (at, text) in wrap(text, self.width - INDENT, lines).into_iter().enumerate() {
            let label = self.heading(if at == 0 { label } else { "" });
            let text = tone.map_or_else(|| text.clone(), |tone| self.paint(tone, &text));
            writeln!(self.out, "{label}{text}")?;
        }
        Ok(())
    }

    fn heading(&self, text: &str) -> String {
        self.paint(Tone::Bold, &cell(text, INDENT))
    }
}

fn tone_of(finding: &Finding) -> Tone {
    match Standing::of(finding) {
        Standing::ByDesign => Tone::Dim,
        Standing::Confirmed | Standing::Suspected => tone(finding.severity),
    }
}

fn tone(severity: Severity) -> Tone {
    match severity {
        Severity::Critical | Severity::High => Tone::Red,
        Severity::Medium => Tone::Yellow,
        Severity::Low | Severity::Info => Tone::Dim,
    }
}

/// Not wrapped, so that it can be copied.
fn command(command: &str) -> String {
    if command.len() > MAX_COMMAND {
        let size = bytes_text(command.len());
        return indented(&format!("the command ({size}) is in the JSON report"));
    }
    let gap = format!("\n{:INDENT$}  ", "");
    indented(&format!("$ {}", plain(command).trim_end().replace('\n', &gap)))
}

fn strategies(finding: &Finding) -> Option<String> {
    (!finding.strategies.is_empty()).then(|| finding.strategies.join(", "))
}

fn indented(text: &str) -> String {
    format!("{:INDENT$}{text}", "")
}
