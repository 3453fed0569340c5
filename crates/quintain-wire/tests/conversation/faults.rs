//! Deliberate faults, and faulty frames of the target.

use bytes::Bytes;
use quintain_wire::rpc::Notice;
use serde_json::json;

use crate::script::{Target, answer, say};

#[tokio::test]
async fn any_bytes_can_be_sent_and_calls_still_work() {
    let (session, log) = Target::default()
        .session("2025-11-25", |seen, sink| {
            if !seen.json.is_null() {
                answer(sink, seen, json!({"odd": true}));
            }
        })
        .await;
    session.send_bytes(&b"{not json"[..]);
    session.send_bytes(&b"\xff\xfe"[..]);
    let bytes = r#"{"jsonrpc":"1.0","id":"seven","method":"no/such","extra":[[]]}"#;
    session.send_bytes(bytes);
    assert_eq!(
        session.request("ping", serde_json::Map::new()).await.unwrap().result,
        r#"{"odd":true}"#
    );
    assert_eq!(log.seen()[0].text, "{not json");
    assert_eq!(log.seen()[2].text, bytes);
}

#[tokio::test]
async fn garbage_between_messages_is_kept_and_the_answer_still_found() {
    let (session, _log) = Target::default()
        .session("2025-11-25", |seen, sink| {
            sink.received(Bytes::from_static(b"Server listening on stdio"));
            sink.received(Bytes::from_static(b"\xff\xfe\xfd"));
            say(sink, json!([{"method": "notifications/message", "params": {}}, {"id": seen.id(), "result": 7}]));
        })
        .await;
    let reply = session.ping().await.unwrap();
    assert_eq!(reply.result, "7");
    let (notices, dropped) = session.connection().take_notices();
    let garbled = notices.iter().filter(|notice| matches!(notice, Notice::Garbled { .. })).count();
    assert_eq!((garbled, notices.len(), dropped), (2, 3, 0));
}

#[tokio::test]
async fn a_flood_of_notifications_is_bounded_and_counted() {
    let (session, _log) = Target::default()
        .session("2025-11-25", |seen, sink| {
            for _ in 0..5_000 {
                sink.received(Bytes::from_static(br#"{"method":"notifications/message"}"#));
            }
            answer(sink, seen, json!({}));
        })
        .await;
    session.ping().await.unwrap();
    let (notices, dropped) = session.connection().take_notices();
    assert_eq!((notices.len(), dropped), (1_000, 4_000));
}
