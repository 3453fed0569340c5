//! Requests of servers in both eras, and the answers to them.

use quintain_wire::rpc::responder::Elicited;
use quintain_wire::rpc::{CallError, Script};
use serde_json::{Value, json};

use crate::script::{Target, answer, say};

fn accepting() -> Script {
    let content = Some(json!({"confirmed": true}));
    Script::default().with_elicitation(vec![Elicited::Reply { action: "accept".into(), content }])
}

#[tokio::test]
async fn a_legacy_server_gets_answers_to_what_was_declared_and_refusals_to_the_rest() {
    let (session, log) = Target::default()
        .answering(accepting())
        .session("2025-11-25", |seen, sink| {
            if seen.method() == "tools/call" {
                for (id, method) in ["ping", "elicitation/create", "roots/list"].iter().enumerate()
                {
                    say(sink, json!({"id": format!("q{id}"), "method": method, "params": {}}));
                }
                answer(sink, seen, json!({"content": []}));
            }
        })
        .await;
    session.call_tool("x", json!({})).await.unwrap();
    let answers: Vec<Value> = log.seen().iter().skip(1).map(|seen| seen.json.clone()).collect();
    assert_eq!(answers[0], json!({"jsonrpc": "2.0", "id": "q0", "result": {}}));
    assert_eq!(answers[1]["result"]["content"], json!({"confirmed": true}));
    assert_eq!(answers[2]["error"]["code"], json!(-32601));
}

#[tokio::test]
async fn a_modern_server_gets_its_input_with_the_state_it_gave_and_a_new_id() {
    let (session, log) = Target::default()
        .answering(accepting())
        .session("2026-07-28", |seen, sink| {
            if seen.json["params"]["inputResponses"].is_null() {
                let ask = json!({"ok": {"method": "elicitation/create", "params": {}}});
                let state = "opaque \u{e9} \"state\"";
                let result = json!({"resultType": "input_required", "inputRequests": ask, "requestState": state});
                return answer(sink, seen, result);
            }
            answer(sink, seen, json!({"resultType": "complete", "content": []}));
        })
        .await;
    session.call_tool("x", json!({"a": 1})).await.unwrap();
    let seen = log.seen();
    assert_eq!(seen.len(), 2);
    assert_ne!(seen[0].id(), seen[1].id());
    let retried = &seen[1].json["params"];
    assert_eq!(retried["requestState"], "opaque \u{e9} \"state\"");
    assert_eq!(retried["inputResponses"]["ok"]["action"], "accept");
    assert_eq!(retried["arguments"], json!({"a": 1}));
    assert!(seen[0].json["params"]["requestState"].is_null());
}

#[tokio::test]
async fn a_server_that_never_stops_asking_is_an_error() {
    let (session, log) = Target::default()
        .session("2026-07-28", |seen, sink| {
            answer(sink, seen, json!({"resultType": "input_required", "requestState": "again"}));
        })
        .await;
    let error = session.call_tool("x", json!({})).await.unwrap_err();
    assert!(matches!(error, CallError::Endless { .. }), "{error}");
    assert!(log.seen().len() <= 16);
}

#[tokio::test]
async fn modern_requests_say_who_asks_and_in_which_version() {
    let (session, log) = Target::default()
        .answering(accepting())
        .session("2026-07-28", |seen, sink| answer(sink, seen, json!({})))
        .await;
    session.set_log_level("debug").await.unwrap();
    session.request("prompts/get", serde_json::Map::new()).await.unwrap();
    let meta = &log.seen()[0].json["params"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "quintain");
    assert_eq!(meta["io.modelcontextprotocol/logLevel"], "debug");
    assert!(meta["io.modelcontextprotocol/clientCapabilities"]["elicitation"].is_object());
}
