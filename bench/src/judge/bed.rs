//! The test bed: both tools, their cases and suites, and checks of their results.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::Failure;
use crate::fresh::Programs;
use crate::grade::Peer;
use crate::usage::{self, Usage};

pub const IN_FLIGHT: usize = 200;
const SCRIPT: &str = "../peers/deepeval/judge.py";
const TOOLS: usize = 20;
const CALLS: usize = 4;
/// The score of the only opinion.
const SCORE: f64 = 0.75;

pub struct Bed {
    folder: TempDir,
    quintain: PathBuf,
    peer: Peer,
}

impl Bed {
    pub fn new() -> Result<Self, Failure> {
        let programs = Programs::build(true)?;
        let quintain = programs.quintain.ok_or("quintain was not built")?;
        Ok(Self { folder: tempfile::tempdir()?, quintain, peer: Peer::find()? })
    }

    pub fn version(&self) -> &str {
        self.peer.version
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn quintain(&self) -> Command {
        let mut command = Command::new(&self.quintain);
        command.current_dir(self.folder.path()).env("QUINTAIN_HOME", self.path("home"));
        command
    }

    /// Cases with calls of MCP tools, in the format of deepeval.
    pub fn cases(&self, count: usize) -> Result<PathBuf, Failure> {
        let tool = |at: usize| {
            let fields = json!({"id": {"type": "string"}, "limit": {"type": "integer"}});
            json!({
                "name": format!("tool_{at}"),
                "description": format!("Looks up entries of kind {at}."),
                "inputSchema": {"type": "object", "properties": fields, "required": ["id"]},
            })
        };
        let server = json!({"server_name": "bench", "available_tools": (0..TOOLS).map(tool).collect::<Value>()});
        let call = |case: usize, at: usize| {
            let text = "found ".repeat(20);
            json!({
                "name": format!("tool_{}", (case + at) % TOOLS),
                "args": {"id": format!("u{case}"), "limit": at},
                "result": {"content": [{"type": "text", "text": text}]},
            })
        };
        let case = |at: usize| {
            json!({
                "name": format!("case {at}"),
                "input": format!("Look up u{at}, limits 0 to 3."),
                "actual_output": format!("Found u{at}."),
                "mcp_servers": [server],
                "mcp_tools_called": (0..CALLS).map(|next| call(at, next)).collect::<Value>(),
            })
        };
        let file = self.path("cases.json");
        fs::write(&file, (0..count).map(case).collect::<Value>().to_string())?;
        Ok(file)
    }

    pub fn grade(&self, cases: &Path, count: usize, port: u16) -> Result<Usage, Failure> {
        let output = self.path("graded.json");
        let mut command = self.quintain();
        command.arg("grade").arg(cases).args(["--metrics", "mcp-use", "--no-write", "--no-cache"]);
        command.args(["--judge", &judge(port).to_string(), "-o"]).arg(&output);
        let ran = usage::run_to(&mut command, &self.path("log"), 0)?;
        let document: Value = serde_json::from_slice(&fs::read(&output)?)?;
        let rows = document["results"].as_array().map(Vec::as_slice).unwrap_or_default();
        let scores = rows.iter().filter_map(|row| row["metrics"][0]["score"].as_f64());
        if scores.filter(|score| (score - SCORE).abs() < f64::EPSILON).count() == count {
            return Ok(ran.usage);
        }
        Err(format!("not all of {count} cases have the score {SCORE}:\n{}", ran.said).into())
    }

    pub fn evaluate(&self, cases: &Path, count: usize) -> Result<Usage, Failure> {
        let output = self.path("scores.json");
        let mut command = self.peer.command(SCRIPT);
        command.current_dir(self.folder.path()).arg(cases).arg(&output);
        let ran = usage::run_to(&mut command, &self.path("log"), 0)?;
        let scores: Vec<f64> = serde_json::from_slice(&fs::read(&output)?)?;
        if scores.len() == count && scores.iter().all(|score| (score - SCORE).abs() < f64::EPSILON)
        {
            return Ok(ran.usage);
        }
        Err(format!("deepeval scored {} of {count} cases", scores.len()).into())
    }

    /// Runs as many judged tests as are in flight, and meanwhile a suite without judges, whose time it returns.
    pub fn judged(&self, port: u16) -> Result<Duration, Failure> {
        let judged =
            self.suite("judged.yaml", json!({"type": "llm-rubric", "value": "is kind"}), port)?;
        let mut command = self.eval(&judged);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let meanwhile = self.plain(port);
        let status = child.wait()?;
        if !status.success() {
            return Err(format!("{command:?} ended with {status}").into());
        }
        meanwhile
    }

    /// A suite whose tests need no judge.
    pub fn plain(&self, port: u16) -> Result<Duration, Failure> {
        let plain =
            self.suite("plain.yaml", json!({"type": "contains", "value": "answer"}), port)?;
        let started = Instant::now();
        let status = self.eval(&plain).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
        match status.success() {
            true => Ok(started.elapsed()),
            false => Err(format!("the suite without judges ended with {status}").into()),
        }
    }

    fn suite(&self, name: &str, assert: Value, port: u16) -> Result<PathBuf, Failure> {
        let tests = (0..IN_FLIGHT).map(|at| json!({"vars": {"n": at}, "assert": [assert]}));
        let suite = json!({
            "targets": ["echo"],
            "prompts": ["answer {{n}}"],
            "judge": judge(port),
            "tests": tests.collect::<Value>(),
        });
        let file = self.path(name);
        fs::write(&file, suite.to_string())?;
        Ok(file)
    }

    fn eval(&self, suite: &Path) -> Command {
        let mut command = self.quintain();
        command.arg("eval").arg("-c").arg(suite).args(["-j", &IN_FLIGHT.to_string()]);
        command.args(["--no-write", "--no-cache", "--no-table"]);
        command
    }
}

fn judge(port: u16) -> Value {
    json!({"id": "openai:chat:judge", "config": {"apiBaseUrl": format!("http://127.0.0.1:{port}/v1")}})
}
