//! Listens for connections that a target should not make, and records them.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use quintain_evidence::evidence::Observation;
use quintain_redteam::attack;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;
use tokio::time::timeout;

/// Maximum bytes to read from a connection.
const MAX_REQUEST: usize = 8192;
const TIMEOUT: Duration = Duration::from_secs(2);
const MAX_HEADERS: usize = 32;

/// The open listener. Dropping it closes the port.
pub(super) struct OpenListener {
    pub(super) address: attack::Listener,
    seen: Arc<Mutex<Vec<Observation>>>,
    task: AbortHandle,
}

impl OpenListener {
    /// Listens on this address. Port 0 means any free port.
    pub(super) async fn open(host: &str, port: u16) -> io::Result<Self> {
        let socket = TcpListener::bind((host, port)).await?;
        let bound = socket.local_addr()?;
        let seen: Arc<Mutex<Vec<Observation>>> = Arc::default();
        let kept = seen.clone();
        // Redirect to another name of the same host, to detect targets that check only the first URL.
        let other = if bound.ip().is_loopback() { "localhost" } else { host };
        let origin = format!("http://{other}:{}", bound.port());
        let task = tokio::spawn(async move {
            // Stop at the first error of the socket.
            while let Ok((stream, _)) = socket.accept().await {
                let (kept, origin) = (kept.clone(), origin.clone());
                tokio::spawn(async move {
                    let _ = timeout(TIMEOUT, serve(stream, &origin, &kept)).await;
                });
            }
        });
        let loopback = bound.ip().is_loopback();
        let address = attack::Listener { host: host.to_owned(), port: bound.port(), loopback };
        Ok(Self { address, seen, task: task.abort_handle() })
    }

    /// Takes the connections since the last call.
    pub(super) fn look(&self) -> Vec<Observation> {
        std::mem::take(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for OpenListener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Whether a request is complete, including its body.
fn is_whole(bytes: &[u8]) -> bool {
    let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { return false };
    let (head, body) = (String::from_utf8_lossy(&bytes[..end]), &bytes[end + 4..]);
    let header = |wanted: &str| {
        let mut pairs = head.lines().filter_map(|line| line.split_once(':'));
        pairs.find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value.trim())
    };
    if header("transfer-encoding").is_some_and(|how| how.eq_ignore_ascii_case("chunked")) {
        return body.ends_with(b"0\r\n\r\n");
    }
    let length = header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    body.len() >= length
}

async fn serve(
    mut stream: TcpStream,
    origin: &str,
    seen: &Mutex<Vec<Observation>>,
) -> io::Result<()> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 2048];
    // A client that does not speak HTTP may send nothing, or no empty line. A body often arrives after its headers.
    while bytes.len() < MAX_REQUEST && !is_whole(&bytes) {
        match timeout(Duration::from_millis(500), stream.read(&mut chunk)).await {
            Ok(Ok(count)) if count > 0 => bytes.extend_from_slice(&chunk[..count]),
            _ => break,
        }
    }
    let text = String::from_utf8_lossy(&bytes);
    let mut lines = text.lines();
    let request = lines.next().unwrap_or_default().to_owned();
    let headers: Vec<String> = lines
        .by_ref()
        .take_while(|line| !line.is_empty())
        .take(MAX_HEADERS)
        .map(str::to_owned)
        .collect();
    let body: String = lines.collect::<Vec<_>>().join("\n");
    let headers = if body.is_empty() {
        headers
    } else {
        headers.into_iter().chain([format!("body: {body}")]).collect()
    };
    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
    seen.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(Observation::Connection { request, headers });
    let answer = if let Some(mark) = path.strip_prefix("/redirect/") {
        format!(
            "HTTP/1.1 302 Found\r\nLocation: {origin}/{mark}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        )
    } else {
        let body = "{\"ok\": true}\n";
        let length = body.len();
        format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        )
    };
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn ask(listener: &OpenListener, line: &str) -> String {
        let address = (listener.address.host.as_str(), listener.address.port);
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(line.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn connections_are_written_down_and_redirected() {
        let listener = OpenListener::open("127.0.0.1", 0).await.unwrap();
        let answer = ask(&listener, "GET /redirect/abc HTTP/1.1\r\nHost: x\r\n\r\n").await;
        assert!(answer.starts_with("HTTP/1.1 302"), "{answer}");
        assert!(answer.contains("/abc\r\n"), "{answer}");
        assert!(ask(&listener, "GET /abc HTTP/1.1\r\n\r\n").await.contains("200 OK"));
        let seen = listener.look();
        assert_eq!(seen.len(), 2);
        assert!(listener.look().is_empty());
    }

    #[test]
    fn a_request_is_whole_with_its_body() {
        for whole in [
            "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
            "POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\nab",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n",
        ] {
            assert!(is_whole(whole.as_bytes()), "{whole}");
            assert!(!is_whole(&whole.as_bytes()[..whole.len() - 1]), "{whole}");
        }
    }
}
