//! The binary: reads the surroundings, runs one command, turns its outcome into an exit code.

mod cli;
mod console;
mod context;
mod exit;
mod logging;

use std::process::ExitCode;

use context::Context;

fn main() -> ExitCode {
    let context = Context::read();
    exit::install_panic_hook(context.state_dir());
    match cli::parse(&context) {
        Ok(cli) => cli::run(cli, context).into(),
        Err(exit) => exit.into(),
    }
}
