//! The authorization server, and the MCP endpoint as its resource.

use std::{collections::HashMap, time::Duration};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use quintain_demo::{Auth, DemoConfig, Running, Twin, credentials, serve_http};
use reqwest::StatusCode;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::client::{Http, http};

async fn start(twin: Twin) -> Running {
    serve_http(DemoConfig::new(twin).with_auth(Auth::OAuth)).await.unwrap()
}

fn at(running: &Running, path: &str) -> String {
    format!("http://{}{path}", running.addr())
}

/// Sends a request to the token endpoint with the client's secret in the body.
async fn ask(running: &Running, form: &[(&str, &str)]) -> (StatusCode, Value) {
    let response = http().post(at(running, "/oauth/token")).form(form).send().await.unwrap();
    (response.status(), response.json().await.unwrap())
}

fn client() -> [(&'static str, &'static str); 2] {
    let (id, secret) = credentials::CUSTOMER_CLIENT;
    [("client_id", id), ("client_secret", secret)]
}

async fn token(running: &Running, extra: &[(&str, &str)]) -> String {
    let form = [&client()[..], &[("grant_type", "client_credentials")], extra].concat();
    let (status, answer) = ask(running, &form).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    answer["access_token"].as_str().unwrap().to_owned()
}

async fn password_grant(running: &Running) -> Value {
    let (name, password) = credentials::CUSTOMER_LOGIN;
    let form = [("grant_type", "password"), ("username", name), ("password", password)];
    ask(running, &form).await.1
}

async fn status_with(running: &Running, token: &str) -> StatusCode {
    Http::new(running).bearer(token).initialize().await.status()
}

#[tokio::test]
async fn a_refusal_leads_to_the_metadata_and_the_metadata_to_the_endpoints() {
    let running = start(Twin::Patched).await;
    let refused = Http::new(&running).initialize().await;
    assert_eq!(refused.status(), StatusCode::UNAUTHORIZED);
    let challenge = refused.headers()["www-authenticate"].to_str().unwrap();
    let url = challenge.split('"').find(|part| part.starts_with("http")).unwrap();
    let resource: Value = http().get(url).send().await.unwrap().json().await.unwrap();
    assert_eq!(resource["resource"], running.url());
    let issuer = resource["authorization_servers"][0].as_str().unwrap();

    for url in [
        format!("{issuer}/.well-known/oauth-authorization-server"),
        format!("{issuer}/.well-known/oauth-authorization-server/mcp"),
        format!("{issuer}/mcp/.well-known/oauth-authorization-server"),
    ] {
        let metadata: Value = http().get(url).send().await.unwrap().json().await.unwrap();
        assert_eq!(metadata["issuer"], issuer);
        assert_eq!(metadata["token_endpoint"], format!("{issuer}/oauth/token"));
    }
}

#[tokio::test]
async fn client_credentials_by_header_and_by_body() {
    let running = start(Twin::Patched).await;
    assert_eq!(status_with(&running, &token(&running, &[]).await).await, StatusCode::OK);

    let (id, secret) = credentials::ADMIN_CLIENT;
    let response = http()
        .post(at(&running, "/oauth/token"))
        .basic_auth(id, Some(secret))
        .form(&[("grant_type", "client_credentials"), ("scope", "read write")])
        .send()
        .await
        .unwrap();
    let answer: Value = response.json().await.unwrap();
    assert_eq!(answer["expires_in"], 90);
    let admin = Http::new(&running).bearer(answer["access_token"].as_str().unwrap()).open().await;
    assert!(!admin.call("get_audit_log", json!({})).await.failed);

    for (form, expected) in [
        (vec![("grant_type", "client_credentials")], "invalid_client"),
        (
            vec![("grant_type", "client_credentials"), ("client_id", id), ("client_secret", "no")],
            "invalid_client",
        ),
        ([&client()[..], &[("grant_type", "implicit")]].concat(), "unsupported_grant_type"),
        (
            [&client()[..], &[("grant_type", "client_credentials"), ("scope", "root")]].concat(),
            "invalid_scope",
        ),
    ] {
        let (status, answer) = ask(&running, &form).await;
        assert!(status.is_client_error());
        assert_eq!(answer["error"], expected);
    }
}

#[tokio::test]
async fn refresh_tokens_rotate_and_a_replay_ends_the_family() {
    let running = start(Twin::Patched).await;
    let first = password_grant(&running).await;
    let refresh = |token: String| {
        let running = &running;
        async move { ask(running, &[("grant_type", "refresh_token"), ("refresh_token", &token)]).await }
    };
    let old = first["refresh_token"].as_str().unwrap().to_owned();
    let (status, second) = refresh(old.clone()).await;
    assert_eq!(status, StatusCode::OK);
    let access = second["access_token"].as_str().unwrap();
    assert_eq!(status_with(&running, access).await, StatusCode::OK);

    let (status, replayed) = refresh(old).await;
    assert_eq!((status, &replayed["error"]), (StatusCode::BAD_REQUEST, &json!("invalid_grant")));
    assert_eq!(status_with(&running, access).await, StatusCode::UNAUTHORIZED);
    let (status, _) = refresh(second["refresh_token"].as_str().unwrap().to_owned()).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert_eq!(running.token_requests(), 4);
}

