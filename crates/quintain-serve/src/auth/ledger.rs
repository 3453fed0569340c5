//! The list of local tokens: which were made, and which are revoked. The tokens themselves are not stored.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::private_file;

/// One token that was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRow {
    pub id: String,
    pub subject: String,
    pub scope: String,
    pub audience: String,
    pub operator: bool,
    pub created: u64,
    pub expires: u64,
    #[serde(default)]
    pub revoked: bool,
}

/// The list of a state folder.
#[derive(Debug)]
pub struct Ledger {
    path: PathBuf,
    pub rows: Vec<TokenRow>,
}

impl Ledger {
    /// Reads the list.
    ///
    /// # Errors
    /// If the file exists and cannot be read.
    pub fn open(folder: &Path) -> std::io::Result<Self> {
        let path = path_in(folder);
        let rows = match std::fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text)?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error),
        };
        Ok(Self { path, rows })
    }

    /// Adds a token. Forgets those that expired long ago.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn add(&mut self, row: TokenRow) -> std::io::Result<()> {
        const LONG_AGO: u64 = 30 * 24 * 3600;
        let now = row.created;
        self.rows.retain(|old| old.expires + LONG_AGO > now);
        self.rows.push(row);
        self.save()
    }

    /// Revokes the tokens with an id or of a subject; returns how many.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn revoke(&mut self, id_or_subject: &str) -> std::io::Result<usize> {
        let mut count = 0;
        for row in &mut self.rows {
            if !row.revoked && (row.id == id_or_subject || row.subject == id_or_subject) {
                row.revoked = true;
                count += 1;
            }
        }
        self.save()?;
        Ok(count)
    }

    fn save(&self) -> std::io::Result<()> {
        private_file::write(&self.path, &serde_json::to_vec_pretty(&self.rows)?)
    }
}

pub(super) fn path_in(folder: &Path) -> PathBuf {
    folder.join("tokens.json")
}
