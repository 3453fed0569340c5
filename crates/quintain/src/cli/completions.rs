//! `quintain completions`: tab completion for a shell.

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::{App, Cli};
use crate::exit::Exit;

/// Print tab completions for a shell
///
/// Example: quintain completions bash > ~/.local/share/bash-completion/completions/quintain
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Shell to complete for
    shell: Shell,
}

pub(super) fn run(args: &Args, app: &App) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "quintain", &mut script);
    app.console.out(String::from_utf8_lossy(&script).trim_end());
    Exit::Passed
}
