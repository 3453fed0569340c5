//! The binary: reads the surroundings, runs one command, turns its outcome into an exit code.

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
    // What must not be shown by this process, be it an error of the command line or a panic.
    let redactor = Redactor::default();
    exit::install_panic_hook(context.state_dir(), redactor.clone());
    match cli::parse(&context, &redactor) {
        Ok(cli) => cli::run(cli, context, redactor).into(),
        Err(exit) => exit.into(),
    }
}
