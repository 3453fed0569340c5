//! Findings for people.

use quintain_core::finding::{Confidence, Finding, Severity};
use quintain_core::redteam::RedteamReport;

use crate::cli::Desk;
use crate::console::Tone;

/// Lines of "not run" that are shown.
const MAX_NOT_RUN: usize = 12;

pub(super) fn show(report: &RedteamReport, desk: &Desk) {
    for finding in &report.findings {
        one(finding, desk);
    }
    let console = &desk.console;
    for attack in report.attacks.iter().filter(|attack| attack.bouts > 0) {
        let (low, high) = attack.interval;
        console.out(&format!(
            "{:24} {:>3} of {:<3} places   {:>3.0} % ({:.0} to {:.0} %)",
            attack.attack,
            attack.hits,
            attack.bouts,
            attack.rate * 100.0,
            low * 100.0,
            high * 100.0
        ));
    }
    for not_run in report.not_run.iter().take(MAX_NOT_RUN) {
        console
            .out(&console.paint(Tone::Dim, &format!("not run: {} {}", not_run.what, not_run.why)));
    }
    for silent in &report.silent {
        console.out(
            &console.paint(Tone::Dim, &format!("not attacked: {} ({})", silent.tool, silent.why)),
        );
    }
    let phases: Vec<String> = report
        .phases
        .iter()
        .map(|phase| {
            let rate = phase.calls as f64 / phase.seconds.max(0.001);
            format!("{} {:.1} s, {} calls, {rate:.0}/s", phase.phase, phase.seconds, phase.calls)
        })
        .collect();
    console.out(&console.paint(Tone::Dim, &phases.join("; ")));
    if let Some(why) = &report.cut_short {
        console.out(&format!("not finished: {why}"));
    }
    let count = |confidence: Confidence| {
        report.findings.iter().filter(|finding| finding.confidence == confidence).count()
    };
    let risk = report.risk.as_ref().map_or(0.0, |risk| risk.score);
    console.out(&format!(
        "{} confirmed, {} suspected; risk {risk:.1} of 10",
        count(Confidence::Confirmed),
        count(Confidence::Suspected)
    ));
}

fn one(finding: &Finding, desk: &Desk) {
    let console = &desk.console;
    let tone = match finding.severity {
        Severity::Critical | Severity::High => Tone::Red,
        Severity::Medium => Tone::Yellow,
        Severity::Low | Severity::Info => Tone::Dim,
    };
    let head = format!("{} {}", finding.severity.word().to_uppercase(), finding.confidence.word());
    console.out(&format!("{}  {}  {}", console.paint(tone, &head), finding.rule, finding.title));
    for proof in &finding.proofs {
        console.out(&format!("    {}: {}", proof.form, proof.what));
    }
    if let Some(note) = &finding.note {
        console.out(&format!("    by design: {note}"));
    }
    if let Some(command) = &finding.reproduce {
        console.out(&format!("    {command}"));
    }
    console.out(&console.paint(Tone::Dim, &format!("    {}", finding.id)));
}
