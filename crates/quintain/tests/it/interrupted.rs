//! Ctrl-C ends a command at once: while a suite is loaded, with its scripts, and while findings are sent again, with the
//! results so far.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::budgets::quintain;
use crate::limits::end_survivors;

/// The script sleeps for 20 s. A busy machine gets a second more than users are promised.
const LIMIT: Duration = Duration::from_secs(2);

const SCRIPT: &str = "import time
def generate_tests():
    open('started', 'w').close()
    time.sleep(20)
    return [{'vars': {'at': 1}}]
";

const SUITE: &str = "targets:
  - id: mcp
    config: {server: {command: touch, args: [attacked]}}
prompts: ['{\"tool\": \"read\"}']
tests: file://tests.py
redteam: {plugins: [error-leak]}
";

pub(crate) fn trials() -> Vec<Trial> {
    let commands: [(&str, &[&str]); 2] = [("eval", &["eval"]), ("redteam", &["redteam", "run"])];
    let trial = |(name, args): (&str, &'static [&'static str])| {
        Trial::test(format!("interrupted::{name}_while_loading"), move || ends_at_once(args))
    };
    let replay = Trial::test("interrupted::replay_reports_what_it_tested", replay);
    commands.into_iter().map(trial).chain([replay]).collect()
}

/// Evaluates an expression, and does not respond while a file `hold` exists.
const EVALUATES: &str = r#"
import json, os, sys, time
tool = {"name": "read", "inputSchema": {"type": "object", "properties": {"expression": {"type": "string"}}, "required": ["expression"]}}
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method = message["method"]
    if method == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [tool]}
    elif method == "tools/call":
        while os.path.exists("hold"):
            open("held", "w").close()
            time.sleep(0.01)
        try:
            text = str(eval(str(message["params"].get("arguments", {}).get("expression", ""))))
        except Exception as error:
            text = "Error: " + type(error).__name__
        result = {"content": [{"type": "text", "text": text}]}
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#;

fn replay() -> Result<(), Failed> {
    let folder = tempfile::Builder::new().prefix("quintain-it-").tempdir()?;
    let place = folder.path().canonicalize()?;
    fs::write(place.join("server.py"), EVALUATES)?;
    let attack = ["redteam", "run", "--plugins", "code-injection", "--", "python3", "server.py"];
    let output = quintain(&place, &attack).output()?;
    if output.status.code() != Some(100) {
        return Err(format!("{output:?}").into());
    }
    fs::write(place.join("hold"), "")?;
    let mut command = quintain(&place, &["replay", "--all", "--json"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let start = Instant::now();
    while !place.join("held").exists() && start.elapsed() < Duration::from_secs(15) {
        thread::sleep(Duration::from_millis(10));
    }
    let since = Instant::now();
    Command::new("kill").args(["-INT", &child.id().to_string()]).status()?;
    let output = child.wait_with_output()?;
    let took = since.elapsed();
    let survivors = end_survivors(&place, None);
    let report: Value = serde_json::from_slice(&output.stdout)?;
    let states: Vec<&Value> =
        report["findings"].as_array().into_iter().flatten().map(|one| &one["state"]).collect();
    let is_partial = !states.is_empty() && states.iter().all(|state| *state == "not-answered");
    if took > LIMIT || output.status.code() != Some(130) || !survivors.is_empty() || !is_partial {
        return Err(format!("after {took:?}: {output:?} {survivors:?}").into());
    }
    Ok(())
}

fn ends_at_once(args: &[&str]) -> Result<(), Failed> {
    let folder = tempfile::Builder::new().prefix("quintain-it-").tempdir()?;
    let place = folder.path().canonicalize()?;
    fs::write(place.join("tests.py"), SCRIPT)?;
    fs::write(place.join("quintain.yaml"), SUITE)?;
    let mut command = quintain(&place, args);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let start = Instant::now();
    while !place.join("started").exists() {
        if let Some(status) = child.try_wait()? {
            let output = child.wait_with_output()?;
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!("ended before its script started: {status}: {said}").into());
        }
        if start.elapsed() > Duration::from_secs(15) {
            child.kill()?;
            return Err("the script did not start".into());
        }
        thread::sleep(Duration::from_millis(10));
    }
    let since = Instant::now();
    Command::new("kill").args(["-INT", &child.id().to_string()]).status()?;
    let output = child.wait_with_output()?;
    let took = since.elapsed();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let survivors = end_survivors(&place, None);
    let exists = |name: &str| Path::new(&place).join(name).exists();
    if took > LIMIT || output.status.code() != Some(130) || !survivors.is_empty() {
        return Err(format!("{} after {took:?}: {said} {survivors:?}", output.status).into());
    }
    if exists("attacked") || !output.stdout.is_empty() || said.trim() != "interrupted" {
        return Err(format!("something ran after the interruption: {said}").into());
    }
    Ok(())
}
