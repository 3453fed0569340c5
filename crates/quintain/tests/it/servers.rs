//! Attacks real servers from the registries, in their newest versions: no confirmed finding, no file written outside
//! their folder, nothing left behind.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::again::always;
use crate::limits::end_survivors;

const NPM: &str = "QUINTAIN_PEER_NPM";
const NODE: &str = "QUINTAIN_PEER_NODE";
const PYTHON: &str = "QUINTAIN_PEER_PYTHON_MODERN";
/// The phases of every run.
const PHASES: [&str; 4] = ["survey", "learn", "attack", "confirm"];

const CONFIRMED: &str = "confirmed: ";

/// A server, and how to start it.
struct Server {
    name: &'static str,
    /// Relative to `node_modules`, or to `bin` of the Python environment.
    program: Program,
    /// The arguments; `{root}` is the folder that the server may use.
    args: &'static [&'static str],
    env: &'static [(&'static str, &'static str)],
    folder: FolderContent,
}

enum Program {
    Node(&'static str),
    Python(&'static str),
}

/// The contents of the server's folder.
enum FolderContent {
    Empty,
    Files,
    Repository,
}

const SERVERS: [Server; 6] = [
    Server {
        name: "everything",
        program: Program::Node("@modelcontextprotocol/server-everything/dist/index.js"),
        args: &["stdio"],
        env: &[],
        folder: FolderContent::Empty,
    },
    Server {
        name: "memory",
        program: Program::Node("@modelcontextprotocol/server-memory/dist/index.js"),
        args: &[],
        env: &[("MEMORY_FILE_PATH", "{root}/memory.json")],
        folder: FolderContent::Empty,
    },
    Server {
        name: "filesystem",
        program: Program::Node("@modelcontextprotocol/server-filesystem/dist/index.js"),
        args: &["{root}"],
        env: &[],
        folder: FolderContent::Files,
    },
    Server {
        name: "sequential-thinking",
        program: Program::Node("@modelcontextprotocol/server-sequential-thinking/dist/index.js"),
        args: &[],
        env: &[],
        folder: FolderContent::Empty,
    },
    Server {
        name: "time",
        program: Program::Python("mcp-server-time"),
        args: &[],
        env: &[],
        folder: FolderContent::Empty,
    },
    Server {
        name: "git",
        program: Program::Python("mcp-server-git"),
        args: &["--repository", "{root}"],
        env: &[],
        folder: FolderContent::Repository,
    },
];

pub(crate) fn trials() -> Vec<Trial> {
    SERVERS.iter().map(trial).collect()
}

/// In CI no test may be skipped: a missing server fails.
fn trial(server: &'static Server) -> Trial {
    let lacks = server.needs().iter().any(|name| env::var_os(name).is_none());
    let skipped = lacks && env::var_os("CI").is_none();
    Trial::test(format!("servers::{}", server.name), || always(|| attack(server)))
        .with_ignored_flag(skipped)
}

impl Server {
    fn needs(&self) -> &'static [&'static str] {
        match self.program {
            Program::Node(_) => &[NPM, NODE],
            Program::Python(_) => &[PYTHON],
        }
    }

    /// The command line, and the folder that the server is installed in.
    fn start(&self) -> Result<(Vec<OsString>, PathBuf), String> {
        let needed = |name: &str| {
            env::var_os(name)
                .ok_or_else(|| format!("needs {name}: install it with `cargo xtask peers`"))
        };
        match self.program {
            Program::Node(path) => {
                let folder = Path::new(&needed(NPM)?).join("node_modules");
                let home = folder.join(path.split('/').take(2).collect::<PathBuf>());
                Ok((vec![needed(NODE)?, folder.join(path).into()], home))
            }
            Program::Python(name) => {
                let folder = PathBuf::from(needed(PYTHON)?).join("bin");
                Ok((vec![folder.join(name).into()], folder))
            }
        }
    }
}

/// Attacks a server, and returns everything unexpected, one per line.
fn attack(server: &Server) -> Result<Vec<String>, Failed> {
    let temporary = tempfile::Builder::new().prefix("quintain-it-").tempdir()?;
    let scratch = temporary.path().canonicalize()?;
    let root = scratch.join("data");
    for folder in ["data", "home", "tmp", "work"] {
        fs::create_dir(scratch.join(folder))?;
    }
    server.folder.write(&root, &scratch)?;
    let (program, installed) = server.start()?;
    let around = [scratch.as_path(), installed.as_path()];
    let before = around.map(|folder| files(folder, &root));
    let seen = run(server, &program, &scratch, &root)?;
    let mut faults = seen;
    faults
        .extend(end_survivors(&scratch, None).iter().map(|line| format!("still running: {line}")));
    for (folder, before) in around.iter().zip(before) {
        let mut after = files(folder, &root);
        after.remove(&scratch.join("report.json"));
        let changed = after.iter().filter(|(path, state)| before.get(*path) != Some(*state));
        faults.extend(changed.map(|(path, _)| format!("written: {}", path.display())));
        let gone = before.keys().filter(|path| !after.contains_key(*path));
        faults.extend(gone.map(|path| format!("removed: {}", path.display())));
    }
    let planted = |path: &&PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().contains("quintain-"))
    };
    let left = files(&root, Path::new("/nowhere"));
    faults.extend(left.keys().filter(planted).map(|path| format!("left: {}", path.display())));
    // Only findings may be flaky.
    if faults.iter().all(|fault| fault.starts_with(CONFIRMED)) {
        return Ok(faults);
    }
    Err(faults.join("\n").into())
}

