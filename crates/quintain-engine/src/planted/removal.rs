//! Removes what a run planted, and nothing else: a name must contain a random mark of the run. Removes links without
//! following them.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use walkdir::WalkDir;

use super::Plantings;
use crate::confined::Folder;

/// Large folders to skip. No attempt asks a target to write there.
const SKIPPED_FOLDERS: [&str; 4] = [".git", ".venv", "node_modules", "target"];
/// Planted folders are not nested deeper.
const MAX_DEPTH: usize = 64;
/// Maximum number of entries to check in a watched folder.
const MAX_ENTRIES: usize = 20_000;

/// The result of a removal.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Removal {
    pub removed: Vec<PathBuf>,
    /// Paths that could not be removed, and why.
    pub not_removed: Vec<(PathBuf, String)>,
}

impl Removal {
    pub(super) fn extend(&mut self, other: Self) {
        self.removed.extend(other.removed);
        self.not_removed.extend(other.not_removed);
    }

    fn note(&mut self, path: &Path, done: io::Result<()>) {
        match done {
            Ok(()) => self.removed.push(path.to_owned()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => self.not_removed.push((path.to_owned(), error.to_string())),
        }
    }
}

/// A planted path that still exists, and how to remove it.
enum Leftover {
    /// Its name is random, so it is removed with everything below it.
    Marked(PathBuf),
    /// Removed if it is empty.
    Folder(PathBuf),
}

impl Plantings {
    /// Removes every path with a mark, then the empty folders that the run created. Never touches the state directory.
    pub(super) fn remove(&self, state_dir: Option<&Path>) -> Removal {
        let mut removal = Removal::default();
        for found in self.found(state_dir) {
            match found {
                Leftover::Marked(path) => {
                    let done = remove_marked(&path, self.started);
                    let is_done = done.is_ok();
                    removal.note(&path, done);
                    let mut above = path.parent().filter(|_| is_done);
                    while let Some(folder) = above.filter(|folder| self.above.contains(*folder)) {
                        above = fs::remove_dir(folder).ok().and_then(|()| folder.parent());
                    }
                }
                Leftover::Folder(path) => match fs::remove_dir(&path) {
                    // It contains files that the run did not plant, so it stays.
                    Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
                    done => removal.note(&path, done),
                },
            }
        }
        removal
    }

    /// What a removal would try to remove.
    pub(super) fn leftovers(&self, state_dir: Option<&Path>) -> Vec<PathBuf> {
        let paths = self.found(state_dir).into_iter().map(|found| match found {
            Leftover::Marked(path) | Leftover::Folder(path) => path,
        });
        paths.collect()
    }

    fn found(&self, state_dir: Option<&Path>) -> Vec<Leftover> {
        let protected = state_dir.and_then(|folder| folder.canonicalize().ok());
        let marked = self.planted.iter().rev().filter(|path| self.carries_mark(path)).cloned();
        let mut seen: BTreeSet<PathBuf> = BTreeSet::new();
        let below = self
            .watched
            .iter()
            .flat_map(|(folder, depth)| self.marked_below(folder, *depth, protected.as_deref()));
        let named = self.named.iter().rev().cloned();
        let marked = marked.chain(below).chain(named).filter(|path| seen.insert(path.clone()));
        let marked: Vec<PathBuf> = marked.collect();
        // Removing a folder also removes what is below it.
        let is_outermost =
            |path: &PathBuf| !path.ancestors().skip(1).any(|above| seen.contains(above));
        let marked: Vec<Leftover> =
            marked.into_iter().filter(is_outermost).map(Leftover::Marked).collect();
        let folders = self.folders.iter().rev().cloned().map(Leftover::Folder);
        let goes = |found: &Leftover| {
            let (Leftover::Marked(path) | Leftover::Folder(path)) = found;
            let overlaps =
                |protected: &PathBuf| path.starts_with(protected) || protected.starts_with(path);
            !protected.as_ref().is_some_and(overlaps) && fs::symlink_metadata(path).is_ok()
        };
        marked.into_iter().chain(folders).filter(goes).collect()
    }

    /// The entries with a mark in a folder, without those below another marked entry.
    fn marked_below(&self, folder: &Path, depth: usize, protected: Option<&Path>) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let walk = WalkDir::new(folder).min_depth(1).max_depth(depth).follow_root_links(false);
        let mut entries = walk.same_file_system(true).into_iter();
        for _ in 0..MAX_ENTRIES {
            let Some(entry) = entries.next() else { break };
            let Ok(entry) = entry else { continue };
            let is_marked = self.carries_mark(entry.path());
            let is_heavy = SKIPPED_FOLDERS.iter().any(|name| entry.file_name() == *name);
            let is_closed = is_marked || is_heavy || protected == Some(entry.path());
            if is_closed && entry.file_type().is_dir() {
                entries.skip_current_dir();
            }
            if is_marked {
                found.push(entry.into_path());
            }
        }
        found
    }
}

/// Removes a planted file, link or folder. Keeps anything inside that is older than the run, since it was moved there,
/// and the folders that contain it.
pub(super) fn remove_marked(path: &Path, started: Option<SystemTime>) -> io::Result<()> {
    let (Some(above), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
    let folder = Folder::open(above).map_err(io::Error::other)?;
    remove_in(&folder, Path::new(name), started, 0)
}

fn remove_in(
    folder: &Folder,
    name: &Path,
    started: Option<SystemTime>,
    depth: usize,
) -> io::Result<()> {
    let path = folder.path().join(name);
    let found = fs::symlink_metadata(&path)?;
    // Prefer the creation time, which a move does not change.
    let date = found.created().or_else(|_| found.modified())?;
    if started.is_none_or(|started| date < started) {
        return Err(io::Error::other("it is older than the run"));
    }
    let removed = if found.is_dir() {
        if depth >= MAX_DEPTH {
            return Err(io::Error::other("it is nested too deeply"));
        }
        let inner = folder.folder(name).map_err(io::Error::other)?;
        let mut kept = Ok(());
        for name in inner.names().map_err(io::Error::other)? {
            let done = remove_in(&inner, Path::new(&name), started, depth + 1);
            kept = kept.and(done);
        }
        kept?;
        folder.remove_folder(name, None)
    } else {
        folder.remove_file(name, None)
    };
    removed.map(drop).map_err(io::Error::other)
}
