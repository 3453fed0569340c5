//! Keys that name addresses, and logins for them.

use quintain_engine::{Access, Policy};
use serde_json::{Value, json};

use super::{List, Row, Sign, echo, mcp, test};
use crate::policy::bench::Bench;

pub(super) fn rows(bench: &Bench) -> Vec<Row> {
    let port = bench.peer.port;
    let row = |key, host: &str, suite| Row {
        key,
        list: List::Addresses,
        suite,
        asks: Some(format!("`{host}:{port}`")),
        policy: Policy {
            addresses: Access::Only(vec![format!("{host}:{port}").parse().unwrap()]),
            ..Policy::nothing()
        },
        sign: Sign::Connects,
    };
    let url = bench.peer.url("/");
    let http = |url: &str| {
        echo(json!({
            "targets": [{"id": url, "config": {"method": "POST", "body": {"a": 1}}}],
            "tests": [{"vars": {"word": "x", "host": format!("127.0.0.1:{port}")}}],
        }))
    };
    let by_config = |config: Value| echo(json!({"targets": [{"id": "http", "config": config}]}));
    let (host, local) = ("127.0.0.1", "localhost");
    let model = |kind: &str| {
        let config = json!({"apiBaseUrl": url, "apiKey": "none", "maxRetries": 0});
        json!({"id": format!("{kind}:m"), "config": config})
    };
    vec![
        row("http target", host, http(&url)),
        row(
            "http target behind a user name",
            local,
            http(&format!("http://127.0.0.1@localhost:{port}/")),
        ),
        row("http target in another form", host, http(&format!("http://2130706433:{port}/"))),
        row("http target by a variable", host, {
            let config = json!({"url": "http://{{host}}/", "method": "POST", "body": {"a": 1}});
            echo(json!({
                "targets": [{"id": "http", "config": config}],
                "tests": [{"vars": {"host": format!("127.0.0.1:{port}")}}],
            }))
        }),
        row(
            "http target as a whole request",
            host,
            by_config(json!({"request": format!("GET / HTTP/1.1\nHost: 127.0.0.1:{port}\n\n")})),
        ),
        // The host of the request counts, whatever header says otherwise.
        row("http target with another host header", host, {
            let headers = json!({"host": "allowed.example"});
            by_config(json!({"url": url, "method": "GET", "headers": headers}))
        }),
        row("webhook", host, test(json!({"assert": [{"type": "webhook", "value": url}]}))),
        row("webhook by a variable", host, {
            let check = json!([{"type": "webhook", "value": "http://{{word}}/"}]);
            let vars = json!({"word": format!("127.0.0.1:{port}")});
            echo(json!({"tests": [{"vars": vars, "assert": check}]}))
        }),
        row("model target", host, echo(json!({"targets": [model("openai:chat")]}))),
        row("target of a test", host, test(json!({"provider": model("anthropic:messages")}))),
        row("judge of an assertion", host, {
            let check =
                json!([{"type": "llm-rubric", "value": "x", "provider": model("openai:chat")}]);
            test(json!({"assert": check}))
        }),
        row("judge of a suite", host, {
            let check = json!([{"type": "llm-rubric", "value": "x"}]);
            let mut suite = test(json!({"assert": check}));
            suite["judge"] = model("ollama:chat");
            suite
        }),
        row("judge for embeddings", host, {
            let embedding = json!({"embedding": model("openai:embedding")});
            test(json!({"assert": [{"type": "similar", "value": "x", "provider": embedding}]}))
        }),
        row("server url", host, mcp(&json!({"url": url}))),
        row("server url over SSE", host, mcp(&json!({"url": url, "transport": "sse"}))),
    ]
}

pub(super) fn logins(bench: &Bench) -> Vec<Row> {
    vec![Row {
        key: "stored login",
        list: List::Logins,
        suite: mcp(&json!({"url": bench.peer.url("/"), "auth": {"type": "stored"}})),
        asks: Some("stored logins".to_owned()),
        policy: Policy {
            logins: true,
            addresses: Access::Only(vec!["loopback".parse().unwrap()]),
            ..Policy::nothing()
        },
        sign: Sign::NotDenied,
    }]
}
