//! Streamable HTTP: sessions, both eras, Host and Origin, stopping.

use std::time::{Duration, Instant};

use quintain_demo::{DemoConfig, Twin, serve_http};
use reqwest::StatusCode;
use serde_json::json;

use crate::client::{Http, last_event};

#[tokio::test]
async fn a_legacy_session_works() {
    let running = serve_http(DemoConfig::default()).await.unwrap();
    let http = Http::new(&running).open().await;
    let answer = http.call("get_transaction", json!({ "transaction_id": "txn_123" })).await;
    assert_eq!(answer.json()["user_id"], "cust_1001");
    running.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_modern_request_needs_no_session() {
    let running = serve_http(DemoConfig::default()).await.unwrap();
    let message = json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "name": "get_transaction",
            "arguments": { "transaction_id": "txn_123" },
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "0" },
            },
        },
    });
    let http = Http::new(&running)
        .with("mcp-protocol-version", "2026-07-28")
        .with("mcp-method", "tools/call")
        .with("mcp-name", "get_transaction");
    let response = http.post(&message).await;
    assert_eq!(response.status(), StatusCode::OK);
    assert!(response.headers().get("mcp-session-id").is_none());
    let answer = last_event(&response.text().await.unwrap());
    assert!(answer["result"]["content"][0]["text"].as_str().unwrap().contains("cust_1001"));
}

#[tokio::test]
async fn a_small_answer_does_not_wait_for_an_acknowledgement() {
    let running = serve_http(DemoConfig::default()).await.unwrap();
    let http = Http::new(&running).open().await;
    let start = Instant::now();
    for _ in 0..100 {
        http.call("check_reference", json!({ "reference": "RF18" })).await;
    }
    // A hundred delayed acknowledgements would take four seconds.
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
}

#[tokio::test]
async fn host_and_origin_matter_on_the_patched_twin_only() {
    for (twin, expected) in
        [(Twin::Vulnerable, StatusCode::OK), (Twin::Patched, StatusCode::FORBIDDEN)]
    {
        let running = serve_http(DemoConfig::new(twin)).await.unwrap();
        let port = running.addr().port();
        let good = Http::new(&running).with("origin", format!("http://localhost:{port}"));
        assert_eq!(good.initialize().await.status(), StatusCode::OK);
        let bad_host = Http::new(&running).with("host", format!("evil.example:{port}"));
        assert_eq!(bad_host.initialize().await.status(), expected);
        let bad_origin = Http::new(&running).with("origin", "http://evil.example");
        assert_eq!(bad_origin.initialize().await.status(), expected);
    }
}

#[tokio::test]
async fn stopping_ends_open_streams_and_removes_the_data() {
    let running = serve_http(DemoConfig::new(Twin::Vulnerable)).await.unwrap();
    let url = running.url();
    let http = Http::new(&running).open().await;
    let listed = http.call("list_invoices", json!({})).await.json();
    let directory = std::path::PathBuf::from(listed["directory"].as_str().unwrap());
    assert!(directory.exists());
    let stream = http.prepare(reqwest::Method::GET).send().await.unwrap();
    assert_eq!(stream.status(), StatusCode::OK);
    let sse = http.client.get(running.sse_url()).send().await.unwrap();
    tokio::time::timeout(Duration::from_secs(5), running.shutdown()).await.unwrap().unwrap();
    // Both streams end instead of hanging.
    let _ = tokio::time::timeout(Duration::from_secs(5), stream.bytes()).await.unwrap();
    let _ = tokio::time::timeout(Duration::from_secs(5), sse.bytes()).await.unwrap();
    assert!(http.client.post(url).send().await.is_err());
    assert!(!directory.exists());
}
