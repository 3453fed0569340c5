//! Migrating a store of an earlier version keeps all data.

use futures_util::TryStreamExt as _;
use serde_json::Value;
use sqlx::{Connection as _, Row as _};

use super::*;

/// Rows that version 2 of the program wrote.
const ROWS: &str = include_str!("version-2.sql");

/// Tables whose rows do not change, by their old and new names.
const KEPT: [(&str, &str); 6] = [
    ("run_tag", "run_tags"),
    ("suite_text", "suite_texts"),
    ("suite_surface", "surfaces"),
    ("case_result", "cases"),
    ("lesson", "knowledge"),
    ("bout", "trials"),
];

/// The tables as version 2 of the program created them.
pub(super) const VERSION_2: &[&str] = &[
    "CREATE TABLE program (version BIGINT NOT NULL, last_run BIGINT NOT NULL)",
    "INSERT INTO program (version, last_run) VALUES (2, 6)",
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

async fn old_store(path: &Path) -> sqlite::Connection {
    let options = sqlite::options(path).create_if_missing(true);
    let mut connection = sqlite::connect(&options).await.unwrap();
    schema::run(&mut connection, &[VERSION_2]).await.unwrap();
    sqlx::raw_sql(ROWS).execute(&mut connection).await.unwrap();
    connection
}

/// Every value of a table as bytes.
async fn rows(connection: &mut sqlite::Connection, table: &str) -> Vec<Vec<Option<Vec<u8>>>> {
    let sql = sqlx::AssertSqlSafe(format!("SELECT * FROM {table}"));
    let rows = sqlx::query(sql).fetch_all(connection).await.unwrap();
    let values = |row: &sqlite::Row| {
        (0..row.len()).map(|at| row.try_get_unchecked(at).unwrap()).collect::<Vec<_>>()
    };
    rows.iter().map(values).collect()
}

#[tokio::test]
async fn a_store_of_version_2_keeps_everything() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(FILE);
    let mut old = old_store(&path).await;
    let mut kept = Vec::new();
    for (table, _) in KEPT {
        kept.push(rows(&mut old, table).await);
    }
    assert!(kept.iter().all(|rows| !rows.is_empty()), "every table of the fixture has rows");
    let sql = "SELECT id, info, summary FROM run ORDER BY number";
    let runs: Vec<(String, Vec<u8>, Option<Vec<u8>>)> =
        sqlx::query_as(sql).fetch_all(&mut old).await.unwrap();
    old.close().await.unwrap();

    let mut migrated = None;
    let store = Store::open_noting(directory.path(), |runs| migrated = Some(runs)).await.unwrap();
    assert_eq!(migrated, Some(runs.len()));
    let again = Store::open_noting(directory.path(), |_| panic!("it is migrated")).await.unwrap();
    again.close().await;
    let mut new = sqlite::connect(&sqlite::options(&path)).await.unwrap();
    for ((_, table), before) in KEPT.into_iter().zip(&kept) {
        assert_eq!(&rows(&mut new, table).await, before, "{table}");
    }
    assert_eq!(store.count().await.unwrap(), runs.len());
    for (id, info, summary) in &runs {
        let run = store.find(id).await.unwrap();
        let told = serde_json::to_value(store.info(&run).await.unwrap()).unwrap();
        assert_eq!(told, pack::json::<Value>("info", info).unwrap());
        let mut before =
            summary.as_ref().map(|packed| pack::json::<Value>("summary", packed).unwrap());
        // This key has another name now.
        let attacks = before.as_mut().and_then(|before| before.pointer_mut("/redteam/attacks"));
        for attack in attacks.and_then(Value::as_array_mut).into_iter().flatten() {
            let attack = attack.as_object_mut().unwrap();
            let renamed = std::mem::take(attack).into_iter();
            let name = |key: String| if key == "bouts" { "trials".to_owned() } else { key };
            attack.extend(renamed.map(|(key, value)| (name(key), value)));
        }
        let after = store.summary(&run).await.unwrap();
        assert_eq!(after.map(|after| serde_json::to_value(after).unwrap()), before, "{id}");
        store.cases(&run).try_collect::<Vec<_>>().await.unwrap();
        assert_eq!(store.suite_texts(&run).await.unwrap().len(), 1);
        assert_eq!(run.owner, LOCAL_OWNER);
        assert_eq!(run.counts.is_some(), summary.is_some());
    }
    let list = store.runs(&RunFilter::default()).await.unwrap();
    let states: Vec<_> = list.iter().map(|run| (run.kind.word(), run.state.word())).collect();
    assert_eq!(
        states,
        [
            ("eval", "died"),
            ("redteam", "finished"),
            ("redteam", "limit-reached"),
            ("redteam", "finished"),
            ("rejudge", "finished"),
            ("eval", "finished"),
        ]
    );
    // The newest run with this finding is found, even though the finding is suppressed there.
    let found = store.latest_run_with_finding("bedce226").await.unwrap().unwrap();
    assert_eq!(found, list[1]);
    assert!(store.finding_list(&found).await.unwrap()[0].suppressed);
    assert_eq!(store.trials(&list[3]).await.unwrap().len(), 2);
    assert!(store.knowledge::<Value>(&list[3]).await.unwrap().is_some());
    // A run that died can be resumed, and run numbers continue where they were.
    let writer = store.resume(&list[0], &Redactor::default());
    writer.finish(&summary(), RunEnd::Finished).await.unwrap();
    stored(&store, "eval-next", "2027-01-01T00:00:00Z", 1).await;
    assert_eq!(store.count().await.unwrap(), runs.len() + 1);
}

