//! Many parallel calls, and many servers at once.

use futures_util::future::join_all;
use serde_json::json;

use crate::support::{Stage, call, open, text};

#[tokio::test(flavor = "multi_thread")]
async fn fifty_calls_at_once_each_get_their_own_answer() {
    let stage = Stage::new();
    let sessions = open(&json!({"server": stage.server("shop", &[])})).await;
    // Later calls are answered earlier.
    let calls = (0..50).map(|count: u32| {
        let args = json!({"text": count.to_string(), "delay_ms": (50 - count) * 4});
        call(&sessions, "echo", args)
    });
    for (count, exchange) in join_all(calls).await.iter().enumerate() {
        assert_eq!(text(exchange), count.to_string());
    }
    assert_eq!(stage.starts("shop"), 1);
    sessions.close().await;
}

#[tokio::test]
async fn calls_that_find_the_session_gone_share_a_new_one() {
    let stage = Stage::new();
    let sessions = open(&json!({"server": stage.server("shop", &[])})).await;
    call(&sessions, "crash", json!({})).await;
    let calls =
        (0..20).map(|count: u32| call(&sessions, "echo", json!({"text": count.to_string()})));
    for (count, exchange) in join_all(calls).await.iter().enumerate() {
        assert_eq!(text(exchange), count.to_string());
    }
    assert_eq!(stage.starts("shop"), 2);
    sessions.close().await;
}

#[tokio::test]
async fn servers_are_connected_at_the_same_time() {
    // Each waits for the other, so that sequential starts would never finish.
    let stage = Stage::new();
    let servers = json!([
        stage.server("orders", &["meet", "stock"]),
        stage.server("stock", &["meet", "orders"])
    ]);
    let sessions = open(&json!({"servers": servers, "timeout": 20_000})).await;
    assert_eq!(sessions.links().len(), 2);
    sessions.close().await;
}
