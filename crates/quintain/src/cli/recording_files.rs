//! The files of a run: those it reads and those it writes.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use quintain_engine::Disk;
use quintain_evidence::static_finding::SurfaceInspection;
use quintain_redteam::attacks::inspections;
use quintain_suite::suite::Files;

/// The file system, recording which files are read and written.
#[derive(Default)]
pub(super) struct RecordingFiles(Mutex<Record>);

/// The recorded files, with their state when they were first read.
#[derive(Default)]
pub(super) struct Record {
    read: BTreeMap<PathBuf, Stamp>,
    patterns: BTreeMap<PathBuf, Vec<PathBuf>>,
    written: BTreeSet<PathBuf>,
}

/// Time of the last change, and size. None for a file that does not exist, so that its creation counts as a change.
type Stamp = Option<(SystemTime, u64)>;

impl RecordingFiles {
    /// Records a file that other code reads.
    pub(super) fn looked_at(&self, path: &Path) {
        self.record().read.entry(path.to_owned()).or_insert_with(|| stamp(path));
    }

    /// The files that were read, or will be.
    pub(super) fn inputs(&self) -> Vec<PathBuf> {
        self.record().read.keys().cloned().collect()
    }

    /// Records a file that the run writes.
    pub(super) fn wrote(&self, path: &Path) {
        self.record().written.insert(path.to_owned());
    }

    /// Reads a file that the user names; it may be a pipe.
    pub(super) fn text(&self, path: &Path) -> io::Result<String> {
        self.looked_at(path);
        std::fs::read_to_string(path)
    }

    /// Returns the record since the last call, and starts a new one.
    pub(super) fn take(&self) -> Record {
        std::mem::take(&mut *self.record())
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Files for RecordingFiles {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.looked_at(path);
        Disk.read(path)
    }

    fn matching(&self, pattern: &Path) -> io::Result<Vec<PathBuf>> {
        let found = Disk.matching(pattern)?;
        self.record().patterns.entry(pattern.to_owned()).or_insert_with(|| found.clone());
        Ok(found)
    }

    fn inspections(&self) -> &[&'static dyn SurfaceInspection] {
        inspections()
    }
}

impl Record {
    /// The files that were read, and the patterns that were searched for.
    pub(super) fn read(&self) -> impl Iterator<Item = &Path> {
        let read = self.read.iter().filter(|(_, stamp)| stamp.is_some()).map(|(path, _)| path);
        read.chain(self.patterns.keys()).map(PathBuf::as_path)
    }

    /// Whether a file that was read has changed since, except files that the run writes.
    pub(super) fn has_changed(&self) -> bool {
        // Files that standard output and standard error are redirected to.
        let redirected = ["/dev/stdout", "/dev/stderr"].map(PathBuf::from);
        let written = self.written.iter().chain(&redirected).map(|path| resolved(path));
        let written: BTreeSet<PathBuf> = written.collect();
        let is_own = |path: &Path| written.contains(&resolved(path));
        let changed = |(path, then): (&PathBuf, &Stamp)| stamp(path) != *then && !is_own(path);
        let others = |files: &[PathBuf]| -> Vec<PathBuf> {
            files.iter().filter(|path| !is_own(path)).cloned().collect()
        };
        let matches = |(pattern, then): (&PathBuf, &Vec<PathBuf>)| {
            Disk.matching(pattern).is_ok_and(|now| others(&now) != others(then))
        };
        self.read.iter().any(changed) || self.patterns.iter().any(matches)
    }
}

fn stamp(path: &Path) -> Stamp {
    let data = std::fs::metadata(path).ok()?;
    // Only regular files can be compared: a pipe looks changed after every read.
    if !data.is_file() {
        return None;
    }
    Some((data.modified().ok()?, data.len()))
}

/// The canonical path of a file.
fn resolved(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(names: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for name in names {
            std::fs::write(dir.path().join(name), name).unwrap();
        }
        dir
    }

    #[test]
    fn only_what_was_read_counts() {
        let dir = folder(&["suite.yaml", "prompt.txt"]);
        let recording_files = RecordingFiles::default();
        recording_files.text(&dir.path().join("suite.yaml")).unwrap();
        recording_files.read(&dir.path().join("prompt.txt")).unwrap();
        let record = recording_files.take();
        std::fs::write(dir.path().join("out.txt"), "results").unwrap();
        assert!(!record.has_changed());
        std::fs::write(dir.path().join("prompt.txt"), "another one").unwrap();
        assert!(record.has_changed());
        assert!(!recording_files.take().has_changed(), "taking the record starts a new one");
    }

    #[test]
    fn a_file_that_appears_or_goes_is_a_change() {
        let dir = folder(&["a.txt"]);
        let recording_files = RecordingFiles::default();
        assert!(recording_files.read(&dir.path().join("missing.txt")).is_err());
        let missing = recording_files.take();
        recording_files.matching(&dir.path().join("*.txt")).unwrap();
        let pattern = recording_files.take();
        assert!(!missing.has_changed() && !pattern.has_changed());
        std::fs::write(dir.path().join("missing.txt"), "").unwrap();
        assert!(missing.has_changed());
        assert!(pattern.has_changed());
        std::fs::remove_file(dir.path().join("missing.txt")).unwrap();
        assert!(!missing.has_changed() && !pattern.has_changed());
    }

    #[test]
    fn what_a_run_writes_is_no_change() {
        let dir = folder(&["results.yaml"]);
        let recording_files = RecordingFiles::default();
        recording_files.matching(&dir.path().join("*.yaml")).unwrap();
        recording_files.read(&dir.path().join("results.yaml")).unwrap();
        recording_files.wrote(&dir.path().join("./results.yaml"));
        recording_files.wrote(&dir.path().join("more.yaml"));
        let record = recording_files.take();
        std::fs::write(dir.path().join("results.yaml"), "new results").unwrap();
        std::fs::write(dir.path().join("more.yaml"), "new results").unwrap();
        assert!(!record.has_changed());
    }
}
