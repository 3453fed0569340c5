//! `quintain demo` as a newcomer runs it: it finds everything planted in the vulnerable twin, and nothing in the patched twin. Its
//! output fits on a screen, lists the most severe findings first, and proposes commands that work.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use libtest_mimic::{Failed, Trial};
use tempfile::TempDir;

use crate::again::always;

/// Maximum number of lines on both streams together.
const MOST_LINES: usize = 60;
const SEVERITIES: [&str; 5] = ["CRITICAL", "HIGH", "MEDIUM", "LOW", "INFO"];

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("twins::practice_target", || always(deviations)),
        Trial::test("practice::next_commands", next_commands),
    ]
}

/// The errors that the command reports, one per line. Also checks its output.
fn deviations() -> Result<Vec<String>, Failed> {
    let folder = folder()?;
    let output = demo(&[], folder.path())?;
    let (told, complained) = (text(&output.stdout), text(&output.stderr));
    let is_complaint =
        |line: &&str| line.starts_with("missed: ") || line.starts_with("false positive: ");
    // The details of a finding differ from run to run; its place does not.
    let gist = |line: &str| line.split(" (").next().unwrap_or(line).to_owned();
    let lines: Vec<&str> = complained.lines().map(str::trim).filter(is_complaint).collect();
    if lines.is_empty() {
        if !output.status.success() {
            return Err(format!("{}: {complained}", output.status).into());
        }
        reads_well(&told, &complained, folder.path())?;
    }
    Ok(lines.into_iter().map(gist).collect())
}

fn reads_well(told: &str, noted: &str, folder: &Path) -> Result<(), Failed> {
    let lines = told.lines().count() + noted.lines().count();
    if lines > MOST_LINES {
        return Err(format!("{lines} lines, more than {MOST_LINES}:\n{told}\n{noted}").into());
    }
    let severity = |line: &str| {
        let word = line.split(' ').next()?;
        SEVERITIES.iter().position(|severity| *severity == word)
    };
    let severities: Vec<usize> = told.lines().filter_map(severity).collect();
    if !severities.is_sorted() || severities.first() != Some(&0) || severities.len() < 20 {
        return Err(format!("findings are missing, or not sorted by severity:\n{told}").into());
    }
    let report = noted.lines().find_map(|line| line.strip_prefix("report: "));
    let report = report.and_then(|line| line.split(' ').next()).unwrap_or_default();
    if Path::new(report).extension().is_none_or(|suffix| suffix != "html")
        || !folder.join(report).is_file()
    {
        return Err(format!("no report at `{report}`:\n{noted}").into());
    }
    Ok(())
}

/// Runs the proposed commands in a shell without the program in `PATH`.
fn next_commands() -> Result<(), Failed> {
    let folder = folder()?;
    let noted = text(&demo(&["--no-attack"], folder.path())?.stderr);
    let commands: Vec<&str> = noted.lines().skip_while(|line| *line != "next:").skip(1).collect();
    let [eval, attack, grade] = commands[..] else {
        return Err(format!("expected three commands:\n{noted}").into());
    };
    // An attack with findings exits with the code of a failed test.
    for (line, code, proof) in [
        (eval, 0, "9 passed, 0 failed"),
        (attack, 100, "check_gateway.host"),
        (grade, 100, "tool.unknown"),
    ] {
        let output = ready(Command::new("sh").args(["-c", line]), folder.path()).output()?;
        let (told, noted) = (text(&output.stdout), text(&output.stderr));
        if output.status.code() != Some(code) || !(told.contains(proof) || noted.contains(proof)) {
            return Err(format!("`{line}`: {}\n{told}\n{noted}", output.status).into());
        }
    }
    Ok(())
}

fn folder() -> std::io::Result<TempDir> {
    tempfile::Builder::new().prefix("quintain-it-").tempdir()
}

fn demo(arguments: &[&str], folder: &Path) -> std::io::Result<Output> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quintain"));
    ready(command.arg("demo").args(arguments), folder).output()
}

fn ready<'c>(command: &'c mut Command, folder: &Path) -> &'c mut Command {
    command
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env("QUINTAIN_HOME", folder.join("home"))
        .stdin(Stdio::null())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
