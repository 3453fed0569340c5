//! A server that answers with what a test says, and remembers what it was asked.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// What a request looked like.
#[derive(Debug, Clone)]
pub(crate) struct Recorded {
    /// With its query.
    pub(crate) path: String,
    /// Names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Value,
}

#[derive(Debug, Clone)]
pub(crate) enum Reply {
    Json {
        status: u16,
        headers: Vec<(&'static str, String)>,
        body: Value,
    },
    /// Any body with status 200.
    Text(String),
    /// Chunks with a pause for the reader in between, then an end.
    Stream {
        kind: &'static str,
        chunks: Vec<String>,
        end: End,
    },
    /// Accepts the request and never answers.
    Silence,
    /// Closes the connection without an answer.
    Close,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// As HTTP requires it.
    Proper,
    /// The connection breaks.
    Break,
    /// Nothing follows, and the connection stays.
    Stall,
}

impl Reply {
    pub(crate) fn ok(body: Value) -> Self {
        Self::Json { status: 200, headers: Vec::new(), body }
    }

    pub(crate) fn status(status: u16, body: Value) -> Self {
        Self::Json { status, headers: Vec::new(), body }
    }

    pub(crate) fn limited(retry_after: &str) -> Self {
        let body = serde_json::json!({"error": {"message": "slow down", "type": "requests"}});
        Self::Json { status: 429, headers: vec![("retry-after", retry_after.to_owned())], body }
    }

    /// Server-sent events.
    pub(crate) fn events(events: &[Value], end: End) -> Self {
        let chunks = events.iter().map(|event| match event {
            Value::String(mark) => format!("data: {mark}\n\n"),
            event => format!("data: {event}\n\n"),
        });
        Self::Stream { kind: "text/event-stream", chunks: chunks.collect(), end }
    }
}

pub(crate) struct Server {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<Recorded>>>,
}

impl Server {
    /// Answers with the replies in order; the last one repeats.
    pub(crate) async fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let replies: Vec<Reply> = replies.into_iter().collect();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let known = seen.clone();
        tokio::spawn(async move {
            // Connections that stay open must not be closed by going out of scope.
            let mut kept = Vec::new();
            loop {
                let Ok((mut stream, _)) = listener.accept().await else { return };
                let Some(request) = read(&mut stream).await else { continue };
                let reply = {
                    let mut seen = known.lock().unwrap();
                    seen.push(request);
                    replies[(seen.len() - 1).min(replies.len() - 1)].clone()
                };
                if write(&mut stream, reply).await {
                    kept.push(stream);
                }
            }
        });
        Self { url, seen }
    }

    pub(crate) fn seen(&self) -> Vec<Recorded> {
        self.seen.lock().unwrap().clone()
    }

    pub(crate) fn only(&self) -> Recorded {
        let seen = self.seen();
        assert_eq!(seen.len(), 1, "{seen:?}");
        seen[0].clone()
    }
}

async fn read(stream: &mut TcpStream) -> Option<Recorded> {
    let mut bytes = Vec::new();
    let head = loop {
        let mut chunk = [0; 4096];
        let count = stream.read(&mut chunk).await.ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&chunk[..count]);
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
    };
    let text = String::from_utf8_lossy(&bytes[..head]).into_owned();
    let mut lines = text.lines();
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
        .collect();
    let length: usize =
        headers.get("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    while bytes.len() < head + length {
        let mut chunk = [0; 4096];
        let count = stream.read(&mut chunk).await.ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&chunk[..count]);
    }
    let body = serde_json::from_slice(&bytes[head..]).unwrap_or(Value::Null);
    Some(Recorded { path, headers, body })
}

/// Whether the connection has to stay open.
async fn write(stream: &mut TcpStream, reply: Reply) -> bool {
    let (status, headers, body) = match reply {
        Reply::Json { status, headers, body } => (status, headers, body.to_string()),
        Reply::Text(text) => (200, Vec::new(), text),
        Reply::Stream { kind, chunks, end } => {
            return write_stream(stream, kind, chunks, end).await;
        }
        Reply::Silence => return true,
        Reply::Close => return false,
    };
    let lines: Vec<String> =
        headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let more = lines.concat();
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n{more}\r\n",
        body.len()
    );
    // A reader that found the body too long hangs up.
    let _ = stream.write_all(head.as_bytes()).await;
    let _ = stream.write_all(body.as_bytes()).await;
    let _ = stream.shutdown().await;
    false
}

async fn write_stream(stream: &mut TcpStream, kind: &str, chunks: Vec<String>, end: End) -> bool {
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n"
    );
    let _ = stream.write_all(head.as_bytes()).await;
    for chunk in chunks {
        let framed = format!("{:x}\r\n{chunk}\r\n", chunk.len());
        let _ = stream.write_all(framed.as_bytes()).await;
        let _ = stream.flush().await;
    }
    if end == End::Proper {
        let _ = stream.write_all(b"0\r\n\r\n").await;
    }
    if end == End::Stall {
        return true;
    }
    let _ = stream.shutdown().await;
    false
}
