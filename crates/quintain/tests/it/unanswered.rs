//! What a target did not answer is never reported as clean or fixed.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use tempfile::TempDir;

use crate::budgets::quintain;
use crate::run::repository;

/// The ways in which the target does not work. In the last mode it does not list its tools, in the one before it exits for
/// good at the first attack.
const MODES: [&str; 8] = ["hang", "die", "rpc", "iserr", "rate", "bad", "gone", "unlisted"];

pub(crate) fn trials() -> Vec<Trial> {
    let run = |mode: &'static str| {
        Trial::test(format!("unanswered::run_{mode}"), move || nothing_is_clean(mode))
    };
    let replay = |mode: &'static str| {
        Trial::test(format!("unanswered::replay_{mode}"), move || nothing_is_fixed(mode))
    };
    let budget = Trial::test("unanswered::budget", a_small_budget_leaves_nothing_clean);
    // The trial needs more calls than the last of these.
    let gone = [3, 6, 10].map(|calls| {
        Trial::test(format!("unanswered::http_gone_after_{calls}"), move || {
            a_target_that_exits_leaves_the_rest_untested(calls)
        })
    });
    let runs = MODES.into_iter().map(run).chain(MODES.into_iter().map(replay));
    runs.chain([budget]).chain(gone).collect()
}

fn folder() -> Result<TempDir, Failed> {
    let folder = tempfile::Builder::new().prefix("quintain-it-").tempdir()?;
    let server = repository().join("crates/quintain/tests/harm/outage.py");
    fs::copy(server, folder.path().join("outage.py"))?;
    Ok(folder)
}

fn attack(place: &Path, options: &[&str], mode: &str) -> Result<(Output, Value), Failed> {
    let mut args = vec!["redteam", "run", "-o", "report.json", "-o", "report.sarif"];
    args.extend(options);
    args.extend(["--", "python3", "outage.py", mode]);
    let output = quintain(place, &args).output()?;
    let report = serde_json::from_slice(&fs::read(place.join("report.json"))?)?;
    Ok((output, report))
}

fn states(report: &Value) -> Vec<&str> {
    let frameworks = report["coverage"]["frameworks"].as_array();
    let entries = frameworks.into_iter().flatten().filter_map(|one| one["entries"].as_array());
    entries.flatten().filter_map(|entry| entry["state"].as_str()).collect()
}

fn nothing_is_clean(mode: &str) -> Result<(), Failed> {
    let folder = folder()?;
    let (output, report) = attack(folder.path(), &["--plugins", "command-injection"], mode)?;
    let states = states(&report);
    let sarif = fs::read_to_string(folder.path().join("report.sarif"))?;
    let failed = sarif.replace(' ', "").contains("\"executionSuccessful\":false");
    let is_told = !states.is_empty() && !states.contains(&"clean") && failed;
    if output.status.code() == Some(3) && is_told {
        return Ok(());
    }
    Err(format!("{output:?} {states:?} {failed}").into())
}

fn nothing_is_fixed(mode: &str) -> Result<(), Failed> {
    let folder = folder()?;
    let place = folder.path();
    let (output, report) = attack(place, &["--plugins", "command-injection"], "works")?;
    let found = report["findings"][0]["id"].as_str();
    let Some(finding) = found else { return Err(format!("no finding: {output:?}").into()) };
    let again =
        quintain(place, &["replay", finding, "--", "python3", "outage.py", mode]).output()?;
    let said = String::from_utf8_lossy(&again.stdout);
    if again.status.code() == Some(4) && said.contains("could not be tested") {
        return Ok(());
    }
    Err(format!("{again:?}").into())
}

/// The limit is reached before the attack has been tried at all places.
fn a_small_budget_leaves_nothing_clean() -> Result<(), Failed> {
    let folder = folder()?;
    let options = ["--plugins", "command-injection", "--budget-calls", "4"];
    let (output, report) = attack(folder.path(), &options, "ok")?;
    let states = states(&report);
    if states.is_empty() || states.contains(&"clean") {
        return Err(format!("{output:?} {states:?}").into());
    }
    Ok(())
}

/// A server on HTTP that exits for good after some calls: what came after them is not reported as clean.
fn a_target_that_exits_leaves_the_rest_untested(calls: usize) -> Result<(), Failed> {
    let folder = folder()?;
    let place = folder.path();
    let server = repository().join("crates/quintain/tests/harm/gone.py");
    let mut server = Command::new("python3")
        .arg(server)
        .args(["0", &calls.to_string()])
        .current_dir(place)
        .stdout(Stdio::piped())
        .spawn()?;
    let mut line = String::new();
    BufReader::new(server.stdout.take().ok_or("no output")?).read_line(&mut line)?;
    let port = serde_json::from_str::<Value>(&line)?["port"].to_string();
    let url = format!("http://127.0.0.1:{port}/mcp");
    let args =
        ["redteam", "run", "-o", "report.json", "--plugins", "command-injection", "--url", &url];
    let output = quintain(place, &args).output()?;
    let _ = server.kill();
    server.wait()?;
    let report: Value = serde_json::from_slice(&fs::read(place.join("report.json"))?)?;
    let states = states(&report);
    if output.status.code() == Some(3) && !states.is_empty() && !states.contains(&"clean") {
        return Ok(());
    }
    Err(format!("{output:?} {states:?}").into())
}
