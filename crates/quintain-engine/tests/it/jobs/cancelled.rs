//! A client can cancel at any time: while it reads no events, and while its suite is loaded.

use std::time::{Duration, Instant};

use quintain_engine::jobs::{RequestNotice, Work};
use quintain_engine::store::RunState;
use quintain_evidence::event::Event;

use super::{Fixture, finish};

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_reads_nothing_can_still_cancel() {
    let place = Fixture::new().await;
    let handle = place.start(place.eval("eval-u", "0.002", 400)).await;
    let state = async || place.store.find("eval-u").await.map(|run| run.state);
    // Enough time for more events than a client may leave unread.
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    assert_eq!(state().await.unwrap(), RunState::Running, "the job waits for its client");
    let since = Instant::now();
    handle.cancel().stop();
    while state().await.unwrap() == RunState::Running {
        assert!(since.elapsed() < Duration::from_secs(1), "took longer than a second");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let (events, outcome) = finish(handle).await;
    assert!(outcome.summary.interrupted && outcome.summary.passed > 0);
    assert!(matches!(events.last().map(|event| &event.event), Some(Event::Finished(_))));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_cancelled_while_its_suite_is_loaded() {
    let place = Fixture::new().await;
    let folder = place.folder.path();
    let script = format!(
        "import os, time\ndef generate_tests():\n    with open('{0}.new', 'w') as file: file.write(str(os.getpid()))\n    os.rename('{0}.new', '{0}')\n    time.sleep(20)\n",
        folder.join("pid").display()
    );
    std::fs::write(folder.join("tests.py"), script).unwrap();
    let mut request = place.eval("eval-g", "0", 1);
    let Work::Eval(work) = &mut request.work else { unreachable!() };
    let mut suite: serde_json::Value = serde_json::from_str(&work.suite[0].text).unwrap();
    suite["tests"] = "file://tests.py".into();
    work.suite[0].text = suite.to_string().into();
    let jobs = place.jobs();
    let mut ignored = |_: RequestNotice<'_>| {};
    let started = async {
        while !folder.join("pid").exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    // The thread of the client stays free while the script runs.
    tokio::select! {
        _ = jobs.prepare(request, &mut ignored) => panic!("the script did not run"),
        () = started => {}
    }
    let pid = std::fs::read_to_string(folder.join("pid")).unwrap();
    let since = Instant::now();
    // A process that was killed and not reaped yet has no command line.
    while std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| !line.is_empty()) {
        assert!(since.elapsed() < Duration::from_secs(1), "the interpreter is still running");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(place.store.count().await.unwrap(), 0);
}
