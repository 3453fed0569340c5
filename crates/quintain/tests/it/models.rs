//! Language models through the binary: a small real model, real embeddings, and scripted endpoints for what a real one does not
//! do on demand.

mod endpoint;
mod faults;
mod real;

use std::fs;
use std::path::Path;
use std::process::Output;

use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use tempfile::TempDir;

use crate::budgets::quintain;

pub(crate) fn trials() -> Vec<Trial> {
    faults::trials().into_iter().chain(real::trials()).collect()
}

fn folder() -> Result<TempDir, Failed> {
    Ok(tempfile::Builder::new().prefix("quintain-it-").tempdir()?)
}

fn ensure(is_true: bool, seen: impl std::fmt::Debug) -> Result<(), Failed> {
    if is_true { Ok(()) } else { Err(format!("{seen:?}").into()) }
}

/// Runs a suite and returns what was printed and the rows of its report.
fn eval(place: &Path, suite: &str, options: &[&str]) -> Result<(Output, Vec<Value>), Failed> {
    fs::write(place.join("suite.yaml"), suite)?;
    let mut args = vec!["eval", "-c", "suite.yaml", "-o", "out.json"];
    args.extend(options);
    let output = quintain(place, &args).output()?;
    let report = fs::read(place.join("out.json")).unwrap_or_default();
    let report: Value = serde_json::from_slice(&report).unwrap_or_default();
    let rows = report["results"]["results"].as_array().cloned().unwrap_or_default();
    Ok((output, rows))
}