#[tokio::test]
async fn a_wrong_password_is_an_invalid_grant() {
    let running = start(Twin::Patched).await;
    let form = [("grant_type", "password"), ("username", "ada"), ("password", "wrong")];
    assert_eq!(ask(&running, &form).await.1["error"], "invalid_grant");
}

#[tokio::test]
async fn a_registered_client_gets_a_token_with_a_code_and_a_proof() {
    let running = start(Twin::Patched).await;
    let back = "http://127.0.0.1/callback";
    let registered: Value = http()
        .post(at(&running, "/oauth/register"))
        .json(&json!({ "redirect_uris": [back], "token_endpoint_auth_method": "none" }))
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    let id = registered["client_id"].as_str().unwrap();
    let verifier = "a-verifier-that-is-long-enough-to-be-used-for-pkce";
    let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(verifier));
    let query = [
        ("response_type", "code"),
        ("client_id", id),
        ("redirect_uri", "http://127.0.0.1:3999/callback"),
        ("code_challenge", &challenge),
        ("code_challenge_method", "S256"),
        ("state", "s1"),
    ];
    let code = async |query: &[(&str, &str)]| {
        let response =
            http().get(at(&running, "/oauth/authorize")).query(query).send().await.unwrap();
        let target = response.headers()["location"].to_str().unwrap().to_owned();
        let url = url::Url::parse(&target).unwrap();
        url.query_pairs().into_owned().collect::<HashMap<_, _>>()
    };
    let answer = code(&query).await;
    assert_eq!(
        (answer["state"].as_str(), answer["iss"].as_str()),
        ("s1", at(&running, "").as_str())
    );
    let exchange = |code: String, verifier: &'static str| {
        let (running, id) = (&running, id);
        async move {
            let form = [
                ("grant_type", "authorization_code"),
                ("client_id", id),
                ("code", &code),
                ("code_verifier", verifier),
            ];
            ask(running, &form).await.1
        }
    };
    let issued = exchange(answer["code"].clone(), verifier).await;
    let access = issued["access_token"].as_str().unwrap();
    assert_eq!(status_with(&running, access).await, StatusCode::OK);
    assert_eq!(exchange(answer["code"].clone(), verifier).await["error"], "invalid_grant");

    let another = code(&query).await["code"].clone();
    assert_eq!(exchange(another, "not the verifier").await["error"], "invalid_grant");
    assert_eq!(code(&query[..3]).await["error"], "invalid_request");

    let mut elsewhere = query;
    elsewhere[2].1 = "http://evil.example/callback";
    let refused =
        http().get(at(&running, "/oauth/authorize")).query(&elsewhere).send().await.unwrap();
    assert_eq!(refused.status(), StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_revoked_token_is_worthless() {
    let running = start(Twin::Patched).await;
    let access = token(&running, &[]).await;
    let form = [&client()[..], &[("token", access.as_str())]].concat();
    let revoked = http().post(at(&running, "/oauth/revoke")).form(&form).send().await.unwrap();
    assert_eq!(revoked.status(), StatusCode::OK);
    assert_eq!(status_with(&running, &access).await, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn lifetime_audience_and_scope_matter_on_the_patched_twin_only() {
    for (twin, lax) in [(Twin::Vulnerable, true), (Twin::Patched, false)] {
        let status = if lax { StatusCode::OK } else { StatusCode::UNAUTHORIZED };
        let config = DemoConfig::new(twin).with_auth(Auth::OAuth).with_token_ttl(Duration::ZERO);
        let running = serve_http(config).await.unwrap();
        assert_eq!(status_with(&running, &token(&running, &[]).await).await, status);

        let running = start(twin).await;
        let foreign = token(&running, &[("resource", "https://other.example/mcp")]).await;
        assert_eq!(status_with(&running, &foreign).await, status);
        let ours = token(&running, &[("resource", &running.url())]).await;
        assert_eq!(status_with(&running, &ours).await, StatusCode::OK);

        let reader = token(&running, &[("scope", "read")]).await;
        let reader = Http::new(&running).bearer(&reader).open().await;
        assert!(!reader.call("list_invoices", json!({})).await.failed);
        let note = json!({ "user_id": "cust_1001", "note": "hello" });
        assert_eq!(reader.call("add_note", note).await.failed, !lax);
    }
}

#[tokio::test]
async fn token_requests_are_counted() {
    let running = start(Twin::Patched).await;
    token(&running, &[]).await;
    password_grant(&running).await;
    assert_eq!(running.token_requests(), 2);
    let stats: Value =
        http().get(at(&running, "/oauth/stats")).send().await.unwrap().json().await.unwrap();
    assert_eq!(stats["token_requests"], 2);
}
