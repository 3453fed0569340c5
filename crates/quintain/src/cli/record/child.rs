//! Starts the recorded command so that it never outlives the recorder, even one that is killed.
//!
//! On Linux, the system can end a process with its parent, but a process has to ask for that itself. So this program starts
//! itself once more, asks, and then becomes the command: same process, same pipes.

use std::ffi::{OsStr, OsString};
use std::process::Command;

use super::App;
use crate::exit::Exit;

/// The command, by way of this program where the system can end it with its parent.
pub(super) fn command(program: &OsStr, words: &[OsString], app: &App) -> Command {
    let own = &app.context.program;
    if !cfg!(target_os = "linux") || !own.is_file() {
        let mut command = Command::new(program);
        command.args(words);
        return command;
    }
    let mut command = Command::new(own);
    let parent = std::process::id().to_string();
    command.args(["record", "--child-of", &parent, "--"]).arg(program).args(words);
    command
}

/// Replaces this process by the command. Returns only if that fails.
#[cfg(target_os = "linux")]
pub(super) fn become_command(words: &[OsString], parent: u32, app: &App) -> Exit {
    use std::os::unix::process::CommandExt as _;

    use rustix::process::{Signal, getppid, set_parent_process_death_signal};

    let Some((program, words)) = words.split_first() else { return Exit::Usage };
    // If this fails, the command still ends when its input is closed.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    let is_orphan = getppid().is_none_or(|pid| pid.as_raw_nonzero().get().unsigned_abs() != parent);
    if is_orphan {
        // The parent ended before this process could ask.
        return Exit::Unreachable;
    }
    let error = Command::new(program).args(words).exec();
    app.console.error(&format!("cannot start `{}`: {error}", program.to_string_lossy()), None);
    Exit::Unreachable
}

#[cfg(not(target_os = "linux"))]
pub(super) fn become_command(_: &[OsString], _: u32, app: &App) -> Exit {
    app.console.error("`--child-of` needs Linux", None);
    Exit::Usage
}
