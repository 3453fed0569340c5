//! Reads the snapshot files that checks compare with, and writes them if the run may.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use quintain_evidence::kept_file::KeptFile;
use quintain_evidence::question::Answer;
use quintain_evidence::verdict::{Proposal, Verdict};
use quintain_wire::redact::{MASK, Redactor};
use serde_json::Value;

use crate::confined::{self, Folder};
use crate::policy::Policy;

/// Refuse larger snapshot files.
const MAX_BYTES: u64 = 256 << 20;

/// The snapshot files that this run has read or written.
#[derive(Default)]
pub(crate) struct Snapshots {
    files: Mutex<HashMap<KeptFile, Snapshot>>,
    policy: Arc<Policy>,
}

/// Which snapshots a run may write.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SnapshotWrites {
    pub(crate) differing: bool,
    pub(crate) new: bool,
}

#[derive(Default)]
struct Snapshot {
    /// The content when the run first read the file, so that all cases see the same.
    before: Option<Answer>,
    /// The text that the run wrote.
    written: Option<String>,
}

impl Snapshots {
    pub(super) fn new(policy: Arc<Policy>) -> Self {
        Self { files: Mutex::default(), policy }
    }

    /// The text of a file; null if it does not exist.
    pub(crate) fn read(&self, kept: &KeptFile) -> Answer {
        if let Err(denied) = self.policy.file(&kept.full()) {
            return Answer::Failed(denied.to_string());
        }
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let file = files.entry(kept.clone()).or_default();
        file.before.get_or_insert_with(|| read(kept)).clone()
    }

    /// The text that this run wrote to a file.
    pub(crate) fn written(&self, kept: &KeptFile) -> Option<String> {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.get(kept)?.written.clone()
    }

    /// Writes the snapshot that a check proposes, if this run may.
    pub(crate) fn propose(
        &self,
        proposal: Proposal,
        verdict: Verdict,
        writes: SnapshotWrites,
        redactor: &Redactor,
    ) -> Verdict {
        let allowed = writes.differing || (proposal.fresh && writes.new);
        if !allowed {
            return verdict;
        }
        let Proposal { file: kept, text, .. } = proposal;
        if let Err(denied) = self.policy.file(&kept.full()) {
            return Verdict::error(denied.to_string());
        }
        let shown = kept.full().display().to_string();
        // The answers of a stored run are masked already.
        if redactor.text(&text) != text || text.contains(MASK) {
            let why = format!(
                "{shown} is not written: it would contain a secret; exclude it with `mask` of `snapshot`"
            );
            return Verdict::error(why);
        }
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let file = files.entry(kept.clone()).or_default();
        match &file.written {
            Some(written) if *written != text => {
                return Verdict::error(format!(
                    "another case of this run wrote a different text to {shown}: give \
                     each case a separate file (`value` may contain variables)"
                ));
            }
            Some(_) => {}
            None => {
                if let Err(error) = write(&kept, &text) {
                    return Verdict::error(format!("cannot write the snapshot: {error}"));
                }
                file.written = Some(text);
            }
        }
        Verdict { proofs: verdict.proofs, ..Verdict::pass(format!("written: {shown}")) }
    }
}

fn read(kept: &KeptFile) -> Answer {
    let read = opened(kept).and_then(|folder| folder.read(&kept.path, MAX_BYTES));
    match read {
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => Answer::Value(Value::String(text)),
            Err(_) => Answer::Failed(format!("{} is not UTF-8", kept.full().display())),
        },
        Err(error) if error.kind() == Some(io::ErrorKind::NotFound) => Answer::Value(Value::Null),
        Err(error) => Answer::Failed(format!("cannot read the snapshot: {error}")),
    }
}

fn write(kept: &KeptFile, text: &str) -> confined::Result<()> {
    let folder = opened(kept)?;
    if let Some(parent) = kept.path.parent() {
        folder.create_folders(parent)?;
    }
    folder.replace(&kept.path, text.as_bytes())
}

fn opened(kept: &KeptFile) -> confined::Result<Folder> {
    let here = kept.folder.as_os_str().is_empty();
    Folder::open(if here { Path::new(".") } else { &kept.folder })
}

#[cfg(test)]
mod tests {
    use quintain_evidence::verdict::Status;
    use secrecy::SecretString;

    use super::*;

    struct Fixture {
        dir: tempfile::TempDir,
        snapshots: Snapshots,
        writes: SnapshotWrites,
        redactor: Redactor,
    }

    impl Fixture {
        fn new(writes: SnapshotWrites) -> Self {
            Self {
                dir: tempfile::tempdir().unwrap(),
                snapshots: Snapshots::default(),
                writes,
                redactor: Redactor::default(),
            }
        }

