//! The command line as a library, for the binary and for the Python package: both run the same commands, and the package
//! starts jobs in the same environment.

mod cli;
mod console;
mod context;
mod embedded;
mod exit;
mod logging;

pub use context::Invocation;
pub use embedded::Embedded;

use context::Context;
use quintain_wire::redact::Redactor;

/// Runs one command; returns its exit code. A panic ends the process with the exit code for bugs.
pub fn run_command(invocation: Invocation) -> u8 {
    let context = Context::read(invocation);
    // Masks secrets in all output of this process, including errors of the command line and panics.
    let redactor = Redactor::default();
    exit::install_panic_hook(context.state_dir(), redactor.clone());
    let exit = match cli::parse(&context, &redactor) {
        Ok(cli) => cli::run(cli, context, redactor),
        Err(exit) => exit,
    };
    exit.code()
}
