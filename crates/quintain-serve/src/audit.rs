//! The audit log: who did what to which target. A file of JSON lines; each record contains the hash of the one before, so a
//! changed, removed or inserted record breaks the chain. Several processes may write to one file.

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// The hash before the first record.
const BEGINNING: &str = "0000000000000000000000000000000000000000000000000000000000000000";
/// Longest record; longer details are cut before they are written.
const LONGEST: u64 = 16 * 1024;
const LONGEST_DETAIL: usize = 1024;

/// The log of one server.
#[derive(Debug)]
pub struct Audit {
    path: PathBuf,
}

/// One record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub number: u64,
    pub time: String,
    pub owner: String,
    /// What was done: the name of a tool, or `token`, `authorize` ...
    pub action: String,
    /// On what: an id, an address.
    pub target: Option<String>,
    /// `ok`, or the code of the error.
    pub outcome: String,
    pub previous: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hash: String,
}

/// What to record; the log adds number, time and hashes.
#[derive(Debug, Clone, Copy)]
pub struct Deed<'a> {
    pub owner: &'a str,
    pub action: &'a str,
    pub target: Option<&'a str>,
    pub outcome: &'a str,
}

/// Why a log is not intact, or cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    #[error("cannot read the audit log {path}: {source}")]
    Read { path: PathBuf, source: std::io::Error },
    #[error("line {line} is not a record of an audit log: {why}")]
    Malformed { line: u64, why: String },
    #[error("line {line} was changed: its hash does not match")]
    Changed { line: u64 },
    #[error("a record before line {line} was changed, removed or inserted")]
    Broken { line: u64 },
}

impl Audit {
    /// Opens the log in a folder, and creates it so that only its owner can read it.
    ///
    /// # Errors
    /// If the file cannot be opened for writing.
    pub fn open(folder: &Path) -> std::io::Result<Self> {
        let audit = Self { path: path_in(folder) };
        audit.file()?;
        Ok(audit)
    }

    fn file(&self) -> std::io::Result<File> {
        let mut options = OpenOptions::new();
        options.create(true).read(true).append(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            options.mode(0o600);
        }
        options.open(&self.path)
    }

    /// Appends a record.
    ///
    /// # Errors
    /// If the file cannot be locked, read or written.
    pub fn record(&self, deed: Deed<'_>) -> std::io::Result<()> {
        let mut file = self.file()?;
        file.lock()?;
        let last = last_record(&mut file)?;
        let (number, previous) = match last {
            Some(last) => (last.number + 1, last.hash),
            None => (1, BEGINNING.to_owned()),
        };
        let mut record = Record {
            number,
            time: now(),
            owner: cut(deed.owner),
            action: cut(deed.action),
            target: deed.target.map(cut),
            outcome: cut(deed.outcome),
            previous,
            hash: String::new(),
        };
        record.hash = hash(&record);
        let mut line = serde_json::to_string(&record)?;
        line.push('\n');
        file.write_all(line.as_bytes())?;
        file.sync_data()
    }
}

/// The log of a state folder.
pub fn path_in(folder: &Path) -> PathBuf {
    folder.join("audit.jsonl")
}

/// Checks the chain, and returns the number of records.
///
/// # Errors
/// The first line that is not intact.
pub fn verify(path: &Path) -> Result<u64, AuditError> {
    let unreadable = |source| AuditError::Read { path: path.to_owned(), source };
    let file = File::open(path).map_err(unreadable)?;
    let mut reader = BufReader::new(file);
    let mut previous = BEGINNING.to_owned();
    let mut line = 0;
    let mut text = String::new();
    loop {
        text.clear();
        let read = (&mut reader).take(LONGEST).read_line(&mut text).map_err(unreadable)?;
        if read == 0 {
            return Ok(line);
        }
        line += 1;
        let malformed = |why: String| AuditError::Malformed { line, why };
        let mut record: Record =
            serde_json::from_str(&text).map_err(|error| malformed(error.to_string()))?;
        let written = std::mem::take(&mut record.hash);
        if hash(&record) != written {
            return Err(AuditError::Changed { line });
        }
        if record.previous != previous || record.number != line {
            return Err(AuditError::Broken { line });
        }
        previous = written;
    }
}

/// The hash of a record without its own hash.
fn hash(record: &Record) -> String {
    use std::fmt::Write as _;
    let text = serde_json::to_vec(record).unwrap_or_default();
    Sha256::digest(&text).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

fn last_record(file: &mut File) -> std::io::Result<Option<Record>> {
    let length = file.seek(SeekFrom::End(0))?;
    if length == 0 {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(length.saturating_sub(LONGEST)))?;
    let mut end = Vec::new();
    file.take(LONGEST).read_to_end(&mut end)?;
    let line = end.strip_suffix(b"\n").unwrap_or(&end);
    let line = line.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    let broken = |error| std::io::Error::new(std::io::ErrorKind::InvalidData, error);
    serde_json::from_slice(line).map(Some).map_err(broken)
}

fn cut(text: &str) -> String {
    text.chars().take(LONGEST_DETAIL).collect()
}

fn now() -> String {
    let now = time::OffsetDateTime::now_utc();
    now.format(&time::format_description::well_known::Rfc3339).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deed(action: &str) -> Deed<'_> {
        Deed { owner: "alice", action, target: Some("gen_1"), outcome: "ok" }
    }

    #[test]
    fn a_changed_removed_or_inserted_record_is_found() {
        let folder = std::env::temp_dir().join(format!("audit-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = path_in(&folder);
        let _ = std::fs::remove_file(&path);
        let audit = Audit::open(&folder).unwrap();
        for action in ["create_generator", "start_orchestrator", "delete_generator"] {
            audit.record(deed(action)).unwrap();
        }
        assert_eq!(verify(&path).unwrap(), 3);
        let intact = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = intact.lines().collect();
        let write = |text: String| std::fs::write(&path, text).unwrap();

        write(intact.replace("start_orchestrator", "stop_orchestrator_"));
        assert!(matches!(verify(&path), Err(AuditError::Changed { line: 2 })));
        write(format!("{}\n{}\n", lines[0], lines[2]));
        assert!(matches!(verify(&path), Err(AuditError::Broken { line: 2 })));
        write(format!("{}\n{}\n{}\n", lines[0], lines[0], lines[1]));
        assert!(matches!(verify(&path), Err(AuditError::Broken { line: 2 })));
        write("hello\n".to_owned());
        assert!(matches!(verify(&path), Err(AuditError::Malformed { line: 1, .. })));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