/// Runs the attack, and returns everything unexpected in its report.
fn run(
    server: &Server,
    program: &[OsString],
    scratch: &Path,
    root: &Path,
) -> Result<Vec<String>, Failed> {
    let fill = |text: &str| text.replace("{root}", &root.display().to_string());
    let report = scratch.join("report.json");
    let mut command = Command::new(env!("CARGO_BIN_EXE_quintain"));
    // A time limit, because runs are slow on a busy machine; the checks hold for a run that is cut short, too.
    command.args(["redteam", "run", "--no-write", "--quiet", "--budget-seconds", "60", "-o"]);
    command.arg(&report);
    command.arg("--cwd").arg(scratch.join("work"));
    // Compiled Python files would count as changes.
    let own = [("PYTHONDONTWRITEBYTECODE", "1"), ("GIT_CONFIG_NOSYSTEM", "1")];
    for (name, value) in own.iter().chain(server.env) {
        command.args(["--env", &format!("{name}={}", fill(value))]);
    }
    command.arg("--").args(program).args(server.args.iter().map(|word| fill(word)));
    command.env_clear().env("PATH", env::var_os("PATH").unwrap_or_default());
    command.env("HOME", scratch.join("home")).env("TMPDIR", scratch.join("tmp"));
    command.env("LANG", "C.UTF-8").current_dir(scratch.join("work"));
    command.stdin(Stdio::null()).process_group(0);
    let output = command.output()?;
    let text = fs::read_to_string(&report).unwrap_or_default();
    let Ok(report) = serde_json::from_str::<Value>(&text) else {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("no report, {}: {said}", output.status).into());
    };
    Ok(faults(&report, output.status.code()))
}

fn faults(report: &Value, exit: Option<i32>) -> Vec<String> {
    let mut faults = Vec::new();
    let findings = report["findings"].as_array().cloned().unwrap_or_default();
    // The documented purpose of a server is not a weakness.
    let confirmed = findings.iter().filter(|finding| {
        let by_design = finding["note"].is_string() || finding["severity"] == "info";
        finding["confidence"] == "confirmed" && !by_design
    });
    faults.extend(confirmed.map(|finding| format!("{CONFIRMED}{}", finding["title"])));
    // A run that its time limit ended is incomplete.
    let expected = if findings.is_empty() { [0, 3, 3] } else { [0, 3, 100] };
    if !exit.is_some_and(|code| expected.contains(&code)) {
        faults.push(format!("ended with {exit:?}"));
    }
    let coverage = &report["coverage"];
    let list = |name: &str| coverage[name].as_array().cloned().unwrap_or_default();
    let ran: Vec<Value> = list("phases").iter().map(|phase| phase["phase"].clone()).collect();
    for phase in PHASES {
        if !ran.iter().any(|found| found == phase) {
            faults.push(format!("no phase {phase}: {ran:?}"));
        }
    }
    if !list("attacks").iter().any(|attack| attack["trials"].as_u64().is_some_and(|n| n > 0)) {
        faults.push("nothing was attacked".to_owned());
    }
    faults
}

impl FolderContent {
    fn write(&self, root: &Path, scratch: &Path) -> Result<(), String> {
        let write = |name: &str, text: &str| {
            fs::write(root.join(name), text).map_err(|error| error.to_string())
        };
        if !matches!(self, Self::Empty) {
            write("readme.txt", "hello\n")?;
        }
        if matches!(self, Self::Repository) {
            // Ignore a surrounding repository and the configuration of the user.
            let git = |args: &[&str]| {
                let mut command = Command::new("git");
                command.arg("-C").arg(root).args(args).env("HOME", scratch.join("home"));
                command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CEILING_DIRECTORIES", scratch);
                for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "XDG_CONFIG_HOME"] {
                    command.env_remove(name);
                }
                match command.output() {
                    Ok(output) if output.status.success() => Ok(()),
                    Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
                    Err(error) => Err(format!("git: {error}")),
                }
            };
            git(&["init", "--quiet", "--initial-branch=main"])?;
            git(&["config", "user.name", "Tester"])?;
            git(&["config", "user.email", "tester@example.com"])?;
            git(&["add", "."])?;
            git(&["commit", "--quiet", "--message=one"])?;
        }
        Ok(())
    }
}

/// The state of every file below a folder, except those below `but`.
fn files(folder: &Path, but: &Path) -> BTreeMap<PathBuf, (u64, Option<std::time::SystemTime>)> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let Ok(state) = entry.metadata() else { continue };
        if path == but || path.file_name().is_some_and(|name| name == "__pycache__") {
            continue;
        }
        if state.is_dir() {
            found.extend(files(&path, but));
        } else {
            found.insert(path, (state.len(), state.modified().ok()));
        }
    }
    found
}
