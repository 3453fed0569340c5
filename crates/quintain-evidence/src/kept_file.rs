//! Files that a suite names and that a run may write: snapshots and reports. They must be in the suite's folder; the
//! writer ensures that no link leads out of it.

use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Error code for such a file outside of the folder.
pub const OUTSIDE: &str = "config::outside-folder";

/// A file in the folder of a suite.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct KeptFile {
    /// The folder of the suite.
    pub folder: PathBuf,
    /// As the suite writes it, relative to that folder.
    pub path: PathBuf,
}

impl KeptFile {
    pub fn new(folder: &Path, path: impl Into<PathBuf>) -> Self {
        // Collecting the components drops `./`.
        let path: PathBuf = path.into().components().collect();
        Self { folder: folder.to_owned(), path }
    }

    /// Whether the path stays in the folder, as far as its names show.
    pub fn is_inside(&self) -> bool {
        let below = self.path.strip_prefix(&self.folder).unwrap_or(&self.path);
        let mut depth = 0_usize;
        below.components().all(|part| match part {
            Component::Normal(_) => {
                depth += 1;
                true
            }
            Component::CurDir => true,
            Component::ParentDir => {
                let is_above = depth == 0;
                depth = depth.saturating_sub(1);
                !is_above
            }
            Component::RootDir | Component::Prefix(_) => false,
        }) && depth > 0
    }

    /// The folder and the path joined.
    pub fn full(&self) -> PathBuf {
        self.folder.join(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_in_the_folder_or_do_not() {
        let is_inside = |path: &str| KeptFile::new(Path::new("/suite"), path).is_inside();
        for path in ["a", "a/b.snap", "./a", "a/../b", "/suite/a"] {
            assert!(is_inside(path), "{path}");
        }
        for path in
            ["", ".", "..", "../a", "a/../../b", "/etc/passwd", "/suite", "/suite/../a", "a/.."]
        {
            assert!(!is_inside(path), "{path}");
        }
    }
}
