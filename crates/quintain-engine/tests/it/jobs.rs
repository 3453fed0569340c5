//! Runs as jobs: several in one process, cancelled in every phase, resumable after a kill.

mod cancelled;
mod isolated;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quintain_engine::jobs::{
    EvalWork, EventListener, Jobs, OrderRequest, RedteamWork, Resume, RunHandle, RunOutcome,
    RunRequest, TargetRequest, Work,
};
use quintain_engine::policy::Policy;
use quintain_engine::store::{RunEnd, RunFilter, RunState, SuiteText};
use quintain_engine::{Disk, Store, World};
use quintain_evidence::event::{Event, Phase, RunEvent};
use serde_json::json;
use tempfile::TempDir;

use crate::support::world;

/// A server that evaluates an expression. Its arguments are the delay of every tool call in seconds, and `safe` for a
/// server that returns the expression instead.
const SERVER: &str = r#"
import json, os, sys, time
slow = float(sys.argv[1]) if len(sys.argv) > 1 else 0
safe = "safe" in sys.argv
tool = {"name": "read", "inputSchema": {"type": "object", "properties": {"expression": {"type": "string"}}, "required": ["expression"]}}
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method = message["method"]
    if method == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [tool]}
    elif method == "tools/call":
        time.sleep(slow)
        text = message["params"].get("arguments", {}).get("expression", "")
        try:
            text = str(text if safe else eval(str(text)))
        except Exception as error:
            text = "Error: " + type(error).__name__
        result = {"content": [{"type": "text", "text": text}]}
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#;

struct Fixture {
    folder: TempDir,
    store: Store,
}

impl Fixture {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("server.py"), SERVER).unwrap();
        let store = Store::open(&folder.path().join("state")).await.unwrap();
        Self { folder, store }
    }

    fn jobs(&self) -> Jobs {
        let world = World { state_dir: Some(self.folder.path().join("state")), ..world() };
        Jobs::new(world, Arc::new(Disk), Some(self.store.clone()))
    }

    fn command(&self, slow: &str) -> Vec<String> {
        let script = self.folder.path().join("server.py").display().to_string();
        ["python3", &script, slow].map(str::to_owned).to_vec()
    }

    fn redteam(&self, id: &str, slow: &str) -> RunRequest {
        let orders = OrderRequest {
            plugins: vec!["code-injection".to_owned(), "error-leak".to_owned()],
            seed: Some(7),
            ..OrderRequest::default()
        };
        let target = TargetRequest { command: self.command(slow), ..TargetRequest::default() };
        let work = RedteamWork { target, orders, ..RedteamWork::default() };
        request(id, Work::Redteam(Box::new(work)))
    }

    fn eval(&self, id: &str, slow: &str, tests: usize) -> RunRequest {
        let command = self.command(slow);
        let server = json!({"command": command[0], "args": command[1..]});
        let call = |at: usize| json!({"vars": {"at": at}, "assert": [{"type": "contains", "value": at.to_string()}]});
        let tests: Vec<_> = (0..tests).map(call).collect();
        let suite = json!({
            "targets": [{"id": "mcp", "config": {"server": server}}],
            "prompts": [r#"{"tool": "read", "args": {"expression": "{{at}}"}}"#],
            "tests": tests,
        });
        let text = SuiteText {
            name: "quintain.yaml".to_owned(),
            base_dir: self.folder.path().to_owned(),
            text: suite.to_string().into(),
        };
        let work = EvalWork { suite: vec![text], ..EvalWork::default() };
        request(id, Work::Eval(Box::new(work)))
    }

    async fn start(&self, request: RunRequest) -> RunHandle {
        // Serialised as by a client on another machine.
        let text = serde_json::to_string(&request).unwrap();
        let request = serde_json::from_str(&text).unwrap();
        self.jobs().submit(request, &mut |_| {}).await.unwrap()
    }
}

fn request(id: &str, work: Work) -> RunRequest {
    RunRequest {
        id: id.to_owned(),
        created: "2026-01-01T00:00:00Z".to_owned(),
        version: "0".to_owned(),
        owner: "test".to_owned(),
        policy: Policy::everything(),
        stored: true,
        description: None,
        tags: BTreeMap::new(),
        work,
    }
}

async fn finish(mut handle: RunHandle) -> (Vec<RunEvent>, RunOutcome) {
    let mut events = Vec::new();
    while let Some(event) = handle.next().await {
        events.push(event);
    }
    (events, handle.outcome().await.unwrap())
}

/// What two runs of the same request must have in common.
fn essence(outcome: &RunOutcome) -> (usize, usize, Vec<(String, String)>) {
    let summary = &outcome.summary;
    let findings = summary.redteam.iter().flat_map(|report| &report.findings);
    let findings = findings.map(|one| (one.rule.clone(), one.fingerprint.clone())).collect();
    (summary.passed, summary.failed, findings)
}

