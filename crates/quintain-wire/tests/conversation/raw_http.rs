//! Any HTTP requests, outside of the session.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method};
use quintain_wire::auth::{AuthConfig, AuthContext, authorizer};
use quintain_wire::destination::Destinations;
use quintain_wire::frame::Recording;
use quintain_wire::limits::Limits;
use quintain_wire::redact::Redactor;
use quintain_wire::rpc::{Connection, Fault, Script};
use quintain_wire::transport::RawHttp;
use quintain_wire::transport::courier::HttpConfig;
use quintain_wire::transport::http::HttpTransport;
use url::Url;

/// Responds with the received request.
async fn mirror(request: Request) -> String {
    let mut shown = format!("{} {}\n", request.method(), request.uri());
    for (name, value) in request.headers() {
        writeln!(shown, "{name}: {}", value.to_str().unwrap()).unwrap();
    }
    let body = axum::body::to_bytes(request.into_body(), 1 << 20).await.unwrap();
    shown + &String::from_utf8_lossy(&body)
}

async fn connection() -> Connection {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url: Url = format!("http://{}/mcp", listener.local_addr().unwrap()).parse().unwrap();
    tokio::spawn(async move {
        axum::serve(listener, Router::new().fallback(mirror)).await.unwrap();
    });
    let bearer = AuthConfig::Bearer { token: "tok_canary".into() };
    let config = HttpConfig {
        authorizer: authorizer(bearer, &url, AuthContext::new(Redactor::default())).unwrap(),
        url,
        headers: HeaderMap::new(),
        connect_timeout: Duration::from_secs(5),
        destinations: Destinations::everywhere(),
    };
    let limits = Limits::default();
    Connection::open(
        |sink| async move { HttpTransport::open(config, limits, Recording::default(), sink) },
        Arc::new(Script::default()),
        Recording::default(),
        limits,
    )
    .await
    .unwrap()
}

async fn seen(request: RawHttp) -> String {
    let answer = Fault::new(&connection().await).http(request).await.unwrap();
    assert_eq!(answer.status, 200);
    String::from_utf8_lossy(&answer.body).into_owned()
}

#[tokio::test]
async fn method_headers_and_body_go_out_as_given() {
    let mut headers = HeaderMap::new();
    headers.insert("origin", HeaderValue::from_static("http://evil.example"));
    headers.insert("host", HeaderValue::from_static("rebound.example"));
    headers.insert("accept", HeaderValue::from_static(""));
    let body = Bytes::from_static(b"{not json");
    let request = RawHttp { method: Method::PUT, headers, body, with_credentials: true };
    let seen = seen(request).await;
    for line in ["PUT /mcp", "origin: http://evil.example", "host: rebound.example", "{not json"] {
        assert!(seen.contains(line), "{line} in {seen}");
    }
    assert!(seen.contains("authorization: Bearer tok_canary"), "{seen}");
    assert!(
        !seen.contains("application/json, text/event-stream"),
        "removed by the empty value: {seen}"
    );
}

#[tokio::test]
async fn credentials_stay_at_home_if_asked() {
    let request = RawHttp {
        method: Method::POST,
        headers: HeaderMap::new(),
        body: Bytes::new(),
        with_credentials: false,
    };
    assert!(!seen(request).await.contains("tok_canary"));
}
