//! Detects changes in the files of a target between two checks.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Folders with more files are not watched, since a check must not take longer than a call.
const MAX_FILES: usize = 2_000;
const DEPTH: usize = 4;

/// Endings of files that programs create even while they only read: locks, database logs, compiled code.
const ENDINGS: [&str; 7] = ["-journal", "-shm", "-wal", ".lock", ".pid", ".pyc", "~"];

/// Detects whether a file changed.
#[derive(PartialEq)]
struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
}

/// The files below some folders at the last check.
pub(super) struct Files {
    folders: Vec<PathBuf>,
    known: Option<BTreeMap<PathBuf, Stamp>>,
}

impl Files {
    pub(super) fn of(folders: &[PathBuf]) -> Self {
        let known = seen(folders);
        Self { folders: folders.to_vec(), known }
    }

    /// The files that changed or appeared (`false`) or were deleted (`true`) since the last check. Empty if there are too
    /// many files.
    pub(super) fn look(&mut self) -> Vec<(PathBuf, bool)> {
        let Some(before) = self.known.take() else { return Vec::new() };
        let Some(now) = seen(&self.folders) else { return Vec::new() };
        let gone = before.keys().filter(|path| !now.contains_key(*path));
        let mut found: Vec<(PathBuf, bool)> = gone.map(|path| (path.clone(), true)).collect();
        let fresh = now.iter().filter(|(path, found)| before.get(*path) != Some(found));
        found.extend(fresh.map(|(path, _)| (path.clone(), false)));
        self.known = Some(now);
        found
    }
}

/// The files below some folders; `None` if there are too many.
fn seen(folders: &[PathBuf]) -> Option<BTreeMap<PathBuf, Stamp>> {
    let mut files = BTreeMap::new();
    for folder in folders {
        let walk = walkdir::WalkDir::new(folder).min_depth(1).max_depth(DEPTH).into_iter();
        let walk = walk.filter_entry(|entry| !is_own(entry.path()));
        for (count, entry) in walk.filter_map(Result::ok).enumerate() {
            if count > MAX_FILES {
                return None;
            }
            if let Some(found) = entry.metadata().ok().filter(Metadata::is_file) {
                let modified = found.modified().ok();
                files.insert(entry.into_path(), Stamp { length: found.len(), modified });
            }
        }
    }
    Some(files)
}

/// Whether a file is of a kind that programs create even while they only read.
fn is_own(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    name.starts_with('.')
        || matches!(&*name, "__pycache__" | "node_modules")
        || ENDINGS.iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_change_is_reported_once() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("old"), "x").unwrap();
        fs::write(at("same"), "x").unwrap();
        let mut files = Files::of(&[folder.path().to_owned()]);
        assert!(files.look().is_empty());
        fs::remove_file(at("old")).unwrap();
        fs::create_dir(at("deep")).unwrap();
        fs::write(at("deep/new"), "y").unwrap();
        fs::write(at(".hidden"), "y").unwrap();
        fs::write(at("data.db-wal"), "y").unwrap();
        assert_eq!(files.look(), [(at("old"), true), (at("deep/new"), false)]);
        fs::write(at("same"), "longer").unwrap();
        assert_eq!(files.look(), [(at("same"), false)]);
        assert!(files.look().is_empty());
    }

    #[test]
    fn too_many_files_are_not_watched() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..=MAX_FILES + 1 {
            fs::write(folder.path().join(number.to_string()), "").unwrap();
        }
        let mut files = Files::of(&[folder.path().to_owned()]);
        fs::write(folder.path().join("x"), "").unwrap();
        assert!(files.look().is_empty());
    }
}
