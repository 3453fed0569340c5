//! Everything specific to SQLite: types, options, result codes and maintenance. The rest of the store uses SQL that is
//! also valid in PostgreSQL.

use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions as _, SqliteConnection, SqlitePool};

pub(super) type Pool = SqlitePool;
pub(super) type Connection = SqliteConnection;
pub(super) type Options = SqliteConnectOptions;
pub(super) type Row = sqlx::sqlite::SqliteRow;

/// Takes the write lock immediately, since SQLite does not wait when a read lock is upgraded.
pub(super) const BEGIN: &str = "BEGIN IMMEDIATE";
/// How long to wait for the lock of another process.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
/// Pages in the write-ahead log before a checkpoint, four times the default. Every checkpoint waits for the disk
/// several times, so fewer and larger ones are cheaper.
const PAGES_PER_CHECKPOINT: &str = "4000";

pub(super) fn options(path: &Path) -> Options {
    SqliteConnectOptions::new()
        .filename(path)
        .synchronous(SqliteSynchronous::Normal)
        .foreign_keys(true)
        .busy_timeout(LOCK_TIMEOUT)
        .pragma("wal_autocheckpoint", PAGES_PER_CHECKPOINT)
        .disable_statement_logging()
}

pub(super) async fn connect(options: &Options) -> sqlx::Result<Connection> {
    options.connect().await
}

pub(super) fn pool(options: Options) -> Pool {
    SqlitePoolOptions::new().max_connections(4).connect_lazy_with(options)
}

/// Prepares a new file: enables incremental vacuum, so that deleted runs free disk space, and write-ahead logging, so
/// that readers and a writer do not block each other. The file stores both settings. SQLite does not wait for the lock
/// that this needs, so we retry.
pub(super) async fn prepare(connection: &mut Connection) -> sqlx::Result<()> {
    sqlx::query("PRAGMA auto_vacuum = INCREMENTAL").execute(&mut *connection).await?;
    let mut left = LOCK_TIMEOUT.as_millis() / 10;
    loop {
        let mode = sqlx::query_scalar::<_, String>("PRAGMA journal_mode = WAL");
        match mode.fetch_one(&mut *connection).await {
            Err(error) if is_busy(&error) && left > 0 => left -= 1,
            Err(error) => return Err(error),
            // A file system without shared memory keeps the old mode, which is slower but safe.
            Ok(_) => return Ok(()),
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Returns free pages to the file system. If this fails, later runs reuse them.
pub(super) async fn free_disk_space(pool: &Pool) {
    for sql in ["PRAGMA incremental_vacuum", "PRAGMA wal_checkpoint(TRUNCATE)"] {
        // Each row is one step of the vacuum, so fetch all rows.
        if let Err(error) = sqlx::query(sql).fetch_all(pool).await {
            tracing::debug!(%error, sql, "cannot free disk space");
        }
    }
}

/// The first damage in the file, if any.
pub(super) async fn quick_check(pool: &Pool) -> sqlx::Result<Option<String>> {
    let found: String = sqlx::query_scalar("PRAGMA quick_check(1)").fetch_one(pool).await?;
    Ok((found != "ok").then_some(found))
}

/// The kinds of database errors that the store distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ErrorKind {
    Locked,
    NotWritable,
    Damaged,
    CannotOpen,
    Other,
}

pub(super) fn error_kind(error: &sqlx::Error) -> ErrorKind {
    match code(error) {
        // SQLITE_BUSY, SQLITE_LOCKED
        Some(5 | 6) => ErrorKind::Locked,
        // SQLITE_READONLY, SQLITE_IOERR, SQLITE_FULL
        Some(8 | 10 | 13) => ErrorKind::NotWritable,
        // SQLITE_CORRUPT, SQLITE_NOTADB
        Some(11 | 26) => ErrorKind::Damaged,
        // SQLITE_PERM, SQLITE_CANTOPEN
        Some(3 | 14) => ErrorKind::CannotOpen,
        _ => ErrorKind::Other,
    }
}

/// Whether a statement failed because its table does not exist.
pub(super) fn is_missing_table(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(|error| error.message().contains("no such table"))
}

fn is_busy(error: &sqlx::Error) -> bool {
    error_kind(error) == ErrorKind::Locked
}

/// The primary result code, without the extended part.
fn code(error: &sqlx::Error) -> Option<i64> {
    let extended: i64 = error.as_database_error()?.code()?.parse().ok()?;
    Some(extended & 0xff)
}
