//! The test bed: the tools, their working folder, and checks of their results.

use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use super::floor::FLOOR;
use super::suite::{self, Target};
use crate::Failure;
use crate::fresh::Programs;
use crate::usage::{self, Ran, Usage};

/// The exit code of both tools when a test failed.
const FAILED: i32 = 100;
const MANIFEST: &str = include_str!("../../../peers/promptfoo/npm/package.json");

/// A peer and the server that both call.
pub struct Peer {
    promptfoo: PathBuf,
    pub version: String,
    /// The search path that has node and the server.
    path: OsString,
}

impl Peer {
    /// Looks up what the environment names.
    pub fn find() -> Result<Self, Failure> {
        let named = |name: &str| {
            let path = std::env::var_os(name).map(PathBuf::from);
            path.ok_or_else(|| format!("{name} is missing; `cargo xtask bench eval` sets it"))
        };
        let promptfoo = named("PROMPTFOO")?;
        let server = named("QUINTAIN_PEER_NPM")?.join("node_modules/.bin");
        for program in [&promptfoo, &server.join("mcp-server-everything")] {
            if !program.exists() {
                return Err(format!("there is no {}", program.display()).into());
            }
        }
        let mut folders = vec![server];
        // Without a folder, it is already on the path.
        let node = named("QUINTAIN_PEER_NODE")?;
        folders.extend(node.parent().filter(|path| path.is_absolute()).map(Path::to_owned));
        let inherited = std::env::var_os("PATH").unwrap_or_default();
        folders.extend(std::env::split_paths(&inherited));
        let path = std::env::join_paths(folders)?;
        let manifest: Value = serde_json::from_str(MANIFEST)?;
        let version = manifest["dependencies"]["promptfoo"].as_str().unwrap_or_default().to_owned();
        Ok(Self { promptfoo, version, path })
    }
}

/// How a suite is run.
pub struct Job<'a> {
    pub suite: &'a Path,
    pub tests: usize,
    pub jobs: usize,
    pub output: Output,
    /// Whether the run is also stored.
    pub kept: bool,
}

#[derive(Clone, Copy)]
pub enum Output {
    Json,
    Lines,
}

pub struct Bed {
    folder: TempDir,
    quintain: PathBuf,
    pub raw: PathBuf,
    pub peer: Option<Peer>,
}

impl Bed {
    pub fn new(with_peer: bool) -> Result<Self, Failure> {
        let peer = with_peer.then(Peer::find).transpose()?;
        let programs = Programs::build(true)?;
        let quintain = programs.quintain.ok_or("quintain was not built")?;
        Ok(Self { folder: tempfile::tempdir()?, quintain, raw: programs.echo_stdio, peer })
    }

    pub fn suite(&self, target: Target<'_>, tests: usize) -> Result<PathBuf, Failure> {
        suite::write(self.folder.path(), target, tests)
    }

    /// A command in the folder, without the user's own settings.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.folder.path());
        command.env("QUINTAIN_HOME", self.home());
        command.env("PROMPTFOO_CONFIG_DIR", self.folder.path().join("promptfoo"));
        for what in ["TELEMETRY", "UPDATE", "SHARING", "REMOTE_GENERATION"] {
            command.env(format!("PROMPTFOO_DISABLE_{what}"), "1");
        }
        if let Some(peer) = &self.peer {
            command.env("PATH", &peer.path);
        }
        command
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn promptfoo(&self) -> Result<(Command, &Peer), Failure> {
        let peer = self.peer.as_ref().ok_or("promptfoo was not asked for")?;
        Ok((self.command(&peer.promptfoo), peer))
    }

    /// Runs a command that must end with this code.
    fn run(&self, command: &mut Command, code: i32) -> Result<Ran, Failure> {
        usage::run_to(command, &self.folder.path().join("log"), code)
    }

    pub fn quintain_version(&self) -> Result<Usage, Failure> {
        let ran = self.run(self.command(&self.quintain).arg("--version"), 0)?;
        Ok(ran.usage)
    }

    pub fn promptfoo_version(&self) -> Result<Usage, Failure> {
        let (mut command, peer) = self.promptfoo()?;
        let ran = self.run(command.arg("--version"), 0)?;
        if ran.said.lines().any(|line| line.trim() == peer.version) {
            return Ok(ran.usage);
        }
        Err(format!("promptfoo is not {}: {}", peer.version, ran.said).into())
    }

    pub fn floor(&self, calls: usize, in_flight: usize) -> Result<Usage, Failure> {
        let mut command = self.command(&std::env::current_exe()?);
        command.arg(FLOOR).args([calls.to_string(), in_flight.to_string()]);
        Ok(self.run(&mut command, 0)?.usage)
    }

    pub fn quintain(&self, job: &Job<'_>) -> Result<Usage, Failure> {
        // A growing store would make later runs slower.
        if self.home().exists() {
            fs::remove_dir_all(self.home())?;
        }
        self.eval(self.command(&self.quintain), job)
    }

    pub fn promptfoo_eval(&self, job: &Job<'_>) -> Result<Usage, Failure> {
        let (mut command, _) = self.promptfoo()?;
        command.env("PROMPTFOO_CACHE_ENABLED", "false");
        self.eval(command, job)
    }

    fn eval(&self, mut command: Command, job: &Job<'_>) -> Result<Usage, Failure> {
        let output = self.folder.path().join(match job.output {
            Output::Json => "output.json",
            Output::Lines => "output.jsonl",
        });
        if output.exists() {
            fs::remove_file(&output)?;
        }
        command.arg("eval").arg("-c").arg(job.suite).args(["-j", &job.jobs.to_string()]);
        command.arg("-o").arg(&output).args(["--no-table", "--no-progress-bar"]);
        command.args((!job.kept).then_some("--no-write"));
        let failing = suite::failing(job.tests);
        let ran = self.run(&mut command, if failing == 0 { 0 } else { FAILED })?;
        let counted = match job.output {
            Output::Json => of_document(&output)?,
            Output::Lines => of_lines(&output)?,
        };
        let wanted = Counts { passed: job.tests - failing, failed: failing };
        if counted == wanted {
            return Ok(ran.usage);
        }
        Err(format!("{command:?} came to {counted:?} instead of {wanted:?}:\n{}", ran.said).into())
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Counts {
    passed: usize,
    failed: usize,
}

/// The counts of a report in promptfoo's layout. Errors count as neither, so that they make the counts wrong.
fn of_document(file: &Path) -> Result<Counts, Failure> {
    let document: Value = serde_json::from_slice(&fs::read(file)?)?;
    let stats = &document["results"]["stats"];
    let count = |name: &str| stats[name].as_u64().map_or(usize::MAX, |count| count as usize);
    let rows = document["results"]["results"].as_array().map_or(0, Vec::len);
    let counts = Counts { passed: count("successes"), failed: count("failures") };
    if counts.passed.checked_add(counts.failed) == Some(rows) {
        return Ok(counts);
    }
    Err(format!("{counts:?} do not make up the {rows} results of the report").into())
}

fn of_lines(file: &Path) -> Result<Counts, Failure> {
    let mut counts = Counts { passed: 0, failed: 0 };
    for line in BufReader::new(fs::File::open(file)?).split(b'\n') {
        let row: Value = serde_json::from_slice(&line?)?;
        match row["success"].as_bool() {
            Some(true) => counts.passed += 1,
            _ => counts.failed += 1,
        }
    }
    Ok(counts)
}
