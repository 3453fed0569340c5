//! Kinds, owners and states of runs that are active, ended or died.

use super::*;

const DAY: &str = "2026-01-01T00:00:00Z";

async fn found(store: &Store, id: &str) -> Run {
    loop {
        match store.find(id).await {
            Ok(run) => break run,
            Err(_) => tokio::task::yield_now().await,
        }
    }
}

#[tokio::test]
async fn a_run_keeps_its_kind_and_owner_and_is_listed_by_them() {
    let (store, _directory) = store().await;
    for (id, kind, owner) in [
        ("eval-a", RunKind::Eval, "ann"),
        ("redteam-a", RunKind::Redteam, "bob"),
        ("rejudge-a", RunKind::Rejudge, "ann"),
        ("replay-a", RunKind::Replay, "ann"),
    ] {
        let info = info(id, DAY);
        let writer = store.start(NewRun { kind, owner, ..new(&info) }, &Redactor::default());
        writer.finish(&summary(), RunEnd::Finished).await.unwrap();
        let run = store.find(id).await.unwrap();
        assert_eq!((run.kind, run.owner.as_str()), (kind, owner));
    }
    let ids = async |filter: RunFilter| -> Vec<String> {
        store.runs(&filter).await.unwrap().into_iter().map(|run| run.id).collect()
    };
    let of = |owner: &str| RunFilter { owner: Some(owner.into()), ..RunFilter::default() };
    assert_eq!(ids(of("ann")).await, ["replay-a", "rejudge-a", "eval-a"]);
    assert_eq!(ids(of("bob")).await, ["redteam-a"]);
    assert!(ids(of("nobody")).await.is_empty());
    let kind = Some(RunKind::Rejudge);
    assert_eq!(ids(RunFilter { kind, ..RunFilter::default() }).await, ["rejudge-a"]);
    assert!(ids(RunFilter { kind, ..of("bob") }).await.is_empty());
    let latest = store.find_of("latest", Some(RunKind::Redteam)).await.unwrap();
    assert_eq!((latest.id.as_str(), store.count().await.unwrap()), ("redteam-a", 4));
}

#[tokio::test]
async fn every_end_has_its_own_state() {
    let (store, _directory) = store().await;
    for (at, (end, word)) in [
        (RunEnd::Finished, "finished"),
        (RunEnd::Interrupted, "interrupted"),
        (RunEnd::LimitReached, "limit-reached"),
        (RunEnd::Failed, "failed"),
    ]
    .into_iter()
    .enumerate()
    {
        let id = format!("eval-{at}");
        begin(&store, &info(&id, DAY)).finish(&summary(), end).await.unwrap();
        let state = store.find(&id).await.unwrap().state;
        assert_eq!((state, state.word()), (RunState::Ended(end), word));
    }
}

#[tokio::test]
async fn a_queued_run_waits_until_it_begins() {
    let (store, _directory) = store().await;
    let info = info("eval-a", DAY);
    let writer = store.start(NewRun { queued: true, ..new(&info) }, &Redactor::default());
    assert_eq!(found(&store, "eval-a").await.state, RunState::Queued);
    writer.begin().await;
    while store.find("eval-a").await.unwrap().state != RunState::Running {
        tokio::task::yield_now().await;
    }
    writer.finish(&summary(), RunEnd::Finished).await.unwrap();
}

#[tokio::test]
async fn a_writer_that_is_dropped_leaves_a_failed_run() {
    let (store, _directory) = store().await;
    let writer = begin(&store, &info("eval-a", DAY));
    assert_eq!(found(&store, "eval-a").await.state, RunState::Running);
    drop(writer);
    while store.find("eval-a").await.unwrap().state != RunState::Ended(RunEnd::Failed) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_run_of_another_machine_dies_when_its_heartbeat_stops() {
    let (store, _directory) = store().await;
    let writer = begin(&store, &info("eval-a", DAY));
    found(&store, "eval-a").await;
    let sql = "UPDATE runs SET writer = 'elsewhere 1 1 00', heartbeat = $1";
    for (ago, state) in [(20_000, RunState::Running), (40_000, RunState::Died)] {
        let beat = heartbeat::now() - ago;
        sqlx::query(sql).bind(beat).execute(&store.pool).await.unwrap();
        assert_eq!(store.find("eval-a").await.unwrap().state, state);
    }
    // Another process took over the run, and the first writer gets an error.
    writer.case(&shared(case(0, CaseStatus::Passed))).await;
    let error = writer.finish(&summary(), RunEnd::Finished).await.unwrap_err();
    assert!(error.to_string().contains("another process is writing this run"), "{error}");
}

#[tokio::test]
async fn only_one_of_two_resumes_the_same_run() {
    let (store, _directory) = store().await;
    let run = stored(&store, "eval-a", DAY, 1).await;
    let first = store.resume(&run, &Redactor::default());
    while store.find("eval-a").await.unwrap().state != RunState::Running {
        tokio::task::yield_now().await;
    }
    // `run` was looked up before the first writer took it over.
    let second = store.resume(&run, &Redactor::default());
    let error = second.finish(&summary(), RunEnd::Finished).await.unwrap_err();
    assert!(matches!(error, StoreError::TakenOver), "{error}");
    first.case(&shared(case(1, CaseStatus::Passed))).await;
    first.finish(&summary(), RunEnd::Finished).await.unwrap();
    assert_eq!(store.finished(&run).await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_silent_run_still_has_a_heartbeat() {
    let (store, _directory) = store().await;
    let writer = begin(&store, &info("eval-a", DAY));
    found(&store, "eval-a").await;
    sqlx::query("UPDATE runs SET heartbeat = 1").execute(&store.pool).await.unwrap();
    loop {
        let sql = "SELECT heartbeat FROM runs";
        let beat: i64 = sqlx::query_scalar(sql).fetch_one(&store.pool).await.unwrap();
        if beat > 1 {
            break;
        }
    }
    writer.finish(&summary(), RunEnd::Finished).await.unwrap();
}
