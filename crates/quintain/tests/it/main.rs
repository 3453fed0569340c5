//! Golden tests of the whole binary: every folder `cases/AREA/NAME` is one test.
//!
//! `cases/README.md` describes the files of a folder. `BLESS=1` writes the output as the expected output.

mod again;
mod budgets;
mod case;
mod claims;
mod codes;
mod commands;
mod corpus;
mod destructive;
mod escapes;
mod examples;
mod harm;
mod interrupted;
mod limits;
mod models;
mod normal;
mod pages;
mod practice;
mod record;
mod run;
mod secrets;
mod selftest;
mod serve;
mod servers;
mod stranger;
mod twins;
mod unanswered;
mod verdict;

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::ExitCode,
};

use libtest_mimic::{Arguments, Trial};

use case::Case;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/cases");
    let mut trials = selftest::trials();
    trials.extend(corpus::trials());
    trials.extend(codes::trials());
    trials.extend(commands::trials());
    trials.extend(pages::trials());
    trials.extend(examples::trials());
    trials.extend(twins::trials());
    trials.extend(practice::trials());
    trials.extend(servers::trials());
    trials.extend(harm::trials());
    trials.extend(destructive::trials());
    trials.extend(budgets::trials());
    trials.extend(interrupted::trials());
    trials.extend(claims::trials());
    trials.extend(stranger::trials());
    trials.extend(escapes::trials());
    trials.extend(unanswered::trials());
    trials.extend(models::trials());
    trials.extend(record::trials());
    trials.extend(serve::trials());
    trials.extend(secrets::trials());
    match find(&folder) {
        Ok(cases) => trials.extend(cases.into_iter().map(trial)),
        Err(error) => {
            let message = format!("{}: {error}", folder.display());
            trials.push(Trial::test("cases", move || Err(message.into())));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn trial(folder: PathBuf) -> Trial {
    let mut names: Vec<_> =
        folder.iter().rev().take(2).map(|part| part.to_string_lossy()).collect();
    names.reverse();
    let name = names.join("::");
    let case = Case::read(&folder);
    // An ignored test is counted and shown as skipped; an early return would count as passed. In CI no test may be
    // skipped.
    let lacks_peers = case.as_ref().is_ok_and(|case| !case.missing_needs().is_empty())
        && std::env::var_os("CI").is_none();
    let test = move || {
        let case = case?;
        let missing = case.missing_needs();
        if !missing.is_empty() {
            let missing = missing.join(", ");
            return Err(format!("needs {missing}: install it, or `cargo xtask peers`").into());
        }
        let seen = run::run(&case)?;
        if std::env::var_os("BLESS").is_some() {
            verdict::bless(&case, &seen)?;
        }
        // A blessed run may still leave a process behind or use too much memory.
        verdict::compare(&case, &seen).map_err(Into::into)
    };
    Trial::test(name, test).with_ignored_flag(lacks_peers)
}

/// Folders with a `cmd` file, two levels down.
fn find(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for area in folders(folder)? {
        found.extend(folders(&area)?.into_iter().filter(|case| case.join("cmd").is_file()));
    }
    Ok(found)
}

fn folders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries: io::Result<Vec<_>> = fs::read_dir(folder)?.collect();
    let mut paths: Vec<PathBuf> = entries?.into_iter().map(|entry| entry.path()).collect();
    paths.retain(|path| path.is_dir());
    paths.sort();
    Ok(paths)
}
