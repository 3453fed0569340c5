//! Each tool works on both twins.

use quintain_demo::{DemoConfig, Twin, credentials};
use serde_json::{Value, json};

use crate::client::{Session, open};

const TWINS: [Twin; 2] = [Twin::Vulnerable, Twin::Patched];

/// A valid call of each tool by the default customer, and a part of the response.
fn valid_calls() -> Vec<(&'static str, Value, &'static str)> {
    vec![
        (
            "process_payment",
            json!({ "amount": 100, "currency": "USD", "user_id": "12345" }),
            "success",
        ),
        ("get_transaction", json!({ "transaction_id": "txn_123" }), "cust_1001"),
        ("list_transactions", json!({}), "txn_103"),
        (
            "list_transactions",
            json!({ "status": "completed", "order_by": "amount", "limit": 5 }),
            "txn_1",
        ),
        ("refund_payment", json!({ "transaction_id": "txn_123" }), "refunded"),
        ("get_user_data", json!({ "user_id": "cust_1001" }), "Ada Miller"),
        ("account_summary", json!({ "user_id": "cust_1001" }), "250000"),
        ("search_customers", json!({ "query": "Ada" }), "Ada Miller"),
        ("add_note", json!({ "user_id": "cust_1001", "note": "Called." }), "added"),
        ("get_notes", json!({ "user_id": "cust_1001" }), "Prefers e-mail."),
        ("list_invoices", json!({}), "INV-1001.txt"),
        ("read_invoice", json!({ "name": "INV-1001.txt" }), "Total: 120.00 USD"),
        ("read_statement", json!({ "path": "2026-01.txt" }), "Turnover"),
        ("export_report", json!({ "report": "transactions.csv" }), "USD,2026-01,1310.00"),
        ("check_gateway", json!({ "host": "gateway-eu.techmart.example" }), "up"),
        (
            "fetch_exchange_rate",
            json!({ "currency": "EUR", "source_url": "http://rates.techmart.example/latest" }),
            "0.92",
        ),
        (
            "render_receipt",
            json!({ "transaction_id": "txn_123", "template": "Paid {{ amount }} {{ currency }}." }),
            "Paid ",
        ),
        ("check_reference", json!({ "reference": "RF18" }), "true"),
        ("slow_report", json!({ "duration_ms": 4 }), "done"),
        ("request_payout", json!({ "amount": 25 }), "waiting for a clerk"),
    ]
}

fn admin_calls() -> Vec<(&'static str, Value, &'static str)> {
    vec![
        ("get_audit_log", json!({}), "new day"),
        ("set_user_role", json!({ "user_id": "cust_1006", "role": "support" }), "support"),
        ("delete_user", json!({ "user_id": "cust_1006" }), "deleted"),
        ("get_user_data", json!({ "user_id": "cust_1002" }), "Blaise Okafor"),
        ("search_customers", json!({ "query": "a" }), "Blaise Okafor"),
        ("read_invoice", json!({ "name": "INV-1003.txt" }), "cust_1002"),
    ]
}

async fn make(session: &mut Session, calls: Vec<(&'static str, Value, &'static str)>) {
    for (tool, arguments, expected) in calls {
        let answer = session.call(tool, arguments).await;
        assert!(!answer.failed, "{tool}: {answer:?}");
        assert!(answer.text.contains(expected), "{tool}: {answer:?}");
    }
}

#[tokio::test]
async fn every_tool_serves_those_who_may_use_it() {
    for twin in TWINS {
        make(&mut open(DemoConfig::new(twin)).await, valid_calls()).await;
        let admin = DemoConfig::new(twin).with_user(credentials::ADMIN);
        make(&mut open(admin).await, admin_calls()).await;
    }
}

#[tokio::test]
async fn every_tool_is_tried_above() {
    let mut session = open(DemoConfig::default()).await;
    let listed = session.request("tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert!(tools.len() >= 12);
    for tool in tools {
        let name = tool["name"].as_str().unwrap();
        let mut tried = valid_calls().into_iter().chain(admin_calls());
        assert!(tried.any(|(known, ..)| known == name), "{name} is not tried");
        assert!(tool["annotations"]["readOnlyHint"].is_boolean(), "{tool}");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
    }
}

#[tokio::test]
async fn a_payment_changes_what_later_calls_see() {
    let mut session = open(DemoConfig::default()).await;
    let paid = session
        .call("process_payment", json!({ "amount": 12.5, "currency": "EUR", "user_id": "12345" }))
        .await
        .json();
    let id = paid["transaction_id"].clone();
    let found = session.call("get_transaction", json!({ "transaction_id": id })).await.json();
    assert_eq!((&found["amount"], &found["status"]), (&json!(1250), &json!("completed")));
    session.call("refund_payment", json!({ "transaction_id": id })).await;
    let found = session.call("get_transaction", json!({ "transaction_id": id })).await.json();
    assert_eq!(found["status"], "refunded");
    assert!(session.call("refund_payment", json!({ "transaction_id": id })).await.failed);
}

#[tokio::test]
async fn structured_content_comes_with_a_schema() {
    let mut session = open(DemoConfig::default()).await;
    let listed = session.request("tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().unwrap();
    let tool = tools.iter().find(|tool| tool["name"] == "account_summary").unwrap();
    let answer = session.call("account_summary", json!({ "user_id": "cust_1001" })).await;
    let structured = &answer.message["result"]["structuredContent"];
    for name in tool["outputSchema"]["required"].as_array().unwrap() {
        assert!(structured.get(name.as_str().unwrap()).is_some(), "{name} in {structured}");
    }
    assert_eq!(*structured, answer.json());
}

#[tokio::test]
async fn a_slow_report_reports_progress() {
    let mut session = open(DemoConfig::default()).await;
    let params = json!({
        "name": "slow_report",
        "arguments": { "duration_ms": 6, "steps": 3 },
        "_meta": { "progressToken": "p1" },
    });
    session.request("tools/call", params).await;
    let progress: Vec<_> =
        session.notifications.iter().map(|one| one["params"]["progress"].clone()).collect();
    assert_eq!(progress, [json!(1.0), json!(2.0), json!(3.0)]);
}

#[tokio::test]
async fn a_payout_asks_a_client_that_can_ask() {
    let elicitation = json!({ "elicitation": {} });
    let mut session = Session::open(DemoConfig::default(), elicitation).await;
    for (answer, expected) in [
        (json!({ "action": "accept", "content": { "confirm": true } }), "confirmed"),
        (json!({ "action": "accept", "content": { "confirm": false } }), "declined"),
        (json!({ "action": "decline" }), "declined"),
    ] {
        session.elicitation = answer;
        let answer = session.call("request_payout", json!({ "amount": 25 })).await;
        assert_eq!(answer.json()["status"], expected);
    }
}