/// Cancels a job at the first event that `wanted` accepts; returns how long it took to end.
async fn cancelled(
    mut handle: RunHandle,
    wanted: impl Fn(&Event) -> bool,
) -> (Duration, RunOutcome) {
    let cancel = handle.cancel();
    let mut since = None;
    while let Some(event) = handle.next().await {
        if since.is_none() && wanted(&event.event) {
            since = Some(Instant::now());
            cancel.stop();
        }
    }
    let outcome = handle.outcome().await.unwrap();
    (since.expect("the event").elapsed(), outcome)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_ends_within_a_second_in_every_phase_with_a_partial_result() {
    let place = Fixture::new().await;
    let phases = [Phase::Survey, Phase::Learn, Phase::Attack, Phase::Confirm, Phase::Report];
    for (at, phase) in phases.into_iter().enumerate() {
        let request = place.redteam(&format!("redteam-{at}"), "0.2");
        let request = match request.work {
            // Only a short run reaches the last phase in time.
            Work::Redteam(mut work) if phase == Phase::Report => {
                work.orders.budget_calls = Some(8);
                RunRequest { work: Work::Redteam(work), ..request }
            }
            work => RunRequest { work, ..request },
        };
        let handle = place.start(request).await;
        let is_phase = |event: &Event| *event == Event::Phase(phase);
        let (took, outcome) = cancelled(handle, is_phase).await;
        assert!(took < Duration::from_secs(1), "{phase:?} took {took:?}");
        assert!(outcome.summary.redteam.is_some(), "{phase:?}");
    }
    let handle = place.start(place.eval("eval-x", "0.2", 30)).await;
    let (took, outcome) = cancelled(handle, |event| matches!(event, Event::Case(_))).await;
    assert!(took < Duration::from_secs(1), "eval took {took:?}");
    assert!(outcome.summary.interrupted && outcome.summary.missing > 0);
    assert!(outcome.summary.passed > 0);
}

/// Everything that a listener gets.
async fn heard(mut listener: EventListener) -> Vec<RunEvent> {
    let mut events = Vec::new();
    while let Some(event) = listener.next().await.unwrap() {
        events.push(event);
    }
    events
}

#[tokio::test(flavor = "multi_thread")]
async fn listeners_get_every_event_once_however_late_they_come() {
    let place = Fixture::new().await;
    for request in [place.eval("eval-l", "0.005", 60), place.redteam("redteam-l", "0")] {
        let (id, jobs) = (request.id.clone(), place.jobs());
        let mut handle = jobs.submit(request, &mut |_| {}).await.unwrap();
        let early = tokio::spawn(heard(jobs.listen(&id, 0, "test")));
        assert!(heard(jobs.listen(&id, 0, "another owner")).await.is_empty());
        let mut sent = Vec::new();
        let (mut middle, mut elsewhere) = (None, None);
        while let Some(event) = handle.next().await {
            if sent.len() == 3 {
                middle = Some(tokio::spawn(heard(jobs.listen(&id, 0, "test"))));
                // Another process that shares the store.
                elsewhere = Some(tokio::spawn(heard(place.jobs().listen(&id, 2, "test"))));
            }
            sent.push(event);
        }
        handle.outcome().await.unwrap();
        let numbers = |events: &[RunEvent]| -> Vec<u64> {
            events.iter().map(|event| event.sequence).collect()
        };
        assert!(heard(place.jobs().listen(&id, 0, "another owner")).await.is_empty());
        let late = heard(place.jobs().listen(&id, 0, "test")).await;
        let middle = middle.expect("four events").await.unwrap();
        for events in [early.await.unwrap(), middle, late] {
            assert_eq!(numbers(&events), numbers(&sent), "{id}");
            let kinds = |events: &[RunEvent]| -> Vec<_> {
                events.iter().map(|event| std::mem::discriminant(&event.event)).collect()
            };
            assert_eq!(kinds(&events), kinds(&sent), "{id}");
        }
        let elsewhere = elsewhere.expect("four events").await.unwrap();
        assert_eq!(numbers(&elsewhere), numbers(&sent[2..]), "{id}");
    }
    assert!(heard(place.jobs().listen("eval-unknown", 0, "test")).await.is_empty());
}

/// Runs as a process of its own, so that it can be killed: starts three jobs and never ends.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "run by the test below"]
async fn three_jobs_that_are_killed() {
    let folder = std::path::PathBuf::from(std::env::var("QUINTAIN_TEST_FOLDER").unwrap());
    let store = Store::open(&folder.join("state")).await.unwrap();
    let world = World { state_dir: Some(folder.join("state")), ..world() };
    let place = Fixture { folder: TempDir::with_prefix("unused").unwrap(), store };
    std::fs::write(place.folder.path().join("server.py"), SERVER).unwrap();
    let jobs = Jobs::new(world, Arc::new(Disk), Some(place.store.clone()));
    let requests = [
        place.redteam("redteam-a", "0.2"),
        place.redteam("redteam-b", "0.2"),
        place.eval("eval-c", "0.2", 100),
    ];
    let mut running = Vec::new();
    for request in requests {
        let request = RunRequest { id: format!("{}-killed", request.id), ..request };
        running.push(jobs.submit(request, &mut |_| {}).await.unwrap());
    }
    std::future::pending::<()>().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killing_the_process_leaves_three_runs_that_can_be_resumed() {
    let place = Fixture::new().await;
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "jobs::three_jobs_that_are_killed"])
        .env("QUINTAIN_TEST_FOLDER", place.folder.path())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let until = Instant::now() + Duration::from_mins(1);
    loop {
        let runs = place.store.runs(&RunFilter::default()).await.unwrap();
        let is_running = |run: &quintain_engine::store::Run| run.state == RunState::Running;
        if runs.len() == 3 && runs.iter().all(is_running) {
            break;
        }
        assert!(Instant::now() < until, "{runs:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let runs = place.store.runs(&RunFilter::default()).await.unwrap();
    assert!(runs.iter().all(|run| run.state == RunState::Died), "{runs:?}");
    for run in runs {
        let request = if run.id.starts_with("eval") {
            let request = place.eval("unused", "0", 100);
            let Work::Eval(mut work) = request.work else { unreachable!() };
            work.resume = Some(Resume { run: run.id.clone(), retry_errors: false });
            RunRequest { work: Work::Eval(work), ..request }
        } else {
            let request = place.redteam("unused", "0");
            let Work::Redteam(mut work) = request.work else { unreachable!() };
            work.resume = Some(run.id.clone());
            RunRequest { work: Work::Redteam(work), ..request }
        };
        let (events, outcome) = finish(place.start(request).await).await;
        assert!(events.iter().all(|event| *event.run == *run.id), "another run was started");
        assert!(!outcome.summary.interrupted, "{}", run.id);
        let run = place.store.find(&run.id).await.unwrap();
        assert_eq!(run.state, RunState::Ended(RunEnd::Finished));
    }
    assert_eq!(place.store.count().await.unwrap(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_beyond_the_limit_wait_and_can_be_cancelled_while_they_do() {
    let place = Fixture::new().await;
    let jobs = place.jobs().with_limit(1);
    let submit = async |request| jobs.submit(request, &mut |_| {}).await.unwrap();
    let first = submit(place.eval("eval-1", "0.05", 20)).await;
    let second = submit(place.eval("eval-2", "0", 3)).await;
    let third = submit(place.redteam("redteam-3", "0")).await;
    for id in ["eval-2", "redteam-3"] {
        while place.store.find(id).await.is_err() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(place.store.find(id).await.unwrap().state, RunState::Queued, "{id}");
    }
    third.cancel().stop();
    assert!(third.outcome().await.unwrap().summary.interrupted);
    let (first, second) = tokio::join!(finish(first), finish(second));
    assert_eq!((first.1.summary.passed, second.1.summary.passed), (20, 3));
    let run = place.store.find("eval-2").await.unwrap();
    assert_eq!(run.state, RunState::Ended(RunEnd::Finished));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_target_that_cannot_be_opened_leaves_no_run() {
    let place = Fixture::new().await;
    let mut request = place.redteam("redteam-n", "0");
    if let Work::Redteam(work) = &mut request.work {
        work.target.command = vec!["/nonexistent-program".to_owned()];
    }
    let handle = place.start(request).await;
    assert!(handle.outcome().await.is_err());
    assert_eq!(place.store.count().await.unwrap(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn code_of_the_suite_does_not_hold_up_the_run() {
    let place = Fixture::new().await;
    let mut request = place.eval("eval-j", "0", 2);
    if let Work::Eval(work) = &mut request.work {
        let text = work.suite[0].text.replace(
            r#""type":"contains""#,
            r#""type":"javascript","value":"(function(){ for(;;){} })()"},{"type":"contains""#,
        );
        assert!(text.contains("for(;;){}"), "{text}");
        work.suite[0].text = text.into();
    }
    let handle = place.start(request).await;
    let cancel = handle.cancel();
    tokio::time::sleep(Duration::from_millis(700)).await;
    let since = Instant::now();
    cancel.stop();
    let outcome = handle.outcome().await.unwrap();
    assert!(since.elapsed() < Duration::from_secs(1), "took {:?}", since.elapsed());
    assert!(outcome.summary.interrupted);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_job_leaves_a_run_that_can_be_resumed_and_no_process() {
    let place = Fixture::new().await;
    let mut handle = place.start(place.eval("eval-y", "0.1", 30)).await;
    while let Some(event) = handle.next().await {
        if matches!(event.event, Event::Case(_)) {
            break;
        }
    }
    drop(handle);
    let folder = place.folder.path().display().to_string();
    assert!(!is_running(&folder), "the server is still running");
    let run = place.store.find("eval-y").await.unwrap();
    assert_eq!(run.state, RunState::Ended(RunEnd::Failed), "an aborted run does not look alive");
}

/// Whether a process of this test is still running.
fn is_running(needle: &str) -> bool {
    let Ok(entries) = std::fs::read_dir("/proc") else { return false };
    entries.flatten().any(|entry| {
        let line = std::fs::read(Path::new(&entry.path()).join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(needle)
    })
}
