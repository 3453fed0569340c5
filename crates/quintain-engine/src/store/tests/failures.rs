use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use futures_util::TryStreamExt as _;

use super::*;

/// Environment variable of a child process: state directory, run id and number of cases.
const CHILD: &str = "QUINTAIN_TEST_STORE";

/// Starts this test binary as a child process that writes a run with `cases` cases.
fn child(directory: &TempDir, id: &str, cases: usize) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "store::tests::failures::a_child_writes", "--nocapture", "--ignored"])
        .env(CHILD, format!("{}|{id}|{cases}", directory.path().display()))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[tokio::test]
#[ignore = "started as a child process by other tests"]
async fn a_child_writes() {
    let Ok(order) = std::env::var(CHILD) else { return };
    let [directory, id, cases] = order.split('|').collect::<Vec<_>>().try_into().unwrap();
    let store = Store::open(Path::new(directory)).await.unwrap();
    let writer = begin(&store, &info(id, "2026-01-01T00:00:00Z"));
    for ordinal in 0..cases.parse().unwrap() {
        writer.case(&shared(case(ordinal, CaseStatus::Passed))).await;
        if ordinal % 100 == 99 {
            println!("\nwrote {ordinal}");
        }
    }
    writer.finish(&summary(), RunEnd::Finished).await.unwrap();
}

#[tokio::test]
async fn a_killed_process_loses_only_what_was_in_flight() {
    let (store, directory) = store().await;
    let mut child = child(&directory, "eval-killed", 10_000_000);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    while !lines.next().unwrap().unwrap().contains("wrote 2999") {}
    child.kill().unwrap();
    child.wait().unwrap();

    let run = store.find("eval-killed").await.unwrap();
    assert_eq!(run.state, RunState::Died);
    let cases = store.cases(&run).try_collect::<Vec<_>>().await.unwrap();
    // The child reported 3000 cases; the queue and the open transaction contain at most two groups.
    assert!(cases.len() >= 900, "only {} cases are left", cases.len());
    assert!(cases.iter().enumerate().all(|(at, case)| case.ordinal == at), "no holes");
    let check: String =
        sqlx::query_scalar("PRAGMA integrity_check").fetch_one(&store.pool).await.unwrap();
    assert_eq!(check, "ok");
    // The store is still usable.
    stored(&store, "eval-next", "2026-01-02T00:00:00Z", 3).await;
}

#[tokio::test]
async fn several_processes_write_and_one_reads_at_the_same_time() {
    let directory = tempfile::tempdir().unwrap();
    // The file does not exist yet, so the processes also compete to create it.
    let mut children: Vec<_> =
        (0..3).map(|n| child(&directory, &format!("eval-{n}"), 1_000)).collect();
    let store = Store::open(directory.path()).await.unwrap();
    while children.iter_mut().any(|child| child.try_wait().unwrap().is_none()) {
        for run in store.runs(&RunFilter::default()).await.unwrap() {
            let cases = store.cases(&run).try_collect::<Vec<_>>().await.unwrap();
            assert!(cases.iter().enumerate().all(|(at, case)| case.ordinal == at), "no holes");
        }
    }
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let runs = store.runs(&RunFilter::default()).await.unwrap();
    assert_eq!(runs.len(), 3);
    for run in runs {
        assert_eq!(run.state, RunState::Ended(RunEnd::Finished));
        assert_eq!(store.finished(&run).await.unwrap().len(), 1_000);
    }
}

#[tokio::test]
async fn a_full_disk_costs_the_copy_and_not_the_run() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("runs.db");
    let limited = |options: sqlite::Options| options.pragma("max_page_count", "44");
    prepare(directory.path(), &path).unwrap();
    let store = Store::connect(path, limited, |_| {}).await.unwrap();
    let writer = begin(&store, &info("eval-a", "2026-01-01T00:00:00Z"));
    for ordinal in 0..5_000 {
        writer.case(&shared(case(ordinal, CaseStatus::Passed))).await;
    }
    let error = writer.finish(&summary(), RunEnd::Finished).await.unwrap_err();
    let StoreError::Incomplete { missing, first } = &error else { panic!("{error}") };
    assert!(*missing > 3_000 && matches!(**first, StoreError::NotWritable { .. }), "{error}");
    assert!(error.to_string().ends_with("cannot be written: database or disk is full"), "{error}");
}

#[tokio::test]
async fn a_read_only_store_is_read_and_says_why_it_takes_nothing() {
    let (writable, directory) = store().await;
    stored(&writable, "eval-a", "2026-01-01T00:00:00Z", 1).await;
    let path = directory.path().join("runs.db");
    let store = Store::connect(path, |options| options.read_only(true), |_| {}).await.unwrap();
    let run = store.find("latest").await.unwrap();
    assert_eq!(store.cases(&run).try_collect::<Vec<_>>().await.unwrap().len(), 1);
    let writer = begin(&store, &info("eval-b", "2026-01-02T00:00:00Z"));
    let error = writer.finish(&summary(), RunEnd::Finished).await.unwrap_err();
    assert!(matches!(error, StoreError::NotWritable { .. }), "{error}");
    let error = store.delete(&[run]).await.unwrap_err();
    assert!(matches!(error, StoreError::NotWritable { .. }), "{error}");
}

