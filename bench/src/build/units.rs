//! The processor time of each unit of a build. This program takes the place of the compilers, runs them, and writes down what they used.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use crate::Failure;
use crate::usage::of_children;

/// The variable that names the file to write to. Where it is set, this program is a compiler.
pub const RECORD: &str = "QUINTAIN_BENCH_UNITS";

pub struct Unit {
    pub name: String,
    pub cpu: Duration,
}

impl Unit {
    pub fn is_own(&self) -> bool {
        self.name.starts_with("quintain")
    }
}

/// Has a build of cargo measured unit by unit.
pub fn record(cargo: &mut Command, file: &Path) -> io::Result<()> {
    let this = std::env::current_exe()?;
    cargo.env(RECORD, file).env("RUSTC_WRAPPER", &this).env("CC", &this);
    Ok(())
}

/// Runs the compiler in whose place this program was started.
pub fn run_unit(file: &OsStr) -> Result<ExitCode, Failure> {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    // Cargo names the compiler first, build scripts start this program as the compiler itself.
    let (mut command, name) = match words.split_first() {
        Some((rustc, rest)) if Path::new(rustc).file_stem() == Some(OsStr::new("rustc")) => {
            let mut command = Command::new(rustc);
            command.args(rest);
            (command, crate_name(rest))
        }
        _ => {
            let mut command = Command::new("cc");
            command.args(&words);
            let package = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
            (command, Some(format!("{package}, C code")))
        }
    };
    let status = command.status()?;
    if let Some(name) = name {
        // One write for each line, because units run concurrently.
        let line = format!("{} {name}\n", of_children()?.as_micros());
        let mut record = OpenOptions::new().create(true).append(true).open(file)?;
        record.write_all(line.as_bytes())?;
    }
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

fn crate_name(words: &[OsString]) -> Option<String> {
    let at = words.iter().position(|word| word == "--crate-name")?;
    let name = words.get(at + 1)?.to_str()?;
    // Cargo asks the compiler about itself under this name.
    (name != "___").then(|| name.to_owned())
}

/// What was recorded, the most expensive first. Units of one name, such as build scripts, count together.
pub fn read(file: &Path) -> io::Result<Vec<Unit>> {
    let text = fs::read_to_string(file)?;
    let mut sums: BTreeMap<&str, Duration> = BTreeMap::new();
    for (micros, name) in text.lines().filter_map(|line| line.split_once(' ')) {
        *sums.entry(name).or_default() += Duration::from_micros(micros.parse().unwrap_or(0));
    }
    let mut units: Vec<Unit> =
        sums.into_iter().map(|(name, cpu)| Unit { name: name.to_owned(), cpu }).collect();
    units.sort_by_key(|unit| std::cmp::Reverse(unit.cpu));
    Ok(units)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_one_name_count_together_and_the_most_expensive_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("units");
        fs::write(&file, "20 serde\n15 build_script_build\n10 build_script_build\n").unwrap();
        let units = read(&file).unwrap();
        let told: Vec<_> = units.iter().map(|unit| (&*unit.name, unit.cpu.as_micros())).collect();
        assert_eq!(told, [("build_script_build", 25), ("serde", 20)]);
    }

    #[test]
    fn the_name_of_a_unit_is_that_of_its_crate() {
        let name =
            |text: &str| crate_name(&text.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert_eq!(name("--crate-name serde --edition=2021"), Some("serde".into()));
        assert_eq!(name("-vV"), None);
        assert_eq!(name("- --crate-name ___ --print=cfg"), None);
    }
}
