//! A minimal HTTP server for JSON: keep-alive, a thread per connection.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use crate::answer::find;

/// Prints its port, and answers posted bodies until stdin is closed. What has no answer is only accepted.
pub fn run(
    answer: impl Fn(&[u8], &mut Vec<u8>) -> bool + Clone + Send + 'static,
) -> io::Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    println!("{}", listener.local_addr()?.port());
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = answer.clone();
            thread::spawn(move || serve(stream, answer));
        }
    });
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

fn serve(mut stream: TcpStream, answer: impl Fn(&[u8], &mut Vec<u8>) -> bool) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut input = Vec::new();
    let mut chunk = vec![0; 1 << 14];
    let (mut body, mut out) = (Vec::new(), Vec::new());
    loop {
        let size = stream.read(&mut chunk)?;
        if size == 0 {
            return Ok(());
        }
        input.extend_from_slice(&chunk[..size]);
        out.clear();
        while let Some(end) = find(&input, b"\r\n\r\n") {
            let length = content_length(&input[..end]);
            let whole = end + 4 + length;
            if input.len() < whole {
                break;
            }
            body.clear();
            if !input.starts_with(b"POST") {
                out.extend_from_slice(
                    b"HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\n\r\n",
                );
            } else if answer(&input[end + 4..whole], &mut body) {
                out.extend_from_slice(
                    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ",
                );
                write!(out, "{}\r\n\r\n", body.len())?;
                out.extend_from_slice(&body);
            } else {
                out.extend_from_slice(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n");
            }
            input.drain(..whole);
        }
        if !out.is_empty() {
            stream.write_all(&out)?;
        }
    }
}

fn content_length(head: &[u8]) -> usize {
    let head = String::from_utf8_lossy(head);
    let value = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().to_owned())
    });
    value.and_then(|value| value.parse().ok()).unwrap_or(0)
}
