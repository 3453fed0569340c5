//! The folder where the demo writes its suites and reports, and the suites as it writes them.

use std::path::{Path, PathBuf};

use crate::cli::{App, own_file};

/// Relative to the working directory.
const FOLDER: &str = "quintain-demo";
/// The line that names this program in the built-in suites.
const COMMAND: &str = "command: quintain\n";

pub(super) fn path(name: &str) -> PathBuf {
    Path::new(FOLDER).join(name)
}

/// A suite with the path of this program as the command of its target, so that the file works as it is.
pub(super) fn suite(shipped: &str, app: &App) -> String {
    let program = app.context.program_for_files().display().to_string();
    // A JSON string is valid YAML, and quotes characters in the path that are special in YAML.
    shipped.replace(COMMAND, &format!("command: {}\n", serde_json::Value::from(program)))
}

/// Writes a suite, so that users can change and run it. The demo continues if the folder is not writable.
pub(super) fn write(name: &str, text: &str, app: &App) {
    let path = path(name);
    app.files.wrote(&app.context.cwd.join(&path));
    if let Err(why) = own_file::write(&app.context.cwd, &path, text) {
        app.console.warn(&why);
    }
}
