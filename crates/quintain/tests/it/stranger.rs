//! A suite from a stranger that acts in every way a suite can. Commands that only read it must leave no trace; commands
//! that run it show that every trap works. The list of commands comes from `--help`, so a new command must be added here.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use libtest_mimic::{Failed, Trial};

pub(crate) const QUINTAIN: &str = env!("CARGO_BIN_EXE_quintain");
/// A script that records its own name when it runs.
const TRAP: &str = "import os, sys\n\
    folder, name = os.path.split(os.path.abspath(__file__))\n\
    open(os.path.join(folder, 'traps', name), 'w').close()\n\
    def generate_tests(*_): return [{'vars': {'x': 'y'}}]\n\
    def get_config(*_): return {}\n\
    def call_api(*_): return {'output': 'x'}\n\
    def get_var(*_): return {'output': 'x'}\n\
    def get_transform(output, context): return output\n\
    def get_assert(*_): return True\n\
    def get_score(*_): return {'pass': True, 'score': 1, 'reason': ''}\n\
    def prompt(*_): return 'x'\n\
    if __name__ == '__main__': print('x')\n";
/// All places that can start Python. `UNSET_*` are variables that are not set: resolving them is an error.
const SUITE: &str = "
env: {INDIRECT: '{{env.UNSET_SUITE}}'}
targets:
  - id: mcp
    label: named
    config:
      server: {command: $PYTHON, args: [small.py], env: {SHOP_NEEDED: '{{env.NEEDED}}'}}
      transformResponse: 'file://t-transform-response.py'
  - id: mcp
    label: other
    config: {server: {command: $PYTHON, args: [t-other-target.py], env: {A: '{{env.UNSET_ENV}}'}}}
  - id: mcp
    label: remote
    config: {server: {url: 'http://$LISTENER/mcp', headers: {X: '{{env.UNSET_HEADER}}'}, auth: {type: bearer, token: '{{UNSET_TOKEN}}'}}}
  - {id: 'http://$LISTENER/http', label: http, config: {method: POST, body: {p: '{{prompt}} {{env.INDIRECT}}'}}}
  - {id: 'exec: $PYTHON t-exec-target.py', label: exec}
  - {id: 'file://t-code-target.py', label: code, config: {a: 'file://t-settings.py'}}
prompts: ['{{x}} {{env.UNSET_PROMPT}}', 'file://t-prompt.py:prompt', {tool: show, args: {}}]
defaultTest: {options: {transform: 'file://t-default-transform.py'}}
tests:
  - 'file://t-tests.py'
  - {path: 'file://t-tests-by-path.py:generate_tests'}
  - vars: {x: 'file://t-variable.py', y: '{{env.UNSET_VARIABLE}}'}
    assert:
      - {type: python, value: 'file://t-assertion.py'}
      - {type: contains, value: 'file://t-assertion-value.py', transform: 'file://t-assertion-transform.py'}
      - {type: python, value: \"open(__import__('os').environ['TRAPS'] + '/t-inline-assertion', 'w') is not None\"}
      - {type: webhook, value: 'http://$LISTENER/webhook'}
      - {type: snapshot, value: t-snapshot.snap}
  - {vars: {x: a}, assertScoringFunction: 'file://t-scoring.py', assert: [{type: contains, value: x}]}
scenarios:
  - {config: [{vars: {x: z}}], tests: 'file://t-scenario-tests.py'}
outputPath: t-report.json
redteam:
  purpose: '{{env.UNSET_PURPOSE}}'
  provider: {id: 'openai:chat:x', config: {apiBaseUrl: 'http://$LISTENER/model', apiKey: '{{env.UNSET_KEY}}'}}
";
/// JavaScript cannot leave the process, but where it runs while a suite is loaded, it can throw an error.
const SCRIPTS: [(&str, &str); 3] = [
    (
        "tests",
        "targets: [{id: mcp, label: named, config: {server: {command: $PYTHON, args: [small.py]}}}]\ntests: 'file://throw.js'\n",
    ),
    (
        "settings",
        "targets:\n  - {id: mcp, label: named, config: {server: {command: $PYTHON, args: [small.py]}}}\n  - {id: echo, config: {tools: 'file://throw.js'}}\nprompts: [x]\n",
    ),
    (
        "scenario",
        "targets: [{id: mcp, label: named, config: {server: {command: $PYTHON, args: [small.py]}}}]\nscenarios: [{config: [{vars: {x: z}}], tests: 'file://throw.js'}]\n",
    ),
];

/// What a command does with a suite.
enum Kind {
    /// It runs the suite, as the user asked.
    Runs,
    /// It only reads a suite, or none; each command line has its expected exit code.
    Reads(&'static [(&'static str, i32)]),
    /// It only has subcommands.
    Group,
}

