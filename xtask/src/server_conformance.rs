//! Runs the official conformance suites against our server and compares with the failures we know. The server is the binary
//! with the hidden flag `--conformance`, which serves the tools, resources and prompts that the scenarios call by name.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    Result,
    conformance::{
        Run, ScenarioResult, Selection, find_checks, list, missing, plan_next, plan_old, report,
    },
    expectations::KnownFailures,
    peers::Installed,
    process,
    stage::Note,
    workspace::Workspace,
};

/// The suite's own limit for a scenario is 30 s.
const LIMIT: Duration = Duration::from_mins(1);

/// Builds the server; `cargo xtask test` has built it by the time it gets here.
pub(crate) const BUILD: [&str; 3] = ["build", "--package", "quintain"];

pub(crate) fn run(
    workspace: &Workspace,
    installed: &Installed,
    selection: &Selection,
) -> Result<Note> {
    let in_ci = std::env::var_os("CI").is_some();
    let program = workspace.target.join("debug/quintain");
    if !program.is_file() {
        return missing("no server to run: build the package `quintain`", in_ci);
    }
    let (Some(node), Some(npm)) = (&installed.node, installed.folder_of("npm")) else {
        return missing("Node or the suites are missing", in_ci);
    };
    let known_file = workspace.root.join("peers/conformance/expected-server-failures.txt");
    let text = fs::read_to_string(&known_file)
        .map_err(|error| format!("{}: {error}", known_file.display()))?;
    let known = KnownFailures::parse(&text)?;
    let modules = npm.join("node_modules");
    let old = modules.join("@modelcontextprotocol/conformance/dist/index.js");
    let next = modules.join("conformance-next/dist/index.js");
    let mut runs = plan_old(&old, &list(node, &old, "--server")?);
    runs.extend(plan_next(&next, &list(node, &next, "--server")?));
    let strays = known
        .unknown(|suite, name| runs.iter().any(|run| run.suite == suite && run.scenario == name));
    if !strays.is_empty() {
        return Err(format!("known failures that no suite has: {}", strays.join(", ")));
    }
    runs.retain(|run| selection.wants(run));
    if runs.is_empty() {
        // The selection names a scenario for clients.
        return Ok(Some("no such scenario for servers".into()));
    }
    let folder = workspace.target.join("server-conformance");
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let server = Server::start(&program, &folder)?;
    println!("{} scenarios against {}", runs.len(), server.url);
    let mut outcomes = Vec::new();
    for run in &runs {
        outcomes.push(run_one(run, node, &server.url, &folder)?);
    }
    drop(server);
    report(&outcomes, &known)
}

/// Our server, ended when it is dropped.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(program: &Path, folder: &Path) -> Result<Self> {
        let log = fs::File::create(folder.join("server.txt")).map_err(|error| error.to_string())?;
        let mut child = Command::new(program)
            .args(["serve", "--http", "127.0.0.1:0", "--conformance"])
            .env("QUINTAIN_HOME", folder.join("home"))
            .env("MCP_REQUIRE_AUTH", "false")
            .env("QUINTAIN_SERVE_RATE_LIMIT", "0")
            .env("QUINTAIN_SERVE_PAGE_SIZE", "200")
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .map_err(|error| format!("cannot start {}: {error}", program.display()))?;
        let mut line = String::new();
        if let Some(output) = child.stdout.take() {
            BufReader::new(output).read_line(&mut line).map_err(|error| error.to_string())?;
        }
        let listening: Value = serde_json::from_str(&line).unwrap_or_default();
        if let Some(url) = listening["url"].as_str() {
            return Ok(Self { url: url.to_owned(), child });
        }
        let _ = child.kill();
        let _ = child.wait();
        Err(format!("the server did not start, see {}", folder.display()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn run_one<'a>(run: &'a Run, node: &Path, url: &str, folder: &Path) -> Result<ScenarioResult<'a>> {
    let start = Instant::now();
    let place: PathBuf = folder.join(&run.suite).join(run.scenario.replace('/', "_"));
    fs::create_dir_all(&place).map_err(|error| format!("{}: {error}", place.display()))?;
    let mut command = Command::new(node);
    command.arg(&run.script).args(["server", "--url", url, "--scenario", &run.scenario]);
    command.arg("-o").arg(&place);
    if let Some(version) = &run.version {
        command.args(["--spec-version", version]);
    }
    let exit = process::limited(&mut command, &place.join("log.txt"), LIMIT)?;
    let faults = judge(exit, find_checks(&place).as_deref());
    Ok(ScenarioResult { run, faults, took: start.elapsed() })
}

/// What went wrong in a scenario: failed checks and warnings, no check at all, or no end.
fn judge(exit: Option<i32>, checks: Option<&[Value]>) -> Vec<String> {
    if exit.is_none() {
        return vec!["no end within the limit".into()];
    }
    let Some(checks) = checks else { return vec!["no results".into()] };
    let is = |check: &Value, words: &[&str]| {
        check["status"].as_str().is_some_and(|status| words.contains(&status))
    };
    if !checks.iter().any(|check| is(check, &["SUCCESS", "FAILURE", "WARNING", "SKIPPED"])) {
        return vec!["no check was made".into()];
    }
    let failed = checks.iter().filter(|check| is(check, &["FAILURE", "WARNING"]));
    let text = |check: &Value, key: &str| check[key].as_str().unwrap_or_default().to_owned();
    failed.map(|check| format!("{}: {}", text(check, "id"), text(check, "errorMessage"))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn warnings_and_missing_checks_are_faults() {
        let passed = json!({"id": "a", "status": "SUCCESS"});
        let warned = json!({"id": "b", "status": "WARNING", "errorMessage": "slow"});
        assert!(judge(Some(0), Some(std::slice::from_ref(&passed))).is_empty());
        assert_eq!(judge(Some(0), Some(&[passed, warned])), ["b: slow"]);
        assert_eq!(judge(Some(0), Some(&[])), ["no check was made"]);
        assert_eq!(judge(Some(0), None), ["no results"]);
        assert_eq!(judge(None, None), ["no end within the limit"]);
    }
}
