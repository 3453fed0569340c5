//! Writes to a target's stdin: a message is written at once if the pipe accepts it, else queued.
//!
//! Writing at once lets the target process the first of many calls while the others are prepared. A target that does
//! not read never blocks us: the queue is bounded, and a separate task writes it.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::{Buf as _, Bytes, BytesMut};
use tokio::net::unix::pipe;
use tokio::process::ChildStdin;
use tokio::sync::Notify;

/// Minimum number of bytes for a write by the sender.
const CHUNK: usize = 1 << 10;

/// The writing end of a target's stdin.
pub(super) struct Outbox {
    pipe: pipe::Sender,
    waiting: Mutex<BytesMut>,
    arrived: Notify,
    limit: usize,
}

/// The queue is full and the message was not accepted.
pub(super) struct Full {
    pub(super) waiting: usize,
}

impl Outbox {
    /// Takes the pipe; the queue is limited to `limit` bytes.
    pub(super) fn open(stdin: ChildStdin, limit: usize) -> io::Result<Arc<Self>> {
        let pipe = pipe::Sender::from_owned_fd(stdin.into_owned_fd()?)?;
        Ok(Arc::new(Self { pipe, waiting: Mutex::default(), arrived: Notify::new(), limit }))
    }

    /// Queues a message as one line. Writes the queue if it is at least a chunk; otherwise the writer task writes it, after
    /// all senders that are ready to run.
    pub(super) fn send(&self, message: &Bytes) -> Result<(), Full> {
        let mut waiting = self.waiting();
        if !waiting.is_empty() && waiting.len() + message.len() > self.limit {
            return Err(Full { waiting: waiting.len() });
        }
        waiting.extend_from_slice(message);
        waiting.extend_from_slice(b"\n");
        if waiting.len() >= CHUNK {
            // A broken pipe shows as the exit of the target, which is observed elsewhere.
            let written = self.pipe.try_write(&waiting).unwrap_or(0);
            waiting.advance(written);
        }
        if !waiting.is_empty() {
            self.arrived.notify_one();
        }
        Ok(())
    }

    /// Writes the queue as long as the target runs.
    pub(super) async fn keep_writing(self: Arc<Self>) {
        loop {
            self.arrived.notified().await;
            while !self.waiting().is_empty() {
                if self.pipe.writable().await.is_err() {
                    return;
                }
                let mut waiting = self.waiting();
                match self.pipe.try_write(&waiting) {
                    Ok(written) => waiting.advance(written),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    Err(_) => return,
                }
            }
        }
    }

    fn waiting(&self) -> MutexGuard<'_, BytesMut> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