/// All commands. A command that is missing here fails the test: decide whether it may run a suite.
fn kinds() -> BTreeMap<&'static str, Kind> {
    use Kind::{Group, Reads, Runs};
    BTreeMap::from([
        ("eval", Runs),
        ("rejudge", Runs),
        ("replay", Runs),
        ("redteam run", Runs),
        // It runs only its built-in suite.
        ("demo", Runs),
        ("redteam", Group),
        ("runs", Group),
        (
            "inspect",
            Reads(&[("inspect -c SUITE --target named", 0), ("inspect --target named", 0)]),
        ),
        ("call", Reads(&[("call -c SUITE --target named show {}", 0)])),
        ("redteam init", Reads(&[("redteam init made -c SUITE --target named", 0)])),
        (
            "redteam generate",
            Reads(&[("redteam generate -o made.yaml --force -c SUITE --target named", 0)]),
        ),
        ("redteam plugins", Reads(&[("redteam plugins -c SUITE", 0)])),
        ("redteam strategies", Reads(&[("redteam strategies", 0)])),
        ("redteam report", Reads(&[("redteam report", 2)])),
        (
            "redteam suite",
            Reads(&[("redteam suite findings.json -o - -c SUITE --target named", 4)]),
        ),
        ("runs list", Reads(&[("runs list", 0)])),
        ("runs show", Reads(&[("runs show latest", 2)])),
        ("runs delete", Reads(&[("runs delete none", 2)])),
        ("runs export", Reads(&[("runs export latest -o made.json", 2)])),
        ("diff", Reads(&[("diff latest latest~1", 2)])),
        ("scan", Reads(&[("scan SUITE", 4), ("scan", 4)])),
        ("record", Reads(&[("record -o made.jsonl -c SUITE --target named", 0)])),
        ("grade", Reads(&[("grade findings.json -c SUITE --no-write", 3)])),
        ("meta-eval", Reads(&[("meta-eval findings.json findings.json -c SUITE", 2)])),
        ("serve", Reads(&[("serve --stdio", 0)])),
        ("serve check", Reads(&[("serve check -c SUITE", 0)])),
        ("serve install", Reads(&[("serve install --client cursor", 0)])),
        ("token", Group),
        ("token new", Reads(&[("token new --subject a", 0)])),
        ("token list", Reads(&[("token list", 0)])),
        ("token revoke", Reads(&[("token revoke nobody", 4)])),
        ("token rotate", Reads(&[("token rotate", 0)])),
        ("audit", Group),
        ("audit verify", Reads(&[("audit verify", 2)])),
        ("login", Reads(&[("login http://127.0.0.1:1/", 3)])),
        ("doctor", Reads(&[("doctor", 0)])),
        ("init", Reads(&[("init made-suite", 0)])),
        ("list", Reads(&[("list assertions", 0)])),
        ("explain", Reads(&[("explain contains", 0)])),
        ("schema", Reads(&[("schema", 0)])),
        ("completions", Reads(&[("completions bash", 0)])),
    ])
}

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("stranger::every_command_is_sorted", every_command_is_sorted),
        Trial::test("stranger::reading_leaves_no_trace", reading_leaves_no_trace),
        Trial::test("stranger::running_springs_every_trap", running_springs_every_trap),
        Trial::test("stranger::consent_is_given_in_few_places", consent_is_given_in_few_places),
    ]
}

