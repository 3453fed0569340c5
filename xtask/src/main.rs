//! The one command behind every check of this workspace, the same on a laptop and in CI.
//!
//! It only starts other programs and reads their answers, so it is plain, blocking code.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool prints")]

mod architecture;
mod checks;
mod conformance;
mod deepeval;
mod docs;
mod expectations;
mod extension_points;
mod module_graph;
mod outside;
mod peers;
mod phrases;
mod process;
mod programs;
mod promptfoo;
mod python;
mod server_conformance;
mod stage;
mod workspace;

use std::{env, process::ExitCode};

use conformance::Selection;
use stage::Stages;
use workspace::Workspace;

/// Errors here are read by a person and never matched on.
type Result<T> = std::result::Result<T, String>;

const HELP: &str = "\
Usage: cargo xtask COMMAND

  test [--no-peers]     everything CI runs; --no-peers leaves out what needs installed peers
  check                 house rules (dependency direction, module cycles, file sizes, licences, leftovers, the names in
                        ARCHITECTURE.md), wording and documentation (generated parts, links)
  extension-points      add an example of every extension point to a copy, in the files that CONTRIBUTING.md lists
  phrases               list every phrase that the style replaces, by file
  docs                  regenerate the generated parts of the documentation
  peers                 install the pinned peers into target/peers
  conformance [--driver FILE] [--suite NAME] [--scenario NAME]
                        the official conformance suites against our client
  server-conformance [--suite NAME] [--scenario NAME]
                        the official conformance suites against our server
  python                build the wheel of the Python package, install it and test it
  bench [wire|eval|grade|judge|python|store|build] [OPTION...]
                        measure the client, whole suites, grading, judges, stored runs and a cold build; writes
                        bench/RESULTS.md
  fuzz [SECONDS]        run every fuzz target for SECONDS (default 60)
  help                  print this text

Environment: with CI set, a missing peer or client is an error; otherwise its tests are skipped with a warning.";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match dispatch(&words) {
        Ok(code) => code,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

fn dispatch(words: &[&str]) -> Result<ExitCode> {
    match words {
        [] | ["help" | "--help" | "-h"] => {
            println!("{HELP}");
            Ok(ExitCode::SUCCESS)
        }
        ["test"] => test(true),
        ["test", "--no-peers"] => test(false),
        ["check"] => check(),
        ["docs"] => one("docs", docs::write),
        ["extension-points"] => one("extension points", extension_points::run),
        ["phrases"] => one("phrases", phrases::list),
        ["peers"] => one("peers", |workspace| Ok(peers::install(workspace)?.note())),
        ["conformance", rest @ ..] => {
            let selection = Selection::parse(rest)?;
            one("conformance", |workspace| {
                // By itself, this command would judge the client of an earlier build.
                workspace.cargo(&conformance::BUILD, &[])?;
                let installed = peers::install(workspace)?;
                conformance::run(workspace, &installed, &selection)
            })
        }
        ["server-conformance", rest @ ..] => {
            let selection = Selection::parse(rest)?;
            one("server conformance", |workspace| {
                workspace.cargo(&server_conformance::BUILD, &[])?;
                let installed = peers::install(workspace)?;
                server_conformance::run(workspace, &installed, &selection)
            })
        }
        ["python"] => one("python", python::test),
        ["bench", rest @ ..] => one("bench", |workspace| outside::bench(workspace, rest)),
        ["fuzz"] => one("fuzz", |workspace| outside::fuzz(workspace, 60)),
        ["fuzz", seconds] => {
            let wrong = |_| format!("`{seconds}` is not a number of seconds");
            let seconds = seconds.parse().map_err(wrong)?;
            one("fuzz", |workspace| outside::fuzz(workspace, seconds))
        }
        [other, ..] => Err(format!("unknown command or option in `{other} ...`\n\n{HELP}")),
    }
}

fn one(
    name: &'static str,
    work: impl FnOnce(&Workspace) -> Result<stage::Note>,
) -> Result<ExitCode> {
    let workspace = Workspace::find()?;
    let mut stages = Stages::default();
    stages.run(name, || work(&workspace));
    Ok(stages.finish())
}

fn check() -> Result<ExitCode> {
    let workspace = Workspace::find()?;
    let mut stages = Stages::default();
    stages.run("house rules", || checks::run(&workspace));
    stages.run("phrases", || phrases::check(&workspace));
    stages.run("docs", || docs::check(&workspace));
    Ok(stages.finish())
}

fn test(with_peers: bool) -> Result<ExitCode> {
    let workspace = Workspace::find()?;
    let cargo = |arguments: &[&str]| workspace.cargo(arguments, &[]).map(|()| None);
    let mut stages = Stages::default();
    stages.run("formatting", || cargo(&["fmt", "--all", "--check"]));
    stages.run("house rules", || checks::run(&workspace));
    stages.run("phrases", || phrases::check(&workspace));
    stages.run("clippy", || {
        cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
    });
    // Building first keeps compile time out of the test stage; the conformance client is an example.
    stages.run("build", || cargo(&["build", "--workspace", "--all-targets"]));
    stages.run("docs", || docs::check(&workspace));
    stages.run("extension points", || extension_points::run(&workspace));
    let installed = if with_peers {
        stages.run_for("peers", || {
            let installed = peers::install(&workspace)?;
            let note = installed.note();
            Ok((installed, note))
        })
    } else {
        stages.skip("peers", "--no-peers");
        None
    };
    let variables = installed.as_ref().map(peers::Installed::variables).unwrap_or_default();
    stages.run("tests", || run_tests(&workspace, &variables));
    if with_peers {
        stages.run("python", || python::test(&workspace));
    } else {
        stages.skip("python", "--no-peers");
    }
    if let Some(installed) = &installed {
        let all = Selection::default();
        stages.run("conformance", || conformance::run(&workspace, installed, &all));
        stages.run("server conformance", || server_conformance::run(&workspace, installed, &all));
    } else {
        stages.skip("conformance", "no peers");
        stages.skip("server conformance", "no peers");
    }
    Ok(stages.finish())
}

/// Runs nextest, which isolates tests from each other and kills what they leave behind.
fn run_tests(workspace: &Workspace, variables: &[(String, String)]) -> Result<stage::Note> {
    if workspace.has_cargo("nextest") {
        workspace.cargo(&["nextest", "run", "--workspace"], variables)?;
        return Ok(None);
    }
    println!("cargo-nextest is missing, installing it");
    let version = ["install", "cargo-nextest", "--locked", "--version", "0.9.143"];
    if workspace.cargo(&version, &[]).is_ok() {
        workspace.cargo(&["nextest", "run", "--workspace"], variables)?;
        return Ok(None);
    }
    workspace.cargo(&["test", "--workspace"], variables)?;
    Ok(Some("with cargo test: cargo-nextest could not be installed".into()))
}
