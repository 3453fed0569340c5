//! The binary: runs one command of the library and ends with its exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    quintain::run_command(quintain::Invocation::of_process()).into()
}