        fn file(&self) -> KeptFile {
            KeptFile::new(self.dir.path(), "deep/er/a.snap")
        }

        fn propose(&self, text: &str, fresh: bool) -> Verdict {
            let proposal = Proposal { file: self.file(), text: text.to_owned(), fresh };
            let verdict = Verdict::fail("it differs");
            self.snapshots.propose(proposal, verdict, self.writes, &self.redactor)
        }

        fn on_disk(&self) -> Option<String> {
            std::fs::read_to_string(self.file().full()).ok()
        }
    }

    const CI: SnapshotWrites = SnapshotWrites { differing: false, new: false };
    const USUAL: SnapshotWrites = SnapshotWrites { differing: false, new: true };
    const UPDATE: SnapshotWrites = SnapshotWrites { differing: true, new: true };

    #[test]
    fn new_files_are_written_unless_in_ci() {
        let place = Fixture::new(USUAL);
        assert_eq!(place.snapshots.read(&place.file()), Answer::Value(Value::Null));
        let verdict = place.propose("x", true);
        assert!(verdict.passed() && verdict.reason.starts_with("written: "), "{}", verdict.reason);
        assert_eq!(place.on_disk().as_deref(), Some("x"));
        let left: Vec<_> =
            std::fs::read_dir(place.file().full().parent().unwrap()).unwrap().collect();
        assert_eq!(left.len(), 1, "nothing else is left");
        let place = Fixture::new(CI);
        assert_eq!(place.propose("x", true).reason, "it differs");
        assert_eq!(place.on_disk(), None);
    }

    #[test]
    fn files_that_differ_are_written_on_demand_only() {
        let place = Fixture::new(USUAL);
        assert!(!place.propose("x", false).passed());
        assert_eq!(place.on_disk(), None);
        let place = Fixture::new(SnapshotWrites { new: false, ..UPDATE });
        assert!(place.propose("x", false).passed());
        assert_eq!(place.on_disk().as_deref(), Some("x"));
    }

    #[test]
    fn two_cases_cannot_share_a_file_for_different_texts() {
        let place = Fixture::new(USUAL);
        assert!(place.propose("x", true).passed());
        assert!(place.propose("x", true).passed(), "the same text is not a conflict");
        let verdict = place.propose("y", true);
        assert_eq!(verdict.status, Status::Error);
        assert!(verdict.reason.contains("another case"), "{}", verdict.reason);
        assert_eq!(place.on_disk().as_deref(), Some("x"));
    }

    #[test]
    fn all_cases_see_the_file_as_it_was() {
        let place = Fixture::new(USUAL);
        place.snapshots.read(&place.file());
        place.propose("x", true);
        assert_eq!(place.snapshots.read(&place.file()), Answer::Value(Value::Null));
        assert_eq!(place.snapshots.written(&place.file()).as_deref(), Some("x"));
        let failed = place.snapshots.read(&KeptFile::new(place.dir.path(), "deep"));
        assert!(matches!(failed, Answer::Failed(why) if why.starts_with("cannot read")));
    }

    #[test]
    fn secrets_are_never_written() {
        let place = Fixture::new(USUAL);
        place.redactor.learn(&SecretString::from("s3cr3t-canary"));
        let verdict = place.propose("token s3cr3t-canary", true);
        assert_eq!(verdict.status, Status::Error);
        assert_eq!(place.on_disk(), None);
        assert!(!verdict.reason.contains("canary"), "{}", verdict.reason);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let outside = tempfile::tempdir().unwrap();
        let theirs = outside.path().join("theirs");
        std::fs::write(&theirs, "untouched").unwrap();
        let place = Fixture::new(UPDATE);
        std::os::unix::fs::symlink(outside.path(), place.dir.path().join("deep")).unwrap();
        let verdict = place.propose("x", true);
        assert_eq!(verdict.status, Status::Error);
        assert!(verdict.reason.contains("symbolic link"), "{}", verdict.reason);
        std::os::unix::fs::symlink(&theirs, place.dir.path().join("file")).unwrap();
        let linked = KeptFile::new(place.dir.path(), "file");
        assert!(matches!(place.snapshots.read(&linked), Answer::Failed(_)));
        let proposal = Proposal { file: linked, text: "x".to_owned(), fresh: false };
        let (writes, redactor) = (place.writes, &place.redactor);
        let verdict = place.snapshots.propose(proposal, Verdict::fail(""), writes, redactor);
        assert_eq!(verdict.status, Status::Error);
        assert_eq!(std::fs::read_to_string(&theirs).unwrap(), "untouched");
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
    }
}