fn every_command_is_sorted() -> Result<(), Failed> {
    let mut found = Vec::new();
    commands("", &mut found)?;
    let kinds = kinds();
    let unsorted: Vec<_> = found.iter().filter(|name| !kinds.contains_key(name.as_str())).collect();
    let gone: Vec<_> = kinds.keys().filter(|name| !found.iter().any(|one| one == **name)).collect();
    if !unsorted.is_empty() || !gone.is_empty() {
        return Err(format!("not classified: {unsorted:?}, no longer exists: {gone:?}").into());
    }
    Ok(())
}

/// The commands that `--help` lists, at any depth.
pub(crate) fn commands(of: &str, found: &mut Vec<String>) -> Result<(), Failed> {
    let output = Command::new(QUINTAIN).args(of.split_whitespace()).arg("--help").output()?;
    let help = String::from_utf8_lossy(&output.stdout).into_owned();
    let section = help.split("\nCommands:\n").nth(1).unwrap_or_default();
    let lines = section.lines().take_while(|line| !line.is_empty());
    for line in lines {
        let Some(rest) = line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')) else {
            continue;
        };
        let name = rest.split_whitespace().next().unwrap_or_default();
        if name != "help" {
            let name = format!("{of} {name}").trim().to_owned();
            commands(&name, found)?;
            found.push(name);
        }
    }
    Ok(())
}

/// A folder with the suite and its traps, and a listener that counts connections.
struct TrapFolder {
    folder: tempfile::TempDir,
    callers: Arc<AtomicUsize>,
    traps: BTreeSet<String>,
}

impl TrapFolder {
    fn new() -> Result<Self, Failed> {
        let folder = tempfile::Builder::new().prefix("quintain-it-").tempdir()?;
        let callers = Arc::new(AtomicUsize::new(0));
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?.to_string();
        let count = callers.clone();
        // It ends with the test.
        thread::spawn(move || {
            for _ in listener.incoming() {
                count.fetch_add(1, Ordering::SeqCst);
            }
        });
        let at = |name: &str| folder.path().join(name);
        let fill = |text: &str| text.replace("$PYTHON", &python()).replace("$LISTENER", &address);
        let suite = fill(SUITE);
        fs::create_dir(at("traps"))?;
        fs::create_dir(at("home"))?;
        let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/tools");
        fs::copy(tools.join("small.py"), at("small.py"))?;
        fs::write(at("quintain.yaml"), &suite)?;
        fs::write(at("findings.json"), "{\"findings\": []}")?;
        fs::write(at("throw.js"), "throw new Error('acted');")?;
        for (name, text) in SCRIPTS {
            fs::write(at(&format!("{name}.yaml")), fill(text))?;
        }
        let mut traps = BTreeSet::from(["t-inline-assertion".to_owned()]);
        for word in suite.split(|c: char| !c.is_ascii_alphanumeric() && !"-.".contains(c)) {
            if word.starts_with("t-") && Path::new(word).extension().is_some_and(|end| end == "py")
            {
                fs::write(at(word), TRAP)?;
                traps.insert(word.to_owned());
            }
        }
        Ok(Self { folder, callers, traps })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, line: &str, variables: &[(String, String)]) -> Result<Output, Failed> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let output = Command::new(QUINTAIN)
            .args(line.split_whitespace())
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.path("home"))
            .env("NO_COLOR", "1")
            .env("NEEDED", "needed")
            .env("TRAPS", self.path("traps"))
            .envs(variables.iter().cloned())
            .stdin(Stdio::null())
            .output()?;
        Ok(output)
    }

    /// What the suite has done so far.
    fn traces(&self) -> Result<BTreeSet<String>, Failed> {
        let mut traces = BTreeSet::new();
        for entry in fs::read_dir(self.path("traps"))? {
            traces.insert(entry?.file_name().to_string_lossy().into_owned());
        }
        for name in ["t-snapshot.snap", "t-report.json"] {
            if self.path(name).exists() {
                traces.insert(name.to_owned());
            }
        }
        if self.callers.load(Ordering::SeqCst) > 0 {
            traces.insert("connection".to_owned());
        }
        Ok(traces)
    }
}

