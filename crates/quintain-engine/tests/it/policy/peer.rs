//! A web server that a test writes the answers of, and that remembers what it was asked.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

pub(crate) struct Peer {
    pub(crate) port: u16,
    connections: Arc<AtomicUsize>,
    heard: Arc<Mutex<String>>,
}

impl Peer {
    /// Answers every request on a free port of the loopback. `answer` gets the request with its body.
    pub(crate) async fn start(answer: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        let socket = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = socket.local_addr().unwrap().port();
        let (connections, heard) = (Arc::<AtomicUsize>::default(), Arc::<Mutex<String>>::default());
        let (counted, kept, answer) = (connections.clone(), heard.clone(), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = socket.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                let (kept, answer) = (kept.clone(), answer.clone());
                tokio::spawn(async move {
                    let request = request(&mut stream).await;
                    kept.lock().unwrap().push_str(&request);
                    let _ = stream.write_all(answer(&request).as_bytes()).await;
                });
            }
        });
        Self { port, connections, heard }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// All requests, one after the other.
    pub(crate) fn heard(&self) -> String {
        self.heard.lock().unwrap().clone()
    }
}

async fn request(stream: &mut tokio::net::TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut chunk = [0; 8192];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
            });
            if body.len() >= length.unwrap_or(0) {
                return text;
            }
        }
        match stream.read(&mut chunk).await {
            Ok(count) if count > 0 => bytes.extend_from_slice(&chunk[..count]),
            _ => return text,
        }
    }
}

/// The path of a request.
pub(crate) fn path(request: &str) -> &str {
    request.split(' ').nth(1).unwrap_or_default()
}

fn whole(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

pub(crate) fn json(body: &Value) -> String {
    whole("200 OK", "content-type: application/json\r\n", &body.to_string())
}

pub(crate) fn missing() -> String {
    whole("404 Not Found", "", "")
}

pub(crate) fn redirect(status: u16, to: &str) -> String {
    whole(&format!("{status} Elsewhere"), &format!("location: {to}\r\n"), "")
}

/// A refusal that says where the metadata of the server are.
pub(crate) fn unauthorized(metadata: &str) -> String {
    let challenge = format!("www-authenticate: Bearer resource_metadata=\"{metadata}\"\r\n");
    whole("401 Unauthorized", &challenge, "")
}

/// A stream of events that does not end with them.
pub(crate) fn events(text: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n{text}")
}
