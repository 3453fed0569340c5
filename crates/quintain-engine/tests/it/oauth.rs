//! Tokens during a session: shared, expired, revoked.

use std::time::Duration;

use futures_util::future::join_all;
use quintain_demo::{Auth, DemoConfig, Running, Twin, credentials::CUSTOMER_CLIENT, serve_http};
use quintain_engine::Sessions;
use serde_json::{Value, json};

use crate::support::{call, open, text};

const TTL: Duration = Duration::from_secs(2);

async fn shop(ttl: Duration) -> Running {
    let config = DemoConfig::new(Twin::Patched).with_auth(Auth::OAuth).with_token_ttl(ttl);
    serve_http(config).await.unwrap()
}

fn config(url: &str) -> Value {
    let (id, secret) = CUSTOMER_CLIENT;
    json!({"server": {"url": url, "auth": {
        "type": "oauth", "grantType": "client_credentials", "clientId": id, "clientSecret": secret,
    }}})
}

async fn call_fifty_times(sessions: &Sessions) {
    let calls = (0..50).map(|_| call(sessions, "list_invoices", json!({})));
    for exchange in join_all(calls).await {
        assert!(text(&exchange).contains("INV-1001"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_at_once_share_one_renewal_of_an_expired_token() {
    let shop = shop(TTL).await;
    let sessions = open(&config(&shop.url())).await;
    // The test is about time, so it has to wait.
    tokio::time::sleep(TTL + Duration::from_millis(100)).await;
    let before = shop.token_requests();
    call_fifty_times(&sessions).await;
    assert_eq!(shop.token_requests() - before, 1);
    sessions.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_token_is_renewed_once_and_the_calls_are_sent_again() {
    let shop = shop(Duration::from_mins(10)).await;
    let sessions = open(&config(&shop.url())).await;
    let before = shop.token_requests();
    shop.revoke_access_tokens();
    call_fifty_times(&sessions).await;
    assert_eq!(shop.token_requests() - before, 1);
    sessions.close().await;
}

#[tokio::test]
async fn a_token_is_kept_as_long_as_it_is_good() {
    let shop = shop(Duration::from_mins(10)).await;
    let sessions = open(&config(&shop.url())).await;
    call_fifty_times(&sessions).await;
    assert_eq!(shop.token_requests(), 1);
    sessions.close().await;
}

#[tokio::test]
async fn a_session_outlives_its_token_on_both_transports() {
    let shop = shop(TTL).await;
    let streamable = open(&config(&shop.url())).await;
    let sse = open(&config(&shop.sse_url())).await;
    tokio::time::sleep(TTL + Duration::from_millis(100)).await;
    for sessions in [streamable, sse] {
        let exchange = call(&sessions, "list_invoices", json!({})).await;
        assert!(text(&exchange).contains("INV-1001"));
        sessions.close().await;
    }
}
