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
    names.map(one).chain([there]).chain(models()).collect()
}

/// The scripted models, vulnerable and not.
fn models() -> Vec<Trial> {
    let list = repository().join("crates/quintain/tests/twins/models/models.json");
    let list: Value =
        serde_json::from_str(&fs::read_to_string(list).unwrap_or_default()).unwrap_or_default();
    let names = ["weaknesses", "clean"].iter().filter_map(|key| list[*key].as_array()).flatten();
    let names: Vec<String> = names.filter_map(|name| Some(name.as_str()?.to_owned())).collect();
    let count = names.len();
    let there = Trial::test("models::there_are_some", move || {
        if count > 0 { Ok(()) } else { Err("no list of models found".into()) }
    });
    let one = |name: String| {
        Trial::test(format!("models::{name}"), move || {
            always(|| measured("measure_models.py", &name))
        })
    };
    names.into_iter().map(one).chain([there]).collect()
}

/// The deviations from the list, one per line.
fn deviations(name: &str) -> Result<Vec<String>, Failed> {
    measured("measure.py", name)
}

fn measured(script: &str, name: &str) -> Result<Vec<String>, Failed> {
    let script = repository().join("crates/quintain/tests/twins").join(script);
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
