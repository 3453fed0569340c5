//! The test bed: both tools, their working folder, and checks of their results.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use super::cases::{self, Cases, Layout};
use super::scores::Scores;
use crate::Failure;
use crate::fresh::Programs;
use crate::usage::{self, Ran, Usage};

/// The exit code of quintain when a case failed.
const FAILED: i32 = 100;
const REQUIREMENTS: &str = include_str!("../../../peers/deepeval/requirements.txt");
const SCRIPT: &str = "../peers/deepeval/evaluate.py";
/// Public traces that are not part of the repository, relative to this package.
const TRACES: &str = "../../shared/data/livemcpbench";

/// An installed deepeval.
pub struct Peer {
    python: PathBuf,
    pub version: &'static str,
}

impl Peer {
    /// Looks up what the environment names.
    pub fn find() -> Result<Self, Failure> {
        let python = std::env::var_os("DEEPEVAL_PYTHON").map(PathBuf::from);
        let python =
            python.ok_or("DEEPEVAL_PYTHON is missing; `cargo xtask bench grade` sets it")?;
        let mut pins = REQUIREMENTS.lines().filter_map(|line| line.strip_prefix("deepeval=="));
        Ok(Self { python, version: pins.next().ok_or("deepeval is not pinned")? })
    }

    /// Runs a script of the repository, without keys of the user.
    pub fn command(&self, script: &str) -> Command {
        let mut command = Command::new(&self.python);
        command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(script));
        for key in ["OPENAI_API_KEY", "CONFIDENT_API_KEY"] {
            command.env_remove(key);
        }
        command
    }
}

/// How deepeval is run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// `evaluate` without options.
    Default,
    /// `evaluate` without display, cache and tasks.
    Lean,
    /// Only the metric, without `evaluate`.
    Loop,
}

impl How {
    fn word(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Lean => "lean",
            Self::Loop => "loop",
        }
    }
}

/// What the metric compares.
#[derive(Clone, Copy)]
pub struct Mode {
    /// Its name in the script.
    pub word: &'static str,
    /// The same options of quintain.
    options: &'static str,
}

/// The mode that is timed.
pub const PARAMS: Mode = Mode { word: "params", options: "evaluationParams: [INPUT_PARAMETERS]" };

/// Those whose scores are compared only.
pub const OTHER_MODES: [Mode; 3] = [
    Mode { word: "names", options: "evaluationParams: []" },
    Mode {
        word: "ordered",
        options: "evaluationParams: [INPUT_PARAMETERS]\n    shouldConsiderOrdering: true",
    },
    Mode {
        word: "exact",
        options: "evaluationParams: [INPUT_PARAMETERS]\n    shouldExactMatch: true",
    },
];

pub struct Bed {
    folder: TempDir,
    pub programs: Programs,
    pub quintain: PathBuf,
    pub peer: Option<Peer>,
}

impl Bed {
    pub fn new(with_peer: bool) -> Result<Self, Failure> {
        let peer = with_peer.then(Peer::find).transpose()?;
        let programs = Programs::build(true)?;
        let quintain = programs.quintain.clone().ok_or("quintain was not built")?;
        Ok(Self { folder: tempfile::tempdir()?, programs, quintain, peer })
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn cases(&self, count: usize, layout: Layout) -> Result<Cases, Failure> {
        cases::write(self.folder.path(), count, layout)
    }

    /// A command in the folder, without the user's own settings.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.folder.path()).env("QUINTAIN_HOME", self.path("home"));
        command
    }

    fn run(&self, command: &mut Command, code: i32) -> Result<Ran, Failure> {
        usage::run_to(command, &self.path("log"), code)
    }

    pub fn quintain_version(&self) -> Result<Usage, Failure> {
        Ok(self.run(self.command(&self.quintain).arg("--version"), 0)?.usage)
    }

    /// The version includes the import of everything that a run needs.
    pub fn deepeval_version(&self) -> Result<Usage, Failure> {
        let (mut command, peer) = self.deepeval()?;
        let ran = self.run(command.arg("version"), 0)?;
        if ran.said.lines().any(|line| line.trim() == peer.version) {
            return Ok(ran.usage);
        }
        Err(format!("deepeval is not {}: {}", peer.version, ran.said).into())
    }

    fn deepeval(&self) -> Result<(Command, &Peer), Failure> {
        let peer = self.peer.as_ref().ok_or("deepeval was not asked for")?;
        // What earlier runs left there would make later ones slower.
        let work = self.path("deepeval");
        if work.exists() {
            fs::remove_dir_all(&work)?;
        }
        fs::create_dir(&work)?;
        let mut command = peer.command(SCRIPT);
        command.current_dir(work);
        Ok((command, peer))
    }

