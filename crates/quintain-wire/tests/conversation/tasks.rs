//! Tasks, which are polled until they end.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Map, Value, json};

use crate::script::{Target, answer};

#[tokio::test]
async fn a_legacy_task_is_polled_to_its_end_and_its_result_fetched() {
    let looks = AtomicUsize::new(0);
    let (session, log) = Target::default()
        .session("2025-11-25", move |seen, sink| match seen.method() {
            "tools/call" => {
                assert_eq!(seen.json["params"]["task"], json!({}));
                answer(sink, seen, json!({"task": {"taskId": "t", "status": "working"}}));
            }
            "tasks/get" => {
                let done = looks.fetch_add(1, Ordering::Relaxed) == 2;
                let status = if done { "completed" } else { "working" };
                answer(sink, seen, json!({"taskId": "t", "status": status, "pollInterval": 1}));
            }
            _ => answer(sink, seen, json!({"content": [{"type": "text", "text": "done"}]})),
        })
        .await;
    let reply = session.call_as_task(call()).await.unwrap();
    assert_eq!(reply.value().unwrap()["content"][0]["text"], "done");
    let looked = ["tools/call", "tasks/get", "tasks/get", "tasks/get", "tasks/result"];
    assert_eq!(log.methods(), looked);
}

#[tokio::test]
async fn a_modern_task_carries_its_result_in_its_last_state() {
    let (session, log) = Target::default()
        .session("2026-07-28", |seen, sink| {
            let status = if seen.method() == "tools/call" { "working" } else { "completed" };
            let state =
                json!({"resultType": "task", "taskId": "t", "status": status, "result": {"n": 1}});
            answer(sink, seen, state);
        })
        .await;
    let reply = session.call_as_task(call()).await.unwrap();
    assert_eq!(reply.value().unwrap(), json!({"n": 1}));
    assert_eq!(log.methods(), ["tools/call", "tasks/get"]);
}

#[tokio::test]
async fn a_task_that_fails_is_the_error_it_names() {
    let (session, _) = Target::default()
        .session("2026-07-28", |seen, sink| {
            let error = json!({"code": -32000, "message": "out of paper"});
            let state =
                json!({"resultType": "task", "taskId": "t", "status": "failed", "error": error});
            answer(sink, seen, state);
        })
        .await;
    let error = session.call_as_task(call()).await.unwrap_err().to_string();
    assert!(error.contains("out of paper"), "{error}");
}

#[tokio::test]
async fn a_legacy_task_that_needs_input_is_asked_for_its_result() {
    let (session, log) = Target::default()
        .session("2025-11-25", |seen, sink| match seen.method() {
            "tools/call" => answer(sink, seen, json!({"task": {"taskId": "t"}})),
            "tasks/get" => answer(sink, seen, json!({"taskId": "t", "status": "input_required"})),
            _ => answer(sink, seen, json!({"content": []})),
        })
        .await;
    session.call_as_task(call()).await.unwrap();
    assert_eq!(log.methods(), ["tools/call", "tasks/get", "tasks/result"]);
}

#[tokio::test]
async fn a_server_that_answers_at_once_needs_no_task() {
    let (session, log) = Target::default()
        .session("2025-11-25", |seen, sink| answer(sink, seen, json!({"content": []})))
        .await;
    session.call_as_task(call()).await.unwrap();
    assert_eq!(log.methods(), ["tools/call"]);
}

fn call() -> Map<String, Value> {
    Map::from_iter([("name".to_owned(), "report".into())])
}
