//! Checks that a red-team run does no harm to its user, with malicious targets, and when it is killed in every phase.

use std::collections::BTreeMap;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs};

use libtest_mimic::{Failed, Trial};

use crate::limits::end_survivors;

/// The phases in which the target kills the run.
const MOMENTS: [&str; 4] = ["survey", "learn", "attack", "report"];
const SIGKILL: i32 = 9;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![
        Trial::test("harm::files-of-the-user-stay", || survives("user")),
        Trial::test("harm::links-are-not-followed", || survives("swap")),
        Trial::test("harm::seeds-give-no-names-away", names_differ),
        Trial::test("harm::files-of-the-user-are-not-moved-or-overwritten", || survives("none")),
        Trial::test("harm::many-places-end-in-time", many),
        Trial::test("harm::temporary-folders-are-private", private),
    ];
    for moment in MOMENTS {
        trials.push(Trial::test(format!("harm::killed-at-{moment}"), move || killed(moment)));
        trials.push(Trial::test(format!("harm::hung-up-at-{moment}"), move || hung_up(moment)));
    }
    trials
}

/// The machine of a user: a home directory that contains the folder of the target.
struct Machine {
    _temporary: tempfile::TempDir,
    home: PathBuf,
    root: PathBuf,
    temp: PathBuf,
}

impl Machine {
    fn new() -> Result<Self, Failed> {
        let temporary = tempfile::Builder::new().prefix("quintain-it-").tempdir()?;
        let top = temporary.path().canonicalize()?;
        let (home, temp) = (top.join("home"), top.join("tmp"));
        let root = home.join("data");
        fs::create_dir_all(&root)?;
        fs::create_dir(&temp)?;
        fs::write(home.join("precious"), "ssh-ed25519 mine")?;
        fs::write(root.join("readme.txt"), "hello")?;
        fs::create_dir(root.join("photos"))?;
        fs::write(root.join("photos/1.jpg"), "a picture")?;
        fs::write(root.join("thesis.docx"), "work of years")?;
        Ok(Self { _temporary: temporary, home, root, temp })
    }

    fn quintain(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_quintain"));
        command.args(args).env_clear().env("PATH", env::var_os("PATH").unwrap_or_default());
        command.env("HOME", &self.home).env("TMPDIR", &self.temp).env("LANG", "C.UTF-8");
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        command.stdin(Stdio::null()).current_dir(&self.temp).process_group(0);
        command
    }

    /// Attacks the malicious target.
    fn attack(&self, mode: &str, root: &Path) -> Result<Output, Failed> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/tools/harm.py");
        let mut command = self.quintain(&["redteam", "run", "-q"]);
        if mode == "many" {
            command.args(["--budget-seconds", "4"]);
        } else {
            let plugins = "path-traversal,path-traversal-write,command-injection";
            command.args(["--budget-seconds", "20", "--plugins", plugins]);
        }
        command.args(["--env", "PYTHONDONTWRITEBYTECODE=1", "--", "python3"]).arg(script);
        command.args([root, self.home.as_path()]).arg(mode);
        let output = command.output()?;
        end_survivors(&self.home, None);
        Ok(output)
    }

    /// Every file of the machine except those in quintain's state directory.
    fn files(&self) -> BTreeMap<PathBuf, String> {
        let own = self.home.join(".local");
        let entries = walkdir::WalkDir::new(self.home.parent().unwrap_or(&self.home)).into_iter();
        let entries = entries.filter_entry(|entry| entry.path() != own).filter_map(Result::ok);
        let content = |path: PathBuf| {
            let text = fs::read_to_string(&path).unwrap_or_default();
            (path, text)
        };
        entries.map(walkdir::DirEntry::into_path).map(content).collect()
    }
}

fn said(output: &Output) -> String {
    format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr))
}

/// Checks that files of the user are unchanged, whatever the target offers, creates or swaps.
fn survives(mode: &str) -> Result<(), Failed> {
    let machine = Machine::new()?;
    // The widest root: it contains the store, too.
    let root = if mode == "user" { machine.home.clone() } else { machine.root.clone() };
    let before = machine.files();
    let output = machine.attack(mode, &root)?;
    let mut after = machine.files();
    if mode == "user" {
        for name in ["src/main.rs", "src/deep/lib.rs", "thesis.docx", "runs.db-wal"] {
            let text = after.remove(&root.join(name)).unwrap_or_default();
            if text != "work of years" {
                return Err(format!("{name}: {text:?}, {}", said(&output)).into());
            }
        }
        after.retain(|path, _| !path.starts_with(root.join("src")));
    }
    let changed = |(path, text): &(&PathBuf, &String)| before.get(*path) != Some(*text);
    let changed: Vec<_> = after.iter().filter(changed).collect();
    let gone: Vec<_> = before.keys().filter(|path| !after.contains_key(*path)).collect();
    if !changed.is_empty() || !gone.is_empty() {
        return Err(format!("changed {changed:?}, gone {gone:?}, {}", said(&output)).into());
    }
    let listed = machine.quintain(&["runs", "list"]).output()?;
    if !listed.status.success() || listed.stdout.is_empty() {
        return Err(format!("the store is damaged: {}", said(&listed)).into());
    }
    Ok(())
}

