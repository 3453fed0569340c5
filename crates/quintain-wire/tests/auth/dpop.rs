//! Tokens that are bound to a key: at the token endpoint, in requests to the target, and when stored.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use quintain_wire::auth::{AuthConfig, AuthContext, Authorizer, LoginOptions, authorizer};
use quintain_wire::connect::{Address, HttpKind, Options, connect};
use quintain_wire::destination::Destinations;
use quintain_wire::era::{Choice, Era};
use quintain_wire::frame::Recording;
use quintain_wire::limits::Limits;
use quintain_wire::rpc::{Deadline, Script};
use quintain_wire::session::Session;
use quintain_wire::transport::courier::HttpConfig;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::headless::HeadlessOpener;
use crate::login::Site;
use crate::support::*;

/// The claims of the proof in a request.
fn claims(seen: &Seen) -> Value {
    let Some(proof) = seen.headers.get("dpop") else { return Value::Null };
    let part = proof.to_str().unwrap().split('.').nth(1).unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
}

fn with_nonce(mut response: Response, nonce: &'static str) -> Response {
    response.headers_mut().insert("dpop-nonce", nonce.parse().unwrap());
    response
}

fn refuse(challenge: &'static str) -> Response {
    let mut response = status(401);
    response.headers_mut().insert("www-authenticate", challenge.parse().unwrap());
    response
}

/// An authorization server and an MCP server that both require proofs with their own nonce.
fn answer(site: &Site, seen: &Seen) -> Response {
    let nonce = claims(seen)["nonce"].clone();
    match seen.path.as_str() {
        "/token" if nonce.is_null() => {
            with_nonce(json_with(400, &json!({"error": "use_dpop_nonce"})), "first")
        }
        "/token" => ok(json!({"access_token": "bound", "token_type": "DPoP", "expires_in": 3600})),
        "/mcp" if seen.authorization().is_none() => refuse("DPoP algs=\"ES256\""),
        "/mcp" if nonce != "second" => {
            with_nonce(refuse("DPoP error=\"use_dpop_nonce\""), "second")
        }
        "/mcp" => {
            let request: Value = serde_json::from_str(&seen.body).unwrap();
            ok(json!({"jsonrpc": "2.0", "id": request["id"], "result": {
                "supportedVersions": ["2026-07-28"], "capabilities": {}, "tools": [],
            }}))
        }
        _ => site.answer(seen),
    }
}

async fn start() -> Mock {
    let site = Site::default();
    Mock::start(move |seen| answer(&site, seen)).await
}

fn interactive() -> AuthConfig {
    let opener = Arc::new(HeadlessOpener);
    AuthConfig::Interactive { options: LoginOptions::default(), opener }
}

async fn open(mock: &Mock, config: AuthConfig, context: AuthContext) -> Session {
    let authorizer: Arc<dyn Authorizer> =
        authorizer(config, &mock.url("/mcp"), context.clone()).unwrap();
    let http = HttpConfig {
        url: mock.url("/mcp"),
        headers: http::HeaderMap::new(),
        authorizer,
        connect_timeout: Duration::from_secs(5),
        destinations: Destinations::everywhere(),
    };
    let options = Options {
        protocol: Choice::Newest(Era::Modern),
        deadline: Deadline::after(Duration::from_secs(10)),
        responder: Arc::new(Script::default()),
        recording: Recording::new(None, context.redactor),
        limits: Limits::default(),
    };
    connect(&Address::Http(http, HttpKind::Streamable), &options).await.unwrap()
}

#[tokio::test]
async fn every_request_carries_a_proof_of_its_own_with_the_nonce_of_its_server() {
    let mock = start().await;
    open(&mock, interactive(), context()).await.ping().await.unwrap();

    let token: Vec<Value> = mock.at("/token").iter().map(claims).collect();
    assert_eq!(token.len(), 2, "once without and once with the nonce");
    assert_eq!(token[1]["htm"], "POST");
    assert_eq!(token[1]["htu"], format!("{}/token", mock.origin));
    assert_eq!((&token[1]["nonce"], &token[1]["ath"]), (&json!("first"), &Value::Null));

    let with_token: Vec<Seen> =
        mock.at("/mcp").into_iter().filter(|seen| seen.authorization().is_some()).collect();
    assert_eq!(with_token.len(), 3, "refused for the nonce, then discovery, then the ping");
    let hash = URL_SAFE_NO_PAD.encode(Sha256::digest("bound"));
    for seen in &with_token {
        assert_eq!(seen.authorization(), Some("DPoP bound"));
        assert_eq!(claims(seen)["ath"], hash);
        assert_eq!(claims(seen)["htu"], format!("{}/mcp", mock.origin));
    }
    let ids = with_token.iter().map(|seen| claims(seen)["jti"].to_string());
    assert_eq!(ids.collect::<HashSet<_>>().len(), 3);
}

#[tokio::test]
async fn a_stored_login_keeps_the_key_of_its_token() {
    let folder = tempfile::tempdir().unwrap();
    let context = AuthContext { state_dir: Some(folder.path().to_owned()), ..context() };
    let mock = start().await;
    open(&mock, interactive(), context.clone()).await;
    let key =
        |seen: &Seen| seen.headers["dpop"].to_str().unwrap().split('.').next().unwrap().to_owned();
    let first = key(mock.at("/mcp").last().unwrap());
    open(&mock, AuthConfig::Stored, context).await;
    assert_eq!(key(mock.at("/mcp").last().unwrap()), first);
    assert_eq!(mock.at("/token").len(), 2, "no further token request");
}

#[tokio::test]
async fn a_server_that_cannot_check_our_proofs_is_named() {
    let site = Site::default();
    let mock = Mock::start(move |seen| match seen.path.as_str() {
        "/.well-known/oauth-authorization-server" => ok(json!({
            "issuer": seen.origin,
            "authorization_endpoint": format!("{}/authorize", seen.origin),
            "token_endpoint": format!("{}/token", seen.origin),
            "registration_endpoint": format!("{}/register", seen.origin),
            "code_challenge_methods_supported": ["S256"],
            "dpop_signing_alg_values_supported": ["RS512"],
        })),
        _ => answer(&site, seen),
    })
    .await;
    let auth = authorizer(interactive(), &mock.url("/mcp"), context()).unwrap();
    let refused = refusal(401, &mock.url("/mcp"), "DPoP algs=\"RS512\"", 0);
    let error = auth.refused(refused).await.unwrap_err().to_string();
    assert!(error.contains("does not support ES256"), "{error}");
    assert!(mock.at("/authorize").is_empty());
}

#[tokio::test]
async fn a_nonce_for_a_token_that_is_not_bound_does_not_keep_a_login_from_happening() {
    let mock = start().await;
    let auth = authorizer(interactive(), &mock.url("/mcp"), context()).unwrap();
    let mut refused = refusal(401, &mock.url("/mcp"), "DPoP error=\"use_dpop_nonce\"", 0);
    refused.headers.insert("dpop-nonce", "early".parse().unwrap());
    assert!(auth.refused(refused).await.unwrap());
    assert_eq!(mock.at("/authorize").len(), 1);
}
