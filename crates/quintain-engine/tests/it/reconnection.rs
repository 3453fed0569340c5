//! A lost session is replaced, but only a limited number of times.

use std::time::{Duration, Instant};

use quintain_evidence::evidence::Outcome;
use serde_json::json;

use crate::support::{Hostile, Stage, call, open, text};

#[tokio::test]
async fn a_crash_is_evidence_and_the_next_call_has_a_new_session() {
    let stage = Stage::new();
    let sessions = open(&json!({"server": stage.server("shop", &[])})).await;
    let crashed = call(&sessions, "crash", json!({})).await;
    assert!(matches!(&crashed.outcome, Outcome::Closed { why } if why.contains("exit status: 7")));
    for word in ["one", "two"] {
        let exchange = call(&sessions, "echo", json!({"text": word})).await;
        assert_eq!(text(&exchange), word);
    }
    assert_eq!(stage.starts("shop"), 2);
    sessions.close().await;
}

#[tokio::test]
async fn crashes_between_answers_never_use_up_the_tries() {
    let stage = Stage::new();
    let sessions = open(&json!({"server": stage.server("shop", &[])})).await;
    for _ in 0..8 {
        call(&sessions, "crash", json!({})).await;
        assert_eq!(text(&call(&sessions, "echo", json!({"text": "up"})).await), "up");
    }
    assert_eq!(stage.starts("shop"), 9);
    sessions.close().await;
}

#[tokio::test]
async fn a_server_that_only_crashes_is_given_up() {
    let stage = Stage::new();
    let sessions = open(&json!({"server": stage.server("shop", &[])})).await;
    let mut last = call(&sessions, "crash", json!({})).await;
    for _ in 0..10 {
        last = call(&sessions, "crash", json!({})).await;
    }
    assert!(
        matches!(&last.outcome, Outcome::Closed { why } if why.contains("giving up")),
        "{:?}",
        last.outcome
    );
    // The first start and five restarts.
    assert_eq!(stage.starts("shop"), 6);
    sessions.close().await;
}

#[tokio::test]
async fn a_start_is_no_part_of_the_latency() {
    const START: Duration = Duration::from_secs(1);
    let stage = Stage::new();
    let sessions = open(&json!({"server": stage.server("shop", &["wait", "1"])})).await;
    call(&sessions, "crash", json!({})).await;
    let started = Instant::now();
    let exchange = call(&sessions, "echo", json!({"text": "up"})).await;
    assert_eq!(text(&exchange), "up");
    assert!(started.elapsed() >= START, "the server was restarted");
    assert!(exchange.took < START, "took {:?}", exchange.took);
    sessions.close().await;
}

#[tokio::test]
async fn a_failed_call_has_a_latency_too() {
    let stage = Stage::new();
    let sessions = open(&json!({"server": stage.server("shop", &[])})).await;
    let refused = sessions.links()[0].exchange("no/such", serde_json::Map::new()).await;
    assert!(matches!(refused.outcome, Outcome::RpcError { code: -32601, .. }));
    assert!(refused.took > Duration::ZERO);
    sessions.close().await;
}

#[tokio::test]
async fn a_forgotten_session_is_opened_again_and_the_call_sent_once_more() {
    // The server forgets every session after two calls.
    let hostile = Hostile::start("session-expires");
    let sessions = open(&json!({"server": {"url": hostile.url}})).await;
    for count in 0..7 {
        let word = format!("call {count}");
        assert_eq!(text(&call(&sessions, "poke", json!({"text": word})).await), word);
    }
    sessions.close().await;
}