/// A killed run leaves files behind; the next start of any command removes them, and nothing else.
fn killed(moment: &str) -> Result<(), Failed> {
    let machine = Machine::new()?;
    let before = machine.files();
    let output = machine.attack(&format!("SIGKILL@{moment}"), &machine.root)?;
    if output.status.signal() != Some(SIGKILL) {
        return Err(format!("not killed, {}", said(&output)).into());
    }
    let left = machine.files();
    if !left.keys().any(|path| path.to_string_lossy().contains("quintain-")) {
        return Err("nothing was planted, so the test proves nothing".into());
    }
    let doctor = machine.quintain(&["doctor", "--json"]).output()?;
    if !String::from_utf8_lossy(&doctor.stdout).contains("of killed runs") {
        return Err(format!("`quintain doctor` lists nothing: {}", said(&doctor)).into());
    }
    if machine.files() != left {
        return Err("`quintain doctor` without `--clean` removed something".into());
    }
    machine.quintain(&["list", "reporters"]).output()?;
    nothing_left(&machine, &before)
}

/// A run whose terminal closes removes everything itself, and keeps its findings.
fn hung_up(moment: &str) -> Result<(), Failed> {
    let machine = Machine::new()?;
    let before = machine.files();
    let output = machine.attack(&format!("SIGHUP@{moment}"), &machine.root)?;
    // A run that is complete by then ends as usual.
    let is_whole = moment == "report" && output.status.code() == Some(100);
    if output.status.code() != Some(130) && !is_whole {
        return Err(format!("ended with {}", said(&output)).into());
    }
    nothing_left(&machine, &before)
}

fn nothing_left(machine: &Machine, before: &BTreeMap<PathBuf, String>) -> Result<(), Failed> {
    let after = machine.files();
    let left: Vec<_> = after.keys().filter(|path| !before.contains_key(*path)).collect();
    let gone: Vec<_> = before.keys().filter(|path| !after.contains_key(*path)).collect();
    if left.is_empty() && gone.is_empty() {
        return Ok(());
    }
    Err(format!("left {left:?}, gone {gone:?}").into())
}

/// Checks that two runs with the same seed share no name and no canary.
fn names_differ() -> Result<(), Failed> {
    let planted = || {
        let machine = Machine::new()?;
        machine.attack("SIGKILL@learn", &machine.root)?;
        let names: Vec<String> = machine
            .files()
            .into_keys()
            .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
            .filter(|name| name.contains("quintain-") && !name.contains("quintain-it-"))
            .collect();
        let texts: Vec<String> = machine
            .files()
            .into_values()
            .filter(|text| text.contains("quintain-canary-"))
            .collect();
        Ok::<_, Failed>((names, texts))
    };
    let (first, second) = (planted()?, planted()?);
    if first.0.is_empty() || first.1.is_empty() {
        return Err("nothing was planted".into());
    }
    let same: Vec<_> = first.0.iter().filter(|name| second.0.contains(name)).collect();
    let same_texts = first.1.iter().any(|text| second.1.contains(text));
    if same.is_empty() && !same_texts {
        return Ok(());
    }
    Err(format!("both have {same:?}").into())
}

/// Checks that time limits and signals work while Quintain computes without waiting for the target.
fn many() -> Result<(), Failed> {
    const BUDGET: Duration = Duration::from_secs(4);
    let machine = Machine::new()?;
    let started = Instant::now();
    let output = machine.attack("many", &machine.root)?;
    let took = started.elapsed();
    // Two seconds are guaranteed; a busy machine needs more to start and end processes.
    if took > BUDGET + Duration::from_secs(8) {
        return Err(format!("took {took:?}, {}", said(&output)).into());
    }
    Ok(())
}

/// Checks that other users of the machine can neither read canaries nor write a journal.
fn private() -> Result<(), Failed> {
    use std::os::unix::fs::PermissionsExt as _;
    let machine = Machine::new()?;
    machine.attack("SIGKILL@learn", &machine.root)?;
    let temporary = fs::read_dir(&machine.temp)?.filter_map(Result::ok).map(|entry| entry.path());
    let state = machine.home.join(".local/share/quintain");
    let mut folders: Vec<PathBuf> = temporary.filter(|path| path.is_dir()).collect();
    folders.extend([state.join("planted"), state]);
    for folder in folders {
        let mode = fs::metadata(&folder)?.permissions().mode() & 0o777;
        if mode != 0o700 {
            return Err(format!("{} has mode {mode:o}", folder.display()).into());
        }
    }
    Ok(())
}
