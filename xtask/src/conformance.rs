//! Runs the official conformance suites against our client and compares with the failures we know.
//!
//! What the scenarios ask for is described in `peers/conformance/NOTES.md`.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Mutex,
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    Result,
    expectations::{KnownFailures, judge},
    peers::Installed,
    process,
    stage::Note,
    workspace::Workspace,
};

const MODERN: &str = "2026-07-28";
const WORKERS: usize = 2;
/// The suite's own limit for the client is 30 s; ours only catches a suite that hangs itself.
const LIMIT: Duration = Duration::from_mins(1);
/// Scenarios that measure milliseconds, which a busy machine may miss without any fault of ours.
const TIMED: &[&str] = &["sse-retry"];

/// Builds our client; `cargo xtask test` has built every example by the time it gets here.
pub(crate) const BUILD: [&str; 5] =
    ["build", "--package", "quintain-wire", "--example", "conformance-client"];

/// What the command line asks for; everything by default.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    driver: Option<PathBuf>,
    suite: Option<String>,
    scenario: Option<String>,
}

impl Selection {
    pub(crate) fn parse(words: &[&str]) -> Result<Self> {
        let mut selection = Self::default();
        for pair in words.chunks(2) {
            match *pair {
                ["--driver", file] => selection.driver = Some(file.into()),
                ["--suite", name] => selection.suite = Some(name.into()),
                ["--scenario", name] => selection.scenario = Some(name.into()),
                _ => return Err(format!("conformance: cannot read {pair:?}")),
            }
        }
        Ok(selection)
    }

    pub(crate) fn wants(&self, run: &Run) -> bool {
        let same = |wish: &Option<String>, name: &str| wish.as_deref().is_none_or(|it| it == name);
        same(&self.suite, &run.suite) && same(&self.scenario, &run.scenario)
    }
}

/// One scenario at one version of the protocol.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// `old`, or `next@` and the version, as in the file of known failures.
    pub(crate) suite: String,
    pub(crate) scenario: String,
    pub(crate) script: PathBuf,
    pub(crate) version: Option<String>,
}

pub(crate) struct ScenarioResult<'a> {
    pub(crate) run: &'a Run,
    pub(crate) faults: Vec<String>,
    pub(crate) took: Duration,
}

pub(crate) fn run(
    workspace: &Workspace,
    installed: &Installed,
    selection: &Selection,
) -> Result<Note> {
    let in_ci = env::var_os("CI").is_some();
    let Some(driver) = find_driver(workspace, selection)? else {
        return missing("no client to run: build the example `conformance-client`", in_ci);
    };
    let (Some(node), Some(npm)) = (&installed.node, installed.folder_of("npm")) else {
        return missing("Node or the suites are missing", in_ci);
    };
    let known_file = workspace.root.join("peers/conformance/expected-failures.txt");
    let text = fs::read_to_string(&known_file)
        .map_err(|error| format!("{}: {error}", known_file.display()))?;
    let known = KnownFailures::parse(&text)?;

    let modules = npm.join("node_modules");
    let old = modules.join("@modelcontextprotocol/conformance/dist/index.js");
    let next = modules.join("conformance-next/dist/index.js");
    let mut runs = plan_old(&old, &list(node, &old, "--client")?);
    runs.extend(plan_next(&next, &list(node, &next, "--client")?));
    let strays = known
        .unknown(|suite, name| runs.iter().any(|run| run.suite == suite && run.scenario == name));
    if !strays.is_empty() {
        return Err(format!("known failures that no suite has: {}", strays.join(", ")));
    }
    runs.retain(|run| selection.wants(run));
    if runs.is_empty() {
        return Err("no scenario of that name in that suite".into());
    }

    let folder = workspace.target.join("conformance");
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    println!("{} scenarios with {}", runs.len(), driver.display());
    let outcomes = run_all(&runs, node, &driver, &folder)?;
    report(&outcomes, &known)
}

/// In CI nothing may be left out; elsewhere it must at least not go unnoticed.
pub(crate) fn missing(what: &str, in_ci: bool) -> Result<Note> {
    if in_ci {
        return Err(what.into());
    }
    println!("*** SKIPPED conformance: {what} ***");
    Ok(Some(format!("SKIPPED: {what}")))
}

