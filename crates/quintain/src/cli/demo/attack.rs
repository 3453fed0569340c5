//! Attacks both twins, and tells what was found of what is planted.

use std::path::Path;

use futures_util::future::join;
use quintain_demo::Twin;
use quintain_evidence::finding::{Finding, Severity};
use quintain_source::visible;
use serde_json::{Value, json};

use super::raids::{FOLDER, RAIDS, Raid, Raided, word};
use super::verdict::Verdict;
use crate::cli::{Desk, own_file};
use crate::console::Tone;
use crate::exit::Exit;

/// Attacks, prints, and says how it went. With a name, only that raid is made.
pub(super) async fn run(only: Option<&str>, as_json: bool, desk: &Desk) -> Exit {
    let console = &desk.console;
    let raids: Vec<&Raid> =
        RAIDS.iter().filter(|raid| only.is_none_or(|only| raid.name == only)).collect();
    let mut raided = Vec::new();
    for raid in &raids {
        if *desk.stop.borrow() {
            break;
        }
        write_suite(raid, desk);
        let (weak, fixed) = (one(raid, Twin::Vulnerable, desk), one(raid, Twin::Patched, desk));
        if raid.measures {
            // The noise of one attack must not look like a weakness to the other.
            raided.push(weak.await);
            raided.push(fixed.await);
        } else {
            raided.extend(<[_; 2]>::from(Box::pin(join(weak, fixed)).await));
        }
    }
    let raided: Vec<Raided> = match raided.into_iter().collect() {
        Ok(raided) => raided,
        Err(why) => {
            console.error(&format!("the practice target cannot be attacked: {why}"), None);
            return Exit::Unreachable;
        }
    };
    if raided.iter().any(|one| one.interrupted) {
        console.err("interrupted");
        return Exit::Interrupted;
    }
    let verdict = Verdict::of(&raids, &raided);
    if as_json {
        console.json(&document(&verdict, &raids));
    } else {
        show(&verdict, desk);
    }
    if verdict.is_complete() {
        return Exit::Passed;
    }
    complain(&verdict, desk);
    Exit::Broken
}

async fn one(raid: &Raid, twin: Twin, desk: &Desk) -> Result<Raided, String> {
    if *desk.stop.borrow() {
        let findings = Vec::new();
        return Ok(Raided { raid: raid.name, twin, findings, interrupted: true });
    }
    desk.console.note(&format!("attacking the {} twin: {}", word(twin), raid.what));
    let _busy = desk.console.busy("attacking");
    raid.run(twin, desk).await
}

/// Leaves the suite beside its reports, so that it can be run again and changed.
fn write_suite(raid: &Raid, desk: &Desk) {
    let name = Path::new(FOLDER).join(format!("{}.yaml", raid.name));
    desk.files.wrote(&desk.context.cwd.join(&name));
    if let Err(what) = own_file::write(&desk.context.cwd, &name, raid.suite) {
        desk.console.warn(&what);
    }
}

/// One line of what proves it.
fn proof(finding: &Finding) -> String {
    let what = finding.proofs.first().map_or("", |proof| proof.what.as_str());
    visible(what.lines().next().unwrap_or_default()).into_owned()
}

fn show(verdict: &Verdict<'_>, desk: &Desk) {
    let console = &desk.console;
    let width = desk.context.width();
    console
        .out(&format!("\n{}\n", console.paint(Tone::Bold, "What was planted, and what was found")));
    for (weakness, found) in &verdict.planted {
        let (word, tone) = match found {
            Some((_, finding)) => (finding.severity.word(), tone(finding.severity)),
            None => ("missed", Tone::Red),
        };
        let head = console.paint(tone, &format!("{:<8}", word.to_uppercase()));
        let place = weakness.place.to_string();
        console.out(&format!("{head}  {:<18}  {place}", weakness.rule));
        let told = found.map_or_else(
            || weakness.what.to_owned(),
            |(_, finding)| format!("{}: {}", finding.confidence.word(), proof(finding)),
        );
        let told = clip(&told, width.saturating_sub(10).max(40));
        console.out(&console.paint(Tone::Dim, &format!("          {told}")));
    }
    console.out(&format!(
        "\n{} of {} planted weaknesses found, {} in the patched twin",
        verdict.found(),
        verdict.planted.len(),
        counted(verdict.wrong.len(), "finding"),
    ));
}

fn tone(severity: Severity) -> Tone {
    match severity {
        Severity::Critical | Severity::High => Tone::Red,
        Severity::Medium => Tone::Yellow,
        Severity::Low | Severity::Info => Tone::Dim,
    }
}

fn clip(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{kept}…")
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// What should not be: this program, and not the target, is at fault.
fn complain(verdict: &Verdict<'_>, desk: &Desk) {
    let mut lines = Vec::new();
    for weakness in verdict.missed() {
        lines.push(format!("missed: {} at {} ({})", weakness.rule, weakness.place, weakness.what));
    }
    for (raid, finding) in &verdict.wrong {
        lines.push(format!(
            "wrong: {} at {} ({raid}): {}",
            finding.rule,
            finding.place,
            proof(finding)
        ));
    }
    let what = format!("quintain did not do what it should\n  {}", lines.join("\n  "));
    let help = "a busy machine can hide what is told by time: try again; else please report this";
    desk.console.error(&what, Some(help));
}

fn document(verdict: &Verdict<'_>, raids: &[&Raid]) -> Value {
    let told = |raid: &str, finding: &Finding| {
        json!({
            "id": finding.id, "rule": finding.rule, "severity": finding.severity,
            "confidence": finding.confidence, "title": finding.title,
            "place": finding.place.to_string(), "proof": proof(finding),
            "reproduce": finding.reproduce, "raid": raid,
        })
    };
    let planted: Vec<Value> = verdict
        .planted
        .iter()
        .map(|(weakness, found)| {
            json!({
                "rule": weakness.rule, "place": weakness.place.to_string(), "what": weakness.what,
                "finding": found.map(|(raid, finding)| told(raid, finding)),
            })
        })
        .collect();
    let wrong: Vec<Value> =
        verdict.wrong.iter().map(|(raid, finding)| told(raid, finding)).collect();
    let reports: Vec<String> = raids
        .iter()
        .flat_map(|raid| [Twin::Vulnerable, Twin::Patched].map(|twin| raid.report(twin)))
        .map(|path| path.display().to_string())
        .collect();
    json!({
        "planted": planted, "found": verdict.found(), "confirmed": verdict.confirmed(),
        "patched": wrong, "reports": reports,
    })
}
