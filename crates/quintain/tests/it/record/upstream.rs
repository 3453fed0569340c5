//! A scripted HTTP server over plain sockets, to see and send exact bytes.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use libtest_mimic::Failed;

/// One received request: the head and the body as they were on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) head: String,
    pub(super) body: Vec<u8>,
}

/// A running server; its threads end with the test process.
pub(super) struct Upstream {
    pub(super) address: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Upstream {
    /// Calls the script for every request, with the number of the connection. The connection is closed unless it returns
    /// true.
    pub(super) fn start(
        script: impl Fn(usize, &Seen, &mut TcpStream) -> bool + Send + Sync + 'static,
    ) -> Result<Self, Failed> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?.to_string();
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let (kept, script) = (seen.clone(), Arc::new(script));
        thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let Ok(mut stream) = stream else { continue };
                let (kept, script) = (kept.clone(), script.clone());
                thread::spawn(move || {
                    while let Some(request) = receive(&mut stream) {
                        kept.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
                        if !script(number, &request, &mut stream) {
                            return;
                        }
                    }
                });
            }
        });
        Ok(Self { address, seen })
    }

    /// Responds to every request with the same bytes.
    pub(super) fn fixed(response: &'static [u8]) -> Result<Self, Failed> {
        Self::start(move |_, _, stream| stream.write_all(response).is_ok())
    }

    pub(super) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn receive(stream: &mut TcpStream) -> Option<Seen> {
    let mut head = Vec::new();
    let mut byte = [0; 1];
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).ok()? == 0 {
            return None;
        }
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let lower = head.to_ascii_lowercase();
    let mut body = Vec::new();
    if lower.contains("transfer-encoding: chunked") {
        while !body.ends_with(b"0\r\n\r\n") {
            stream.read_exact(&mut byte).ok()?;
            body.push(byte[0]);
        }
    } else if let Some((_, rest)) = lower.split_once("content-length: ") {
        let length = rest.split("\r\n").next()?.trim().parse().ok()?;
        body.resize(length, 0);
        stream.read_exact(&mut body).ok()?;
    }
    Some(Seen { head, body })
}
