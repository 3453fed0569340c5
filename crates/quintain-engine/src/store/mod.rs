//! Runs on disk: what was asked, what came back, what was thought of it. Written while a run goes
//! on, so that a crash loses no more than the cases in flight.

mod bouts;
mod cases;
mod error;
mod moment;
mod pack;
mod prune;
mod row;
mod runs;
mod schema;
mod writer;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Connection as _, SqliteConnection, SqlitePool};

pub use cases::{Cases, Finished};
pub use error::StoreError;
pub use moment::{Cutoff, Moment, NoCutoff};
pub use runs::{Run, RunFilter, RunState};
pub use writer::{SuiteText, Writer};

/// Takes the lock for writing at once: a lock that is asked for later cannot be waited for.
const BEGIN: &str = "BEGIN IMMEDIATE";
/// How long another process may hold the lock.
const PATIENCE: Duration = Duration::from_secs(10);
const FILE: &str = "runs.db";

/// The stored runs of one state directory. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Store {
    pool: SqlitePool,
    path: PathBuf,
}

impl Store {
    /// Opens the file `runs.db` of a state directory and makes both if need be.
    ///
    /// # Errors
    /// When it cannot be made, is damaged, or was written by a newer program.
    pub async fn open(state_dir: &Path) -> Result<Self, StoreError> {
        let path = state_dir.join(FILE);
        prepare(state_dir, &path)
            .map_err(|error| StoreError::Open { path: path.clone(), why: error.to_string() })?;
        Self::connect(path, |options| options).await
    }

    /// Where the runs are.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Waits until everything is on disk; dropping would do, only not in order.
    pub async fn close(&self) {
        self.pool.close().await;
    }

    async fn connect(
        path: PathBuf,
        adjust: impl FnOnce(SqliteConnectOptions) -> SqliteConnectOptions,
    ) -> Result<Self, StoreError> {
        let options = SqliteConnectOptions::new()
            .filename(&path)
            .synchronous(SqliteSynchronous::Normal)
            .foreign_keys(true)
            .busy_timeout(PATIENCE)
            .disable_statement_logging();
        let options = adjust(options);
        let failed = |error| StoreError::of(&path, error);
        let mut first = options.connect().await.map_err(failed)?;
        let version = match schema::version(&mut first).await.map_err(failed)? {
            Some(version) if version >= schema::VERSION => version,
            _ => {
                furnish(&mut first).await.map_err(failed)?;
                schema::migrate(&mut first).await.map_err(failed)?;
                schema::version(&mut first).await.map_err(failed)?.unwrap_or_default()
            }
        };
        first.close().await.map_err(failed)?;
        if version > schema::VERSION {
            return Err(StoreError::Newer { path, found: version, known: schema::VERSION });
        }
        let pool = SqlitePoolOptions::new().max_connections(4).connect_lazy_with(options);
        Ok(Self { pool, path })
    }

    fn failed(&self, error: sqlx::Error) -> StoreError {
        StoreError::of(&self.path, error)
    }
}

/// Space of deleted runs can be given back, readers and a writer do not disturb each other: the file
/// remembers both. SQLite does not wait for the lock that this needs, so we do.
async fn furnish(connection: &mut SqliteConnection) -> sqlx::Result<()> {
    sqlx::query("PRAGMA auto_vacuum = INCREMENTAL").execute(&mut *connection).await?;
    let mut left = PATIENCE.as_millis() / 10;
    loop {
        let mode = sqlx::query_scalar::<_, String>("PRAGMA journal_mode = WAL");
        match mode.fetch_one(&mut *connection).await {
            Err(error) if error::is_busy(&error) && left > 0 => left -= 1,
            Err(error) => return Err(error),
            // A file system without shared memory stays as it is, which is slower but sound.
            Ok(_) => return Ok(()),
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// What a run saw is nobody else's business: directory and file are for their owner.
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
