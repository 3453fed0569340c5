//! Everything except tools: both eras, paging, resources, prompts, completion, logging.

use quintain_demo::{DemoConfig, DemoError, Twin, serve_stream};
use serde_json::{Value, json};

use crate::client::{Session, open};

fn modern(params: Value) -> Value {
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "0" },
    });
    params
}

#[tokio::test]
async fn a_modern_client_needs_no_handshake() {
    let mut session = Session::connect(DemoConfig::default());
    let found = session.request("server/discover", modern(json!({}))).await;
    let versions = found["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")), "{found}");
    let listed = session.request("tools/list", modern(json!({}))).await;
    assert_eq!(listed["result"]["resultType"], "complete");
    assert!(listed["result"]["ttlMs"].is_number(), "{listed}");
}

#[tokio::test]
async fn a_modern_payout_ends_with_a_question_and_goes_on_with_the_answer() {
    let mut session = Session::connect(DemoConfig::default());
    let call = json!({ "name": "request_payout", "arguments": { "amount": 25 } });
    let asked = session.request("tools/call", modern(call.clone())).await;
    assert_eq!(asked["result"]["resultType"], "input_required");
    assert_eq!(asked["result"]["inputRequests"]["confirm"]["method"], "elicitation/create");

    let mut again = call;
    again["inputResponses"] =
        json!({ "confirm": { "action": "accept", "content": { "confirm": true } } });
    let answer = session.request("tools/call", modern(again)).await;
    assert!(answer["result"]["content"][0]["text"].as_str().unwrap().contains("confirmed"));
}

#[tokio::test]
async fn tools_come_in_pages_if_asked() {
    let mut session = open(DemoConfig::default().with_page_size(5)).await;
    let mut names = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let params = if cursor.is_null() { json!({}) } else { json!({ "cursor": cursor }) };
        let page = session.request("tools/list", params).await;
        let tools = page["result"]["tools"].as_array().unwrap();
        assert!(tools.len() <= 5);
        names.extend(tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()));
        cursor = page["result"]["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    let all = open(DemoConfig::default()).await.request("tools/list", json!({})).await;
    assert_eq!(names.len(), all["result"]["tools"].as_array().unwrap().len());
    let wrong = session.request("tools/list", json!({ "cursor": "nonsense" })).await;
    assert_eq!(wrong["error"]["code"], -32602);
}

#[tokio::test]
async fn resources_can_be_listed_and_read() {
    let mut session = open(DemoConfig::default()).await;
    let listed = session.request("resources/list", json!({})).await;
    let resources = listed["result"]["resources"].as_array().unwrap().clone();
    assert_eq!(resources.len(), 3);
    let templates = session.request("resources/templates/list", json!({})).await;
    assert_eq!(templates["result"]["resourceTemplates"].as_array().unwrap().len(), 1);
    let uris = resources.iter().map(|resource| resource["uri"].as_str().unwrap());
    for uri in uris.chain(["techmart://invoices/INV-1001.txt"]) {
        let read = session.request("resources/read", json!({ "uri": uri })).await;
        assert!(!read["result"]["contents"][0]["text"].as_str().unwrap().is_empty(), "{uri}");
    }
    let missing = session.request("resources/read", json!({ "uri": "techmart://none" })).await;
    assert_eq!(missing["error"]["code"], -32002);
}

#[tokio::test]
async fn prompts_can_be_listed_and_filled() {
    let mut session = open(DemoConfig::default()).await;
    let listed = session.request("prompts/list", json!({})).await;
    assert_eq!(listed["result"]["prompts"].as_array().unwrap().len(), 2);
    let params =
        json!({ "name": "explain_transaction", "arguments": { "transaction_id": "txn_123" } });
    let prompt = session.request("prompts/get", params).await;
    let text = prompt["result"]["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("txn_123"));
    let missing = session.request("prompts/get", json!({ "name": "explain_transaction" })).await;
    assert_eq!(missing["error"]["code"], -32602);
}

#[tokio::test]
async fn arguments_and_variables_are_completed() {
    let mut session = open(DemoConfig::default()).await;
    for (reference, name, value, expected) in [
        (json!({ "type": "ref/prompt", "name": "monthly_summary" }), "currency", "E", "EUR"),
        (
            json!({ "type": "ref/prompt", "name": "explain_transaction" }),
            "transaction_id",
            "txn_12",
            "txn_121",
        ),
        (
            json!({ "type": "ref/resource", "uri": "techmart://invoices/{name}" }),
            "name",
            "INV",
            "INV-1001.txt",
        ),
    ] {
        let params = json!({ "ref": reference, "argument": { "name": name, "value": value } });
        let answer = session.request("completion/complete", params).await;
        assert_eq!(answer["result"]["completion"]["values"][0], expected, "{answer}");
    }
}

#[tokio::test]
async fn log_messages_come_only_when_asked_for() {
    let mut session = open(DemoConfig::default()).await;
    let payment = json!({ "amount": 1, "currency": "USD", "user_id": "12345" });
    session.call("process_payment", payment.clone()).await;
    assert!(session.notifications.is_empty());
    session.request("logging/setLevel", json!({ "level": "info" })).await;
    session.call("process_payment", payment.clone()).await;
    assert_eq!(session.notifications[0]["params"]["logger"], "techmart");
    session.notifications.clear();
    session.request("logging/setLevel", json!({ "level": "error" })).await;
    session.call("process_payment", payment).await;
    assert!(session.notifications.is_empty());
}

#[tokio::test]
async fn an_unknown_user_is_refused_at_the_start() {
    let (_, theirs) = tokio::io::duplex(64);
    let ended = serve_stream(DemoConfig::default().with_user("nobody"), theirs).await;
    assert!(matches!(ended, Err(DemoError::UnknownUser(user)) if user == "nobody"));
}

#[tokio::test]
async fn a_client_that_leaves_at_once_is_no_error() {
    let (ours, theirs) = tokio::io::duplex(64);
    drop(ours);
    serve_stream(DemoConfig::default(), theirs).await.unwrap();
}

#[tokio::test]
async fn a_given_data_directory_is_used_and_kept() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    for _ in 0..2 {
        let mut session = open(DemoConfig::default().with_data_dir(&data)).await;
        std::fs::write(data.join("statements").join("2030-01.txt"), "written by hand").unwrap();
        let answer = session.call("read_statement", json!({ "path": "2030-01.txt" })).await;
        assert_eq!(answer.text, "written by hand");
    }
    assert!(data.join("techmart.db").exists());
}

#[tokio::test]
async fn a_temporary_data_directory_is_gone_when_the_session_ends() {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let serving = tokio::spawn(serve_stream(DemoConfig::new(Twin::Vulnerable), theirs));
    let mut session = Session::over(ours);
    session.request("server/discover", modern(json!({}))).await;
    let call = modern(json!({ "name": "list_invoices", "arguments": {} }));
    let listed = session.request("tools/call", call).await;
    let text = listed["result"]["content"][0]["text"].as_str().unwrap();
    let answer: Value = serde_json::from_str(text).unwrap();
    let directory = std::path::PathBuf::from(answer["directory"].as_str().unwrap());
    assert!(directory.exists());
    drop(session);
    serving.await.unwrap().unwrap();
    assert!(!directory.exists());
}
