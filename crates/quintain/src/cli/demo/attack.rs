//! Attacks both twins, and reports which of the planted weaknesses were found.

use futures_util::future::join;
use quintain_demo::Twin;
use quintain_evidence::finding::Finding;
use serde_json::{Value, json};

use super::findings::{self, proof};
use super::raids::{RAIDS, Raid, Raided};
use super::verdict::Verdict;
use crate::cli::Desk;
use crate::console::Busy;
use crate::exit::Exit;

/// Attacks both twins with all suites, or only with the named one, and prints the result.
pub(super) async fn run(only: Option<&str>, as_json: bool, desk: &Desk) -> Exit {
    let console = &desk.console;
    let raids: Vec<&Raid> =
        RAIDS.iter().filter(|raid| only.is_none_or(|only| raid.name == only)).collect();
    let mut raided = Vec::new();
    for raid in &raids {
        if *desk.stop.borrow() {
            break;
        }
        let _busy = busy(raid, desk);
        let (weak, fixed) = (one(raid, Twin::Vulnerable, desk), one(raid, Twin::Patched, desk));
        if raid.measures {
            // The load of one attack would disturb the time measurements of the other.
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
        findings::show(&verdict, desk);
    }
    if verdict.is_complete() {
        return Exit::Passed;
    }
    complain(&verdict, desk);
    Exit::Broken
}

/// Prints which attack runs, because it takes long.
fn busy(raid: &Raid, desk: &Desk) -> Busy {
    let what = format!("attacking both twins: {}", raid.what);
    desk.console.note(&what);
    desk.console.busy(&what)
}

async fn one(raid: &Raid, twin: Twin, desk: &Desk) -> Result<Raided, String> {
    if *desk.stop.borrow() {
        let findings = Vec::new();
        return Ok(Raided { raid: raid.name, twin, findings, interrupted: true });
    }
    raid.run(twin, desk).await
}

/// Prints missed weaknesses and false positives. They are bugs of this program, not of the target.
fn complain(verdict: &Verdict<'_>, desk: &Desk) {
    let mut lines = Vec::new();
    for weakness in verdict.missed() {
        lines.push(format!("missed: {} at {} ({})", weakness.rule, weakness.place, weakness.what));
    }
    for (raid, finding) in &verdict.wrong {
        lines.push(format!(
            "false positive: {} at {} ({raid}): {}",
            finding.rule,
            finding.place,
            proof(finding)
        ));
    }
    let what = format!("the demo did not give the expected result\n  {}", lines.join("\n  "));
    let help =
        "attacks that measure time can miss on a busy machine: try again, else please report this";
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
