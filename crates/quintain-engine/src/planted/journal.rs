//! The journal of one run: records every mark and path before anything is planted. The run keeps a lock on it, so that
//! a later start can distinguish a running process from a killed one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::private::{self, journal_folders};
use super::removal::{Removal, remove_marked};
use super::{Leftover, Plantings, Record};

const ENDING: &str = "jsonl";
/// A larger journal is not from Quintain.
const MAX_SIZE: u64 = 64 << 20;

/// The journal of a current run.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    state_dir: Option<PathBuf>,
    plantings: Plantings,
}

impl Journal {
    /// Starts a journal. `name` must be unique in this process.
    ///
    /// # Errors
    /// When no folder is writable. Then nothing may be planted.
    pub fn create(state_dir: Option<&Path>, name: &str) -> io::Result<Self> {
        let mut refused = io::Error::from(io::ErrorKind::NotFound);
        for folder in journal_folders(state_dir) {
            match Self::create_in(&folder, name) {
                Ok((file, path)) => {
                    let state_dir = state_dir.map(Path::to_owned);
                    let plantings = Plantings::default();
                    let mut journal = Self { file, path, state_dir, plantings };
                    journal.write(Record::Started(now()))?;
                    return Ok(journal);
                }
                Err(error) => refused = error,
            }
        }
        Err(refused)
    }

    fn create_in(folder: &Path, name: &str) -> io::Result<(File, PathBuf)> {
        private::ensure(folder)?;
        let path = folder.join(format!("{}-{name}.{ENDING}", std::process::id()));
        // Rename after locking: another process that starts in between would take the journal for abandoned.
        let unlocked = path.with_extension("new");
        let mut options = OpenOptions::new();
        options.append(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&unlocked)?;
        file.lock()?;
        fs::rename(&unlocked, &path)?;
        Ok((file, path))
    }

    pub(crate) fn mark(&mut self, mark: &str) -> io::Result<()> {
        if self.plantings.marks.contains(mark) {
            return Ok(());
        }
        self.write(Record::Mark(mark.to_owned()))
    }

    pub(crate) fn planted(&mut self, path: &Path) -> io::Result<()> {
        if !self.plantings.carries_mark(path) {
            return Err(io::Error::other(format!(
                "the name of {} contains no mark",
                path.display()
            )));
        }
        self.write(Record::Planted(path.to_owned()))
    }

    /// Flushes the journal to disk, so that it lists every planted file even after a power failure.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    pub(crate) fn named(&mut self, path: &Path) -> io::Result<()> {
        self.write(Record::Named(path.to_owned()))
    }

    pub(crate) fn folder(&mut self, path: &Path) -> io::Result<()> {
        self.write(Record::Folder(path.to_owned()))
    }

    pub(crate) fn above(&mut self, path: &Path) -> io::Result<()> {
        self.write(Record::Above(path.to_owned()))
    }

    pub(crate) fn watched(&mut self, path: &Path, depth: usize) -> io::Result<()> {
        self.write(Record::Watched { path: path.to_owned(), depth })
    }

    pub(crate) fn watches(&self) -> impl Iterator<Item = &Path> {
        self.plantings.watched.iter().map(|(path, _)| path.as_path())
    }

    pub(crate) fn carries_mark(&self, path: &Path) -> bool {
        self.plantings.carries_mark(path)
    }

    /// Removes a planted file that is no longer needed.
    pub(crate) fn remove(&self, path: &Path) -> io::Result<()> {
        remove_marked(path, self.plantings.started)
    }

    fn write(&mut self, record: Record) -> io::Result<()> {
        let mut line = serde_json::to_vec(&record)?;
        line.push(b'\n');
        self.file.write_all(&line)?;
        self.plantings.add(record);
        Ok(())
    }

    /// Removes everything that was planted, then the journal. Keeps the journal if something is left, so that the next
    /// start tries again.
    pub(crate) fn clear(&mut self) -> Removal {
        let removal = self.plantings.remove(self.state_dir.as_deref());
        if removal.not_removed.is_empty() {
            // If this fails, the next start finds an empty list.
            let _ = fs::remove_file(&self.path);
        }
        removal
    }
}

/// Tolerance: file system timestamps may be slightly behind the system clock.
const CLOCK: Duration = Duration::from_millis(50);

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.saturating_sub(CLOCK).as_millis()).unwrap_or_default()
}

pub(super) fn is_journal(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == ENDING)
}

pub(super) fn is_of_this_process(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split('-').next() == Some(&std::process::id().to_string())
}

/// Removes what a killed run planted, and its journal. Does nothing while the run is still active.
pub(super) fn remove_abandoned(path: &Path, state_dir: Option<&Path>) -> Option<Removal> {
    let file = File::open(path).ok()?;
    file.try_lock().ok()?;
    let removal = read(&file).remove(state_dir);
    // Report what is left once. Retrying at every start would not help.
    let _ = fs::remove_file(path);
    Some(removal)
}

/// The planted files that still exist, and whether the run is still active.
pub(super) fn look(path: &Path, state_dir: Option<&Path>) -> Option<Leftover> {
    let file = File::open(path).ok()?;
    let is_running = file.try_lock().is_err();
    let paths = read(&file).leftovers(state_dir);
    Some(Leftover { is_running, paths })
}

/// Removes what a run of this process planted, without checking the lock, which this process owns.
pub(super) fn remove_all(path: &Path, state_dir: Option<&Path>) {
    let Ok(file) = File::open(path) else { return };
    if read(&file).remove(state_dir).not_removed.is_empty() {
        // If this fails, the next start finds an empty list.
        let _ = fs::remove_file(path);
    }
}

/// The records of a journal. A kill may truncate the last line; nothing was planted for it.
fn read(file: &File) -> Plantings {
    let mut plantings = Plantings::default();
    for line in BufReader::new(file.take(MAX_SIZE)).lines().map_while(Result::ok) {
        if let Ok(record) = serde_json::from_str(&line) {
            plantings.add(record);
        }
    }
    plantings
}
