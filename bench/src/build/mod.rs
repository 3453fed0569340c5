//! What a newcomer waits for: a cold release build of a fresh clone; and how large the published binary is.
//!
//! Only committed files are built, and what the build downloads is fetched before the clock starts.

mod units;

pub use units::{RECORD, run_unit};

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use crate::Failure;
use crate::results::{self, Goals, Section};
use crate::usage::{self, Usage};
use units::Unit;

/// What the first build may take on two idle cores.
const MINUTES: f64 = 8.0;
const CPU_MINUTES: f64 = 14.0;
/// What the published binary may weigh, in millions of bytes.
const MEGABYTES: f64 = 25.0;
/// How many of the most expensive units are listed.
const LISTED: usize = 10;

#[derive(Default)]
pub struct Settings {
    only: Option<Profile>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Profile {
    Release,
    Dist,
}

impl Profile {
    fn name(self) -> &'static str {
        match self {
            Self::Release => "release",
            Self::Dist => "dist",
        }
    }
}

impl Settings {
    pub fn read(words: &[&str]) -> Option<Self> {
        let only = match *words {
            [] => None,
            ["--only", "release"] => Some(Profile::Release),
            ["--only", "dist"] => Some(Profile::Dist),
            _ => return None,
        };
        Some(Self { only })
    }

    fn wants(&self, profile: Profile) -> bool {
        self.only.is_none_or(|only| only == profile)
    }
}

pub fn run(settings: &Settings) -> Result<(), Failure> {
    let clone = Clone::new()?;
    let mut text = format!("{INTRODUCTION}\n{}\n\n", results::machine()?);
    let mut goals = Goals::default();
    if settings.wants(Profile::Release) {
        let built = clone.build(Profile::Release)?;
        release(&built, &mut text, &mut goals);
    }
    if settings.wants(Profile::Dist) {
        let built = clone.build(Profile::Dist)?;
        dist(&built, &mut text, &mut goals)?;
    }
    text.push_str(&goals.0);
    println!("{text}");
    if settings.only.is_none() { results::keep(Section::Build, &text) } else { Ok(()) }
}

const INTRODUCTION: &str = "\
Written by `cargo xtask bench build`. A fresh clone is built without anything compiled before, as by
`cargo run --release`. CPU is user and system time of everything that the build starts. A unit is a crate, or the C code
that a build script compiles. `dist` is the profile of published binaries, which are stripped.
";

fn release(built: &Built, text: &mut String, goals: &mut Goals) {
    let (wall, cpu) = (minutes(built.usage.wall), minutes(built.usage.cpu));
    let own: Duration = built.units.iter().filter(|unit| unit.is_own()).map(|unit| unit.cpu).sum();
    let _ = writeln!(text, "| release build, cold | |\n|---|---|");
    let _ = writeln!(text, "| start to end, minutes | {wall:.1} |");
    let _ = writeln!(text, "| CPU, minutes | {cpu:.1} |");
    let _ = writeln!(text, "| of which our own crates | {:.1} |", minutes(own));
    let _ = writeln!(text, "\n| the {LISTED} most expensive units | CPU, seconds |\n|---|---|");
    for unit in built.units.iter().take(LISTED) {
        let _ = writeln!(text, "| {} | {:.1} |", unit.name, unit.cpu.as_secs_f64());
    }
    text.push('\n');
    let what =
        format!("a cold release build takes {MINUTES} minutes on two idle cores ({wall:.1})");
    goals.check(wall <= MINUTES, what);
    let what = format!("a cold release build takes {CPU_MINUTES} CPU-minutes ({cpu:.1})");
    goals.check(cpu <= CPU_MINUTES, what);
}

fn dist(built: &Built, text: &mut String, goals: &mut Goals) -> Result<(), Failure> {
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    let size = megabytes(std::fs::metadata(&built.program)?.len());
    let code = code(&built.program);
    let code = code.map_or_else(|| "unknown".into(), |bytes| format!("{:.1}", megabytes(bytes)));
    let _ = writeln!(text, "| `dist` binary, stripped | |\n|---|---|");
    let _ = writeln!(text, "| size, MB | {size:.1} |\n| of which code, MB | {code} |");
    let _ = writeln!(text, "| CPU to build it, minutes | {:.1} |\n", minutes(built.usage.cpu));
    goals.check(size <= MEGABYTES, format!("the `dist` binary has {MEGABYTES} MB ({size:.1})"));
    Ok(())
}

fn minutes(time: Duration) -> f64 {
    time.as_secs_f64() / 60.0
}

/// A fresh clone with target folders of its own, removed in the end.
struct Clone {
    folder: TempDir,
}

struct Built {
    usage: Usage,
    /// The most expensive first.
    units: Vec<Unit>,
    program: PathBuf,
}

impl Clone {
    fn new() -> Result<Self, Failure> {
        let clone = Self { folder: tempfile::Builder::new().prefix("quintain-build-").tempdir()? };
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
        let mut git = Command::new("git");
        clone.run(git.args(["clone", "--quiet"]).arg(root).arg(clone.source()))?;
        clone.run(clone.cargo().args(["fetch", "--locked"]))?;
        Ok(clone)
    }

    fn source(&self) -> PathBuf {
        self.folder.path().join("source")
    }

    fn cargo(&self) -> Command {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.current_dir(self.source());
        // Flags of the caller would not be those of a newcomer.
        for name in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_TARGET"] {
            cargo.env_remove(name);
        }
        cargo
    }

    fn build(&self, profile: Profile) -> Result<Built, Failure> {
        let target = self.folder.path().join(profile.name());
        let record = self.folder.path().join(format!("{}.units", profile.name()));
        println!("building {}", profile.name());
        let mut cargo = self.cargo();
        cargo.args(["build", "--locked", "--profile", profile.name()]);
        units::record(cargo.env("CARGO_TARGET_DIR", &target), &record)?;
        let usage = self.run(&mut cargo)?;
        let program = target.join(profile.name()).join("quintain");
        Ok(Built { usage, units: units::read(&record)?, program })
    }

    fn run(&self, command: &mut Command) -> Result<Usage, Failure> {
        let ran = usage::run(command, &self.folder.path().join("log"))?;
        if ran.code == Some(0) { Ok(ran.usage) } else { Err(ran.said.into()) }
    }
}

/// The bytes of the section `.text`, where binutils are installed.
fn code(program: &Path) -> Option<u64> {
    let output = Command::new("size").args(["-A", "-d"]).arg(program).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(".text "))?;
    line.split_whitespace().next()?.parse().ok()
}
