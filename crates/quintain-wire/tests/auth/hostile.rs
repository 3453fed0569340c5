//! Authorization servers that redirect, flood, stall or lie: an error each time, never a hang.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::response::Response;
use quintain_wire::auth::{AuthContext, AuthError, Authorizer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use url::Url;

use crate::support::*;

fn asking(token_url: Url) -> Arc<dyn Authorizer> {
    let server = token_url.join("/mcp").unwrap();
    let context = AuthContext { timeout: Duration::from_millis(500), ..context() };
    oauth(client_credentials(Some(token_url)), &server, context)
}

/// A server on TCP: accepts a connection, reads a little, writes `answer`, and repeats a chunk if `repeat` is set.
async fn raw(answer: &'static [u8], repeat: bool) -> Url {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/token", listener.local_addr().unwrap()).parse().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let _ = stream.read(&mut [0; 4096]).await;
                let _ = stream.write_all(answer).await;
                while repeat && stream.write_all(b"10\r\nxxxxxxxxxxxxxxxx\r\n").await.is_ok() {}
                // Keeps the connection open and silent.
                let _ = stream.read(&mut [0; 1]).await;
            });
        }
    });
    url
}

#[tokio::test]
async fn a_redirect_never_carries_credentials_to_another_server() {
    let other = Mock::start(|_| status(200)).await;
    for code in [301, 302, 303, 307, 308] {
        let target = other.url("/steal").to_string();
        let mock = Mock::start(move |_| {
            Response::builder()
                .status(code)
                .header("location", &target)
                .body(Body::empty())
                .unwrap()
        })
        .await;
        let error = asking(mock.url("/token")).credentials().await.unwrap_err().to_string();
        assert!(error.contains("/steal that is not followed, because it carries"), "{error}");
    }
    assert!(other.seen().is_empty());
}

#[tokio::test]
async fn a_server_that_does_not_answer_costs_the_time_out_and_no_more() {
    let start = Instant::now();
    let error = asking(raw(b"", false).await).credentials().await.unwrap_err();
    assert!(matches!(error, AuthError::TimedOut { .. }), "{error}");
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn a_body_that_does_not_end_is_cut_off() {
    let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let error = asking(raw(head, true).await).credentials().await.unwrap_err();
    assert!(matches!(error, AuthError::BadAnswer { .. } | AuthError::TimedOut { .. }), "{error}");
}

#[tokio::test]
async fn a_body_beyond_a_mebibyte_is_not_read() {
    let mock = Mock::start(|_| Response::new(Body::from(vec![b' '; (1 << 20) + 1]))).await;
    let error = asking(mock.url("/token")).credentials().await.unwrap_err().to_string();
    assert!(error.contains("longer than 1048576 bytes"), "{error}");
}

#[tokio::test]
async fn strange_answers_are_errors_that_name_the_endpoint() {
    let deep = "[".repeat(100_000);
    let answers: Vec<String> = vec![
        deep,
        String::new(),
        "null".to_owned(),
        "[]".to_owned(),
        "<html>\u{1b}[2J</html>".to_owned(),
        "{\"access_token\": {}}".to_owned(),
        "{\"access_token\": \"a\\nb\"}".to_owned(),
        "{\"access_token\": \"t\", \"token_type\": \"DPoP\"}".to_owned(),
        "{\"error\": \"slow_down\"}".to_owned(),
        "\u{feff}{\"access_token\": \"t\"}".to_owned(),
    ];
    for answer in answers {
        let body = answer.clone();
        let mock = Mock::start(move |_| Response::new(Body::from(body.clone()))).await;
        let error = asking(mock.url("/token")).credentials().await.unwrap_err().to_string();
        assert!(error.starts_with(mock.url("/token").as_str()), "{error}");
        assert!(!error.contains('\u{1b}') && error.len() < 1000, "{error}");
    }
}

#[tokio::test]
async fn a_closed_port_is_reported_with_the_reason() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url: Url = format!("http://{}/token", listener.local_addr().unwrap()).parse().unwrap();
    drop(listener);
    let error = asking(url.clone()).credentials().await.unwrap_err().to_string();
    assert!(error.starts_with(&format!("{url} cannot be reached: ")), "{error}");
    assert!(error.to_lowercase().contains("refused"), "{error}");
}

#[tokio::test]
async fn a_stalling_server_cannot_stretch_discovery_beyond_its_deadline() {
    let url = raw(b"", false).await.join("/a/b").unwrap();
    let context = AuthContext { timeout: Duration::from_millis(300), ..context() };
    let start = Instant::now();
    let error = oauth(client_credentials(None), &url, context).credentials().await.unwrap_err();
    assert!(start.elapsed() < Duration::from_secs(3));
    assert!(
        error.to_string().contains("not requested, time limit of discovery reached"),
        "{error}"
    );
}
