//! Answers of models in files, so that the same request is not paid for twice. Errors are never stored, and nothing
//! that contains a known secret.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use secrecy::SecretString;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::scrub;

/// Increase it when stored answers mean something else than before.
const FORMAT: u32 = 1;
const SUFFIX: &str = "json";

/// Whether a text contains a secret that the caller knows.
pub type HasSecret = Arc<dyn Fn(&str) -> bool + Send + Sync>;

#[derive(Clone)]
pub struct CacheOptions {
    /// Created on first use, readable by the user only.
    pub dir: PathBuf,
    /// The oldest answers are removed beyond this size.
    pub max_bytes: u64,
    /// Older answers are not used.
    pub ttl: Option<Duration>,
    /// Answers and requests that contain a secret are not stored.
    pub has_secret: Option<HasSecret>,
}

impl std::fmt::Debug for CacheOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { dir, max_bytes, ttl, .. } = self;
        f.debug_struct("CacheOptions")
            .field("dir", dir)
            .field("max_bytes", max_bytes)
            .field("ttl", ttl)
            .finish_non_exhaustive()
    }
}

pub(crate) struct Cache {
    options: CacheOptions,
    /// Size of all files, counted on first use. Other processes may use the same folder, so it is an estimate.
    size: OnceLock<AtomicU64>,
}

/// The name of an answer in the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key(String);

impl Key {
    /// `request` contains the number of the sample.
    pub(crate) fn new(kind: &str, fingerprint: &Value, request: &impl Serialize) -> Option<Self> {
        let request = serde_json::to_value(request).ok()?;
        let whole = json!([FORMAT, kind, fingerprint, request]).to_string();
        let hash = Sha256::digest(whole.as_bytes());
        Some(Self(format!("{hash:x}")))
    }
}

impl Cache {
    pub(crate) fn new(options: CacheOptions) -> Self {
        Self { options, size: OnceLock::new() }
    }

    fn path(&self, key: &Key) -> PathBuf {
        // Thousands of files in one folder are slow to list on some systems.
        self.options.dir.join(&key.0[..2]).join(format!("{}.{SUFFIX}", &key.0[2..]))
    }

    /// The stored answer, if there is one that is not too old. A file that cannot be read counts as none.
    pub(crate) fn get<T: DeserializeOwned>(&self, key: &Key) -> Option<T> {
        let file = open(&self.path(key)).ok()?;
        let about = file.metadata().ok().filter(fs::Metadata::is_file)?;
        let age = about.modified().ok()?.elapsed().unwrap_or_default();
        if self.options.ttl.is_some_and(|ttl| age > ttl) {
            return None;
        }
        let mut text = Vec::new();
        file.take(self.options.max_bytes).read_to_end(&mut text).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Removes an answer. One that cannot be removed stays.
    pub(crate) fn remove(&self, key: &Key) {
        let _ = fs::remove_file(self.path(key));
    }

    /// Stores an answer. What cannot be stored is not: a cache must never fail a request.
    pub(crate) fn put(&self, key: &Key, value: &impl Serialize, secrets: &[SecretString]) {
        let Ok(text) = serde_json::to_string(value) else { return };
        let has_secret = self.options.has_secret.as_ref();
        if scrub::contains(&text, secrets) || has_secret.is_some_and(|has_secret| has_secret(&text))
        {
            return;
        }
        let path = self.path(key);
        if text.len() as u64 > self.options.max_bytes || write(&path, text.as_bytes()).is_err() {
            return;
        }
        let size = self
            .size
            .get_or_init(|| AtomicU64::new(self.files().iter().map(|file| file.size).sum()));
        let size = size.fetch_add(text.len() as u64, Ordering::Relaxed) + text.len() as u64;
        if size > self.options.max_bytes {
            self.shrink();
        }
    }

    /// Removes the oldest files until a tenth of the space is free, so that it is not done for every answer.
    fn shrink(&self) {
        let mut files = self.files();
        files.sort_by_key(|file| file.modified);
        let mut size: u64 = files.iter().map(|file| file.size).sum();
        let goal = self.options.max_bytes / 10 * 9;
        for file in &files {
            if size <= goal {
                break;
            }
            if fs::remove_file(&file.path).is_ok() {
                size -= file.size;
            }
        }
        if let Some(counted) = self.size.get() {
            counted.store(size, Ordering::Relaxed);
        }
    }

    fn files(&self) -> Vec<Stored> {
        let entries = |dir: &Path| fs::read_dir(dir).into_iter().flatten().flatten();
        let folders = entries(&self.options.dir).map(|entry| entry.path());
        let files = folders.flat_map(|folder| entries(&folder).collect::<Vec<_>>());
        let stored = files.filter_map(|entry| {
            let path = entry.path();
            let is_answer = path.extension().is_some_and(|suffix| suffix == SUFFIX);
            let about = entry.metadata().ok().filter(|about| is_answer && about.is_file())?;
            Some(Stored { path, size: about.len(), modified: about.modified().ok()? })
        });
        stored.collect()
    }
}

struct Stored {
    path: PathBuf,
    size: u64,
    modified: SystemTime,
}

/// Opens a file, but not through a link, without waiting: a pipe that nobody writes to would block forever.
#[cfg(unix)]
fn open(path: &Path) -> std::io::Result<fs::File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

#[cfg(not(unix))]
fn open(path: &Path) -> std::io::Result<fs::File> {
    fs::File::open(path)
}

/// Writes a file at once: readers see the old one or the new one.
fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let Some(folder) = path.parent() else { return Ok(()) };
    create(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path)?;
    Ok(())
}