/// The suite splits the command at spaces and hands it to a shell, so the path must be plain.
fn find_driver(workspace: &Workspace, selection: &Selection) -> Result<Option<PathBuf>> {
    let examples = workspace.target.join("debug/examples");
    let usual = ["conformance-client", "conformance_client"].map(|name| examples.join(name));
    let driver = match &selection.driver {
        Some(file) => Some(fs::canonicalize(file).map_err(|error| format!("the driver: {error}"))?),
        None => usual.into_iter().find(|file| file.is_file()),
    };
    let odd = |character: char| !(character.is_ascii_alphanumeric() || "/._-".contains(character));
    match &driver {
        Some(file) if file.to_string_lossy().contains(odd) => {
            Err(format!("the suite cannot run a driver at {}", file.display()))
        }
        _ => Ok(driver),
    }
}

/// Scenarios of a side (`--client`, `--server`) and the versions they exist in.
pub(crate) fn list(node: &Path, script: &Path, side: &str) -> Result<Vec<(String, Vec<String>)>> {
    let text = process::capture(Command::new(node).arg(script).args(["list", side]))?;
    let scenarios = parse_list(&text);
    if scenarios.is_empty() {
        return Err(format!("{} lists no scenarios for {side}", script.display()));
    }
    Ok(scenarios)
}

fn parse_list(text: &str) -> Vec<(String, Vec<String>)> {
    let entries = text.lines().filter_map(|line| line.strip_prefix("  - "));
    entries
        .filter_map(|entry| entry.strip_suffix(']')?.split_once(" ["))
        .map(|(name, versions)| (name.to_owned(), versions.split(',').map(str::to_owned).collect()))
        .collect()
}

pub(crate) fn plan_old(script: &Path, scenarios: &[(String, Vec<String>)]) -> Vec<Run> {
    let run = |scenario: &String| Run {
        suite: "old".into(),
        scenario: scenario.clone(),
        script: script.into(),
        version: None,
    };
    scenarios.iter().map(|(scenario, _)| run(scenario)).collect()
}

/// Each scenario runs in the newest version of either era that it exists in.
pub(crate) fn plan_next(script: &Path, scenarios: &[(String, Vec<String>)]) -> Vec<Run> {
    let mut runs = Vec::new();
    for (scenario, versions) in scenarios {
        let legacy = versions.iter().rev().find(|version| *version != MODERN);
        let modern = versions.iter().find(|version| *version == MODERN);
        for version in legacy.into_iter().chain(modern) {
            let is_version = version != "extension";
            runs.push(Run {
                suite: format!("next@{version}"),
                scenario: scenario.clone(),
                script: script.into(),
                version: is_version.then(|| version.clone()),
            });
        }
    }
    runs
}

fn run_all<'a>(
    runs: &'a [Run],
    node: &Path,
    driver: &Path,
    folder: &Path,
) -> Result<Vec<ScenarioResult<'a>>> {
    let queue = Mutex::new(runs.iter());
    let outcomes = Mutex::new(Vec::new());
    let next = || queue.lock().ok()?.next();
    let worker = || -> Result<()> {
        while let Some(run) = next() {
            let outcome = run_one(run, node, driver, folder)?;
            outcomes.lock().map_err(|_| "a worker panicked")?.push(outcome);
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(worker)).collect();
        let mut ends = workers.into_iter().map(thread::ScopedJoinHandle::join);
        ends.try_for_each(|end| end.unwrap_or_else(|_| Err("a worker panicked".into())))
    })?;
    let mut outcomes = outcomes.into_inner().map_err(|_| "a worker panicked")?;
    outcomes.sort_by_key(|outcome| {
        runs.iter().position(|run| std::ptr::eq(run, outcome.run)).unwrap_or_default()
    });
    Ok(outcomes)
}

