//! The files that the user names for output. None of them may be a file that the same command reads: opening it would
//! empty the input.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::App;
use super::suite::{CliError, cli_error};

/// Links that a path may lead through before it counts as a loop.
const MAX_LINKS: usize = 40;

/// Refuses outputs that are the same file as an input that was recorded in `app.files`, as the store of runs, or as
/// another output. Called before the first of them is opened.
pub(super) fn check<'p>(
    outputs: impl IntoIterator<Item = &'p Path>,
    app: &App,
) -> Result<(), CliError> {
    let mut taken: Vec<(Identity, &Path)> = Vec::new();
    let mut inputs: Option<Vec<Identity>> = None;
    for output in outputs {
        let Some(identity) = Identity::of(&app.context.cwd.join(output)) else { continue };
        let shown = output.display();
        let inputs = inputs.get_or_insert_with(|| identities(app));
        let mistake = if inputs.contains(&identity) {
            Some(format!("`{shown}` is a file that this command reads, and would be overwritten"))
        } else if taken.iter().any(|(other, _)| *other == identity) {
            Some(format!("`{shown}` is named for two outputs"))
        } else {
            None
        };
        if let Some(what) = mistake {
            return Err(cli_error(what, Some("choose another name for the output".to_owned())));
        }
        taken.push((identity, output));
    }
    Ok(())
}

/// Creates or overwrites a file that the user names, unless it is an input.
pub(super) fn create(path: &Path, app: &App) -> Result<File, CliError> {
    check([path], app)?;
    let full = app.context.cwd.join(path);
    let made = full.parent().map_or(Ok(()), std::fs::create_dir_all);
    made.and_then(|()| File::create(&full)).map_err(|error| not_written(path, &error))
}

/// Writes a file that the user names, unless it is an input.
pub(super) fn write(path: &Path, text: &str, app: &App) -> Result<(), CliError> {
    let written = io::Write::write_all(&mut create(path, app)?, text.as_bytes());
    written.map_err(|error| not_written(path, &error))
}

fn not_written(path: &Path, error: &io::Error) -> CliError {
    cli_error(format!("cannot write `{}`: {error}", path.display()), None)
}

fn identities(app: &App) -> Vec<Identity> {
    let store = app.context.state_dir().map(|folder| folder.join("runs.db"));
    app.files.inputs().iter().chain(&store).filter_map(|path| Identity::of(path)).collect()
}

/// What makes two paths the same file: the file itself, or the place where it would be created.
#[derive(PartialEq, Eq)]
enum Identity {
    #[cfg(unix)]
    File {
        device: u64,
        inode: u64,
    },
    Path(PathBuf),
}

impl Identity {
    /// None for what is not overwritten: a terminal, a pipe, a device.
    fn of(path: &Path) -> Option<Self> {
        match std::fs::metadata(path) {
            Ok(found) if !found.is_file() => None,
            #[cfg(unix)]
            Ok(found) => {
                use std::os::unix::fs::MetadataExt as _;
                Some(Self::File { device: found.dev(), inode: found.ino() })
            }
            _ => Some(Self::Path(destination(path))),
        }
    }
}

/// The path of a file that may not exist yet, without links.
fn destination(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(target) = std::fs::read_link(&path) else { break };
        path = path.parent().map_or_else(|| target.clone(), |folder| folder.join(&target));
    }
    let existing = path.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
    match existing {
        Some((above, whole)) => whole.join(path.strip_prefix(above).unwrap_or(&path)),
        None => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_has_one_identity_by_any_path() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        std::fs::write(path("a"), "a").unwrap();
        std::fs::write(path("b"), "a").unwrap();
        std::fs::create_dir(path("sub")).unwrap();
        let same = |one: &str, other: &str| Identity::of(&path(one)) == Identity::of(&path(other));
        assert!(same("a", "sub/../a") && same("new", "sub/../new"));
        assert!(!same("a", "b") && !same("new", "other") && !same("a", "new"));
        assert!(Identity::of(&path("sub")).is_none(), "a folder is not overwritten");
        #[cfg(unix)]
        {
            use std::os::unix::fs::symlink;
            std::fs::hard_link(path("a"), path("hard")).unwrap();
            symlink("a", path("soft")).unwrap();
            symlink("new", path("dangling")).unwrap();
            symlink(".", path("folder")).unwrap();
            symlink("loop", path("loop")).unwrap();
            assert!(same("a", "hard") && same("a", "soft") && same("a", "folder/a"));
            assert!(same("new", "dangling") && same("new", "folder/new"));
            assert!(!same("a", "loop"));
            assert!(Identity::of(Path::new("/dev/null")).is_none());
        }
    }
}
