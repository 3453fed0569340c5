//! Tracks what a run plants on the user's machine and removes it: at the end of the run, in the panic hook, or at the
//! next start if the run was killed. Removes only what is younger than the run and has a mark of the run in its name,
//! files with a random name that an attempt chose, and empty folders that the run created. Knows nothing of attacks.

mod journal;
mod private;
mod removal;

pub use journal::Journal;
pub use private::{create_private_folder, is_private};
pub use removal::Removal;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use quintain_redteam::attack::Nonce;
use serde::{Deserialize, Serialize};

/// One line of the journal. Paths that are not Unicode cannot be recorded, so nothing is planted there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Record {
    /// Start of the run, in milliseconds since 1970. Older files are not from the run, whatever their names.
    Started(u64),
    /// A mark that file names of the run may contain from now on.
    Mark(String),
    /// A file, link or folder whose name contains a mark.
    Planted(PathBuf),
    /// A file or folder that did not exist when an attempt named it. Its name contains random characters that the attempt
    /// chose.
    Named(PathBuf),
    /// A folder that the run created, without a mark in its name. Removed only if it is empty.
    Folder(PathBuf),
    /// A parent folder that did not exist either. Removed after its `Named` content if nothing else is in it.
    Above(PathBuf),
    /// A folder in which a target may create files with a mark in the name, and the depth to search.
    Watched { path: PathBuf, depth: usize },
}

/// Everything that one run has planted so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Plantings {
    /// If unknown, nothing is removed.
    started: Option<SystemTime>,
    marks: HashSet<String>,
    planted: Vec<PathBuf>,
    named: Vec<PathBuf>,
    folders: Vec<PathBuf>,
    above: HashSet<PathBuf>,
    watched: Vec<(PathBuf, usize)>,
}

impl Plantings {
    fn add(&mut self, record: Record) {
        match record {
            Record::Started(millis) => {
                self.started = Some(UNIX_EPOCH + Duration::from_millis(millis));
            }
            Record::Mark(mark) => {
                self.marks.insert(mark);
            }
            Record::Planted(path) => self.planted.push(path),
            Record::Named(path) => self.named.push(path),
            Record::Folder(path) => self.folders.push(path),
            Record::Above(path) => {
                self.above.insert(path);
            }
            Record::Watched { path, depth } => self.watched.push((path, depth)),
        }
    }

    /// Whether the name of a path contains a mark of this run. Ignores case, since targets may change it.
    fn carries_mark(&self, path: &Path) -> bool {
        let Some(name) = path.file_name() else { return false };
        let name = name.to_string_lossy().to_ascii_lowercase();
        Nonce::candidates(&name).any(|candidate| self.marks.contains(candidate))
    }
}

/// Planted files of one run that still exist.
#[derive(Debug)]
pub struct Leftover {
    /// The run is still active and removes them at its end.
    pub is_running: bool,
    pub paths: Vec<PathBuf>,
}

/// Lists the planted files of this user's runs that still exist.
pub fn leftovers(state_dir: Option<&Path>) -> Vec<Leftover> {
    let journals = journals(state_dir);
    journals.iter().filter_map(|path| journal::look(path, state_dir)).collect()
}

/// Removes what killed runs of this user left behind. Skips active runs, which keep their journals locked.
pub fn remove_leftovers(state_dir: Option<&Path>) -> Removal {
    let mut all = Removal::default();
    for path in journals(state_dir) {
        if let Some(removal) = journal::remove_abandoned(&path, state_dir) {
            all.extend(removal);
        }
    }
    all
}

/// Removes what this process planted. For a process that is about to end without unwinding.
pub fn remove_own(state_dir: Option<&Path>) {
    for path in journals(state_dir) {
        if journal::is_of_this_process(&path) {
            journal::remove_all(&path, state_dir);
        }
    }
}

/// The journals of active and killed runs.
fn journals(state_dir: Option<&Path>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in private::journal_folders(state_dir) {
        if !is_private(&folder) {
            continue;
        }
        let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
        found.extend(entries.map(|entry| entry.path()).filter(|path| journal::is_journal(path)));
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests;
