//! The HTTP+SSE transport.

use futures_util::StreamExt;
use quintain_demo::{Auth, DemoConfig, Running, Twin, credentials, serve_http};
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::client::{call, http, initialize};

/// An open event stream.
struct Events {
    bytes: std::pin::Pin<
        Box<dyn futures_util::Stream<Item = reqwest::Result<axum::body::Bytes>> + Send>,
    >,
    buffer: String,
}

impl Events {
    async fn open(url: &str, token: Option<&str>) -> Self {
        let mut request = http().get(url);
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { bytes: Box::pin(response.bytes_stream()), buffer: String::new() }
    }

    /// Kind and data of the next event.
    async fn next(&mut self) -> (String, String) {
        loop {
            if let Some((event, rest)) = self.buffer.split_once("\n\n") {
                let field = |name: &str| {
                    let line = event.lines().find_map(|line| line.strip_prefix(name));
                    line.unwrap_or_default().trim().to_owned()
                };
                let found = (field("event:"), field("data:"));
                self.buffer = rest.to_string();
                if !found.0.is_empty() {
                    return found;
                }
                continue;
            }
            let piece = self.bytes.next().await.expect("the stream ended").unwrap();
            self.buffer += std::str::from_utf8(&piece).unwrap();
        }
    }

    async fn message(&mut self) -> Value {
        let (kind, data) = self.next().await;
        assert_eq!(kind, "message");
        serde_json::from_str(&data).unwrap()
    }
}

fn endpoint(running: &Running, relative: &str) -> String {
    assert!(relative.starts_with("/messages?sessionId="), "{relative}");
    format!("http://{}{relative}", running.addr())
}

async fn post(url: &str, token: Option<&str>, body: String) -> reqwest::Response {
    let mut request = http().post(url).header("content-type", "application/json").body(body);
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    request.send().await.unwrap()
}

fn opening() -> String {
    let params = initialize(json!({}));
    // Pretty-printed on purpose: a message may span lines, its pipe may not.
    serde_json::to_string_pretty(
        &json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }),
    )
    .unwrap()
}

#[tokio::test]
async fn messages_are_accepted_and_answered_on_the_stream() {
    let running = serve_http(DemoConfig::default()).await.unwrap();
    for path in ["/sse", "/mcp/sse"] {
        let mut events = Events::open(&format!("http://{}{path}", running.addr()), None).await;
        let (kind, data) = events.next().await;
        assert_eq!(kind, "endpoint");
        let url = endpoint(&running, &data);

        let accepted = post(&url, None, opening()).await;
        assert_eq!(accepted.status(), StatusCode::ACCEPTED);
        assert_eq!(accepted.text().await.unwrap(), "Accepted");
        let answer = events.message().await;
        assert_eq!(answer["result"]["serverInfo"]["name"], "techmart-payments");

        post(
            &url,
            None,
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string(),
        )
        .await;
        for id in 1..=20 {
            let body = call(id, "get_transaction", json!({ "transaction_id": "txn_123" }));
            assert_eq!(post(&url, None, body.to_string()).await.status(), StatusCode::ACCEPTED);
            let answer = events.message().await;
            assert_eq!(answer["id"], id);
            assert!(answer["result"]["content"][0]["text"].as_str().unwrap().contains("cust_1001"));
        }
        assert_eq!(post(&url, None, "{nonsense".into()).await.status(), StatusCode::BAD_REQUEST);
    }
}

#[tokio::test]
async fn an_unknown_or_closed_session_is_not_found_at_once() {
    let running = serve_http(DemoConfig::default()).await.unwrap();
    let url = endpoint(&running, "/messages?sessionId=unknown");
    assert_eq!(post(&url, None, opening()).await.status(), StatusCode::NOT_FOUND);

    let mut events = Events::open(&running.sse_url(), None).await;
    let url = endpoint(&running, &events.next().await.1);
    drop(events);
    // The server notices when it next touches the connection, so this may take a moment.
    for _ in 0..500 {
        if post(&url, None, opening()).await.status() == StatusCode::NOT_FOUND {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    panic!("the session is still there");
}

#[tokio::test]
async fn a_stolen_session_id_works_on_the_vulnerable_twin_only() {
    for (twin, stolen, bare) in [
        (Twin::Vulnerable, StatusCode::ACCEPTED, StatusCode::ACCEPTED),
        (Twin::Patched, StatusCode::NOT_FOUND, StatusCode::UNAUTHORIZED),
    ] {
        let config = DemoConfig::new(twin).with_auth(Auth::Bearer);
        let running = serve_http(config).await.unwrap();
        let refused = http().get(running.sse_url()).send().await.unwrap();
        assert_eq!(refused.status(), StatusCode::UNAUTHORIZED);

        let token = credentials::CUSTOMER_TOKEN;
        let mut events = Events::open(&running.sse_url(), Some(token)).await;
        let url = endpoint(&running, &events.next().await.1);
        assert_eq!(post(&url, Some(token), opening()).await.status(), StatusCode::ACCEPTED);
        events.message().await;
        let body = call(1, "list_invoices", json!({})).to_string();
        let thief = Some(credentials::OTHER_CUSTOMER_TOKEN);
        assert_eq!(post(&url, thief, body.clone()).await.status(), stolen);
        assert_eq!(post(&url, None, body.clone()).await.status(), bare);
        let with_a_decoy = http()
            .post(&url)
            .bearer_auth(credentials::OTHER_CUSTOMER_TOKEN)
            .header("mcp-session-id", "decoy")
            .body(body)
            .send()
            .await
            .unwrap();
        assert_eq!(with_a_decoy.status(), stolen);
    }
}
