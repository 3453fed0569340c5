//! How long a caller waits, and what a target receives when the caller stops waiting.

use std::time::Duration;

use quintain_wire::message::Id;
use quintain_wire::rpc::{CallError, Deadline, Notice};
use quintain_wire::transport::{Sink, TransportError};
use serde_json::{Map, json};

use crate::script::{Seen, Target, answer, say};

const MS: fn(u64) -> Duration = Duration::from_millis;

fn progress(sink: &dyn Sink, seen: &Seen) {
    let token = &seen.json["params"]["_meta"]["progressToken"];
    say(
        sink,
        json!({"method": "notifications/progress", "params": {"progressToken": token, "progress": 1}}),
    );
}

/// Calls a target that reports progress every 100 ms, eight times, and then responds.
async fn slow_call(deadline: Deadline) -> Result<usize, CallError> {
    let target = Target::default().within(deadline);
    let (session, log) = target.session("2025-11-25", |_, _| {}).await;
    let target = async {
        for _ in 0..8 {
            tokio::time::sleep(MS(100)).await;
            let progress =
                json!({"method": "notifications/progress", "params": {"progressToken": 1}});
            say(&*log.sink(), progress);
        }
        say(&*log.sink(), json!({"id": 1, "result": {}}));
        std::future::pending::<()>().await;
    };
    let reply = tokio::select! {
        reply = session.request("tools/call", Map::new()) => reply,
        () = target => unreachable!("the target never ends"),
    };
    reply.map(|reply| reply.notices.len())
}

#[tokio::test]
async fn progress_buys_no_time_unless_asked() {
    let reply = slow_call(Deadline::after(MS(600))).await;
    assert!(matches!(reply, Err(CallError::TimedOut { .. })), "{reply:?}");
}

#[tokio::test]
async fn progress_starts_the_clock_anew_if_asked() {
    let deadline = Deadline { request: MS(600), reset_on_progress: true, max_total: None };
    assert_eq!(slow_call(deadline).await.unwrap(), 8, "each progress is kept with its call");
}

#[tokio::test]
async fn no_progress_reaches_beyond_the_total() {
    let deadline = Deadline { request: MS(600), reset_on_progress: true, max_total: Some(MS(650)) };
    let reply = slow_call(deadline).await;
    assert!(matches!(reply, Err(CallError::TimedOut { .. })), "{reply:?}");
}

#[tokio::test]
async fn every_request_carries_a_progress_token() {
    let (session, log) = Target::default()
        .session("2025-11-25", |seen, sink| {
            progress(sink, seen);
            answer(sink, seen, json!({"content": []}));
        })
        .await;
    let reply = session.call_tool("echo", json!({})).await.unwrap();
    assert_eq!(reply.notices.len(), 1);
    assert_eq!(log.seen()[0].json["params"]["_meta"]["progressToken"], json!(1));
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_is_cancelled_by_name() {
    let (session, log) = Target::default().session("2025-11-25", |_, _| {}).await;
    let call = session.call_tool("echo", json!({}));
    assert!(tokio::time::timeout(MS(20), call).await.is_err());
    let cancelled = &log.seen()[1];
    assert_eq!(cancelled.method(), "notifications/cancelled");
    assert_eq!(cancelled.json["params"]["requestId"], json!(1));
    assert_eq!(log.abandoned(), [Id::Number(1)]);
}

#[tokio::test]
async fn a_late_answer_harms_nobody_and_a_wrong_one_is_a_stray() {
    let deadline = Deadline::after(MS(20));
    let (session, log) = Target::default().within(deadline).session("2025-11-25", |_, _| {}).await;
    assert!(session.ping().await.is_err());
    say(&*log.sink(), json!({"id": 1, "result": {}}));
    say(&*log.sink(), json!({"id": 77, "result": {}}));
    let (notices, _) = session.connection().take_notices();
    assert_eq!(notices, [Notice::Stray { id: "77".into() }]);
}

#[tokio::test]
async fn closing_fails_everyone_who_waits_and_everyone_who_comes() {
    let (session, _log) = Target::default().session("2025-11-25", |_, _| {}).await;
    let (reply, ()) = tokio::join!(session.ping(), session.close());
    let closed = |error| matches!(error, CallError::Transport(TransportError::Closed));
    assert!(closed(reply.unwrap_err()));
    assert!(closed(session.ping().await.unwrap_err()));
}
