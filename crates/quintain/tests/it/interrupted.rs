//! Ctrl-C while a suite is loaded ends the command at once: its scripts are ended, and nothing runs afterwards.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};

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
    commands.into_iter().map(trial).collect()
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
