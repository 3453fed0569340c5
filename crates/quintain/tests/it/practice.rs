//! `quintain demo` as a newcomer runs it: everything planted is found, and nothing in the patched twin.

use std::process::{Command, Stdio};

use libtest_mimic::{Failed, Trial};

use crate::again::always;

pub(crate) fn trials() -> Vec<Trial> {
    vec![Trial::test("twins::practice_target", || always(deviations))]
}

/// What the command itself complains of, a line each.
fn deviations() -> Result<Vec<String>, Failed> {
    let folder = tempfile::Builder::new().prefix("quintain-it-").tempdir()?;
    let output = Command::new(env!("CARGO_BIN_EXE_quintain"))
        .arg("demo")
        .current_dir(folder.path())
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .output()?;
    let complained = String::from_utf8_lossy(&output.stderr);
    let is_complaint = |line: &&str| line.starts_with("missed: ") || line.starts_with("wrong: ");
    // What a finding holds differs from run to run; its place does not.
    let gist = |line: &str| line.split(" (").next().unwrap_or(line).to_owned();
    let lines: Vec<&str> = complained.lines().map(str::trim).filter(is_complaint).collect();
    if lines.is_empty() && !output.status.success() {
        return Err(format!("{}: {complained}", output.status).into());
    }
    if !folder.path().join("quintain-demo/vulnerable-server.html").is_file() {
        return Err("no report was written".into());
    }
    Ok(lines.into_iter().map(gist).collect())
}
