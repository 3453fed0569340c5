//! The server on standard input and output. Standard output carries JSON-RPC only.

use std::sync::Arc;

use rmcp::ServiceExt as _;
use rmcp::transport::io::stdio_pipes;
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
};
use tokio::sync::mpsc;

use super::connection::Connection;
use super::message_channel::MessageChannel;
use super::shared::Server;
use crate::principal::Principal;

/// Messages that wait in each direction before the sender waits.
const MOST_WAITING: usize = 64;
/// Longest message that is read.
const LONGEST_LINE: u64 = 64 * 1024 * 1024;

/// Serves one client until it closes standard input.
pub async fn serve_stdio(server: Arc<Server>, principal: Principal) {
    let (input, output) = stdio_pipes();
    let (received, incoming) = mpsc::channel(MOST_WAITING);
    let (outgoing, to_send) = mpsc::channel(MOST_WAITING);
    let reading = tokio::spawn(read_lines(input, received));
    let writing = tokio::spawn(write_lines(output, to_send));
    let connection = Connection::new(Arc::clone(&server), principal);
    match connection.serve(MessageChannel::new(incoming, outgoing)).await {
        Ok(running) => drop(running.waiting().await),
        Err(error) => tracing::debug!(%error, "the client did not start a session"),
    }
    server.stop();
    server.finished().await;
    reading.abort();
    // What was sent last must reach the client.
    let _ = tokio::time::timeout(std::time::Duration::from_secs(2), writing).await;
}

async fn read_lines(input: impl AsyncRead + Unpin, received: mpsc::Sender<Vec<u8>>) {
    let mut reader = BufReader::with_capacity(64 * 1024, input);
    loop {
        let mut line = Vec::new();
        match (&mut reader).take(LONGEST_LINE).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                if received.send(line).await.is_err() {
                    return;
                }
            }
        }
    }
}

async fn write_lines(mut output: impl AsyncWrite + Unpin, mut messages: mpsc::Receiver<String>) {
    while let Some(mut message) = messages.recv().await {
        message.push('\n');
        if output.write_all(message.as_bytes()).await.is_err() || output.flush().await.is_err() {
            return;
        }
    }
}
