//! Stored runs: requests, answers and verdicts. The store writes continuously during a run, so a crash loses only the
//! cases in flight. The store must not know how runs are executed.

mod case_row;
mod cases;
mod commit;
mod entities;
mod error;
mod event_log;
mod findings;
mod heartbeat;
mod migration;
mod moment;
mod pack;
mod prune;
mod records;
mod runs;
mod schema;
mod sql;
mod sqlite;
mod suite_text;
mod trials;
mod writer;
mod writer_thread;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use sqlx::Connection as _;

pub use case_row::Finished;
pub use cases::Cases;
pub use entities::{Entity, EntityKind, NewEntity};
pub use error::StoreError;
pub use event_log::EventLog;
pub use findings::{FindingLine, Findings};
pub use moment::{Cutoff, CutoffError, Moment};
pub use records::{AnswerLine, AnswerTotal, MeanScore};
pub use runs::{Counts, LOCAL_OWNER, Run, RunEnd, RunFilter, RunKind, RunState};
pub use suite_text::SuiteText;
pub use writer::{NewRun, Writer};

const FILE: &str = "runs.db";

/// The stored runs of one state directory. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Store {
    pool: sqlite::Pool,
    path: PathBuf,
}

impl Store {
    /// Opens the file `runs.db` of a state directory. Creates both if necessary.
    ///
    /// # Errors
    /// When the file cannot be created, is damaged, or was written by a newer version.
    pub async fn open(state_dir: &Path) -> Result<Self, StoreError> {
        Self::open_noting(state_dir, |_| {}).await
    }

    /// The same. Calls `migrating` with the number of runs before it migrates a file of an earlier version, which may
    /// take a while.
    ///
    /// # Errors
    /// When it cannot be made, is damaged, or was written by a newer program.
    pub async fn open_noting(
        state_dir: &Path,
        migrating: impl FnOnce(usize),
    ) -> Result<Self, StoreError> {
        let path = state_dir.join(FILE);
        prepare(state_dir, &path)
            .map_err(|error| StoreError::Open { path: path.clone(), why: error.to_string() })?;
        Self::connect(path, |options| options, migrating).await
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Why other users may be able to read or change the stored runs, if so.
    pub fn exposure(&self) -> Option<String> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            let found = std::fs::metadata(&self.path).ok()?;
            if found.uid() != rustix::process::geteuid().as_raw() {
                return Some("it belongs to another user".to_owned());
            }
            let mode = found.mode() & 0o777;
            if mode & 0o077 != 0 {
                return Some(format!("other users can access it (mode {mode:03o})"));
            }
            // Who can write to a folder can replace its files, unless it is sticky.
            let folder = std::fs::metadata(self.path.parent()?).ok()?;
            let mode = folder.mode() & 0o7777;
            (mode & 0o1002 == 0o002)
                .then(|| format!("every user can replace files in its folder (mode {mode:03o})"))
        }
        #[cfg(not(unix))]
        None
    }

    /// Looks for damage in the file, which takes longer the larger it is.
    ///
    /// # Errors
    /// When the file is damaged or cannot be read.
    pub async fn check(&self) -> Result<(), StoreError> {
        let found = sqlite::quick_check(&self.pool).await.map_err(|error| self.failed(error))?;
        let path = self.path.clone();
        found.map_or(Ok(()), |why| Err(StoreError::Damaged { path, why }))
    }

    /// Closes all connections and waits for them, which dropping does not.
    pub async fn close(&self) {
        self.pool.close().await;
    }

    async fn connect(
        path: PathBuf,
        adjust: impl FnOnce(sqlite::Options) -> sqlite::Options,
        migrating: impl FnOnce(usize),
    ) -> Result<Self, StoreError> {
        let options = adjust(sqlite::options(&path));
        let failed = |error| StoreError::of(&path, error);
        let mut first = sqlite::connect(&options).await.map_err(failed)?;
        let version = match schema::version(&mut first).await.map_err(failed)? {
            Some(version) if version >= schema::VERSION => version,
            _ => {
                sqlite::prepare(&mut first).await.map_err(failed)?;
                migration::migrate(&mut first, migrating).await.map_err(failed)?;
                schema::version(&mut first).await.map_err(failed)?.unwrap_or_default()
            }
        };
        first.close().await.map_err(failed)?;
        if version > schema::VERSION {
            return Err(StoreError::Newer { path, found: version, known: schema::VERSION });
        }
        Ok(Self { pool: sqlite::pool(options), path })
    }

    fn failed(&self, error: sqlx::Error) -> StoreError {
        StoreError::of(&self.path, error)
    }
}

/// Runs contain private data, so only the owner can access directory and file.
fn prepare(state_dir: &Path, file: &Path) -> std::io::Result<()> {
    let mut directory = std::fs::DirBuilder::new();
    let mut options = std::fs::OpenOptions::new();
    #[cfg(unix)]
    {
        std::os::unix::fs::DirBuilderExt::mode(&mut directory, 0o700);
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    directory.recursive(true).create(state_dir)?;
    if !file.exists() {
        options.append(true).create(true).open(file)?;
    }
    Ok(())
}

fn number(index: usize) -> i64 {
    i64::try_from(index).unwrap_or(i64::MAX)
}

fn index(number: i64) -> usize {
    usize::try_from(number).unwrap_or_default()
}
