//! Attacks every twin, vulnerable and fixed: exactly the planted weaknesses must be found.
//!
//! `../twins/known.json` lists known deviations; an entry that no longer applies fails the test, too.

use std::{fs, process::Command};

use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::again::always;
use crate::run::repository;

pub(crate) fn trials() -> Vec<Trial> {
    let folder = repository().join("crates/quintain/tests/twins");
    let list = fs::read_to_string(folder.join("twins.json")).unwrap_or_default();
    let twins: Vec<Value> = serde_json::from_str(&list).unwrap_or_default();
    // A missing list must fail, not pass without tests.
    let count = twins.len();
    let there = Trial::test("twins::there_are_some", move || {
        if count > 0 { Ok(()) } else { Err("no list of twins found".into()) }
    });
    let names = twins.into_iter().filter_map(|twin| Some(twin["name"].as_str()?.to_owned()));
    let one =
        |name: String| Trial::test(format!("twins::{name}"), move || always(|| deviations(&name)));
    names.map(one).chain([there]).collect()
}

/// The deviations from the list, one per line.
fn deviations(name: &str) -> Result<Vec<String>, Failed> {
    let script = repository().join("crates/quintain/tests/twins/measure.py");
    let mut command = Command::new("python3");
    command.arg(script).args(["--quintain", env!("CARGO_BIN_EXE_quintain"), name]);
    let output = command.output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    if output.status.success() {
        return Ok(Vec::new());
    }
    if said.trim().is_empty() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(said.lines().map(str::to_owned).collect())
}