    /// The scores of deepeval.
    pub fn evaluate(
        &self,
        cases: &Cases,
        how: How,
        mode: Mode,
    ) -> Result<(Usage, Scores), Failure> {
        let (mut command, _) = self.deepeval()?;
        let output = self.new_output("scores.json")?;
        command.args([how.word(), mode.word]).arg(&cases.file).arg(&output);
        let ran = self.run(&mut command, 0)?;
        let scores = Scores::of_deepeval(&output)?;
        Ok((ran.usage, scores))
    }

    /// The scores of quintain in the mode that computes those of deepeval.
    pub fn compatible(&self, cases: &Cases, mode: Mode) -> Result<(Usage, Scores), Failure> {
        let suite = self.path("suite.yaml");
        let options = mode.options;
        let text =
            format!("metrics:\n  - type: tool-correctness\n    compat: deepeval\n    {options}\n");
        fs::write(&suite, text)?;
        let output = self.new_output("compatible.json")?;
        let mut command = self.command(&self.quintain);
        command.arg("grade").arg(&cases.file).arg("-c").arg(&suite);
        command.arg("--no-write").arg("-o").arg(&output);
        // Cases that call no expected tool fail in every mode.
        let ran = self.run(&mut command, FAILED)?;
        let scores = Scores::of_quintain(&output)?;
        Ok((ran.usage, scores))
    }

    /// `quintain grade` with the metric's own scores; the suffix of the output decides its format.
    pub fn grade(&self, cases: &Cases, output: &str) -> Result<Usage, Failure> {
        let output = self.new_output(output)?;
        let mut command = self.command(&self.quintain);
        command.arg("grade").arg(&cases.file).args(["--metrics", "tool-correctness", "--no-write"]);
        command.arg("-o").arg(&output);
        let ran = self.run(&mut command, FAILED)?;
        let counted = match output.extension().is_some_and(|suffix| suffix == "jsonl") {
            true => of_lines(&output)?,
            false => of_document(&output)?,
        };
        let wanted = Counts { passed: cases.count - cases.failing, failed: cases.failing };
        if counted == wanted {
            return Ok(ran.usage);
        }
        Err(format!("{command:?} came to {counted:?} instead of {wanted:?}").into())
    }

    /// The folder of the public traces, if it is there.
    pub fn traces() -> Option<PathBuf> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(TRACES);
        folder.join("traces.jsonl").is_file().then_some(folder)
    }

    /// All checks on the public traces; also their number.
    pub fn check_traces(&self, folder: &Path) -> Result<(Usage, usize), Failure> {
        let output = self.new_output("checked.json")?;
        let mut command = self.command(&self.quintain);
        command.arg("grade").arg(folder.join("traces.jsonl")).arg("--router");
        command.arg("--surface").arg(folder.join("tools.json"));
        command.args(["--metrics", "checks", "--no-write"]).arg("-o").arg(&output);
        let ran = self.run(&mut command, FAILED)?;
        let traces = BufReader::new(File::open(folder.join("traces.jsonl"))?).split(b'\n').count();
        let document = read(&output)?;
        let graded = of_results(&document);
        let is_whole = graded.passed + graded.failed == traces
            && document["summary"]["badRecords"] == 0
            && document["summary"]["errored"] == 0;
        if is_whole {
            return Ok((ran.usage, traces));
        }
        Err(format!("{command:?} did not grade all of {traces} traces: {graded:?}").into())
    }

    /// A file that does not exist yet, so that no old one is taken for a result.
    pub fn new_output(&self, name: &str) -> Result<PathBuf, Failure> {
        let output = self.path(name);
        if output.exists() {
            fs::remove_file(&output)?;
        }
        Ok(output)
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Counts {
    passed: usize,
    failed: usize,
}

pub fn read(file: &Path) -> Result<Value, Failure> {
    Ok(serde_json::from_slice(&fs::read(file)?)?)
}

fn of_document(file: &Path) -> Result<Counts, Failure> {
    Ok(of_results(&read(file)?))
}

fn of_results(document: &Value) -> Counts {
    let results = document["results"].as_array().map(Vec::as_slice).unwrap_or_default();
    let passed = results.iter().filter(|result| result["success"] == true).count();
    Counts { passed, failed: results.len() - passed }
}

fn of_lines(file: &Path) -> Result<Counts, Failure> {
    let mut counts = Counts { passed: 0, failed: 0 };
    for line in BufReader::new(File::open(file)?).split(b'\n') {
        let row: Value = serde_json::from_slice(&line?)?;
        match row["success"].as_bool() {
            Some(true) => counts.passed += 1,
            _ => counts.failed += 1,
        }
    }
    Ok(counts)
}
