//! Folders that nobody but this user can look into or write to.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What group and others may do, of the mode of a folder.
#[cfg(unix)]
const OTHERS: u32 = 0o077;

/// Where journals are kept: in the state directory, or in the folder for temporary files where the state directory
/// cannot be written. A journal says what to delete, so it must be out of the reach of other users.
pub(super) fn journal_folders(state_dir: Option<&Path>) -> Vec<PathBuf> {
    let own = state_dir.map(|folder| folder.join("planted"));
    own.into_iter().chain([std::env::temp_dir().join(temporary_name())]).collect()
}

#[cfg(unix)]
fn temporary_name() -> String {
    format!("quintain-{}", rustix::process::geteuid().as_raw())
}

#[cfg(not(unix))]
fn temporary_name() -> String {
    "quintain-planted".to_owned()
}

/// Creates a folder with access for this user alone.
///
/// # Errors
/// When there is something of this name already, or the folder cannot be created.
pub fn create_private_folder(path: &Path) -> io::Result<()> {
    private_builder().create(path)
}

fn private_builder() -> fs::DirBuilder {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// Makes sure of a private folder, which may be there already.
pub(super) fn ensure(path: &Path) -> io::Result<()> {
    if let Some(above) = path.parent() {
        private_builder().recursive(true).create(above)?;
    }
    match create_private_folder(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ if is_private(path) => Ok(()),
        _ => Err(io::Error::other(format!(
            "{} is not a folder that only you can use",
            path.display()
        ))),
    }
}

/// Whether a folder is no link, belongs to this user, and gives access to nobody else.
pub fn is_private(path: &Path) -> bool {
    let Ok(found) = fs::symlink_metadata(path) else { return false };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let is_mine = found.uid() == rustix::process::geteuid().as_raw();
        found.is_dir() && is_mine && found.mode() & OTHERS == 0
    }
    #[cfg(not(unix))]
    found.is_dir()
}
