//! A server that may be reached sends us to one that may not: by redirects, metadata and endpoints that it names. Nothing
//! arrives there.

use std::sync::Arc;

use quintain_engine::{Access, Policy};
use serde_json::{Value, json};

use super::DENIED;
use super::attack::{policy, server, suite};
use super::bench::{Bench, VARIABLE};
use super::peer::{self, Peer, path};

/// Allows these addresses and nothing else.
fn reaching(addresses: &[&str]) -> Policy {
    let list = addresses.iter().map(|text| text.parse().unwrap()).collect();
    Policy { addresses: Access::Only(list), ..Policy::nothing() }
}

/// An allowed peer that answers as the test says, and one that nothing must arrive at.
struct Pair {
    bench: Bench,
    front: Peer,
    back: Peer,
}

impl Pair {
    /// `answer` gets a request to the front, the origin of the front and that of the back.
    async fn new(answer: impl Fn(&str, &str, &str) -> String + Send + Sync + 'static) -> Self {
        let back = Peer::start(|_| {
            peer::json(&json!({"access_token": "t", "token_type": "Bearer", "pass": true}))
        })
        .await;
        let elsewhere = back.url("");
        let front = Peer::start(move |request| {
            let host = request
                .lines()
                .find_map(|line| line.to_lowercase().strip_prefix("host: ").map(str::to_owned));
            answer(request, &format!("http://{}", host.unwrap_or_default()), &elsewhere)
        })
        .await;
        Self { bench: Bench::new().await, front, back }
    }

    fn only_front(&self) -> Policy {
        reaching(&[&self.front.address()])
    }

    fn both(&self) -> Policy {
        reaching(&[&self.front.address(), &self.back.address()])
    }

    fn oauth(&self, more: &Value) -> Value {
        let mut auth = json!({"type": "oauth", "grantType": "client_credentials", "clientId": "c", "clientSecret": "s3cr3t-of-the-test"});
        auth.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        mcp(&json!({"url": self.front.url("/mcp"), "auth": auth}))
    }
}

fn echo(more: &Value) -> Value {
    let mut suite = json!({"targets": ["echo"], "prompts": ["said {{word}}"], "tests": [{"vars": {"word": "x"}}]});
    suite.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    suite
}

fn mcp(server: &Value) -> Value {
    let config = json!({"server": server, "timeout": 3000});
    let prompt = r#"{"tool": "x", "args": {}}"#;
    json!({"targets": [{"id": "mcp", "config": config}], "prompts": [prompt], "tests": [{"vars": {"word": "x"}}]})
}

