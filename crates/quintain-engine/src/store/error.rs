//! Why the store cannot do what it was asked for.

use std::path::{Path, PathBuf};

use super::sqlite::{Complaint, complaint};

/// What went wrong with the stored runs.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder or the file cannot be made or opened.
    #[error("the store {} cannot be opened: {why}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system says.
        why: String,
    },
    /// The file is no database, or no longer one.
    #[error("the store {} is damaged ({why}); move it away to start afresh", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What the database says.
        why: String,
    },
    /// A newer program wrote the file.
    #[error(
        "the store {} has version {found}, this program knows up to {known}; use a newer quintain",
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
    /// Another process does not let go.
    #[error("the store {} is locked by another process", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// Nothing more can be written.
    #[error("the store {} cannot be written: {why}", path.display())]
    NotWritable {
        /// The file.
        path: PathBuf,
        /// Disk full, read-only, ...
        why: String,
    },
    /// Anything else that the database says.
    #[error("the store {} failed: {why}", path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// What it says.
        why: String,
    },
    /// A value must not be stored as it is, and cannot be in any other way.
    #[error(transparent)]
    Unmaskable(#[from] quintain_wire::redact::Unmaskable),
    /// A stored value cannot be understood.
    #[error("a stored {what} cannot be read: {why}")]
    Unreadable {
        /// What it should be.
        what: &'static str,
        /// Why it is not.
        why: String,
    },
    /// There is no such run.
    #[error("there is no run `{wanted}`")]
    NoSuchRun {
        /// As the user named it.
        wanted: String,
    },
    /// A prefix fits more than one run.
    #[error("`{wanted}` could be {}", candidates.join(" or "))]
    Ambiguous {
        /// As the user named it.
        wanted: String,
        /// Some of those that fit.
        candidates: Vec<String>,
    },
    /// Another process resumed the run.
    #[error("another process writes this run")]
    TakenOver,
    /// Some results of a run did not reach the disk.
    #[error("{missing} of the results could not be stored: {first}")]
    Incomplete {
        /// How many.
        missing: usize,
        /// The first failure.
        first: Box<StoreError>,
    },
}

impl StoreError {
    /// Sorts what the database says.
    pub(super) fn of(path: &Path, error: sqlx::Error) -> Self {
        let path = path.to_owned();
        let complaint = complaint(&error);
        let why = match error {
            sqlx::Error::Database(error) => error.message().to_owned(),
            other => other.to_string(),
        };
        match complaint {
            Complaint::Locked => Self::Locked { path },
            Complaint::NotWritable => Self::NotWritable { path, why },
            Complaint::Damaged => Self::Damaged { path, why },
            Complaint::CannotOpen => Self::Open { path, why },
            Complaint::Other => Self::Database { path, why },
        }
    }

    pub(super) fn unreadable(what: &'static str, why: impl ToString) -> Self {
        Self::Unreadable { what, why: why.to_string() }
    }
}