fn create(folder: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(dir: &Path, max_bytes: u64) -> Cache {
        Cache::new(CacheOptions { dir: dir.join("llm"), max_bytes, ttl: None, has_secret: None })
    }

    fn key(request: &str) -> Key {
        Key::new("chat", &json!({"model": "a"}), &request).unwrap()
    }

    #[test]
    fn answers_are_found_by_everything_that_decides_them() {
        let dir = tempfile::tempdir().unwrap();
        let cache = cache(dir.path(), 1 << 20);
        assert_eq!(cache.get::<Value>(&key("a")), None);
        cache.put(&key("a"), &json!({"text": "A"}), &[]);
        assert_eq!(cache.get::<Value>(&key("a")), Some(json!({"text": "A"})));
        assert_eq!(cache.get::<Value>(&key("b")), None);
        let other = Key::new("chat", &json!({"model": "b"}), &"a").unwrap();
        assert_eq!(cache.get::<Value>(&other), None);
        assert_ne!(key("a"), Key::new("embed", &json!({"model": "a"}), &"a").unwrap());
    }

    #[test]
    fn corrupt_files_count_as_missing_and_are_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let cache = cache(dir.path(), 1 << 20);
        cache.put(&key("a"), &json!(1), &[]);
        fs::write(cache.path(&key("a")), b"{\"half").unwrap();
        assert_eq!(cache.get::<Value>(&key("a")), None);
        cache.put(&key("a"), &json!(2), &[]);
        assert_eq!(cache.get::<Value>(&key("a")), Some(json!(2)));
    }

    /// A pipe would block whoever reads it, and a link leads out of the folder.
    #[cfg(unix)]
    #[test]
    fn only_regular_files_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let cache = cache(dir.path(), 1 << 20);
        cache.put(&key("a"), &json!(1), &[]);
        let path = cache.path(&key("a"));
        let other = dir.path().join("other.json");
        fs::rename(&path, &other).unwrap();
        std::os::unix::fs::symlink(&other, &path).unwrap();
        assert_eq!(cache.get::<Value>(&key("a")), None, "a link");
        fs::remove_file(&path).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        assert_eq!(cache.get::<Value>(&key("a")), None, "a pipe");
        assert!(cache.files().is_empty(), "neither counts as an answer");
        cache.put(&key("a"), &json!(2), &[]);
        assert_eq!(cache.get::<Value>(&key("a")), Some(json!(2)), "it is replaced");
        cache.remove(&key("a"));
        assert_eq!(cache.get::<Value>(&key("a")), None);
    }

    #[test]
    fn the_oldest_answers_make_room() {
        let dir = tempfile::tempdir().unwrap();
        let cache = cache(dir.path(), 1_000);
        for at in 0..30_u64 {
            let key = key(&at.to_string());
            cache.put(&key, &"x".repeat(98), &[]);
            // Files of one moment have no order.
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + at);
            if let Ok(file) = fs::File::options().write(true).open(cache.path(&key)) {
                file.set_modified(time).unwrap();
            }
        }
        let size: u64 = cache.files().iter().map(|file| file.size).sum();
        assert!(size <= 1_000, "{size}");
        assert!(cache.get::<String>(&key("29")).is_some());
        assert!(cache.get::<String>(&key("0")).is_none());
    }

    #[test]
    fn secrets_are_not_stored() {
        let dir = tempfile::tempdir().unwrap();
        let mut cache = cache(dir.path(), 1 << 20);
        let secret = SecretString::from("sk-12345");
        cache.put(&key("a"), &"your key is sk-12345", std::slice::from_ref(&secret));
        assert_eq!(cache.get::<String>(&key("a")), None);
        cache.options.has_secret = Some(Arc::new(|text| text.contains("hunter2")));
        cache.put(&key("a"), &"hunter2", &[]);
        assert_eq!(cache.get::<String>(&key("a")), None);
    }

    #[test]
    fn old_answers_are_not_used() {
        let dir = tempfile::tempdir().unwrap();
        let mut cache = cache(dir.path(), 1 << 20);
        cache.options.ttl = Some(Duration::from_mins(1));
        cache.put(&key("a"), &1, &[]);
        assert_eq!(cache.get::<u8>(&key("a")), Some(1));
        let file = fs::File::options().write(true).open(cache.path(&key("a"))).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(61)).unwrap();
        assert_eq!(cache.get::<u8>(&key("a")), None);
    }

    #[test]
    fn a_folder_that_cannot_be_written_fails_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("llm");
        fs::write(&file, "a file").unwrap();
        let cache = cache(dir.path(), 1 << 20);
        cache.put(&key("a"), &1, &[]);
        assert_eq!(cache.get::<u8>(&key("a")), None);
    }
}
