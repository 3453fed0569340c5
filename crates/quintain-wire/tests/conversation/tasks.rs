//! Tasks, which are polled until they end.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use crate::script::{Target, answer};

#[tokio::test]
async fn a_legacy_task_is_polled_to_its_end_and_its_result_fetched() {
    let looks = AtomicUsize::new(0);
    let (session, log) = Target::default()
        .session("2025-11-25", move |seen, sink| match seen.method() {
            "tasks/get" => {
                let done = looks.fetch_add(1, Ordering::Relaxed) == 2;
                let status = if done { "completed" } else { "working" };
                answer(sink, seen, json!({"taskId": "t", "status": status, "pollInterval": 1}));
            }
            _ => answer(sink, seen, json!({"content": [{"type": "text", "text": "done"}]})),
        })
        .await;
    let reply = session.await_task("t").await.unwrap();
    assert_eq!(reply.value().unwrap()["content"][0]["text"], "done");
    assert_eq!(log.methods(), ["tasks/get", "tasks/get", "tasks/get", "tasks/result"]);
}

#[tokio::test]
async fn a_modern_task_carries_its_result_in_its_last_state() {
    let (session, log) = Target::default()
        .session("2026-07-28", |seen, sink| {
            answer(sink, seen, json!({"taskId": "t", "status": "completed", "result": {"n": 1}}));
        })
        .await;
    let reply = session.await_task("t").await.unwrap();
    assert_eq!(reply.value().unwrap()["result"]["n"], 1);
    assert_eq!(log.methods(), ["tasks/get"]);
}
