//! Each kind of credential: the valid one identifies its user, all others are rejected.

use base64::{Engine, prelude::BASE64_STANDARD};
use quintain_demo::{ApiKeyPlacement, Auth, DemoConfig, Running, Twin, credentials, serve_http};
use reqwest::StatusCode;
use serde_json::json;

use crate::client::Http;

async fn start(twin: Twin, auth: Auth) -> Running {
    serve_http(DemoConfig::new(twin).with_auth(auth)).await.unwrap()
}

/// The user of a request.
async fn whoami(http: Http) -> String {
    let http = http.open().await;
    let message = json!({
        "jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": { "uri": "techmart://account" },
    });
    let text = http.post(&message).await.text().await.unwrap();
    let answer = crate::client::last_event(&text);
    let account = answer["result"]["contents"][0]["text"].as_str().unwrap();
    serde_json::from_str::<serde_json::Value>(account).unwrap()["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn bearer_tokens() {
    for twin in [Twin::Vulnerable, Twin::Patched] {
        let running = start(twin, Auth::Bearer).await;
        for (token, user) in [
            (credentials::CUSTOMER_TOKEN, credentials::CUSTOMER),
            (credentials::OTHER_CUSTOMER_TOKEN, credentials::OTHER_CUSTOMER),
            (credentials::ADMIN_TOKEN, credentials::ADMIN),
        ] {
            assert_eq!(whoami(Http::new(&running).bearer(token)).await, user);
        }
        for http in [Http::new(&running), Http::new(&running).bearer("wrong")] {
            let response = http.initialize().await;
            assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
            assert!(response.headers()["www-authenticate"].to_str().unwrap().starts_with("Bearer"));
        }
    }
}

#[tokio::test]
async fn lax_handling_of_tokens() {
    for (twin, expected) in
        [(Twin::Vulnerable, StatusCode::OK), (Twin::Patched, StatusCode::UNAUTHORIZED)]
    {
        let running = start(twin, Auth::Bearer).await;
        let expired = Http::new(&running).bearer(credentials::EXPIRED_TOKEN);
        assert_eq!(expired.initialize().await.status(), expected);
        let mut in_query = Http::new(&running);
        in_query.url = format!("{}?access_token={}", in_query.url, credentials::CUSTOMER_TOKEN);
        assert_eq!(in_query.initialize().await.status(), expected);

        let running = start(twin, Auth::api_key()).await;
        let mut in_query = Http::new(&running);
        in_query.url = format!("{}?X-API-Key={}", in_query.url, credentials::CUSTOMER_API_KEY);
        assert_eq!(in_query.initialize().await.status(), expected);
    }
}

#[tokio::test]
async fn basic_logins() {
    let running = start(Twin::Patched, Auth::Basic).await;
    let login = |(name, password): (&str, &str)| {
        let encoded = BASE64_STANDARD.encode(format!("{name}:{password}"));
        Http::new(&running).with("authorization", format!("Basic {encoded}"))
    };
    assert_eq!(whoami(login(credentials::CUSTOMER_LOGIN)).await, credentials::CUSTOMER);
    assert_eq!(whoami(login(credentials::ADMIN_LOGIN)).await, credentials::ADMIN);
    let refused = login(("ada", "wrong")).initialize().await;
    assert_eq!(refused.status(), StatusCode::UNAUTHORIZED);
    assert!(refused.headers()["www-authenticate"].to_str().unwrap().starts_with("Basic"));
}

#[tokio::test]
async fn api_keys_in_the_header_or_in_the_query() {
    let running = start(Twin::Patched, Auth::api_key()).await;
    let http = Http::new(&running).with("x-api-key", credentials::ADMIN_API_KEY);
    assert_eq!(whoami(http).await, credentials::ADMIN);
    assert_eq!(Http::new(&running).initialize().await.status(), StatusCode::UNAUTHORIZED);

    let auth = Auth::ApiKey { name: "key".into(), placement: ApiKeyPlacement::Query };
    let running = start(Twin::Patched, auth).await;
    let mut http = Http::new(&running);
    http.url = format!("{}?key={}", http.url, credentials::OTHER_CUSTOMER_API_KEY);
    assert_eq!(whoami(http).await, credentials::OTHER_CUSTOMER);
    let in_header = Http::new(&running).with("key", credentials::CUSTOMER_API_KEY);
    assert_eq!(in_header.initialize().await.status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_session_belongs_to_the_user_who_opened_it() {
    for (twin, stolen, bare) in [
        (Twin::Vulnerable, StatusCode::OK, StatusCode::OK),
        (Twin::Patched, StatusCode::NOT_FOUND, StatusCode::UNAUTHORIZED),
    ] {
        let running = start(twin, Auth::Bearer).await;
        let owner = Http::new(&running).bearer(credentials::CUSTOMER_TOKEN).open().await;
        let id = owner.headers["mcp-session-id"].clone();
        let call = crate::client::call(2, "list_invoices", json!({}));

        let thief = Http::new(&running)
            .bearer(credentials::OTHER_CUSTOMER_TOKEN)
            .with("mcp-session-id", id.clone());
        assert_eq!(thief.post(&call).await.status(), stolen);
        let nobody = Http::new(&running).with("mcp-session-id", id);
        assert_eq!(nobody.post(&call).await.status(), bare);
        assert_eq!(owner.post(&call).await.status(), StatusCode::OK);
    }
}
