//! Files that only their owner can read.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::random::random_id;

/// The folder of the server's keys in the state folder.
pub fn folder_in(state: &Path) -> PathBuf {
    state.join("serve")
}

/// Replaces a file in one step. Readers see the old or the new contents.
pub(crate) fn write(path: &Path, contents: &[u8]) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700))?;
        }
    }
    let new = path.with_extension(format!("{}.new", random_id()));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    let written = options.open(&new).and_then(|mut file| {
        file.write_all(contents)?;
        file.sync_all()
    });
    let done = written.and_then(|()| std::fs::rename(&new, path));
    if done.is_err() {
        let _ = std::fs::remove_file(&new);
    }
    done
}
