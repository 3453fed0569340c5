//! The binary: reads the environment, runs one command, and turns its result into an exit code.

mod cli;
mod console;
mod context;
mod exit;
mod logging;

use std::process::ExitCode;

use context::Context;
use quintain_wire::redact::Redactor;

fn main() -> ExitCode {
    let context = Context::read();
    // Masks secrets in all output of this process, including errors of the command line and panics.
    let redactor = Redactor::default();
    exit::install_panic_hook(context.state_dir(), redactor.clone());
    match cli::parse(&context, &redactor) {
        Ok(cli) => cli::run(cli, context, redactor).into(),
        Err(exit) => exit.into(),
    }
}
