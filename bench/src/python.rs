//! The Python package compared with deepeval: time to import, deterministic cases, and cases with an instant judge in Python.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::Failure;
use crate::results::{self, Section, Tables};

const SCRIPT: &str = "python/measure.py";
const ABOUT: &str = "The Python package by `cargo xtask bench python`: `evaluate` on the same test cases, each time in a new process. \
                     `default` is what a user gets; `lean` is deepeval without bar, report and cache. The judge is a function that \
                     answers at once.";
const IMPORT: &str = "\
| import of `evaluate`, metrics and test cases | CPU ms | wall ms |
|---|---|---|";
const COMPARED: &str = "\
| metric | cases | profile of deepeval | Quintain, CPU ms per case | deepeval, CPU ms per case | ratio |
|---|---|---|---|---|---|";
/// The import is a fixed cost of every test run.
const IMPORT_GOAL: f64 = 50.0;

pub struct Settings {
    repeats: usize,
    cases: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { repeats: 5, cases: 1_000 }
    }
}

impl Settings {
    pub fn read(words: &[&str]) -> Option<Self> {
        let mut settings = Self::default();
        for pair in words.chunks(2) {
            match *pair {
                ["--repeats", count] => settings.repeats = count.parse::<usize>().ok()?.max(1),
                ["--cases", count] => settings.cases = count.parse::<usize>().ok()?.max(1),
                _ => return None,
            }
        }
        Some(settings)
    }
}

/// A Python with one of the packages.
struct Package {
    name: &'static str,
    python: PathBuf,
}

/// What one process took, in milliseconds.
#[derive(Clone, Copy)]
struct Taken {
    import_cpu: f64,
    import_wall: f64,
    cpu: f64,
}

impl Package {
    fn of(name: &'static str, variable: &str) -> Result<Self, Failure> {
        let python = std::env::var_os(variable)
            .ok_or_else(|| format!("{variable} is not set; run `cargo xtask bench python`"))?;
        Ok(Self { name, python: python.into() })
    }

    /// Medians of several processes.
    fn measure(&self, what: &str, cases: usize, profile: &str, repeats: usize) -> Result<Taken, Failure> {
        let mut all = Vec::new();
        for _ in 0..repeats {
            all.push(self.once(what, cases, profile)?);
        }
        let median = |of: fn(&Taken) -> f64| {
            let mut values: Vec<f64> = all.iter().map(of).collect();
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        Ok(Taken {
            import_cpu: median(|taken| taken.import_cpu),
            import_wall: median(|taken| taken.import_wall),
            cpu: median(|taken| taken.cpu),
        })
    }

    fn once(&self, what: &str, cases: usize, profile: &str) -> Result<Taken, Failure> {
        // deepeval leaves files in the working directory.
        let folder = tempfile::tempdir()?;
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(SCRIPT);
        let mut command = Command::new(&self.python);
        command.arg(script).args([self.name, what, &cases.to_string(), profile]);
        let output = command.current_dir(folder.path()).output()?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(format!("{} {what}: {why}", self.name).into());
        }
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let last = printed.lines().last().unwrap_or_default();
        let value: Value = serde_json::from_str(last)?;
        let millis = |key: &str| value[key].as_f64().unwrap_or(f64::NAN) * 1e3;
        Ok(Taken {
            import_cpu: millis("import_cpu"),
            import_wall: millis("import_wall"),
            cpu: millis("cpu"),
        })
    }
}

pub fn run(settings: &Settings) -> Result<(), Failure> {
    let ours = Package::of("quintain", "QUINTAIN_PYTHON")?;
    let peer = Package::of("deepeval", "DEEPEVAL_PYTHON")?;
    let mut tables = Tables::default();
    tables.say(&format!("{ABOUT}\n\n{}; medians of {} runs", results::machine()?, settings.repeats));
    for package in [&ours, &peer] {
        let taken = package.measure("import", 0, "default", settings.repeats)?;
        let row =
            format!("| {} | {:.0} | {:.0} |", package.name, taken.import_cpu, taken.import_wall);
        tables.row(IMPORT, &row);
        if package.name == ours.name {
            let wall = taken.import_wall;
            let what = format!("the import takes less than {IMPORT_GOAL} ms ({wall:.0} ms)");
            tables.goals.check(wall < IMPORT_GOAL, what);
        }
    }
    // A run of deepeval with its defaults takes minutes, so it runs once.
    for (what, profile, goal, repeats) in [
        ("tool-correctness", "default", 100.0, 1),
        ("tool-correctness", "lean", 10.0, 2),
        ("mcp-use", "lean", 5.0, 2),
    ] {
        let mine = ours.measure(what, settings.cases, "default", settings.repeats)?;
        let theirs = peer.measure(what, settings.cases, profile, repeats)?;
        let per_case = |taken: Taken| taken.cpu / settings.cases as f64;
        let (mine, theirs) = (per_case(mine), per_case(theirs));
        let ratio = theirs / mine;
        let cases = settings.cases;
        let row = format!("| `{what}` | {cases} | {profile} | {mine:.3} | {theirs:.3} | {ratio:.1} |");
        tables.row(COMPARED, &row);
        let what = format!("{cases} cases of `{what}` take {goal}x less processor time than deepeval ({profile}) ({ratio:.1}x)");
        tables.goals.check(ratio >= goal, what);
    }
    tables.finish(Section::Python, settings.cases == Settings::default().cases)
}
