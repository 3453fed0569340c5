//! Runs every example exactly as its README says.

use std::{fs, path::Path};

use libtest_mimic::{Failed, Trial};

use crate::{
    case::Case,
    run::{self, repository},
};

/// Programs that use the Python package, which its own tests run.
const PYTHON: &str = "python";

pub(crate) fn trials() -> Vec<Trial> {
    let folder = repository().join("examples");
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name != PYTHON)
        .collect();
    names.sort();
    // A missing folder must fail, not pass without tests.
    let count = names.len();
    let there = Trial::test("examples::there_are_some", move || {
        if count > 0 { Ok(()) } else { Err("no folder of examples found".into()) }
    });
    let one = |name: String| Trial::test(format!("examples::{name}"), move || follow(&name));
    names.into_iter().map(one).chain([there]).collect()
}

/// Creates the example, then runs the commands of its README.
fn follow(name: &str) -> Result<(), Failed> {
    let readme = fs::read_to_string(repository().join("examples").join(name).join("README.md"))?;
    let commands: Vec<(&str, &str)> = readme.lines().filter_map(command).collect();
    if commands.is_empty() {
        return Err("the README shows no command".into());
    }
    let folder = tempfile::tempdir()?;
    let mut lines = format!("init . --example {name} --force\n");
    let mut exits = "0\n".to_owned();
    for (line, comment) in commands {
        if line.contains("demo --http") {
            serve(folder.path(), line)?;
        } else {
            lines.extend(["exec ", line, "\n"]);
            exits += if comment.starts_with("fails") { "100\n" } else { "0\n" };
        }
    }
    fs::write(folder.path().join("cmd"), lines)?;
    let case = Case::read(folder.path())?;
    let seen = run::run(&case)?;
    if seen.exit == exits && seen.survivors.is_empty() {
        return Ok(());
    }
    let run::Seen { stdout, stderr, exit, survivors, .. } = seen;
    Err(format!("exits:\n{exit}{stdout}{stderr}left running: {survivors:?}").into())
}

/// A command in the README, and its comment.
fn command(line: &str) -> Option<(&str, &str)> {
    let line = line.strip_prefix("    ").filter(|line| line.starts_with("quintain "))?;
    let (command, comment) = line.split_once(" # ").unwrap_or((line, ""));
    Some((command.trim_end(), comment))
}

/// The target that the README starts in another terminal. Its port may be in use here, so the system chooses one.
fn serve(folder: &Path, line: &str) -> Result<(), Failed> {
    fs::write(folder.join("server"), format!("exec {}", line.replace(":8080", ":0")))?;
    fs::write(folder.join("env"), "MCP_SERVER_URL=$URL\n")?;
    Ok(())
}
