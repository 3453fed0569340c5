//! The tables. All statements are valid in SQLite and PostgreSQL.

use super::sql;
use super::sqlite::{Connection, is_missing_table};

/// The version that this program writes.
pub(super) const VERSION: i64 = 5;

/// The tables of a new file. Lists read `runs`, so it has no large columns: those are in `run_details`.
pub(super) const TABLES: &[&str] = &[
    "CREATE TABLE program (version BIGINT NOT NULL, last_run BIGINT NOT NULL)",
    "INSERT INTO program (version, last_run) VALUES (0, 0)",
    // Run numbers are never reused: a process that still writes to a deleted run must not write to another one.
    "CREATE TABLE runs (
        number BIGINT PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        created TEXT NOT NULL,
        description TEXT,
        state TEXT NOT NULL,
        kind TEXT NOT NULL DEFAULT 'eval',
        owner TEXT NOT NULL DEFAULT 'local',
        writer TEXT,
        heartbeat BIGINT NOT NULL DEFAULT 0,
        passed BIGINT,
        failed BIGINT,
        errored BIGINT
    )",
    "CREATE TABLE run_details (
        run BIGINT PRIMARY KEY REFERENCES runs (number) ON DELETE CASCADE,
        info BYTEA NOT NULL,
        summary BYTEA
    )",
    "CREATE TABLE run_tags (
        run BIGINT NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
        name TEXT NOT NULL,
        value TEXT NOT NULL,
        PRIMARY KEY (run, name)
    )",
    "CREATE TABLE suite_texts (
        run BIGINT NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
        place BIGINT NOT NULL,
        name TEXT NOT NULL,
        base_dir TEXT NOT NULL,
        content BYTEA NOT NULL,
        PRIMARY KEY (run, place)
    )",
    "CREATE TABLE surfaces (
        run BIGINT NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
        target TEXT NOT NULL,
        surfaces BYTEA NOT NULL,
        PRIMARY KEY (run, target)
    )",
    "CREATE TABLE cases (
        run BIGINT NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
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
    "CREATE INDEX case_in_order ON cases (run, ordinal)",
    "CREATE TABLE knowledge (
        run BIGINT PRIMARY KEY REFERENCES runs (number) ON DELETE CASCADE,
        content BYTEA NOT NULL
    )",
    "CREATE TABLE trials (
        run BIGINT NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
        attack TEXT NOT NULL,
        place TEXT NOT NULL,
        nth BIGINT NOT NULL,
        content BYTEA NOT NULL,
        PRIMARY KEY (run, attack, place, nth)
    )",
];

/// What version 3 adds, to new files and to older ones.
pub(super) const THIRD: &[&str] = &[
    "CREATE INDEX runs_by_age ON runs (created, number)",
    "CREATE INDEX runs_by_owner ON runs (owner, created, number)",
    "CREATE INDEX runs_by_kind ON runs (kind, created, number)",
    "CREATE TABLE findings (
        run BIGINT NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
        position BIGINT NOT NULL,
        suppressed BOOLEAN NOT NULL,
        fingerprint TEXT NOT NULL,
        rule TEXT NOT NULL,
        severity TEXT NOT NULL,
        confidence TEXT NOT NULL,
        title TEXT NOT NULL,
        content BYTEA NOT NULL,
        PRIMARY KEY (run, position)
    )",
    // The fingerprint of the finding and those of the places that it lists.
    "CREATE TABLE fingerprints (
        run BIGINT NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
        position BIGINT NOT NULL,
        fingerprint TEXT NOT NULL,
        PRIMARY KEY (run, position, fingerprint)
    )",
    "CREATE INDEX finding_by_fingerprint ON fingerprints (fingerprint, run)",
    "CREATE TABLE events (
        run BIGINT NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
        sequence BIGINT NOT NULL,
        content BYTEA NOT NULL,
        PRIMARY KEY (run, sequence)
    )",
];

/// What version 4 adds, to new files and to older ones: what lists show of a run, and one row for every answer, trace and
/// score of a case. The records are in the cases; only an answer that belongs to no case has its content here.
pub(super) const FOURTH: &[&str] = &[
    "ALTER TABLE runs ADD COLUMN duration_ms DOUBLE PRECISION",
    "ALTER TABLE runs ADD COLUMN findings BIGINT",
    "CREATE TABLE answers (
        run BIGINT NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
        ordinal BIGINT NOT NULL,
        key TEXT NOT NULL,
        kind TEXT NOT NULL,
        model TEXT,
        cost DOUBLE PRECISION,
        duration_ms DOUBLE PRECISION NOT NULL,
        content BYTEA,
        PRIMARY KEY (run, ordinal, key)
    )",
    "CREATE TABLE traces (
        run BIGINT NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
        ordinal BIGINT NOT NULL,
        name TEXT NOT NULL,
        source TEXT,
        findings BIGINT NOT NULL,
        PRIMARY KEY (run, ordinal)
    )",
    "CREATE INDEX trace_by_name ON traces (run, name)",
    "CREATE TABLE scores (
        run BIGINT NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
        ordinal BIGINT NOT NULL,
        metric TEXT NOT NULL,
        score DOUBLE PRECISION,
        passed BOOLEAN,
        PRIMARY KEY (run, ordinal, metric)
    )",
];

/// What version 5 adds, to new files and to older ones: what the owners of a server configured.
pub(super) const FIFTH: &[&str] = &["CREATE TABLE entities (
        owner TEXT NOT NULL,
        kind TEXT NOT NULL,
        id TEXT NOT NULL,
        name TEXT NOT NULL,
        version BIGINT NOT NULL,
        size BIGINT NOT NULL,
        body BYTEA NOT NULL,
        created TEXT NOT NULL,
        updated TEXT NOT NULL,
        PRIMARY KEY (owner, kind, id),
        UNIQUE (owner, kind, name)
    )"];

/// The version of the file; `None` if it is empty.
pub(super) async fn version(connection: &mut Connection) -> sqlx::Result<Option<i64>> {
    match sqlx::query_scalar(sql::VERSION).fetch_optional(connection).await {
        Err(error) if is_missing_table(&error) => Ok(None),
        found => found,
    }
}

pub(super) async fn run(
    connection: &mut Connection,
    steps: &[&'static [&'static str]],
) -> sqlx::Result<()> {
    for statement in steps.iter().copied().flatten() {
        sqlx::query(*statement).execute(&mut *connection).await?;
    }
    Ok(())
}