#[tokio::test(flavor = "multi_thread")]
async fn no_redirect_leads_to_another_address() {
    for status in [301, 302, 303, 307, 308] {
        let pair = Pair::new(move |_, _, back| peer::redirect(status, &format!("{back}/x"))).await;
        let url = pair.front.url("/");
        let config = json!({"method": "POST", "body": {"a": 1}});
        let request = format!("POST / HTTP/1.1\nHost: {}\n\n{{}}", pair.front.address());
        let suites = [
            echo(
                &json!({"tests": [{"vars": {"word": "x"}, "assert": [{"type": "webhook", "value": url}]}]}),
            ),
            echo(&json!({"targets": [{"id": url, "config": config}]})),
            echo(&json!({"targets": [{"id": "http", "config": {"request": request}}]})),
            mcp(&json!({"url": url})),
            mcp(&json!({"url": url, "transport": "streamable-http"})),
            mcp(&json!({"url": url, "transport": "sse"})),
            pair.oauth(&json!({})),
            pair.oauth(&json!({"tokenUrl": pair.front.url("/token")})),
        ];
        for suite in suites {
            let before = pair.front.connections();
            let told = pair.bench.run(&suite, &pair.only_front()).await;
            assert!(pair.front.connections() > before, "{status} {suite}\n{told}");
            assert_eq!(pair.back.connections(), 0, "{status} {suite}\n{told}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_to_another_name_of_the_same_address_is_one_to_another_address() {
    let pair = Pair::new(|request, front, _| match path(request) {
        "/" => peer::redirect(307, &format!("{}/x", front.replace("127.0.0.1", "localhost"))),
        _ => peer::json(&json!({"said": "it was followed"})),
    })
    .await;
    let config = json!({"method": "POST", "body": {"a": 1}});
    let suite = echo(&json!({"targets": [{"id": pair.front.url("/"), "config": config}]}));
    let told = pair.bench.run(&suite, &pair.only_front()).await;
    assert!(!told.contains("it was followed"), "{told}");
}

/// What a server under test says about itself.
fn metadata(request: &str, front: &str, issuer: &str, token: &str) -> String {
    match path(request) {
        "/.well-known/oauth-protected-resource/mcp" | "/.well-known/oauth-protected-resource" => {
            peer::json(
                &json!({"resource": format!("{front}/mcp"), "authorization_servers": [issuer]}),
            )
        }
        "/.well-known/oauth-authorization-server" if issuer == front => {
            peer::json(&json!({"issuer": issuer, "token_endpoint": format!("{token}/token")}))
        }
        "/mcp" => peer::unauthorized(&format!("{front}/.well-known/oauth-protected-resource/mcp")),
        _ => peer::missing(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_authorization_server_is_asked_that_the_policy_does_not_name() {
    for (what, pair) in [
        (
            "the protected-resource metadata name an issuer",
            Pair::new(|request, front, back| metadata(request, front, back, back)).await,
        ),
        (
            "the authorization server names a token endpoint",
            Pair::new(|request, front, back| metadata(request, front, front, back)).await,
        ),
    ] {
        let asked = pair.oauth(&json!({}));
        let told = pair.bench.run(&asked, &pair.only_front()).await;
        assert_eq!(pair.back.connections(), 0, "{what}\n{told}");
        assert!(told.contains(DENIED) && told.contains(&pair.back.address()), "{what}\n{told}");
        let told = pair.bench.run(&asked, &pair.both()).await;
        assert!(pair.back.connections() > 0, "{what}, which is allowed\n{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_token_endpoint_is_asked_that_the_policy_does_not_name() {
    let pair = Pair::new(|_, _, _| peer::missing()).await;
    let assertion = json!({"grantType": "jwt_bearer", "assertion": "a.b.c", "tokenUrl": pair.back.url("/token")});
    for more in [json!({"tokenUrl": pair.back.url("/token")}), assertion] {
        let before = pair.back.connections();
        let asked = pair.oauth(&more);
        let told = pair.bench.run(&asked, &pair.only_front()).await;
        assert_eq!(pair.back.connections(), before, "{more}\n{told}");
        assert!(told.contains(DENIED) && told.contains(&pair.back.address()), "{more}\n{told}");
        let told = pair.bench.run(&asked, &pair.both()).await;
        assert!(pair.back.connections() > before, "{more}, which is allowed\n{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_endpoint_of_the_older_transport_is_on_another_origin() {
    let pair = Pair::new(|_, _, back| {
        peer::events(&format!("event: endpoint\ndata: {back}/messages\n\n"))
    })
    .await;
    let suite = mcp(&json!({"url": pair.front.url("/sse"), "transport": "sse"}));
    for policy in [pair.only_front(), pair.both(), Policy::everything()] {
        let told = pair.bench.run(&suite, &policy).await;
        assert_eq!(pair.back.connections(), 0, "{told}");
        assert!(told.contains(&pair.back.address()), "it says where it was sent\n{told}");
    }
    assert!(pair.front.connections() > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_spelling_of_an_address_is_that_address() {
    let bench = Bench::new().await;
    let port = bench.peer.port;
    let hosts = [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "0x7f.1",
        "127.0.0.1.",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "localhost",
        "LocalHost",
        "localhost.",
        "%6cocalhost",
        "a@127.0.0.1",
        "allowed.example:1@127.0.0.1",
    ];
    let policy =
        reaching(&["allowed.example", &format!("127.0.0.1:{}", port ^ 1), "[::1]", "*.localhost"]);
    for host in hosts {
        let config = json!({"method": "POST", "body": {"a": 1}});
        for suite in [
            echo(&json!({"targets": [{"id": format!("http://{host}:{port}/"), "config": config}]})),
            mcp(&json!({"url": format!("http://{host}:{port}/")})),
        ] {
            let told = bench.run(&suite, &policy).await;
            assert_eq!(bench.peer.connections(), 0, "{host}\n{told}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_model_is_asked_that_the_policy_does_not_name() {
    let call = json!({"calls": [{"tool": "add", "args": {"a": "said by the model"}}]});
    let reply = json!({"choices": [{"message": {"content": call.to_string()}}]});
    let reply = Arc::new(peer::json(&reply));
    let pair = Pair::new(move |request, _, back| match path(request) {
        "/redirected/chat/completions" => peer::redirect(307, &format!("{back}/x")),
        _ => reply.to_string(),
    })
    .await;
    server(&pair.bench);
    let model = |base: &str| {
        let config = json!({"apiBaseUrl": pair.front.url(base), "apiKeyEnvar": "PLAIN_VARIABLE"});
        let model = json!({"id": "openai:chat:any", "config": config});
        suite(&pair.bench, &json!({}), &json!({"purpose": "an adder", "provider": model}))
    };
    let allowed = policy();
    let with =
        |addresses: &[&str]| Policy { addresses: reaching(addresses).addresses, ..allowed.clone() };
    let told = pair.bench.attack(&model("/v1"), &with(&[])).await;
    assert_eq!(pair.front.connections(), 0, "{told}");
    assert!(told.contains(DENIED) && told.contains(&pair.front.address()), "{told}");
    let front = pair.front.address();
    let told = pair.bench.attack(&model("/v1"), &with(&[&front])).await;
    assert!(pair.front.connections() > 0 && told.contains("said by the model"), "{told}");
    assert!(!pair.front.heard().contains(VARIABLE), "the key is no business of the run");
    let told = pair.bench.attack(&model("/redirected"), &with(&[&front])).await;
    assert_eq!(pair.back.connections(), 0, "{told}");
}
