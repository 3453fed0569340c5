//! Folders that only this user can read and write.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The permission bits of group and others.
#[cfg(unix)]
const OTHERS: u32 = 0o077;

/// Where journals are stored: in the state directory, or in the temporary directory if that is not writable. A journal
/// lists files to delete, so other users must not be able to write it.
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

/// Creates a folder that only this user can access.
///
/// # Errors
/// When the name already exists or the folder cannot be created.
pub fn create_private_folder(path: &Path) -> io::Result<()> {
    private_builder().create(path)
}

fn private_builder() -> fs::DirBuilder {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// Creates a private folder, or checks that the existing one is private.
pub(super) fn ensure(path: &Path) -> io::Result<()> {
    if let Some(above) = path.parent() {
        private_builder().recursive(true).create(above)?;
    }
    match create_private_folder(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ if is_private(path) => Ok(()),
        _ => Err(io::Error::other(format!(
            "{} is not a folder that only you can access",
            path.display()
        ))),
    }
}

/// Whether a path is a folder, not a link, that belongs to this user and that only this user can access.
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
