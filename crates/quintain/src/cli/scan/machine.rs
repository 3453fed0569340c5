//! What the checks may read on this machine: programs and permissions.

use std::path::{Path, PathBuf};

use quintain_scan::launch_checks::Machine;

use crate::context::Context;

pub(super) struct LocalMachine<'a> {
    pub(super) context: &'a Context,
}

impl Machine for LocalMachine<'_> {
    fn program(&self, name: &str) -> Option<PathBuf> {
        let paths = self.context.env.get("PATH")?;
        std::env::split_paths(paths).map(|folder| folder.join(name)).find(|path| path.is_file())
    }

    fn open_to_all(&self, path: &Path) -> Option<PathBuf> {
        if is_open(path) {
            return Some(path.to_owned());
        }
        let real = path.canonicalize().ok()?;
        real.ancestors().find(|path| is_open(path)).map(Path::to_owned)
    }
}

/// Whether all users may write it. In a sticky folder, users cannot replace files of other users.
#[cfg(unix)]
fn is_open(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;

    std::fs::metadata(path).is_ok_and(|found| {
        let mode = found.permissions().mode();
        let sticky = found.is_dir() && mode & 0o1000 != 0;
        // Devices and pipes are often writable for all users.
        (found.is_file() || found.is_dir()) && mode & 0o002 != 0 && !sticky
    })
}

#[cfg(not(unix))]
fn is_open(_: &Path) -> bool {
    false
}
