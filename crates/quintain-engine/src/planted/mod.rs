//! What a run plants on the user's machine, and how it is removed again: by the run itself, by the panic hook, or
//! by the next start if the run was killed. Only what is younger than the run and carries a mark of the run is ever removed, what is
//! named exactly as an attempt was at random, and folders of ours that are empty. Knows nothing of attacks.

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

/// One line of the journal. Paths that are not Unicode cannot be written, so nothing is planted there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Record {
    /// When the run began, in milliseconds since 1970. What is older is not ours, whatever it is called now.
    Started(u64),
    /// A mark that names of files may carry from now on.
    Mark(String),
    /// A file, link or folder whose name carries a mark.
    Planted(PathBuf),
    /// A file or folder that was not there when an attempt named it, and whose name contains what the attempt drew
    /// at random.
    Named(PathBuf),
    /// A folder of ours whose name carries no mark; it goes only if it is empty.
    Folder(PathBuf),
    /// A folder that was not there either; it goes if something named was in it and nothing else is.
    Above(PathBuf),
    /// A folder in which a target may create things whose names carry a mark, and how deep.
    Watched { path: PathBuf, depth: usize },
}

/// Everything that one run has planted so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Plantings {
    /// Nothing is removed if it is not known.
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

    /// Whether the name of a path carries a mark of this run. Targets change letter case.
    fn carries_mark(&self, path: &Path) -> bool {
        let Some(name) = path.file_name() else { return false };
        let name = name.to_string_lossy().to_ascii_lowercase();
        Nonce::candidates(&name).any(|candidate| self.marks.contains(candidate))
    }
}

/// What one run planted and is still there.
#[derive(Debug)]
pub struct Leftover {
    pub journal: PathBuf,
    /// The run goes on and removes it itself.
    pub is_running: bool,
    pub paths: Vec<PathBuf>,
}

/// Lists what runs of this user planted and is still there.
pub fn leftovers(state_dir: Option<&Path>) -> Vec<Leftover> {
    let journals = journals(state_dir);
    journals.iter().filter_map(|path| journal::look(path, state_dir)).collect()
}

/// Removes what runs of this user left behind that were killed. Runs that still go on hold a lock on their
/// journal and are left alone.
pub fn remove_leftovers(state_dir: Option<&Path>) -> Removal {
    let mut all = Removal::default();
    for path in journals(state_dir) {
        if let Some(removal) = journal::remove_abandoned(&path, state_dir) {
            all.extend(removal);
        }
    }
    all
}

/// Removes what this process planted, when it is about to end without unwinding.
pub fn remove_own(state_dir: Option<&Path>) {
    for path in journals(state_dir) {
        if journal::is_of_this_process(&path) {
            journal::remove_all(&path, state_dir);
        }
    }
}

/// The journals of runs that have not been cleaned up: those that go on, and those that were killed.
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