fn run_one<'a>(
    run: &'a Run,
    node: &Path,
    driver: &Path,
    folder: &Path,
) -> Result<ScenarioResult<'a>> {
    let start = Instant::now();
    let attempts = if TIMED.contains(&run.scenario.as_str()) { 3 } else { 1 };
    let mut faults = Vec::new();
    for attempt in 1..=attempts {
        let place = folder.join(&run.suite).join(run.scenario.replace('/', "_"));
        let place = place.join(attempt.to_string());
        fs::create_dir_all(&place).map_err(|error| format!("{}: {error}", place.display()))?;
        let mut command = Command::new(node);
        command.arg(&run.script).arg("client").arg("--command").arg(driver);
        command.args(["--scenario", &run.scenario]).arg("-o").arg(&place);
        if let Some(version) = &run.version {
            command.args(["--spec-version", version]);
        }
        let exit = process::limited(&mut command, &place.join("log.txt"), LIMIT)?;
        let checks = find_checks(&place);
        faults = judge(&run.scenario, exit, checks.as_deref());
        if faults.is_empty() {
            break;
        }
    }
    Ok(ScenarioResult { run, faults, took: start.elapsed() })
}

/// The suite writes `checks.json` into a folder named after scenario and time.
pub(crate) fn find_checks(folder: &Path) -> Option<Vec<Value>> {
    for entry in fs::read_dir(folder).ok()?.flatten() {
        let path = entry.path();
        if path.is_dir() {
            if let Some(found) = find_checks(&path) {
                return Some(found);
            }
        } else if path.ends_with("checks.json") {
            return serde_json::from_str(&fs::read_to_string(path).ok()?).ok();
        }
    }
    None
}

pub(crate) fn report(outcomes: &[ScenarioResult<'_>], known: &KnownFailures) -> Result<Note> {
    let (mut passed, mut expected, mut wrong) = (0, 0, Vec::new());
    for ScenarioResult { run, faults, took } in outcomes {
        let Run { suite, scenario, .. } = run;
        let reason = known.reason(suite, scenario);
        let word = match (faults.is_empty(), reason) {
            (true, None) => "passed",
            (true, Some(_)) => "PASSED although listed as a known failure",
            (false, Some(_)) => "known failure",
            (false, None) => "FAILED",
        };
        println!("{suite:<17} {scenario:<42} {:>5.1} s  {word}", took.as_secs_f64());
        match (faults.is_empty(), reason) {
            (true, None) => passed += 1,
            (false, Some(_)) => expected += 1,
            _ => wrong.push(format!("{suite} {scenario}")),
        }
        if reason.is_none() {
            for fault in faults {
                println!("    {fault}");
            }
        }
    }
    let note = format!("{passed} passed, {expected} known failures, {} unexpected", wrong.len());
    println!("{note}");
    if wrong.is_empty() { Ok(Some(note)) } else { Err(format!("{note}\n{}", wrong.join("\n"))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenarios_run_once_per_era() {
        let text = "Client scenarios (test against a client):\n  - initialize [2025-06-18,2025-11-25]\n  \
                    - tools_call [2025-11-25,2026-07-28]\n  - auth/dpop [extension]\n  - new [2026-07-28]\n";
        let script = Path::new("index.js");
        let runs = plan_next(script, &parse_list(text));
        let names: Vec<String> =
            runs.iter().map(|run| format!("{} {}", run.suite, run.scenario)).collect();
        assert_eq!(
            names,
            [
                "next@2025-11-25 initialize",
                "next@2025-11-25 tools_call",
                "next@2026-07-28 tools_call",
                "next@extension auth/dpop",
                "next@2026-07-28 new",
            ]
        );
        assert_eq!(runs[3].version, None);
        assert_eq!(plan_old(script, &parse_list(text)).len(), 4);
    }

    #[test]
    fn what_is_missing_is_skipped_aloud_but_never_in_ci() {
        let skipped = missing("no client", false).expect("a note");
        assert_eq!(skipped.as_deref(), Some("SKIPPED: no client"));
        assert_eq!(missing("no client", true), Err("no client".to_owned()));
    }

    #[test]
    fn selections_are_read_and_bad_ones_refused() {
        let selection = Selection::parse(&["--suite", "old"]).expect("a good selection");
        assert_eq!(selection.suite.as_deref(), Some("old"));
        assert!(Selection::parse(&["--suite"]).is_err());
    }
}
