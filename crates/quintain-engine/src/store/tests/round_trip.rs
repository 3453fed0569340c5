use futures_util::TryStreamExt as _;
use quintain_evidence::event::Event;
use quintain_evidence::surface::Surface;

use super::*;

#[tokio::test]
async fn a_run_is_read_as_it_was_written() {
    let (store, _directory) = store().await;
    let info = info("eval-a", "2026-01-01T00:00:00Z");
    let suite = SuiteText {
        name: "suite.yaml".into(),
        base_dir: "/suites".into(),
        text: "tests: []\n".repeat(500).into(),
    };
    let texts = std::slice::from_ref(&suite);
    let writer = store.start(NewRun { suite: texts, ..new(&info) }, &Redactor::default());
    let surface = Surface { instructions: Some("x".repeat(5_000)), ..Surface::default() };
    let surfaces = vec![("payments".to_owned(), surface)];
    writer.surfaces("payments", &surfaces).await;
    // Results arrive as they finish, not in the order of the plan.
    let mut tally = Tally::new(&info);
    let mut cases = Vec::new();
    for ordinal in [2, 0, 1] {
        let mut case = case(ordinal, CaseStatus::Failed);
        case.response.raw = (ordinal != 1).then(|| case.response.raw.clone()).flatten();
        case.error = Some("no".repeat(ordinal * 1_000));
        tally.add(&case);
        writer.case(&shared(case.clone())).await;
        cases.push(case);
    }
    let summary = tally.finish(Duration::from_millis(1_500), false);
    writer.finish(&summary, RunEnd::Finished).await.unwrap();
    cases.sort_by_key(|case| case.ordinal);

    let run = store.find("eval-a").await.unwrap();
    assert_eq!(run.state, RunState::Ended(RunEnd::Finished));
    assert_eq!(run.counts, Some(Counts { passed: 0, failed: 3, errored: 0 }));
    assert_eq!(store.summary(&run).await.unwrap().as_ref(), Some(&summary));
    assert_eq!(store.info(&run).await.unwrap(), info);
    assert_eq!(store.suite_texts(&run).await.unwrap(), [suite]);
    assert_eq!(store.surfaces(&run).await.unwrap(), [("payments".to_owned(), surfaces)]);
    assert_eq!(store.cases(&run).try_collect::<Vec<_>>().await.unwrap(), cases);
    assert_eq!(store.case(&run, 1).await.unwrap().as_ref(), Some(&cases[1]));
    assert_eq!(store.case(&run, 9).await.unwrap(), None);
    let rows: Vec<_> = cases.iter().map(quintain_evidence::run_diff::Row::of).collect();
    assert_eq!(store.diff_rows(&run).await.unwrap(), rows);
}

#[tokio::test]
async fn a_stored_run_is_replayed_as_events() {
    let (store, _directory) = store().await;
    let run = stored(&store, "eval-a", "2026-01-01T00:00:00Z", 3).await;
    let told = events(&store, &run).await;
    assert_eq!(told, ["started eval-a", "case 0", "case 1", "case 2", "finished 3 false"]);
}

#[tokio::test]
async fn a_run_without_an_end_is_reported_as_interrupted() {
    let (store, _directory) = store().await;
    let writer = begin(&store, &info("eval-a", "2026-01-01T00:00:00Z"));
    writer.case(&shared(case(0, CaseStatus::Passed))).await;
    let run = loop {
        match store.find("latest").await {
            Ok(run) => break run,
            Err(_) => tokio::task::yield_now().await,
        }
    };
    assert_eq!((run.state, run.counts), (RunState::Running, None));
    assert_eq!(store.summary(&run).await.unwrap(), None);
    while store.finished(&run).await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(events(&store, &run).await.last().unwrap(), "finished 1 true");
    let interrupted = Summary { interrupted: true, ..summary() };
    writer.finish(&interrupted, RunEnd::Interrupted).await.unwrap();
    assert_eq!(store.find("eval-a").await.unwrap().state, RunState::Ended(RunEnd::Interrupted));
}

async fn events(store: &Store, run: &Run) -> Vec<String> {
    let mut told = Vec::new();
    let tell = |event: Event| {
        told.push(match event {
            Event::Started(info) => format!("started {}", info.id),
            Event::Case(case) => format!("case {}", case.ordinal),
            Event::Finished(summary) => {
                format!("finished {} {}", summary.total(), summary.interrupted)
            }
            other => format!("{other:?}"),
        });
    };
    store.replay(run, tell).await.unwrap();
    told
}

