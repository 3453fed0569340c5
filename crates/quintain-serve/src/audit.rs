//! The audit log: who did what to which target. A file of JSON lines; each record contains the code of the one before, made
//! with a key of the state folder, and the number and code of the last record are kept apart. So a changed, removed, inserted
//! or cut record is found unless the key was read, too. Several processes may write to one file.

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::auth::{folder_in, write_private};
use crate::random::{hexadecimal, random_secret};

/// The code before the first record.
const BEGINNING: &str = "0000000000000000000000000000000000000000000000000000000000000000";
/// Longest record; longer details are cut before they are written.
const LONGEST: u64 = 32 * 1024;
const LONGEST_DETAIL: usize = 1024;

/// The log of one server.
#[derive(Debug)]
pub struct Audit {
    path: PathBuf,
    key: Key,
}

/// One record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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

/// What to record; the log adds number, time and codes.
#[derive(Debug, Clone, Copy)]
pub struct Deed<'a> {
    pub owner: &'a str,
    pub action: &'a str,
    pub target: Option<&'a str>,
    pub outcome: &'a str,
}

/// The last record, kept apart from the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Head {
    number: u64,
    hash: String,
    code: String,
}

/// Why a log is not intact, or cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    #[error("cannot read the audit log {path}: {source}")]
    Read { path: PathBuf, source: std::io::Error },
    #[error("cannot read the key of the audit log in {folder}: {source}")]
    Key { folder: PathBuf, source: std::io::Error },
    #[error("line {line} is not a record of an audit log: {why}")]
    Malformed { line: u64, why: String },
    #[error("line {line} was changed: its code does not match")]
    Changed { line: u64 },
    #[error("a record before line {line} was changed, removed or inserted")]
    Broken { line: u64 },
    #[error("records were removed from the end: {found} of at least {written} are left")]
    Cut { found: u64, written: u64 },
    #[error("the number of records that is kept apart was changed or removed")]
    Head,
}

/// Makes the codes of records.
#[derive(Clone)]
struct Key(Vec<u8>);

impl std::fmt::Debug for Key {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Key(..)")
    }
}

impl Key {
    fn read(folder: &Path) -> std::io::Result<Self> {
        let text = std::fs::read(key_path(folder))?;
        if text.len() < 32 {
            return Err(std::io::Error::new(
                std::io::ErrorKind::InvalidData,
                "the key is too short",
            ));
        }
        Ok(Self(text))
    }

    /// HMAC with SHA-256 (RFC 2104).
    fn code(&self, text: &[u8]) -> String {
        let mut block = [0_u8; 64];
        let key = if self.0.len() > 64 { Sha256::digest(&self.0).to_vec() } else { self.0.clone() };
        block[..key.len()].copy_from_slice(&key);
        let inner = Sha256::new().chain_update(block.map(|byte| byte ^ 0x36)).chain_update(text);
        let outer = Sha256::new().chain_update(block.map(|byte| byte ^ 0x5c));
        hexadecimal(&outer.chain_update(inner.finalize()).finalize())
    }

    /// The code of a record without its own.
    fn of(&self, record: &Record) -> String {
        self.code(&serde_json::to_vec(record).unwrap_or_default())
    }

    /// A record of the log, if it is written exactly as this server writes it.
    fn record(&self, line: &str) -> Result<Record, String> {
        let mut record: Record = serde_json::from_str(line).map_err(|error| error.to_string())?;
        if serde_json::to_string(&record).ok().as_deref() != Some(line) {
            return Err("it is not written as the server writes records".to_owned());
        }
        let written = std::mem::take(&mut record.hash);
        let is_own = self.of(&record) == written;
        record.hash = if is_own { written } else { String::new() };
        Ok(record)
    }
}

fn key_path(folder: &Path) -> PathBuf {
    folder_in(folder).join("audit.key")
}

fn head_path(folder: &Path) -> PathBuf {
    folder_in(folder).join("audit-head.json")
}

fn invalid(what: &str) -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::InvalidData, what.to_owned())
}

