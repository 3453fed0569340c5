//! Programs of the system that tests use, installed by name where that is possible.

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::Result;

/// A program, by the name of its package.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    is_there: fn(&str) -> bool,
}

/// Those that `cargo xtask peers` provides.
pub(crate) const ALL: [Program; 3] = [
    // Watches which sockets a run opens.
    Program { name: "strace", is_there: runs },
    // Runs the code of suites that are written in it.
    Program { name: "ruby", is_there: runs },
    // Tries the statements of the store.
    Program { name: "postgresql", is_there: |_| has_postgresql() },
];

impl Program {
    /// Makes sure that it can be run; on Debian and its kin, as root, it is installed if need be.
    pub(crate) fn ensure(&self) -> Result<()> {
        let Self { name, is_there } = self;
        if is_there(name) {
            return Ok(());
        }
        println!("installing {name}");
        let apt = |words: &[&str]| {
            let done = Command::new("apt-get").args(words).stdin(Stdio::null()).status();
            done.is_ok_and(|status| status.success())
        };
        // The list of packages may be old or missing; a fresh one is worth a second try.
        let install = ["install", "-y", "--no-install-recommends", name];
        if apt(&install) || (apt(&["update"]) && apt(&install)) || is_there(name) {
            return Ok(());
        }
        Err(format!("`{name}` is missing and could not be installed with apt-get"))
    }
}

fn runs(program: &str) -> bool {
    let quiet =
        Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    quiet.is_ok_and(|status| status.success())
}

/// Whether the test of the store finds a server to start. Debian keeps one folder per version outside the search path.
fn has_postgresql() -> bool {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let path = env::var_os("PATH").unwrap_or_default();
    let has = |folder: &Path| ["createdb", "initdb"].iter().all(|name| folder.join(name).is_file());
    let mut folders =
        env::split_paths(&path).chain(versions.map(|version| version.path().join("bin")));
    folders.any(|folder| has(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_there_is_not_installed_again() {
        assert!(runs("rustc"));
        assert!(!runs("no-such-program-anywhere"));
    }
}