#[tokio::test]
async fn runs_are_listed_newest_first_and_filtered() {
    let (store, _directory) = store().await;
    stored(&store, "eval-b", "2026-01-02T00:00:00Z", 1).await;
    stored(&store, "eval-c", "2026-01-03T00:00:00Z", 1).await;
    stored(&store, "eval-a", "2026-01-01T00:00:00Z", 1).await;
    let ids = async |filter: RunFilter| -> Vec<String> {
        store.runs(&filter).await.unwrap().into_iter().map(|run| run.id).collect()
    };
    assert_eq!(ids(RunFilter::default()).await, ["eval-c", "eval-b", "eval-a"]);
    assert_eq!(ids(RunFilter { limit: Some(1), ..RunFilter::default() }).await, ["eval-c"]);
    let about = |text: &str| RunFilter { description: Some(text.into()), ..RunFilter::default() };
    assert_eq!(ids(about("ABOUT EVAL-B")).await, ["eval-b"]);
    assert!(ids(about("%")).await.is_empty(), "a wildcard matches only itself");
    let tagged = |value: Option<&str>| RunFilter {
        tag: Some(("team".into(), value.map(str::to_owned))),
        ..RunFilter::default()
    };
    assert_eq!(ids(tagged(None)).await.len(), 3);
    assert_eq!(ids(tagged(Some("eval-a"))).await, ["eval-a"]);
    assert!(ids(tagged(Some("nobody"))).await.is_empty());
}

#[tokio::test]
async fn a_run_is_found_by_id_prefix_and_age() {
    let (store, _directory) = store().await;
    for (id, day) in [("eval-1", 1), ("eval-12", 2), ("eval-13", 3)] {
        stored(&store, id, &format!("2026-01-0{day}T00:00:00Z"), 0).await;
    }
    for (wanted, id) in [
        ("eval-1", "eval-1"),
        ("eval-12", "eval-12"),
        ("latest", "eval-13"),
        ("latest~0", "eval-13"),
        ("latest~2", "eval-1"),
    ] {
        assert_eq!(store.find(wanted).await.unwrap().id, id);
    }
    for wanted in ["", "eval-2", "latest~3", "latest~-1", "latest~x", "eval-1%", "'; --"] {
        let error = store.find(wanted).await.unwrap_err();
        assert!(matches!(error, StoreError::NoSuchRun { .. }), "{wanted}: {error}");
    }
    let error = store.find("eval-").await.unwrap_err().to_string();
    assert_eq!(error, "`eval-` is ambiguous: eval-13, eval-12, eval-1");
}

#[tokio::test]
async fn a_resumed_run_replaces_what_it_does_again() {
    let (store, _directory) = store().await;
    let writer = begin(&store, &info("eval-a", "2026-01-01T00:00:00Z"));
    writer.case(&shared(case(0, CaseStatus::Passed))).await;
    writer.case(&shared(case(1, CaseStatus::Errored))).await;
    let interrupted = Summary { interrupted: true, ..summary() };
    writer.finish(&interrupted, RunEnd::Interrupted).await.unwrap();

    let run = store.find("latest").await.unwrap();
    let finished = store.finished(&run).await.unwrap();
    let errored: Vec<_> =
        finished.iter().filter(|case| case.status == CaseStatus::Errored).collect();
    assert_eq!((finished.len(), errored.len(), errored[0].test_idx), (2, 1, 1));
    assert_eq!(errored[0].target, "payments");

    let writer = store.resume(&run, &Redactor::default());
    writer.case(&shared(case(1, CaseStatus::Passed))).await;
    let again = CaseResult { repeat: 1, ..case(2, CaseStatus::Passed) };
    writer.case(&shared(again.clone())).await;
    writer.finish(&summary(), RunEnd::Finished).await.unwrap();
    let run = store.find("latest").await.unwrap();
    assert_eq!(run.state, RunState::Ended(RunEnd::Finished));
    let cases = store.cases(&run).try_collect::<Vec<_>>().await.unwrap();
    assert_eq!(cases, [case(0, CaseStatus::Passed), case(1, CaseStatus::Passed), again]);
}

#[tokio::test]
async fn deleted_runs_are_gone_with_all_they_had_and_the_file_shrinks() {
    let (store, directory) = store().await;
    for day in 1..=4 {
        stored(&store, &format!("eval-{day}"), &format!("2026-01-0{day}T00:00:00Z"), 400).await;
    }
    let size = || std::fs::metadata(directory.path().join("runs.db")).unwrap().len();
    sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").fetch_all(&store.pool).await.unwrap();
    let full = size();
    let one = store.find("eval-4").await.unwrap();
    assert_eq!(store.delete(std::slice::from_ref(&one)).await.unwrap(), 1);
    assert_eq!(store.delete(std::slice::from_ref(&one)).await.unwrap(), 0);
    assert_eq!(store.delete(&[]).await.unwrap(), 0);
    let Ok(Cutoff::At(noon)) = "2026-01-02T12:00:00Z".parse() else { panic!("no moment") };
    let early = RunFilter { before: Some(noon), ..RunFilter::default() };
    let early = store.runs(&early).await.unwrap();
    assert_eq!(store.delete(&early).await.unwrap(), 2);
    assert_eq!(store.runs(&RunFilter::default()).await.unwrap().len(), 1);
    let left: i64 =
        sqlx::query_scalar("SELECT count(*) FROM cases").fetch_one(&store.pool).await.unwrap();
    assert_eq!(left, 400);
    assert!(size() < full / 2, "{} of {full} bytes are left", size());
    let all = store.runs(&RunFilter::default()).await.unwrap();
    assert_eq!(store.delete(&all).await.unwrap(), 1);
    assert!(matches!(store.info(&one).await, Err(StoreError::NoSuchRun { .. })));
}
