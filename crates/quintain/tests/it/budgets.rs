//! A run ends at its time limit, whatever the target does, and its report and the stored run state the limit.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs};

use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::limits::end_survivors;
use crate::run::repository;

const BUDGET: Duration = Duration::from_secs(3);
/// The guaranteed delay after the limit, doubled for starting a debug build on a busy machine. Every target here
/// blocks for 20 s.
const TOLERANCE: Duration = Duration::from_secs(4);

/// The slow step of the target, and whether it uses HTTP.
const TARGETS: [(&str, bool); 9] = [
    ("start", false),
    ("initialize", false),
    ("list", false),
    ("call", false),
    ("hold", false),
    ("call", true),
    ("list", true),
    ("drip", true),
    ("close", true),
];

pub(crate) fn trials() -> Vec<Trial> {
    let trial = |(mode, http): (&'static str, bool)| {
        let over = if http { "http" } else { "stdio" };
        Trial::test(format!("budgets::{over}_{mode}"), move || ends_in_time(mode, http))
    };
    let eval = |mode: &'static str| {
        Trial::test(format!("budgets::eval_{mode}"), move || eval_ends_in_time(mode))
    };
    let evals = ["start", "initialize", "list", "call", "hold"].into_iter().map(eval);
    TARGETS.into_iter().map(trial).chain(evals).collect()
}

/// The same for `eval --max-time`.
fn eval_ends_in_time(mode: &str) -> Result<(), Failed> {
    let folder = tempfile::Builder::new().prefix("quintain-it-").tempdir()?;
    let place = folder.path().canonicalize()?;
    fs::copy(repository().join("crates/quintain/tests/harm/slow.py"), place.join("slow.py"))?;
    let suite = format!(
        "targets:\n  - id: mcp\n    config: {{server: {{command: python3, args: [slow.py, {mode}]}}}}\nprompts: ['{{\"tool\": \"tool_0\", \"args\": {{\"text\": \"a\", \"path\": \"b\", \"url\": \"c\"}}}}']\ntests: [{{assert: [{{type: contains, value: done}}]}}]\n"
    );
    fs::write(place.join("quintain.yaml"), suite)?;
    let limit = BUDGET.as_millis().to_string();
    let started = Instant::now();
    let output =
        quintain(&place, &["eval", "-q", "--max-time", &limit, "-o", "report.json"]).output()?;
    let took = started.elapsed();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let survivors = end_survivors(&place, None);
    if took > BUDGET + TOLERANCE || !survivors.is_empty() || output.status.code() != Some(3) {
        return Err(format!("{} after {took:?}: {said} {survivors:?}", output.status).into());
    }
    let report = fs::read_to_string(place.join("report.json"))?;
    if report.contains("exceeded max duration") {
        Ok(())
    } else {
        Err(format!("the report does not mention the time limit: {report}").into())
    }
}

/// A server that stops at the end of the test.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn ends_in_time(mode: &str, http: bool) -> Result<(), Failed> {
    let folder = tempfile::Builder::new().prefix("quintain-it-").tempdir()?;
    let place = folder.path().canonicalize()?;
    let server = place.join("slow.py");
    fs::copy(repository().join("crates/quintain/tests/harm/slow.py"), &server)?;
    let mut serving = None;
    let mut run = quintain(&place, &["redteam", "run", "-q", "-o", "report.json"]);
    run.args(["--budget-seconds", &BUDGET.as_secs().to_string()]);
    if http {
        let mut command = Command::new("python3");
        command.arg(&server).args([mode, "http"]).stderr(Stdio::piped()).stdin(Stdio::null());
        let mut child = command.spawn()?;
        let mut line = String::new();
        if let Some(stderr) = child.stderr.take() {
            BufReader::new(stderr).read_line(&mut line)?;
        }
        serving = Some(Serving(child));
        let url = line.trim().strip_prefix("listening on ").ok_or("the server does not listen")?;
        run.args(["--url", url]);
    } else {
        run.args(["--", "python3"]).arg(&server).arg(mode);
    }
    let started = Instant::now();
    let output = run.output()?;
    let took = started.elapsed();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let ours = serving.as_ref().map(|serving| serving.0.id());
    let survivors = end_survivors(&place, ours);
    if took > BUDGET + TOLERANCE {
        return Err(format!("took {took:?}: {said}").into());
    }
    if !survivors.is_empty() {
        return Err(format!("left behind: {survivors:?}").into());
    }
    let fits = matches!(output.status.code(), Some(0 | 3 | 4 | 100));
    if !fits {
        return Err(format!("{}: {said}", output.status).into());
    }
    says_so(&place.join("report.json"), mode)?;
    // The same for the stored run.
    let again = quintain(&place, &["redteam", "report", "-q", "-o", "kept.json"]).output()?;
    let said = String::from_utf8_lossy(&again.stderr);
    says_so(&place.join("kept.json"), mode).map_err(|why| format!("{why:?} {said}").into())
}

fn says_so(report: &Path, mode: &str) -> Result<(), Failed> {
    let text = fs::read_to_string(report).map_err(|error| format!("no report: {error}"))?;
    let report: Value = serde_json::from_str(&text)?;
    let cut_short = report["coverage"]["cutShort"].as_str().unwrap_or_default();
    // A target that is slow only at the end may finish before the limit.
    if cut_short.contains("time limit") || mode == "close" {
        return Ok(());
    }
    Err(format!("the report does not mention the time limit: {}", report["coverage"]).into())
}

pub(crate) fn quintain(place: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quintain"));
    command.args(args).current_dir(place).env_clear().env("HOME", place).stdin(Stdio::null());
    command.envs(env::var_os("PATH").map(|path| ("PATH", path)));
    command
}