#[tokio::test]
async fn a_migrated_store_has_the_tables_of_a_new_one() {
    let (fresh, _kept) = store().await;
    let directory = tempfile::tempdir().unwrap();
    old_store(&directory.path().join(FILE)).await.close().await.unwrap();
    let migrated = Store::open(directory.path()).await.unwrap();
    // Names, types and keys of all columns; indexes by the columns they cover.
    let sql = "SELECT m.type || ' ' || m.tbl_name || ' ' || coalesce(c.name, '') || ' ' ||
            coalesce(c.type, '') || ' ' || coalesce(c.pk, '') || ' ' || coalesce(c.\"notnull\", '')
        FROM sqlite_master m LEFT JOIN pragma_table_info(m.name) c
        UNION SELECT 'index ' || m.name || ' ' || i.seqno || ' ' || i.name
        FROM sqlite_master m JOIN pragma_index_info(m.name) i
        WHERE m.type = 'index' AND m.sql IS NOT NULL ORDER BY 1";
    let tables = async |store: &Store| -> Vec<String> {
        sqlx::query_scalar(sql).fetch_all(&store.pool).await.unwrap()
    };
    assert_eq!(tables(&migrated).await, tables(&fresh).await);
    let sql = "SELECT count(*) FROM pragma_foreign_key_check";
    let broken: i64 = sqlx::query_scalar(sql).fetch_one(&migrated.pool).await.unwrap();
    assert_eq!(broken, 0);
    let run = migrated.find("redteam-e3g").await.unwrap();
    migrated.delete(std::slice::from_ref(&run)).await.unwrap();
    assert!(migrated.finding_list(&run).await.unwrap().is_empty(), "references still cascade");
}

/// The tables that version 3 had instead of those of today.
pub(super) const VERSION_3: &[&str] = &[
    "DROP TABLE entities",
    "DROP TABLE answers",
    "DROP TABLE traces",
    "DROP TABLE scores",
    "ALTER TABLE runs DROP COLUMN duration_ms",
    "ALTER TABLE runs DROP COLUMN findings",
    "CREATE TABLE answers (
        run BIGINT NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
        key TEXT NOT NULL,
        model TEXT,
        cost DOUBLE PRECISION,
        duration_ms DOUBLE PRECISION NOT NULL,
        content BYTEA NOT NULL,
        PRIMARY KEY (run, key)
    )",
    "CREATE TABLE traces (run BIGINT NOT NULL, content BYTEA NOT NULL)",
    "CREATE TABLE scores (run BIGINT NOT NULL, content BYTEA NOT NULL)",
    "UPDATE program SET version = 3",
];

#[tokio::test]
async fn version_3_keeps_its_answers_and_gets_the_columns_of_lists() {
    let (store, directory) = store().await;
    let info = info("redteam-a", "2026-01-01T00:00:00Z");
    let run = NewRun { kind: RunKind::Redteam, ..new(&info) };
    let writer = store.start(run, &Redactor::default());
    writer.answer(&records::answer("a", "first")).await;
    let attacked = Summary { duration_ms: 12.0, ..records::attacked(&["aaaa1", "bbbb2", "cccc3"]) };
    writer.finish(&attacked, RunEnd::Finished).await.unwrap();
    let packed: Vec<u8> =
        sqlx::query_scalar("SELECT content FROM answers").fetch_one(&store.pool).await.unwrap();
    let before = store.find("redteam-a").await.unwrap();
    for statement in VERSION_3 {
        sqlx::query(*statement).execute(&store.pool).await.unwrap();
    }
    let insert = "INSERT INTO answers (run, key, model, cost, duration_ms, content)
        VALUES ($1, 'a', 'judge', 0.25, 12.0, $2)";
    sqlx::query(insert).bind(before.number).bind(packed).execute(&store.pool).await.unwrap();
    store.close().await;
    let store = Store::open(directory.path()).await.unwrap();
    let run = store.find("redteam-a").await.unwrap();
    assert_eq!(run, before);
    assert_eq!((run.duration_ms, run.findings), (Some(12), Some(2)));
    let answers = store.answers(&run).await.unwrap();
    assert_eq!(answers[0].record, Some(records::answer("a", "first")));
}