impl Audit {
    /// Opens the log in a folder, and creates it so that only its owner can read it.
    ///
    /// # Errors
    /// If log or key cannot be opened or made.
    pub fn open(folder: &Path) -> std::io::Result<Self> {
        let path = path_in(folder);
        let file = file(&path)?;
        // Two servers that start together make one key.
        file.lock()?;
        let key = match Key::read(folder) {
            Ok(key) => key,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                if file.metadata()?.len() > 0 || head_path(folder).exists() {
                    return Err(invalid("the key of the audit log is missing"));
                }
                write_private(&key_path(folder), random_secret().as_bytes())?;
                Key::read(folder)?
            }
            Err(error) => return Err(error),
        };
        Ok(Self { path, key })
    }

    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }

    /// Whether the next record can be written: the log is open, and ends with the record that was written last.
    ///
    /// # Errors
    /// Why not.
    pub fn check(&self) -> std::io::Result<()> {
        let mut file = file(&self.path)?;
        file.lock()?;
        self.last(&mut file).map(|_| ())
    }

    /// Appends a record.
    ///
    /// # Errors
    /// If the file cannot be locked, read or written, or if it was changed.
    pub fn record(&self, deed: Deed<'_>) -> std::io::Result<()> {
        let mut file = file(&self.path)?;
        file.lock()?;
        let (mut last, torn) = self.last(&mut file)?;
        if torn > 0 {
            let length = file.metadata()?.len();
            file.set_len(length.saturating_sub(torn))?;
            let what = format!("removed {torn} bytes of a record that was not written completely");
            let repair = Deed {
                owner: "server",
                action: "audit_repair",
                target: Some(&what),
                outcome: "ok",
            };
            last = Some(self.append(&mut file, last.as_ref(), repair)?);
        }
        let written = self.append(&mut file, last.as_ref(), deed)?;
        let (number, hash) = (written.number, written.hash);
        let code = self.key.code(format!("{number} {hash}").as_bytes());
        write_private(&head_path(self.folder()), &serde_json::to_vec(&Head { number, hash, code })?)
    }

    fn append(
        &self,
        file: &mut File,
        last: Option<&Record>,
        deed: Deed<'_>,
    ) -> std::io::Result<Record> {
        let mut record = Record {
            number: last.map_or(1, |last| last.number + 1),
            time: now(),
            owner: cut(deed.owner),
            action: cut(deed.action),
            target: deed.target.map(cut),
            outcome: cut(deed.outcome),
            previous: last.map_or_else(|| BEGINNING.to_owned(), |last| last.hash.clone()),
            hash: String::new(),
        };
        record.hash = self.key.of(&record);
        let mut line = serde_json::to_string(&record)?;
        line.push('\n');
        file.write_all(line.as_bytes())?;
        file.sync_data()?;
        Ok(record)
    }

    /// The last complete record, and the length of an incomplete one after it.
    fn last(&self, file: &mut File) -> std::io::Result<(Option<Record>, u64)> {
        let head = head(self.folder(), &self.key).map_err(|error| invalid(&error.to_string()))?;
        let length = file.seek(SeekFrom::End(0))?;
        file.seek(SeekFrom::Start(length.saturating_sub(2 * LONGEST)))?;
        let mut end = Vec::new();
        (&mut *file).take(2 * LONGEST).read_to_end(&mut end)?;
        let complete = end.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let torn = (end.len() - complete) as u64;
        if torn >= LONGEST {
            return Err(invalid("the end of the audit log is not a record"));
        }
        let line = end[..complete].strip_suffix(b"\n").unwrap_or_default();
        let line = line.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        let written = head.as_ref().map_or(0, |head| head.number);
        if line.is_empty() {
            return if written == 0 {
                Ok((None, torn))
            } else {
                Err(invalid(&AuditError::Cut { found: 0, written }.to_string()))
            };
        }
        let line = std::str::from_utf8(line).map_err(|_| invalid("the last record is not text"))?;
        let record = self.key.record(line).map_err(|why| invalid(&why))?;
        if record.hash.is_empty() {
            return Err(invalid("the last record of the audit log was changed"));
        }
        let found = record.number;
        let is_head = head.is_none_or(|head| head.number < found || head.hash == record.hash);
        if found < written || !is_head {
            return Err(invalid(&AuditError::Cut { found, written }.to_string()));
        }
        Ok((Some(record), torn))
    }
}

fn file(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).read(true).append(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)
}

/// The last record that was written, as it is kept apart.
fn head(folder: &Path, key: &Key) -> Result<Option<Head>, AuditError> {
    let text = match std::fs::read(head_path(folder)) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(_) => return Err(AuditError::Head),
    };
    let head: Head = serde_json::from_slice(&text).map_err(|_| AuditError::Head)?;
    let code = key.code(format!("{} {}", head.number, head.hash).as_bytes());
    if code == head.code { Ok(Some(head)) } else { Err(AuditError::Head) }
}

/// The log of a state folder.
pub fn path_in(folder: &Path) -> PathBuf {
    folder.join("audit.jsonl")
}

