//! The folder of stored logins: files are written atomically, only their owner can read them, and a login is changed
//! only under its lock.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use url::Url;

use super::StoredTokens;
use crate::auth::AuthError;
use crate::auth::error::bare;

/// Interval of attempts to get a lock.
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// How long to wait for a refresh to end before deleting a login.
const DELETE_PATIENCE: Duration = Duration::from_secs(30);

/// A folder of stored logins.
#[derive(Clone, Debug)]
pub struct TokenStore {
    folder: PathBuf,
}

impl TokenStore {
    /// The logins in `state_dir`.
    pub fn new(state_dir: &Path) -> Self {
        Self { folder: state_dir.join("logins") }
    }

    /// All stored logins, sorted by server; an unreadable file is left out with a warning.
    ///
    /// # Errors
    /// When the folder exists and cannot be listed.
    pub fn list(&self) -> Result<Vec<StoredTokens>, AuthError> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(&self.folder, &error)),
        };
        let mut found: Vec<(SystemTime, StoredTokens)> = Vec::new();
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.extension().is_some_and(|extension| extension == "json") {
                match read(&path) {
                    Ok(entry) => found.push(entry),
                    Err(error) => tracing::warn!(%error, "a stored login is left out"),
                }
            }
        }
        // For one server, the newest comes first.
        found.sort_by(|(a_time, a), (b_time, b)| {
            a.server_url.cmp(&b.server_url).then(b_time.cmp(a_time))
        });
        Ok(found.into_iter().map(|(_, tokens)| tokens).collect())
    }

    /// The newest login at `server`.
    ///
    /// # Errors
    /// As [`TokenStore::list`].
    pub fn load(&self, server: &Url) -> Result<Option<StoredTokens>, AuthError> {
        let server = bare(server);
        Ok(self.list()?.into_iter().find(|tokens| tokens.server_url == server))
    }

    /// Locks the login at `server` and `issuer`, whether it exists or not, against other processes and tasks; waits for at
    /// most `patience`.
    ///
    /// The operating system releases the lock when the process ends. The lock file is never removed: otherwise two processes
    /// could lock different files of the same name.
    pub(crate) async fn lock(
        &self,
        server: &Url,
        issuer: &str,
        patience: Duration,
    ) -> Result<LockedLogin, AuthError> {
        let path = self.path(&bare(server), issuer);
        let name = path.with_extension("lock");
        let opened = create_private_folder(&self.folder).and_then(|()| private_file(&name, false));
        let lock = opened.map_err(|error| failed(&name, &error))?;
        let start = Instant::now();
        loop {
            match lock.try_lock() {
                Ok(()) => break,
                // Some file systems do not support locks; the login is still read again before the refresh.
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                    tracing::warn!(%error, "a stored login cannot be locked");
                    break;
                }
                Err(TryLockError::Error(error)) => return Err(failed(&name, &error)),
                Err(TryLockError::WouldBlock) if start.elapsed() < patience => {
                    tokio::time::sleep(LOCK_PAUSE).await;
                }
                Err(TryLockError::WouldBlock) => {
                    let seconds = patience.as_secs_f32();
                    let reason =
                        format!("another process has been refreshing this login for {seconds} s");
                    return Err(AuthError::Storage { path, reason });
                }
            }
        }
        Ok(LockedLogin { path, _lock: lock })
    }

    /// Deletes all logins at `server`; returns their number.
    ///
    /// # Errors
    /// When a file cannot be removed.
    pub async fn delete(&self, server: &Url) -> Result<usize, AuthError> {
        let server = bare(server);
        let all = self.list()?;
        let own: Vec<_> = all.iter().filter(|tokens| tokens.server_url == server).collect();
        for tokens in &own {
            let login = self.lock(&tokens.server_url, &tokens.issuer, DELETE_PATIENCE).await?;
            fs::remove_file(&login.path).map_err(|error| failed(&login.path, &error))?;
        }
        Ok(own.len())
    }

    fn path(&self, server: &Url, issuer: &str) -> PathBuf {
        let digest = Sha256::digest(format!("{server}\n{issuer}"));
        let name = URL_SAFE_NO_PAD.encode(&digest[..16]);
        self.folder.join(name).with_extension("json")
    }
}

/// The locked login at one server and issuer.
#[derive(Debug)]
pub(crate) struct LockedLogin {
    path: PathBuf,
    _lock: File,
}

impl LockedLogin {
    /// The stored login; none if there is no readable file.
    pub(crate) fn load(&self) -> Option<StoredTokens> {
        if !self.path.exists() {
            return None;
        }
        match read(&self.path) {
            Ok((_, tokens)) => Some(tokens),
            Err(error) => {
                tracing::warn!(%error, "a stored login is left out");
                None
            }
        }
    }

    /// Stores a login, replacing an earlier one.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn save(&self, tokens: &StoredTokens) -> Result<(), AuthError> {
        let path = &self.path;
        let text = serde_json::to_vec_pretty(tokens).map_err(|error| AuthError::Storage {
            path: path.clone(),
            reason: error.to_string(),
        })?;
        // Written to a temporary file and renamed, so that readers see the old login or the new one.
        let fresh = path.with_extension(format!("{}.new", std::process::id()));
        let written = private_file(&fresh, true).and_then(|mut file| {
            file.write_all(&text)?;
            file.sync_all()
        });
        let moved = written.and_then(|()| fs::rename(&fresh, path));
        if moved.is_err() {
            let _ = fs::remove_file(&fresh);
        }
        moved.map_err(|error| failed(path, &error))
    }
}

fn read(path: &Path) -> Result<(SystemTime, StoredTokens), AuthError> {
    let seen = fs::symlink_metadata(path).map_err(|error| failed(path, &error))?;
    if !seen.is_file() {
        return Err(failed(path, &not_a_file()));
    }
    let text = fs::read(path).map_err(|error| failed(path, &error))?;
    let tokens = serde_json::from_slice(&text).map_err(|error| AuthError::Storage {
        path: path.to_owned(),
        // The message of serde_json can quote the file, so only the line is shown.
        reason: format!("not a stored login (line {})", error.line()),
    })?;
    Ok((seen.modified().unwrap_or(UNIX_EPOCH), tokens))
}

fn failed(path: &Path, error: &io::Error) -> AuthError {
    AuthError::Storage { path: path.to_owned(), reason: error.to_string() }
}

#[cfg(unix)]
fn create_private_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn create_private_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

fn not_a_file() -> io::Error {
    io::Error::other("it is a link or not a regular file")
}

/// Opens a file for writing that only its owner can read; `fresh` replaces a leftover file.
fn private_file(path: &Path, fresh: bool) -> io::Result<File> {
    if fresh {
        // An existing file would keep its mode, and a link could lead elsewhere.
        let _ = fs::remove_file(path);
    }
    match private(fs::OpenOptions::new().write(true).create_new(true)).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && !fresh => {
            if !fs::symlink_metadata(path)?.is_file() {
                return Err(not_a_file());
            }
            fs::OpenOptions::new().write(true).open(path)
        }
        made => made,
    }
}

#[cfg(unix)]
fn private(options: &mut fs::OpenOptions) -> &mut fs::OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;
    options.mode(0o600)
}

#[cfg(not(unix))]
fn private(options: &mut fs::OpenOptions) -> &mut fs::OpenOptions {
    options
}