pub(crate) fn python() -> String {
    std::env::var("QUINTAIN_PEER_PYTHON").unwrap_or_else(|_| "python3".to_owned())
}

fn reading_leaves_no_trace() -> Result<(), Failed> {
    let folder = TrapFolder::new()?;
    let dry = ["eval --dry-run -c SUITE", "redteam run --dry-run -c SUITE --target named"];
    let mut lines: Vec<(String, i32)> = dry.iter().map(|line| ((*line).to_owned(), 0)).collect();
    for kind in kinds().into_values() {
        if let Kind::Reads(some) = kind {
            lines.extend(some.iter().map(|(line, exit)| ((*line).to_owned(), *exit)));
        }
    }
    let suites = ["quintain.yaml".to_owned()];
    let scripts = SCRIPTS.map(|(name, _)| format!("{name}.yaml"));
    let mut wrong = Vec::new();
    for (line, exit) in lines {
        for suite in suites.iter().chain(&scripts) {
            let line = line.replace("SUITE", suite);
            for made in ["made", "made-suite"] {
                let _ = fs::remove_dir_all(folder.path(made));
            }
            let output = folder.run(&line, &[])?;
            let traces = folder.traces()?;
            if !traces.is_empty() {
                return Err(format!("`{line}` acted: {traces:?}").into());
            }
            if output.status.code() != Some(exit) {
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                wrong.push(format!("`{line}` ended with {}: {said}", output.status));
            }
            if !line.contains(suite.as_str()) {
                break;
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// Checks that the traps work: running the suite triggers all of them.
fn running_springs_every_trap() -> Result<(), Failed> {
    let folder = TrapFolder::new()?;
    let names = SUITE.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let unset = names.filter(|name| name.starts_with("UNSET_"));
    let variables: Vec<_> = unset.map(|name| (name.to_owned(), "x".to_owned())).collect();
    let output = folder.run("eval -j 1", &variables)?;
    let traces = folder.traces()?;
    let mut missing: Vec<&str> = folder.traps.iter().map(String::as_str).collect();
    missing.extend(["connection", "t-snapshot.snap", "t-report.json"]);
    missing.retain(|trap| !traces.contains(*trap));
    if !missing.is_empty() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("not triggered by `eval`: {missing:?}\n{said}").into());
    }
    let without = folder.run("eval", &[])?;
    if without.status.code() != Some(2) {
        return Err("`eval` resolves no variables".into());
    }
    for (name, _) in SCRIPTS {
        let output = folder.run(&format!("eval -c {name}.yaml"), &[])?;
        if !String::from_utf8_lossy(&output.stderr).contains("acted") {
            return Err(format!("`eval -c {name}.yaml` runs no JavaScript").into());
        }
    }
    Ok(())
}

/// Only commands that run suites may give consent in the name of the user.
fn consent_is_given_in_few_places() -> Result<(), Failed> {
    const ALLOWED: [&str; 3] = ["engine/src/grade/mod.rs", "jobs/eval.rs", "jobs/redteam.rs"];
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = BTreeSet::new();
    let mut folders = vec![crates];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let text = path.to_string_lossy().into_owned();
            if path.is_dir() && !text.ends_with("/tests") && !text.ends_with("/target") {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs")
                && !text.ends_with("/tests.rs")
            {
                let code = fs::read_to_string(&path)?;
                // Tests may give consent anywhere.
                let code = code.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
                if code.contains("Consent::of_the_user") {
                    found.insert(text);
                }
            }
        }
    }
    let others: Vec<_> =
        found.iter().filter(|path| !ALLOWED.iter().any(|end| path.ends_with(end))).collect();
    if !others.is_empty() || found.len() < ALLOWED.len() {
        return Err(format!("consent is given in {found:?}").into());
    }
    Ok(())
}