/// Checks the chain with the key of a state folder, and returns the number of records. Only the log of the folder itself must
/// be complete; another file may be an earlier copy.
///
/// # Errors
/// The first line that is not intact, or that the end is missing.
pub fn verify(path: &Path, folder: &Path) -> Result<u64, AuditError> {
    let unreadable = |source| AuditError::Read { path: path.to_owned(), source };
    let file = File::open(path).map_err(unreadable)?;
    let key = Key::read(folder)
        .map_err(|source| AuditError::Key { folder: folder.to_owned(), source })?;
    let is_own = path.canonicalize().ok() == path_in(folder).canonicalize().ok();
    let head = if is_own { head(folder, &key)? } else { None };
    let mut reader = BufReader::new(file);
    let mut previous = BEGINNING.to_owned();
    let mut line = 0;
    let mut text = String::new();
    loop {
        text.clear();
        let read = (&mut reader).take(LONGEST).read_line(&mut text).map_err(unreadable)?;
        if read == 0 {
            break;
        }
        line += 1;
        let malformed = |why: String| AuditError::Malformed { line, why };
        let whole = text.strip_suffix('\n');
        let whole = whole.ok_or_else(|| malformed("it does not end with a line break".into()))?;
        let record = key.record(whole).map_err(malformed)?;
        if record.hash.is_empty() {
            return Err(AuditError::Changed { line });
        }
        if record.previous != previous || record.number != line {
            return Err(AuditError::Broken { line });
        }
        if head.as_ref().is_some_and(|head| head.number == line && head.hash != record.hash) {
            return Err(AuditError::Changed { line });
        }
        previous = record.hash;
    }
    match head {
        Some(head) if head.number > line => {
            Err(AuditError::Cut { found: line, written: head.number })
        }
        // The head is written after the record, so only a log of one record may be without.
        None if is_own && line > 1 => Err(AuditError::Head),
        _ => Ok(line),
    }
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

    fn log() -> (tempfile::TempDir, Audit, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let audit = Audit::open(folder.path()).unwrap();
        for action in ["create_generator", "start_orchestrator", "delete_generator"] {
            audit.record(deed(action)).unwrap();
        }
        let path = path_in(folder.path());
        assert_eq!(verify(&path, path.parent().unwrap()).unwrap(), 3);
        (folder, audit, path)
    }

    #[test]
    fn a_changed_removed_or_inserted_record_is_found() {
        let (_folder, audit, path) = log();
        let intact = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = intact.lines().collect();
        let write = |text: String| std::fs::write(&path, text).unwrap();

        write(intact.replace("start_orchestrator", "stop_orchestrator_"));
        assert!(matches!(
            verify(&path, path.parent().unwrap()),
            Err(AuditError::Changed { line: 2 })
        ));
        write(format!("{}\n{}\n", lines[0], lines[2]));
        assert!(matches!(
            verify(&path, path.parent().unwrap()),
            Err(AuditError::Broken { line: 2 })
        ));
        write(format!("{}\n{}\n{}\n", lines[0], lines[0], lines[1]));
        assert!(matches!(
            verify(&path, path.parent().unwrap()),
            Err(AuditError::Broken { line: 2 })
        ));
        write("hello\n".to_owned());
        assert!(matches!(
            verify(&path, path.parent().unwrap()),
            Err(AuditError::Malformed { line: 1, .. })
        ));
        write(format!(" {intact}"));
        assert!(matches!(
            verify(&path, path.parent().unwrap()),
            Err(AuditError::Malformed { line: 1, .. })
        ));
        write(intact.replacen("{\"number\"", "{\"extra\":1,\"number\"", 1));
        assert!(matches!(
            verify(&path, path.parent().unwrap()),
            Err(AuditError::Malformed { line: 1, .. })
        ));
        for shorter in [String::new(), format!("{}\n{}\n", lines[0], lines[1])] {
            write(shorter);
            assert!(matches!(
                verify(&path, path.parent().unwrap()),
                Err(AuditError::Cut { written: 3, .. })
            ));
            assert!(audit.check().is_err(), "nothing is recorded after a cut");
            assert!(audit.record(deed("x")).is_err());
        }
    }

    #[test]
    fn a_chain_made_without_the_key_is_found() {
        let (_folder, audit, path) = log();
        let intact = std::fs::read_to_string(&path).unwrap();
        let other = Key(vec![7; 43]);
        let mut previous = BEGINNING.to_owned();
        let mut forged = String::new();
        for line in intact.lines() {
            let mut record: Record = serde_json::from_str(line).unwrap();
            record.owner = "mallory".to_owned();
            record.previous = previous;
            record.hash = String::new();
            record.hash = other.of(&record);
            forged += &serde_json::to_string(&record).unwrap();
            forged.push('\n');
            previous = record.hash;
        }
        std::fs::write(&path, forged).unwrap();
        assert!(matches!(
            verify(&path, path.parent().unwrap()),
            Err(AuditError::Changed { line: 1 })
        ));
        assert!(audit.check().is_err());
    }

    #[test]
    fn an_incomplete_last_record_is_repaired_and_the_repair_is_recorded() {
        let (_folder, audit, path) = log();
        let mut text = std::fs::read_to_string(&path).unwrap();
        text.push_str("{\"number\":4,\"ti");
        std::fs::write(&path, text).unwrap();
        assert!(matches!(
            verify(&path, path.parent().unwrap()),
            Err(AuditError::Malformed { line: 4, .. })
        ));
        audit.check().unwrap();
        audit.record(deed("create_dataset")).unwrap();
        assert_eq!(verify(&path, path.parent().unwrap()).unwrap(), 5);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.lines().nth(3).unwrap().contains("audit_repair"), "{text}");
    }

    #[test]
    fn codes_are_those_of_rfc_4231() {
        let key = Key(b"Jefe".to_vec());
        assert_eq!(
            key.code(b"what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }
}