#[tokio::test]
async fn a_directory_that_cannot_be_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, "x").unwrap();
    let error = Store::open(&file).await.unwrap_err();
    assert!(matches!(error, StoreError::Open { .. }), "{error}");
}

#[tokio::test]
async fn a_file_of_noise_is_called_damaged_and_left_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("runs.db");
    let noise = "not a database".repeat(1_000);
    std::fs::write(&path, &noise).unwrap();
    let error = Store::open(directory.path()).await.unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), noise);
}

#[tokio::test]
async fn a_file_with_damage_inside_yields_errors_and_no_panic() {
    let (store, directory) = store().await;
    stored(&store, "eval-a", "2026-01-01T00:00:00Z", 500).await;
    sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").fetch_all(&store.pool).await.unwrap();
    store.close().await;
    let path = directory.path().join("runs.db");
    let mut bytes = std::fs::read(&path).unwrap();
    // Overwrite everything after the first pages, which declare the tables.
    bytes[4_096 * 16..].fill(0xa5);
    std::fs::write(&path, bytes).unwrap();
    let outcome = async {
        let store = Store::open(directory.path()).await?;
        let run = store.find("latest").await?;
        store.cases(&run).try_collect::<Vec<_>>().await
    };
    let error = outcome.await.unwrap_err();
    let told = matches!(error, StoreError::Damaged { .. } | StoreError::Unreadable { .. });
    assert!(told, "{error}");
}

#[tokio::test]
async fn a_store_of_a_newer_program_is_not_touched() {
    let (store, directory) = store().await;
    let sql = "UPDATE program SET version = version + 1";
    sqlx::query(sql).execute(&store.pool).await.unwrap();
    let error = Store::open(directory.path()).await.unwrap_err();
    assert!(matches!(error, StoreError::Newer { found: 6, known: 5, .. }), "{error}");
}

#[tokio::test]
async fn a_run_that_is_deleted_while_it_runs_stays_deleted() {
    let (store, _directory) = store().await;
    let run = stored(&store, "eval-a", "2026-01-01T00:00:00Z", 1).await;
    let writer = store.resume(&run, &Redactor::default());
    store.delete(std::slice::from_ref(&run)).await.unwrap();
    let other = stored(&store, "eval-b", "2026-01-02T00:00:00Z", 1).await;
    writer.case(&shared(case(7, CaseStatus::Passed))).await;
    let error = writer.finish(&summary(), RunEnd::Finished).await.unwrap_err();
    assert!(matches!(error, StoreError::Deleted), "{error}");
    assert_eq!(store.runs(&RunFilter::default()).await.unwrap(), std::slice::from_ref(&other));
    assert_eq!(store.finished(&other).await.unwrap().len(), 1);
}

#[cfg(unix)]
#[tokio::test]
async fn other_users_cannot_read_the_store() {
    use std::os::unix::fs::PermissionsExt as _;
    let above = tempfile::tempdir().unwrap();
    let directory = above.path().join("state/quintain");
    let store = Store::open(&directory).await.unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&directory), mode(store.path())), (0o700, 0o600));
    let log = directory.join("runs.db-wal");
    let run = stored(&store, "eval-a", "2026-01-01T00:00:00Z", 1).await;
    assert!(!log.exists() || mode(&log) == 0o600, "{run:?}");
}

/// Prints timings: `cargo test --release -- --ignored --nocapture`.
#[tokio::test]
#[ignore = "prints how long things take"]
async fn how_long_it_takes() {
    let directory = tempfile::tempdir().unwrap();
    for what in ["create", "open"] {
        let start = std::time::Instant::now();
        Store::open(directory.path()).await.unwrap();
        println!("{what}: {:?}", start.elapsed());
    }
    let store = Store::open(directory.path()).await.unwrap();
    let cases: Vec<_> = (0..20_000).map(|n| shared(case(n, CaseStatus::Passed))).collect();
    let start = std::time::Instant::now();
    let writer = begin(&store, &info("eval-a", "2026-01-01T00:00:00Z"));
    for case in &cases {
        writer.case(case).await;
    }
    writer.finish(&summary(), RunEnd::Finished).await.unwrap();
    println!("write one case: {:?}", start.elapsed() / 20_000);
    let run = store.find("latest").await.unwrap();
    let start = std::time::Instant::now();
    store.replay(&run, |_| ()).await.unwrap();
    println!("replay one case: {:?}", start.elapsed() / 20_000);
    let start = std::time::Instant::now();
    let rows = store.diff_rows(&run).await.unwrap();
    quintain_evidence::run_diff::diff(&rows, &rows);
    println!("diff of {} cases: {:?}", rows.len(), start.elapsed());
    println!("bytes per case: {}", std::fs::metadata(store.path()).unwrap().len() / 20_000);
}
