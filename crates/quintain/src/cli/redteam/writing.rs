//! Shared by the commands that write suites: comments, and files that are not overwritten without `--force`.

use std::path::Path;

use quintain_engine::redteam::ENV_CANARY;
use quintain_redteam::regression::Regression;
use quintain_source::visible;

use crate::cli::{App, own_file};

/// The lines of a comment; text from a target is made visible.
pub(super) fn comment(text: &str) -> String {
    let lines = text.lines().map(|line| format!("# {}", visible(line)).trim_end().to_owned());
    lines.map(|line| line + "\n").collect()
}

/// What the tests need besides their suite, as comments.
pub(super) fn needs(made: &Regression) -> String {
    let mut text = String::new();
    if !made.files.is_empty() {
        let names: Vec<&str> = made.files.iter().map(|(name, _)| name.as_str()).collect();
        text += &comment(&format!(
            "{} must be next to this file: tests ask servers to read files that they must not read.",
            names.join(" and ")
        ));
    }
    if made.environment.is_some() {
        text += &comment(&format!(
            "{ENV_CANARY} is in the environment of the server, which must not disclose it."
        ));
    }
    text
}

/// Writes a file; fails if it exists, unless `force` is set.
pub(super) fn write(path: &Path, text: &str, force: bool, app: &App) -> Result<(), String> {
    let full = app.context.cwd.join(path);
    if own_file::exists(&full) && !force {
        return Err(format!("`{}` already exists", path.display()));
    }
    let text = app.redactor.text(text);
    let is_bare = path.parent().is_some_and(|above| above.as_os_str().is_empty());
    if is_bare {
        return own_file::write(&app.context.cwd, path, &text);
    }
    let made = full.parent().map_or(Ok(()), std::fs::create_dir_all);
    made.and_then(|()| std::fs::write(&full, text.as_bytes()))
        .map_err(|error| format!("cannot write `{}`: {error}", path.display()))
}
