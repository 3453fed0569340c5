//! The tables, and how an older file becomes a current one. The words are understood by SQLite and
//! PostgreSQL alike; a file never loses a version, it only gains the next.

use sqlx::{Connection as _, SqliteConnection};

use super::BEGIN;

/// The version that this program writes.
pub(super) const VERSION: i64 = 2;

/// Each entry leads from its index to the next version.
const STEPS: [&[&str]; VERSION as usize] = [FIRST, SECOND];

const FIRST: &[&str] = &[
    // Numbers of runs are never given out twice: a process that still writes to a run which was
    // deleted meanwhile must not write to somebody else's.
    "CREATE TABLE run (
        number BIGINT PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        created TEXT NOT NULL,
        description TEXT,
        state TEXT NOT NULL,
        info BYTEA NOT NULL,
        summary BYTEA
    )",
    "CREATE INDEX run_by_age ON run (created, number)",
    "CREATE TABLE run_tag (
        run BIGINT NOT NULL REFERENCES run (number) ON DELETE CASCADE,
        name TEXT NOT NULL,
        value TEXT NOT NULL,
        PRIMARY KEY (run, name)
    )",
    "CREATE TABLE suite_text (
        run BIGINT NOT NULL REFERENCES run (number) ON DELETE CASCADE,
        place BIGINT NOT NULL,
        name TEXT NOT NULL,
        base_dir TEXT NOT NULL,
        content BYTEA NOT NULL,
        PRIMARY KEY (run, place)
    )",
    "CREATE TABLE suite_surface (
        run BIGINT NOT NULL REFERENCES run (number) ON DELETE CASCADE,
        target TEXT NOT NULL,
        surfaces BYTEA NOT NULL,
        PRIMARY KEY (run, target)
    )",
    "CREATE TABLE case_result (
        run BIGINT NOT NULL REFERENCES run (number) ON DELETE CASCADE,
        ordinal BIGINT NOT NULL,
        test_idx BIGINT NOT NULL,
        prompt_idx BIGINT NOT NULL,
        repeat BIGINT NOT NULL,
        target TEXT NOT NULL,
        status TEXT NOT NULL,
        score DOUBLE PRECISION NOT NULL,
        latency_ms DOUBLE PRECISION NOT NULL,
        description TEXT,
        prompt TEXT NOT NULL,
        vars_hash BIGINT NOT NULL,
        result BYTEA NOT NULL,
        evidence BYTEA NOT NULL,
        PRIMARY KEY (run, test_idx, prompt_idx, target, repeat)
    )",
    "CREATE INDEX case_in_order ON case_result (run, ordinal)",
];

/// What a red-team run needs to go on.
const SECOND: &[&str] = &[
    "CREATE TABLE lesson (
        run BIGINT PRIMARY KEY REFERENCES run (number) ON DELETE CASCADE,
        content BYTEA NOT NULL
    )",
    "CREATE TABLE bout (
        run BIGINT NOT NULL REFERENCES run (number) ON DELETE CASCADE,
        attack TEXT NOT NULL,
        place TEXT NOT NULL,
        nth BIGINT NOT NULL,
        content BYTEA NOT NULL,
        PRIMARY KEY (run, attack, place, nth)
    )",
];

/// The version of the file; none if there is nothing in it yet.
pub(super) async fn version(connection: &mut SqliteConnection) -> sqlx::Result<Option<i64>> {
    let found = sqlx::query_scalar("SELECT version FROM program").fetch_one(connection).await;
    match found {
        Ok(version) => Ok(Some(version)),
        Err(sqlx::Error::RowNotFound) => Ok(None),
        Err(sqlx::Error::Database(error)) if error.message().contains("no such table") => Ok(None),
        Err(error) => Err(error),
    }
}

/// Brings the file to the current version. Several processes may try at once.
pub(super) async fn migrate(connection: &mut SqliteConnection) -> sqlx::Result<()> {
    let mut transaction = connection.begin_with(BEGIN).await?;
    // Somebody else may have done it while we waited for the lock.
    let found = version(&mut transaction).await?;
    if found.is_none() {
        let table = "CREATE TABLE program (version BIGINT NOT NULL, last_run BIGINT NOT NULL)";
        sqlx::query(table).execute(&mut *transaction).await?;
        sqlx::query("INSERT INTO program VALUES (0, 0)").execute(&mut *transaction).await?;
    }
    let done = usize::try_from(found.unwrap_or(0)).unwrap_or(usize::MAX);
    for statement in STEPS.iter().skip(done).copied().flatten() {
        sqlx::query(*statement).execute(&mut *transaction).await?;
    }
    sqlx::query("UPDATE program SET version = $1 WHERE version < $1")
        .bind(VERSION)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await
}
