//! Attacks both twins, and reports which of the planted weaknesses were found.

use futures_util::future::join;
use quintain_demo::Twin;
use quintain_evidence::finding::Finding;
use serde_json::{Value, json};

use super::attack_suites::{ATTACK_SUITES, AttackSuite, AttackedTwin};
use super::findings::{self, proof};
use super::verdict::DemoResult;
use crate::cli::App;
use crate::console::Busy;
use crate::exit::Exit;

/// Attacks both twins with all suites, or only with the named one, and prints the result.
pub(super) async fn run(only: Option<&str>, as_json: bool, app: &App) -> Exit {
    let console = &app.console;
    let attack_suites: Vec<&AttackSuite> = ATTACK_SUITES
        .iter()
        .filter(|attack_suite| only.is_none_or(|only| attack_suite.name == only))
        .collect();
    let mut attacked = Vec::new();
    for attack_suite in &attack_suites {
        if *app.stop.borrow() {
            break;
        }
        let _busy = busy(attack_suite, app);
        let (weak, fixed) =
            (one(attack_suite, Twin::Vulnerable, app), one(attack_suite, Twin::Patched, app));
        if attack_suite.measures {
            // The load of one attack would disturb the time measurements of the other.
            attacked.push(weak.await);
            attacked.push(fixed.await);
        } else {
            attacked.extend(<[_; 2]>::from(Box::pin(join(weak, fixed)).await));
        }
    }
    let attacked: Vec<AttackedTwin> = match attacked.into_iter().collect() {
        Ok(attacked) => attacked,
        Err(why) => {
            console.error(&format!("the practice target cannot be attacked: {why}"), None);
            return Exit::Unreachable;
        }
    };
    if attacked.iter().any(|one| one.interrupted) {
        console.err("interrupted");
        return Exit::Interrupted;
    }
    let verdict = DemoResult::of(&attack_suites, &attacked);
    if as_json {
        console.json(&document(&verdict, &attack_suites));
    } else {
        findings::show(&verdict, app);
    }
    if verdict.is_complete() {
        return Exit::Passed;
    }
    complain(&verdict, app);
    Exit::Broken
}

/// Prints which attack runs, because it takes long.
fn busy(attack_suite: &AttackSuite, app: &App) -> Busy {
    let what = format!("attacking both twins: {}", attack_suite.what);
    app.console.note(&what);
    app.console.busy(&what)
}

async fn one(attack_suite: &AttackSuite, twin: Twin, app: &App) -> Result<AttackedTwin, String> {
    if *app.stop.borrow() {
        let findings = Vec::new();
        return Ok(AttackedTwin {
            attack_suite: attack_suite.name,
            twin,
            findings,
            interrupted: true,
        });
    }
    attack_suite.run(twin, app).await
}

/// Prints missed weaknesses and false positives. They are bugs of this program, not of the target.
fn complain(verdict: &DemoResult<'_>, app: &App) {
    let mut lines = Vec::new();
    for weakness in verdict.missed() {
        lines.push(format!("missed: {} at {} ({})", weakness.rule, weakness.place, weakness.what));
    }
    for (attack_suite, finding) in &verdict.wrong {
        lines.push(format!(
            "false positive: {} at {} ({attack_suite}): {}",
            finding.rule,
            finding.place,
            proof(finding)
        ));
    }
    let what = format!("the demo did not give the expected result\n  {}", lines.join("\n  "));
    let help =
        "attacks that measure time can miss on a busy machine: try again, else please report this";
    app.console.error(&what, Some(help));
}

fn document(verdict: &DemoResult<'_>, attack_suites: &[&AttackSuite]) -> Value {
    let told = |attack_suite: &str, finding: &Finding| {
        json!({
            "id": finding.id, "rule": finding.rule, "severity": finding.severity,
            "confidence": finding.confidence, "title": finding.title,
            "place": finding.place.to_string(), "proof": proof(finding),
            "reproduce": finding.reproduce, "attack": attack_suite,
        })
    };
    let planted: Vec<Value> = verdict
        .planted
        .iter()
        .map(|(weakness, found)| {
            json!({
                "rule": weakness.rule, "place": weakness.place.to_string(), "what": weakness.what,
                "finding": found.map(|(attack_suite, finding)| told(attack_suite, finding)),
            })
        })
        .collect();
    let wrong: Vec<Value> =
        verdict.wrong.iter().map(|(attack_suite, finding)| told(attack_suite, finding)).collect();
    let reports: Vec<String> = attack_suites
        .iter()
        .flat_map(|attack_suite| {
            [Twin::Vulnerable, Twin::Patched].map(|twin| attack_suite.report(twin))
        })
        .map(|path| path.display().to_string())
        .collect();
    json!({
        "planted": planted, "found": verdict.found(), "confirmed": verdict.confirmed(),
        "patched": wrong, "reports": reports,
    })
}
