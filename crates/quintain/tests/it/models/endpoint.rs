//! A scripted endpoint: answers every request with the next of a list, and remembers what it received.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use libtest_mimic::Failed;
use serde_json::{Value, json};

/// One answer; the last one is repeated.
#[derive(Clone)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) headers: &'static str,
    pub(super) body: String,
    /// Closes the connection after this many bytes of the body.
    pub(super) cut: Option<usize>,
}

impl Reply {
    /// A completion in OpenAI's form.
    pub(super) fn text(text: &str) -> Self {
        Self::json(&json!({
            "model": "scripted-1",
            "choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
            "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7},
        }))
    }

    pub(super) fn json(body: &Value) -> Self {
        Self { status: 200, headers: "", body: body.to_string(), cut: None }
    }

    pub(super) fn status(status: u16, body: &str) -> Self {
        Self { status, headers: "", body: body.to_owned(), cut: None }
    }
}

/// What a request contained.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) head: String,
    pub(super) body: Value,
}

pub(super) struct Endpoint {
    pub(super) address: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Endpoint {
    pub(super) fn start(replies: Vec<Reply>) -> Result<Self, Failed> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?.to_string();
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let (kept, replies) = (seen.clone(), Arc::new(replies));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (kept, replies) = (kept.clone(), replies.clone());
                thread::spawn(move || serve(stream, &kept, &replies));
            }
        });
        Ok(Self { address, seen })
    }

    pub(super) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The base URL of OpenAI's API.
    pub(super) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }
}

fn serve(stream: TcpStream, seen: &Mutex<Vec<Seen>>, replies: &[Reply]) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut stream = stream;
    loop {
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if line == "\r\n" {
                break;
            }
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            }
            head.push_str(&line);
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let body = serde_json::from_slice(&body).unwrap_or_default();
        let number = {
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.push(Seen { head, body });
            seen.len() - 1
        };
        let reply = replies.get(number).or(replies.last())?;
        let Reply { status, headers, body, cut } = reply;
        let head = format!(
            "HTTP/1.1 {status} Scripted\r\nContent-Type: application/json\r\n{headers}Content-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).ok()?;
        let sent = cut.unwrap_or(body.len()).min(body.len());
        stream.write_all(&body.as_bytes()[..sent]).ok()?;
        if sent < body.len() {
            return None;
        }
    }
}
