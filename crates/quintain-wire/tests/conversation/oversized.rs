//! Messages that are too large: each fails only the call that it answers.

use std::sync::Mutex;

use quintain_wire::message::{Id, Oversized, Part};
use quintain_wire::rpc::{CallError, Notice};
use quintain_wire::transport::{Sink, TransportError};
use serde_json::{Map, json};

use crate::script::{Seen, Target, answer};

fn oversized(sink: &dyn Sink, part: Part) {
    sink.oversized(Oversized { head: "{".into(), parts: vec![part] });
}

fn id(seen: &Seen) -> Id {
    Id::from_json(&seen.id().to_string())
}

fn is_too_large(error: &CallError) -> bool {
    matches!(error, CallError::Transport(TransportError::TooLarge { .. }))
}

#[tokio::test]
async fn only_the_call_it_answers_fails() {
    let held: Mutex<Vec<Seen>> = Mutex::default();
    let (session, _) = Target::default()
        .session("2025-11-25", move |seen, sink| {
            let mut held = held.lock().unwrap();
            held.push(seen.clone());
            if let [first, second, third] = &held[..] {
                oversized(sink, Part::Notification);
                oversized(sink, Part::Response(id(second)));
                answer(sink, first, json!(1));
                answer(sink, third, json!(3));
            }
        })
        .await;
    let (first, second, third) = tokio::join!(
        session.request("a", Map::new()),
        session.request("b", Map::new()),
        session.request("c", Map::new()),
    );
    assert_eq!((first.unwrap().result, third.unwrap().result), ("1".into(), "3".into()));
    assert!(is_too_large(&second.unwrap_err()));
    assert!(session.connection().ended().is_none());
    let (notices, _) = session.connection().take_notices();
    assert!(matches!(&notices[..], [Notice::Garbled { why, .. }] if why == "longer than 32 MiB"));
}

#[tokio::test]
async fn without_an_id_it_belongs_to_the_only_call_in_flight() {
    let (session, _) =
        Target::default().session("2025-11-25", |_, sink| oversized(sink, Part::Nameless)).await;
    assert!(is_too_large(&session.ping().await.unwrap_err()));
}

#[tokio::test]
async fn without_an_id_and_with_several_calls_in_flight_none_fails() {
    let held: Mutex<Vec<Seen>> = Mutex::default();
    let (session, _) = Target::default()
        .session("2025-11-25", move |seen, sink| {
            let mut held = held.lock().unwrap();
            held.push(seen.clone());
            if let [first, second] = &held[..] {
                oversized(sink, Part::Nameless);
                answer(sink, first, json!(1));
                answer(sink, second, json!(2));
            }
        })
        .await;
    let (first, second) =
        tokio::join!(session.request("a", Map::new()), session.request("b", Map::new()));
    assert!(first.is_ok() && second.is_ok());
}

#[tokio::test]
async fn a_request_of_the_target_is_refused_so_that_it_does_not_wait() {
    let (session, log) = Target::default()
        .session("2025-11-25", |seen, sink| {
            if seen.method() == "ping" {
                oversized(sink, Part::Request(Id::from_json("\"ask\"")));
                answer(sink, seen, json!({}));
            }
        })
        .await;
    session.ping().await.unwrap();
    let refusal = &log.seen()[1].json;
    assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&json!("ask"), &json!(-32600)));
}
