//! Creates the tables, and migrates files of earlier versions. Keeps all data: tables are renamed, and counts and findings move from the
//! summaries of runs into columns and rows.

use serde_json::Value;
use sqlx::Connection as _;

use super::findings::FindingRow;
use super::pack::{self, Packed, Packer};
use super::schema::{FIFTH, FOURTH, TABLES, THIRD, VERSION, run, version};
use super::sqlite::{BEGIN, Connection};
use super::{RunEnd, RunState, index, sql};

/// From version 1 to 2: tables for resuming red-team runs.
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

/// From version 2 to 3: tables get their current names, and the large columns of runs move to a separate table. Runs
/// that did not end get no writer, so they count as died.
pub(super) const RENAME: &[&str] = &[
    "ALTER TABLE run RENAME TO runs",
    "ALTER TABLE run_tag RENAME TO run_tags",
    "ALTER TABLE suite_text RENAME TO suite_texts",
    "ALTER TABLE suite_surface RENAME TO surfaces",
    "ALTER TABLE case_result RENAME TO cases",
    "ALTER TABLE lesson RENAME TO knowledge",
    "ALTER TABLE bout RENAME TO trials",
    "DROP INDEX run_by_age",
    "CREATE TABLE run_details (
        run BIGINT PRIMARY KEY REFERENCES runs (number) ON DELETE CASCADE,
        info BYTEA NOT NULL,
        summary BYTEA
    )",
    "INSERT INTO run_details (run, info, summary) SELECT number, info, summary FROM runs",
    "ALTER TABLE runs DROP COLUMN info",
    "ALTER TABLE runs DROP COLUMN summary",
    "ALTER TABLE runs ADD COLUMN kind TEXT NOT NULL DEFAULT 'eval'",
    "ALTER TABLE runs ADD COLUMN owner TEXT NOT NULL DEFAULT 'local'",
    "ALTER TABLE runs ADD COLUMN writer TEXT",
    "ALTER TABLE runs ADD COLUMN heartbeat BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE runs ADD COLUMN passed BIGINT",
    "ALTER TABLE runs ADD COLUMN failed BIGINT",
    "ALTER TABLE runs ADD COLUMN errored BIGINT",
    "UPDATE runs SET kind = 'redteam' WHERE id LIKE 'redteam-%'",
    "UPDATE runs SET kind = 'rejudge' WHERE id LIKE 'rejudge-%'",
    "UPDATE runs SET state = 'running' WHERE state = 'open'",
];

/// From version 3 to 4, before the new tables: nothing wrote the old tables of traces and scores.
pub(super) const REPLACE: &[&str] = &[
    "DROP TABLE traces",
    "DROP TABLE scores",
    "ALTER TABLE answers RENAME TO answers_of_version_3",
];

/// The same, after them. Only red-team runs stored answers: calls that a model proposed.
pub(super) const REFILL: &[&str] = &[
    "INSERT INTO answers (run, ordinal, key, kind, model, cost, duration_ms, content)
        SELECT run, -1, key, 'web', model, cost, duration_ms, content FROM answers_of_version_3",
    "DROP TABLE answers_of_version_3",
];

/// Migrates the file to the current version. Several processes may try concurrently; only the one that migrates an
/// existing file calls `migrating`, with the number of runs.
pub(super) async fn migrate(
    connection: &mut Connection,
    migrating: impl FnOnce(usize),
) -> sqlx::Result<()> {
    let mut transaction = connection.begin_with(BEGIN).await?;
    // Another process may have migrated it while we waited for the lock.
    let found = version(&mut transaction).await?;
    match found {
        Some(version) if version >= VERSION => return Ok(()),
        Some(version) => {
            migrating(count(&mut transaction, version).await?);
            from_version(&mut transaction, version).await?;
        }
        None => run(&mut transaction, &[TABLES, THIRD, FOURTH, FIFTH]).await?,
    }
    sqlx::query(sql::SET_VERSION).bind(VERSION).execute(&mut *transaction).await?;
    transaction.commit().await
}

/// The number of runs in a file of an earlier version.
async fn count(connection: &mut Connection, version: i64) -> sqlx::Result<usize> {
    let statement = if version < 3 { "SELECT count(*) FROM run" } else { sql::COUNT_RUNS };
    sqlx::query_scalar(statement).fetch_one(connection).await.map(index)
}

async fn from_version(connection: &mut Connection, version: i64) -> sqlx::Result<()> {
    if version < 2 {
        run(connection, &[SECOND]).await?;
    }
    if version < 3 {
        run(connection, &[RENAME, THIRD, FOURTH]).await?;
    } else if version < 4 {
        run(connection, &[REPLACE, FOURTH, REFILL]).await?;
    }
    if version < 4 {
        split_summaries(connection).await?;
    }
    run(connection, &[FIFTH]).await
}

/// Moves counts and findings of each run from its summary into columns and rows; summaries of version 3 have no findings
/// any more. Loads one run at a time. Leaves a
/// summary that cannot be read unchanged, so that reading it later reports the error.
async fn split_summaries(connection: &mut Connection) -> sqlx::Result<()> {
    let mut packer = Packer::new();
    let mut last = i64::MIN;
    loop {
        let next = sqlx::query_as(sql::NEXT_SUMMARY).bind(last);
        let Some((number, packed)): Option<(i64, Vec<u8>)> =
            next.fetch_optional(&mut *connection).await?
        else {
            return Ok(());
        };
        last = number;
        let Ok(mut summary) = pack::json::<Value>("summary", &packed) else { continue };
        let count = |name: &str| summary[name].as_i64();
        sqlx::query(sql::SET_COUNTS)
            .bind(count("passed"))
            .bind(count("failed"))
            .bind(count("errored"))
            .bind(summary["duration_ms"].as_f64())
            .bind(number)
            .execute(&mut *connection)
            .await?;
        let interrupted = summary["interrupted"] == true;
        let Some(report) = summary.get_mut("redteam").and_then(Value::as_object_mut) else {
            continue;
        };
        if report.contains_key("cut_short") && !interrupted {
            let query =
                sqlx::query(sql::SET_STATE).bind(RunState::Ended(RunEnd::LimitReached).word());
            query.bind(number).execute(&mut *connection).await?;
        }
        let mut position = 0;
        for (name, suppressed) in [("findings", false), ("suppressed", true)] {
            let Some(list) = report.get_mut(name).and_then(Value::as_array_mut) else { continue };
            for finding in list.drain(..) {
                let mut row = FindingRow::of_stored(position, suppressed, &finding);
                row.content().shrink(&mut packer);
                row.insert(connection, number).await?;
                position += 1;
            }
        }
        sqlx::query(sql::SET_FINDINGS).bind(number).execute(&mut *connection).await?;
        let mut packed = Packed::stored(&summary);
        packed.shrink(&mut packer);
        let query = sqlx::query(sql::SET_SUMMARY).bind(packed.bytes()).bind(number);
        query.execute(&mut *connection).await?;
    }
}
