//! What a report claims follows from what happened: crashes, a target that falls silent, and runs that attacked nothing.

use std::fs;
use std::path::Path;
use std::process::Output;

use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use tempfile::TempDir;

use crate::budgets::quintain;
use crate::run::repository;

pub(crate) fn trials() -> Vec<Trial> {
    let crash = |plugins: &'static str| {
        let name = format!("claims::a_crash_is_one_finding_of_its_own_{}", plugins.len());
        Trial::test(name, move || a_crash_is_one_finding_of_its_own(plugins))
    };
    vec![
        crash("sql-injection"),
        crash("sql-injection,dos-malformed"),
        Trial::test("claims::silent_target", a_target_that_falls_silent_is_reported),
        Trial::test("claims::no_risk", a_run_that_attacked_nothing_has_no_risk),
    ]
}

struct Run {
    _folder: TempDir,
    output: Output,
    report: Value,
    junit: String,
}

fn run(mode: &str, options: &[&str]) -> Result<Run, Failed> {
    let folder = tempfile::Builder::new().prefix("quintain-it-").tempdir()?;
    let place: &Path = folder.path();
    let server = repository().join("crates/quintain/tests/harm/claims.py");
    fs::copy(server, place.join("claims.py"))?;
    let mut args = vec!["redteam", "run", "-o", "report.json", "-o", "report.junit.xml"];
    args.extend(options);
    args.extend(["--", "python3", "claims.py", mode]);
    let output = quintain(place, &args).output()?;
    let report = serde_json::from_slice(&fs::read(place.join("report.json"))?)?;
    let junit = fs::read_to_string(place.join("report.junit.xml"))?;
    Ok(Run { _folder: folder, output, report, junit })
}

fn a_crash_is_one_finding_of_its_own(plugins: &str) -> Result<(), Failed> {
    let Run { output, report, junit, .. } = run("crash", &["--plugins", plugins])?;
    let findings = report["findings"].as_array().cloned().unwrap_or_default();
    let crashes = findings.iter().filter(|one| one["rule"] == "dos-malformed").count();
    let others = findings.iter().filter(|one| one["rule"] == "sql-injection").count();
    let told = findings.iter().any(|one| {
        let title = one["title"].as_str().unwrap_or_default();
        let cwe = one["cwe"].as_str().is_some_and(|cwe| cwe.contains("CWE-248"));
        title.contains("`get_note.id` crashes the server") && cwe
    });
    let attacks = report["coverage"]["attacks"].as_array().cloned().unwrap_or_default();
    let hits = |attack: &str| {
        let mut named = attacks.iter().filter(|one| one["attack"] == attack);
        named.next().map_or(0, |one| one["hits"].as_u64().unwrap_or(0))
    };
    let rows = report["results"]["results"].as_array().cloned().unwrap_or_default();
    let failed = |attack: &str| {
        let is_of = |row: &&Value| row["testCase"]["metadata"]["pluginId"] == attack;
        rows.iter().filter(is_of).filter(|row| row["success"] == false).count()
    };
    let risk = report["coverage"]["risk"]["attacks"].to_string();
    let right = crashes == 1
        && others == 0
        && told
        && hits("dos-malformed") == 1
        && hits("sql-injection") == 0
        && failed("dos-malformed") == 1
        && failed("sql-injection") == 0
        && risk.contains("dos-malformed")
        && !risk.contains("sql-injection")
        && junit.contains("crashes the server");
    if right {
        return Ok(());
    }
    let titles: Vec<&Value> = findings.iter().map(|one| &one["title"]).collect();
    Err(format!("{titles:?} {attacks:?} {risk} {output:?}").into())
}

fn a_target_that_falls_silent_is_reported() -> Result<(), Failed> {
    let options = ["--plugins", "sql-injection", "--budget-seconds", "6", "--seed", "1"];
    let Run { output, report, .. } = run("silent", &options)?;
    let said = String::from_utf8_lossy(&output.stderr);
    let phases = report["coverage"]["phases"].as_array().cloned().unwrap_or_default();
    let seconds: f64 = phases.iter().filter_map(|one| one["seconds"].as_f64()).sum();
    let took = report["results"]["stats"]["durationMs"].as_f64().unwrap_or(0.0) / 1e3;
    // The phases follow one another, so they cannot take longer than the run.
    let right = output.status.code() == Some(3)
        && said.contains("the target stopped answering")
        && phases[0]["calls"].is_null()
        && seconds > 0.0
        && seconds <= took + 0.01;
    if right { Ok(()) } else { Err(format!("{phases:?} {took} {output:?}").into()) }
}

fn a_run_that_attacked_nothing_has_no_risk() -> Result<(), Failed> {
    let Run { output, report, .. } = run("works", &["--budget-calls", "1"])?;
    let (out, said) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let right = output.status.code() == Some(3)
        && report["coverage"]["risk"].is_null()
        && out.contains("n/a, since nothing was attacked")
        && said.contains("increase --budget-calls")
        && !said.contains("--budget-seconds");
    if right { Ok(()) } else { Err(format!("{output:?}").into()) }
}
