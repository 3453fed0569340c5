//! The files of a run: what it was read from, and what it writes.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use quintain_engine::Disk;
use quintain_evidence::code::Code;
use quintain_evidence::static_finding::SurfaceInspection;
use quintain_redteam::attacks::inspections;
use quintain_suite::suite::{Consent, Files};
use serde_json::Value;

/// The file system, which remembers what was asked of it.
#[derive(Default)]
pub(super) struct Touched(Mutex<Record>);

/// What was touched, and how it was when it was looked at first.
#[derive(Default)]
pub(super) struct Record {
    read: BTreeMap<PathBuf, Stamp>,
    patterns: BTreeMap<PathBuf, Vec<PathBuf>>,
    written: BTreeSet<PathBuf>,
}

/// When a file was changed and how long it is. A file that is not there has none, and gets one when
/// it appears.
type Stamp = Option<(SystemTime, u64)>;

impl Touched {
    /// Notes a file that counts although somebody else reads it.
    pub(super) fn looked_at(&self, path: &Path) {
        self.record().read.entry(path.to_owned()).or_insert_with(|| stamp(path));
    }

    /// Notes a file that is written.
    pub(super) fn wrote(&self, path: &Path) {
        self.record().written.insert(path.to_owned());
    }

    /// Reads a file that the user names, be it a pipe.
    pub(super) fn text(&self, path: &Path) -> io::Result<String> {
        self.looked_at(path);
        std::fs::read_to_string(path)
    }

    /// What was touched since it was taken last.
    pub(super) fn take(&self) -> Record {
        std::mem::take(&mut *self.record())
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Files for Touched {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.looked_at(path);
        Disk.read(path)
    }

    fn matching(&self, pattern: &Path) -> io::Result<Vec<PathBuf>> {
        let found = Disk.matching(pattern)?;
        self.record().patterns.entry(pattern.to_owned()).or_insert_with(|| found.clone());
        Ok(found)
    }

    fn run(
        &self,
        consent: Consent,
        code: &Code,
        function: &str,
        arguments: &[Value],
        env: &BTreeMap<String, String>,
    ) -> Result<Value, String> {
        Disk.run(consent, code, function, arguments, env)
    }

    fn inspections(&self) -> &[&'static dyn SurfaceInspection] {
        inspections()
    }
}

impl Record {
    /// The files that were read, and the patterns that files were looked for with.
    pub(super) fn read(&self) -> impl Iterator<Item = &Path> {
        let read = self.read.iter().filter(|(_, stamp)| stamp.is_some()).map(|(path, _)| path);
        read.chain(self.patterns.keys()).map(PathBuf::as_path)
    }

    /// Whether something that was read is no longer as it was, but for what the run writes itself.
    pub(super) fn has_changed(&self) -> bool {
        // Where standard output and standard error are redirected to.
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
    // What is no file cannot be compared: a pipe looks changed whenever it is read.
    if !data.is_file() {
        return None;
    }
    Some((data.modified().ok()?, data.len()))
}

/// The one path of a file that has many.
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
        let touched = Touched::default();
        touched.text(&dir.path().join("suite.yaml")).unwrap();
        touched.read(&dir.path().join("prompt.txt")).unwrap();
        let record = touched.take();
        std::fs::write(dir.path().join("out.txt"), "results").unwrap();
        assert!(!record.has_changed());
        std::fs::write(dir.path().join("prompt.txt"), "another one").unwrap();
        assert!(record.has_changed());
        assert!(!touched.take().has_changed(), "what was taken is forgotten");
    }

    #[test]
    fn a_file_that_appears_or_goes_is_a_change() {
        let dir = folder(&["a.txt"]);
        let touched = Touched::default();
        assert!(touched.read(&dir.path().join("missing.txt")).is_err());
        let missing = touched.take();
        touched.matching(&dir.path().join("*.txt")).unwrap();
        let pattern = touched.take();
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
        let touched = Touched::default();
        touched.matching(&dir.path().join("*.yaml")).unwrap();
        touched.read(&dir.path().join("results.yaml")).unwrap();
        touched.wrote(&dir.path().join("./results.yaml"));
        touched.wrote(&dir.path().join("more.yaml"));
        let record = touched.take();
        std::fs::write(dir.path().join("results.yaml"), "new results").unwrap();
        std::fs::write(dir.path().join("more.yaml"), "new results").unwrap();
        assert!(!record.has_changed());
    }
}
