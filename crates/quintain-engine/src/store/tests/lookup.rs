//! Lookups of runs and findings use indexes, so their cost does not depend on the number of runs.

use sqlx::Row as _;

use super::records::attacked;
use super::*;

#[tokio::test]
async fn the_latest_run_with_a_finding_is_found_by_its_first_digits() {
    let (store, _directory) = store().await;
    for (day, fingerprints) in
        [(1, &["abcd1", "abce2"][..]), (2, &["abcd1", "ffff3"]), (3, &["eeee0"])]
    {
        let info = info(&format!("redteam-{day}"), &format!("2026-01-0{day}T00:00:00Z"));
        let writer =
            store.start(NewRun { kind: RunKind::Redteam, ..new(&info) }, &Redactor::default());
        writer.finish(&attacked(fingerprints), RunEnd::Finished).await.unwrap();
    }
    for (digits, wanted) in [
        ("abcd1", Some("redteam-2")),
        ("abcd", Some("redteam-2")),
        ("abce", Some("redteam-1")),
        ("abc", Some("redteam-2")),
        ("ffff", Some("redteam-2")),
        ("abcd12", None),
        ("0", None),
        ("%", None),
    ] {
        let run = store.latest_run_with_finding(digits).await.unwrap();
        assert_eq!(run.as_ref().map(|run| run.id.as_str()), wanted, "{digits}");
        if let Some(run) = run {
            let found = store.finding(&run, digits).await.unwrap().unwrap();
            assert!(found.fingerprint.starts_with(digits));
        }
    }
    // Places that a finding lists are found like findings.
    let mut summary = attacked(&["9999a", "9999b"]);
    let report = summary.redteam.as_mut().unwrap();
    report.findings[0].places.push(records::finding("7777c", "a place"));
    let info = info("redteam-4", "2026-01-04T00:00:00Z");
    let writer = begin(&store, &info);
    writer.finish(&summary, RunEnd::Finished).await.unwrap();
    let run = store.latest_run_with_finding("7777").await.unwrap().unwrap();
    let place = store.finding(&run, "7777").await.unwrap().unwrap();
    assert_eq!((run.id.as_str(), place.title.as_str()), ("redteam-4", "a place"));
    let first = store.find("redteam-1").await.unwrap();
    assert_eq!(store.finding(&first, "ffff").await.unwrap(), None);
}

/// Statements that every command waits for must not scan or sort a whole table.
#[tokio::test]
async fn lookups_walk_indexes() {
    let (store, _directory) = store().await;
    for (name, statement) in sql::ALL {
        let listed = [
            "LIST_RUNS",
            "LIST_RUNS_OF_OWNER",
            "RUN",
            "RUN_OF_ID",
            "LATEST_RUN",
            "LATEST_RUN_OF_KIND",
            "INFO",
            "SUMMARY",
            "CASES",
            "CASE",
            "TRIALS",
            "FINDINGS",
            "FINDING",
            "NEXT_FINGERPRINT",
            "LATEST_RUN_WITH",
            "ANSWERS",
            "EVENTS",
            "TRACES",
            "SCORES",
            "BEAT",
        ];
        if !listed.contains(name) {
            continue;
        }
        let explain = sqlx::AssertSqlSafe(format!("EXPLAIN QUERY PLAN {statement}"));
        let plan = sqlx::query(explain).fetch_all(&store.pool).await.unwrap();
        let plan: Vec<String> = plan.iter().map(|row| row.get("detail")).collect();
        let sorts = plan.iter().any(|step| step.contains("TEMP B-TREE"));
        assert!(!sorts, "{name}: {plan:?}");
        let scans = plan.iter().any(|step| step.contains("SCAN") && !step.contains("USING INDEX"));
        assert!(!scans, "{name}: {plan:?}");
    }
}

#[tokio::test]
async fn lists_of_runs_have_no_large_columns() {
    let (store, _directory) = store().await;
    let sql = "SELECT type FROM pragma_table_info('runs')";
    let types: Vec<String> = sqlx::query_scalar(sql).fetch_all(&store.pool).await.unwrap();
    assert!(types.len() > 10 && !types.iter().any(|column| column == "BYTEA"), "{types:?}");
}
