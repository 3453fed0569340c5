//! The files that checks compare with: read for them, written if the user wants that.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use quintain_core::question::Answer;
use quintain_core::suite::Files as _;
use quintain_core::verdict::{Proposal, Verdict};
use quintain_wire::redact::Redactor;
use serde_json::Value;

use super::Settings;
use crate::files::Disk;

/// What this run knows of such files.
#[derive(Default)]
pub(super) struct Snapshots {
    files: Mutex<HashMap<PathBuf, Snapshot>>,
}

#[derive(Default)]
struct Snapshot {
    /// As it was when the run first looked, so that all cases see the same.
    before: Option<Answer>,
    /// What the run wrote.
    written: Option<String>,
}

impl Snapshots {
    /// The text of a file; null if there is none.
    pub(super) fn read(&self, path: &Path) -> Answer {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let file = files.entry(path.to_owned()).or_default();
        file.before.get_or_insert_with(|| read(path)).clone()
    }

    /// Writes what a check would like to have on disk, if this run may.
    pub(super) fn propose(
        &self,
        proposal: Proposal,
        verdict: Verdict,
        settings: &Settings,
        redactor: &Redactor,
    ) -> Verdict {
        let allowed = settings.update_snapshots || (proposal.fresh && settings.write_new_snapshots);
        if !allowed {
            return verdict;
        }
        let Proposal { path, text, .. } = proposal;
        let shown = path.display().to_string();
        if redactor.text(&text) != text {
            let why = format!("{shown} is not written, since it would hold a secret: mask it");
            return Verdict::error(why);
        }
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let file = files.entry(path.clone()).or_default();
        match &file.written {
            Some(written) if *written != text => {
                return Verdict::error(format!(
                    "{shown} was written for another case of this run, with another text: give \
                     each a file of its own (`value` may contain variables)"
                ));
            }
            Some(_) => {}
            None => {
                if let Err(error) = write(&path, &text) {
                    return Verdict::error(format!("cannot write {shown}: {error}"));
                }
                file.written = Some(text);
            }
        }
        Verdict { proofs: verdict.proofs, ..Verdict::pass(format!("written: {shown}")) }
    }
}

fn read(path: &Path) -> Answer {
    match Disk.read(path) {
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => Answer::Value(Value::String(text)),
            Err(_) => Answer::Failed(format!("{} is not UTF-8", path.display())),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Answer::Value(Value::Null),
        Err(error) => Answer::Failed(format!("cannot read {}: {error}", path.display())),
    }
}

/// All or nothing: whoever reads meanwhile sees the old text or the new one.
fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let mut beside = std::ffi::OsString::from(".");
    beside.push(name);
    beside.push(format!(".{}", std::process::id()));
    let beside = path.with_file_name(beside);
    let renamed = std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, path));
    if renamed.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    renamed
}

#[cfg(test)]
mod tests {
    use quintain_core::verdict::Status;
    use secrecy::SecretString;

    use super::*;

    struct Place {
        dir: tempfile::TempDir,
        snapshots: Snapshots,
        settings: Settings,
        redactor: Redactor,
    }

    impl Place {
        fn new(settings: Settings) -> Self {
            Self {
                dir: tempfile::tempdir().unwrap(),
                snapshots: Snapshots::default(),
                settings,
                redactor: Redactor::default(),
            }
        }

        fn path(&self) -> PathBuf {
            self.dir.path().join("deep/er/a.snap")
        }

        fn propose(&self, text: &str, fresh: bool) -> Verdict {
            let proposal = Proposal { path: self.path(), text: text.to_owned(), fresh };
            let verdict = Verdict::fail("it differs");
            self.snapshots.propose(proposal, verdict, &self.settings, &self.redactor)
        }

        fn on_disk(&self) -> Option<String> {
            std::fs::read_to_string(self.path()).ok()
        }
    }

    fn ci() -> Settings {
        Settings { write_new_snapshots: false, ..Settings::default() }
    }

    #[test]
    fn new_files_are_written_unless_in_ci() {
        let place = Place::new(Settings::default());
        assert_eq!(place.snapshots.read(&place.path()), Answer::Value(Value::Null));
        let verdict = place.propose("x", true);
        assert!(verdict.passed() && verdict.reason.starts_with("written: "), "{}", verdict.reason);
        assert_eq!(place.on_disk().as_deref(), Some("x"));
        let left: Vec<_> = std::fs::read_dir(place.path().parent().unwrap()).unwrap().collect();
        assert_eq!(left.len(), 1, "nothing else is left");
        let place = Place::new(ci());
        assert_eq!(place.propose("x", true).reason, "it differs");
        assert_eq!(place.on_disk(), None);
    }

    #[test]
    fn files_that_differ_are_written_on_demand_only() {
        let place = Place::new(Settings::default());
        assert!(!place.propose("x", false).passed());
        assert_eq!(place.on_disk(), None);
        let place = Place::new(Settings { update_snapshots: true, ..ci() });
        assert!(place.propose("x", false).passed());
        assert_eq!(place.on_disk().as_deref(), Some("x"));
    }

    #[test]
    fn two_cases_cannot_share_a_file_for_different_texts() {
        let place = Place::new(Settings::default());
        assert!(place.propose("x", true).passed());
        assert!(place.propose("x", true).passed(), "the same again is no conflict");
        let verdict = place.propose("y", true);
        assert_eq!(verdict.status, Status::Error);
        assert!(verdict.reason.contains("another case"), "{}", verdict.reason);
        assert_eq!(place.on_disk().as_deref(), Some("x"));
    }

    #[test]
    fn all_cases_see_the_file_as_it_was() {
        let place = Place::new(Settings::default());
        place.snapshots.read(&place.path());
        place.propose("x", true);
        assert_eq!(place.snapshots.read(&place.path()), Answer::Value(Value::Null));
        let failed = place.snapshots.read(place.dir.path());
        assert!(matches!(failed, Answer::Failed(why) if why.starts_with("cannot read")));
    }

    #[test]
    fn secrets_are_never_written() {
        let place = Place::new(Settings::default());
        place.redactor.learn(&SecretString::from("s3cr3t-canary"));
        let verdict = place.propose("token s3cr3t-canary", true);
        assert_eq!(verdict.status, Status::Error);
        assert_eq!(place.on_disk(), None);
        assert!(!verdict.reason.contains("canary"), "{}", verdict.reason);
    }
}
