//! The folder in which the demonstration leaves its suites and reports, and the suites as they are written there.

use std::path::{Path, PathBuf};

use crate::cli::{Desk, own_file};

/// Below the working directory.
const FOLDER: &str = "quintain-demo";
/// What stands for this program in the suites that ship with it.
const COMMAND: &str = "command: quintain\n";

pub(super) fn path(name: &str) -> PathBuf {
    Path::new(FOLDER).join(name)
}

/// A suite whose target is this program, wherever it is installed, so that the file works as it stands.
pub(super) fn suite(shipped: &str, desk: &Desk) -> String {
    let program = desk.context.program_for_files().display().to_string();
    // JSON strings are YAML, and a path can contain whatever YAML reads as something else.
    shipped.replace(COMMAND, &format!("command: {}\n", serde_json::Value::from(program)))
}

/// Writes a suite, so that it can be changed and run again. A folder that cannot be written to only costs the file.
pub(super) fn write(name: &str, text: &str, desk: &Desk) {
    let path = path(name);
    desk.files.wrote(&desk.context.cwd.join(&path));
    if let Err(why) = own_file::write(&desk.context.cwd, &path, text) {
        desk.console.warn(&why);
    }
}
