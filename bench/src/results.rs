//! `RESULTS.md`: a section for each part, which a run of that part overwrites.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use crate::Failure;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Section {
    Wire,
    Eval,
    Grade,
    Judge,
    Python,
    Store,
    Build,
}

impl Section {
    const ALL: [Self; 7] =
        [Self::Wire, Self::Eval, Self::Grade, Self::Judge, Self::Python, Self::Store, Self::Build];

    fn heading(self) -> &'static str {
        match self {
            Self::Wire => "## The client",
            Self::Eval => "## Suites",
            Self::Grade => "## Grading",
            Self::Judge => "## Judges",
            Self::Python => "## The Python package",
            Self::Store => "## Stored runs",
            Self::Build => "## The build",
        }
    }
}

/// Writes one section and keeps the others.
pub fn keep(section: Section, text: &str) -> Result<(), Failure> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("RESULTS.md");
    let old = std::fs::read_to_string(&file).unwrap_or_default();
    std::fs::write(file, replaced(&old, section, text))?;
    println!("\nwritten to bench/RESULTS.md");
    Ok(())
}

fn replaced(old: &str, section: Section, text: &str) -> String {
    let mut whole = String::from("# Benchmarks\n");
    for each in Section::ALL {
        let body = if each == section { Some(text) } else { body(old, each) };
        if let Some(body) = body {
            let _ = write!(whole, "\n{}\n\n{}\n", each.heading(), body.trim());
        }
    }
    whole
}

fn body(whole: &str, section: Section) -> Option<&str> {
    let (_, rest) = whole.split_once(&format!("\n{}\n", section.heading()))?;
    Some(rest.split_once("\n## ").map_or(rest, |(body, _)| body))
}

/// The goals and whether they are met, as a list.
#[derive(Default)]
pub struct Goals(pub String);

impl Goals {
    pub fn check(&mut self, met: bool, what: String) {
        let _ = writeln!(self.0, "- {}: {what}", if met { "met" } else { "**missed**" });
    }
}

/// A section that is printed as it grows: tables, and the goals below them.
#[derive(Default)]
pub struct Tables {
    text: String,
    pub goals: Goals,
    /// The table of the last row.
    table: &'static str,
}

impl Tables {
    pub fn say(&mut self, text: &str) {
        println!("{text}");
        let _ = writeln!(self.text, "{text}");
    }

    /// Adds a row, and before the first row of a table its head.
    pub fn row(&mut self, table: &'static str, line: &str) {
        if self.table != table {
            self.table = table;
            self.say(&format!("\n{table}"));
        }
        self.say(line);
    }

    pub fn finish(mut self, section: Section, is_kept: bool) -> Result<(), Failure> {
        let goals = std::mem::take(&mut self.goals.0);
        self.say(&format!("\n{}", goals.trim_end()));
        if is_kept { keep(section, &self.text) } else { Ok(()) }
    }
}

/// Date, machine and compiler, without which the numbers mean nothing.
pub fn machine() -> Result<String, Failure> {
    let said = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output();
        output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let date = said("date", &["-u", "+%F %H:%M UTC"])?;
    let system = said("uname", &["-srm"])?;
    let rustc = said("rustc", &["--version"])?;
    let cores = std::thread::available_parallelism()?;
    let processor = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    let processor = processor.unwrap_or_else(|| "unknown processor".into());
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or("?");
    Ok(format!("{date}; {cores} cores, {processor}, {system}, load {load}; {rustc}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_ran_alone_leaves_the_other_section() {
        let both = replaced(&replaced("", Section::Eval, "old eval"), Section::Wire, "wire\n");
        let again = replaced(&both, Section::Eval, "new eval");
        assert_eq!(both, "# Benchmarks\n\n## The client\n\nwire\n\n## Suites\n\nold eval\n");
        assert_eq!(again, both.replace("old", "new"));
    }
}
