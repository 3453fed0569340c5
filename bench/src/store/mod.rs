//! Commands over stores of two sizes: what looks something up must not cost more in a full store.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::Failure;
use crate::fresh::Programs;
use crate::results::{self, Goals, Section};
use crate::sample::Runs;
use crate::usage;

const SIZES: [usize; 2] = [10, 10_000];
/// How much more a command may take in the larger store. What is beyond 1 is noise.
const GROWTH: f64 = 1.2;
const REPEATS: usize = 21;

/// A command and the exit code it has to end with.
const COMMANDS: [(&str, &[&str], i32); 4] = [
    ("`runs list`", &["runs", "list"], 0),
    ("`runs list --owner local`", &["runs", "list", "--owner", "local"], 0),
    // The target cannot be started, so that nothing but looking the finding up is measured.
    ("`replay FINDING`", &["replay", "F-f00dfeed", "--", "/nowhere/server"], 3),
    ("`replay` of an unknown finding", &["replay", "F-99999999"], 4),
];

pub fn run() -> Result<(), Failure> {
    let programs = Programs::build(true)?;
    let quintain = programs.quintain.ok_or("quintain was not built")?;
    let fill = crate::fresh::build_example("fill-store")?;
    let folder = tempfile::tempdir()?;
    for size in SIZES {
        let filled = Command::new(&fill).arg(home(&folder, size)).arg(size.to_string()).status()?;
        if !filled.success() {
            return Err(format!("the store of {size} runs was not filled").into());
        }
    }
    let (mut text, mut goals) = (String::new(), Goals::default());
    let _ = writeln!(text, "{ABOUT}\n\n{}\n\n{TABLE}", results::machine()?);
    for (name, words, code) in COMMANDS {
        let mut runs: [Runs; 2] = Default::default();
        for _ in 0..REPEATS {
            for (runs, size) in runs.iter_mut().zip(SIZES) {
                let mut command = Command::new(&quintain);
                command.args(words).env("QUINTAIN_HOME", home(&folder, size));
                command.current_dir(folder.path());
                let ran = usage::run_to(&mut command, &folder.path().join("log"), code)?;
                runs.add(ran.usage);
            }
        }
        let millis = |runs: &Runs| {
            let [best, median] = [runs.wall.best(), runs.wall.median()];
            format!("{:.1} ({:.1})", best.as_secs_f64() * 1e3, median.as_secs_f64() * 1e3)
        };
        let [few, many] = &runs;
        let growth = many.wall.best().as_secs_f64() / few.wall.best().as_secs_f64();
        let _ = writeln!(text, "| {name} | {} | {} | {growth:.2} |", millis(few), millis(many));
        let what = format!("{name} takes {GROWTH} times as long in the larger store ({growth:.2})");
        goals.check(growth <= GROWTH, what);
    }
    let _ = write!(text, "\n{}", goals.0);
    println!("{text}");
    results::keep(Section::Store, &text)
}

fn home(folder: &TempDir, size: usize) -> PathBuf {
    Path::new(folder.path()).join(size.to_string())
}

const ABOUT: &str = "\
Written by `cargo xtask bench store`. Each command runs in a store of 10 and in one of 10,000 red-team runs, all\n\
of which found the same weakness. Everything is measured from the start of a process to its end, in milliseconds:\n\
the best of 21 runs, the median in brackets; the growth is that of the best.";

const TABLE: &str = "\
| command | 10 runs | 10,000 runs | growth |\n\
|---|---|---|---|";
