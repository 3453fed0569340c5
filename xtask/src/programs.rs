//! Programs of the system that tests use, installed by name where that is possible.

use std::process::{Command, Stdio};

use crate::Result;

/// Watches which sockets a run opens.
pub(crate) const STRACE: &str = "strace";
/// Runs the code of suites that are written in it.
pub(crate) const RUBY: &str = "ruby";

/// Makes sure that a program can be run; on Debian and its kin, as root, it is installed if need be.
pub(crate) fn ensure(program: &str) -> Result<()> {
    if runs(program) {
        return Ok(());
    }
    println!("installing {program}");
    let apt = |words: &[&str]| {
        let done = Command::new("apt-get").args(words).stdin(Stdio::null()).status();
        done.is_ok_and(|status| status.success())
    };
    // The list of packages may be old or missing; a fresh one is worth a second try.
    let install = ["install", "-y", "--no-install-recommends", program];
    if apt(&install) || (apt(&["update"]) && apt(&install)) || runs(program) {
        return Ok(());
    }
    Err(format!("`{program}` is missing and could not be installed with apt-get"))
}

fn runs(program: &str) -> bool {
    let quiet =
        Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    quiet.is_ok_and(|status| status.success())
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
