//! The folder of stored logins: files appear whole or not at all, and only their owner reads them.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use url::Url;

use super::StoredTokens;
use crate::auth::AuthError;
use crate::auth::error::bare;

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

    /// Every stored login, by server; a file that cannot be read is left out with a warning.
    ///
    /// # Errors
    /// When the folder exists and cannot be listed.
    pub fn list(&self) -> Result<Vec<StoredTokens>, AuthError> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
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
        // The newest comes first among those of one server.
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

    /// Stores a login in place of an earlier one at the same server and issuer.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(&self, tokens: &StoredTokens) -> Result<(), AuthError> {
        let path = self.path(&tokens.server_url, &tokens.issuer);
        let text = serde_json::to_vec_pretty(tokens).map_err(|error| AuthError::Storage {
            path: path.clone(),
            reason: error.to_string(),
        })?;
        let write = || {
            create_private_folder(&self.folder)?;
            // A name of its own, so that two processes do not write into one file.
            let fresh = path.with_extension(format!("{}.new", std::process::id()));
            let written = private_file(&fresh).and_then(|mut file| {
                file.write_all(&text)?;
                file.sync_all()
            });
            let moved = written.and_then(|()| fs::rename(&fresh, &path));
            if moved.is_err() {
                let _ = fs::remove_file(&fresh);
            }
            moved
        };
        write().map_err(|error| failed(&path, &error))
    }

    /// Forgets all logins at `server`; says how many there were.
    ///
    /// # Errors
    /// When a file cannot be removed.
    pub fn delete(&self, server: &Url) -> Result<usize, AuthError> {
        let server = bare(server);
        let all = self.list()?;
        let own: Vec<_> = all.iter().filter(|tokens| tokens.server_url == server).collect();
        for tokens in &own {
            let path = self.path(&tokens.server_url, &tokens.issuer);
            fs::remove_file(&path).map_err(|error| failed(&path, &error))?;
        }
        Ok(own.len())
    }

    fn path(&self, server: &Url, issuer: &str) -> PathBuf {
        let digest = Sha256::digest(format!("{server}\n{issuer}"));
        let name = URL_SAFE_NO_PAD.encode(&digest[..16]);
        self.folder.join(name).with_extension("json")
    }
}

fn read(path: &Path) -> Result<(SystemTime, StoredTokens), AuthError> {
    let text = fs::read(path).map_err(|error| failed(path, &error))?;
    let tokens = serde_json::from_slice(&text).map_err(|error| AuthError::Storage {
        path: path.to_owned(),
        // The message of serde_json can quote the file, so only the place is told.
        reason: format!("not a stored login (line {})", error.line()),
    })?;
    let changed = fs::metadata(path).and_then(|data| data.modified()).unwrap_or(UNIX_EPOCH);
    Ok((changed, tokens))
}

fn failed(path: &Path, error: &std::io::Error) -> AuthError {
    AuthError::Storage { path: path.to_owned(), reason: error.to_string() }
}

#[cfg(unix)]
fn create_private_folder(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn create_private_folder(folder: &Path) -> std::io::Result<()> {
    fs::create_dir_all(folder)
}

#[cfg(unix)]
fn private_file(path: &Path) -> std::io::Result<fs::File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    // A leftover of a crash is removed first: an existing file would keep its old mode.
    let _ = fs::remove_file(path);
    fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

#[cfg(not(unix))]
fn private_file(path: &Path) -> std::io::Result<fs::File> {
    fs::File::create(path)
}
