//! The packages outside of the workspace: measurements and fuzz targets, with dependencies that the
//! product should not have to build.

use std::{fs, path::PathBuf};

use crate::{Result, deepeval, peers, promptfoo, python, stage::Note, workspace::Workspace};

const CARGO_FUZZ: &str = "0.13.2";

/// Runs the benchmarks and writes the output to `bench/RESULTS.md`. The client is compared with a library,
/// suites and grading with programs that must be installed first.
pub(crate) fn bench(workspace: &Workspace, options: &[&str]) -> Result<Note> {
    let is_part = |name: &str| options.first().is_none_or(|first| *first == name);
    let named = |name: &str, path: PathBuf| (name.to_owned(), path.to_string_lossy().into_owned());
    let mut variables = Vec::new();
    if is_part("eval") {
        variables = peers::install(workspace)?.variables();
        variables.push(named(promptfoo::VARIABLE, promptfoo::install(workspace)?));
    }
    if is_part("python") {
        variables.push(named(python::VARIABLE, python::released(workspace)?));
    }
    if is_part("grade") || is_part("judge") || is_part("python") {
        variables.push(named(deepeval::VARIABLE, deepeval::install(workspace)?));
    }
    let mut arguments = vec!["run", "--release", "--manifest-path", "bench/Cargo.toml", "--"];
    arguments.extend(options);
    workspace.cargo(&arguments, &variables)?;
    Ok(None)
}

/// Runs every fuzz target for some seconds; the first crash ends it.
pub(crate) fn fuzz(workspace: &Workspace, seconds: u64) -> Result<Note> {
    if !workspace.has_cargo("fuzz") {
        println!("cargo-fuzz is missing, installing it");
        workspace.cargo(&["install", "cargo-fuzz", "--locked", "--version", CARGO_FUZZ], &[])?;
    }
    // The instrumentation is a nightly feature, which this opens on the pinned compiler.
    let variables = [("RUSTC_BOOTSTRAP".to_owned(), "1".to_owned())];
    // cargo-fuzz builds for musl if it was itself built for it, so the platform is named.
    let host = Workspace::host()?;
    let limit = format!("-max_total_time={seconds}");
    let targets = targets(workspace)?;
    for target in &targets {
        let arguments = ["fuzz", "run", "--target", &host, target, "--", &limit];
        workspace.cargo(&arguments, &variables)?;
    }
    Ok(Some(format!("{} for {seconds} s each", targets.join(", "))))
}

/// One target per file.
fn targets(workspace: &Workspace) -> Result<Vec<String>> {
    let folder = workspace.root.join("fuzz/fuzz_targets");
    let fail = |error| format!("{}: {error}", folder.display());
    let mut targets = Vec::new();
    for entry in fs::read_dir(&folder).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        targets.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
    }
    targets.sort();
    Ok(targets)
}
