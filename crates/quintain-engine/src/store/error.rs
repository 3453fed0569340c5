//! Errors of the store.

use std::path::{Path, PathBuf};

use super::sqlite::{ErrorKind, error_kind};

/// Why an operation of the store failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder or the file cannot be created or opened.
    #[error("the store {} cannot be opened: {why}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        why: String,
    },
    /// The file is not a valid database.
    #[error("the store {} is damaged ({why}); move the file away to start with an empty store", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The error of the database.
        why: String,
    },
    /// A newer program wrote the file.
    #[error(
        "the store {} has version {found}, but this program supports at most {known}; use a newer quintain",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Version of the file.
        found: i64,
        /// Version of the program.
        known: i64,
    },
    /// Another process keeps the lock.
    #[error("the store {} is locked by another process", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be written.
    #[error("the store {} cannot be written: {why}", path.display())]
    NotWritable {
        /// The file.
        path: PathBuf,
        /// For example, the disk is full or read-only.
        why: String,
    },
    /// Any other error of the database.
    #[error("the store {} failed: {why}", path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// The error of the database.
        why: String,
    },
    /// A value contains a secret that cannot be masked, so it must not be stored.
    #[error(transparent)]
    Unmaskable(#[from] quintain_wire::redact::Unmaskable),
    /// A stored value cannot be read.
    #[error("a stored {what} cannot be read: {why}")]
    Unreadable {
        /// What the value is.
        what: &'static str,
        /// Why it cannot be read.
        why: String,
    },
    /// No run matches.
    #[error("there is no run `{wanted}`")]
    NoSuchRun {
        /// The run as given by the user.
        wanted: String,
    },
    /// A prefix matches more than one run.
    #[error("`{wanted}` is ambiguous: {}", candidates.join(", "))]
    Ambiguous {
        /// The run as given by the user.
        wanted: String,
        /// Some of the matching runs.
        candidates: Vec<String>,
    },
    /// Another process resumed the run.
    #[error("another process is writing this run")]
    TakenOver,
    /// The run was deleted while it was running.
    #[error("it was deleted while it was running")]
    Deleted,
    /// Some results of a run were not written.
    #[error("{missing} results could not be stored: {first}")]
    Incomplete {
        /// Number of results that were not written.
        missing: usize,
        /// The first failure.
        first: Box<StoreError>,
    },
}

impl StoreError {
    /// Classifies an error of the database.
    pub(super) fn of(path: &Path, error: sqlx::Error) -> Self {
        let path = path.to_owned();
        let error_kind = error_kind(&error);
        let why = match error {
            sqlx::Error::Database(error) => error.message().to_owned(),
            other => other.to_string(),
        };
        match error_kind {
            ErrorKind::Locked => Self::Locked { path },
            ErrorKind::NotWritable => Self::NotWritable { path, why },
            ErrorKind::Damaged => Self::Damaged { path, why },
            ErrorKind::CannotOpen => Self::Open { path, why },
            ErrorKind::Other => Self::Database { path, why },
        }
    }

    pub(super) fn unreadable(what: &'static str, why: impl ToString) -> Self {
        Self::Unreadable { what, why: why.to_string() }
    }
}
