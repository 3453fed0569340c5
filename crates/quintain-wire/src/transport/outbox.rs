//! The way to a target's stdin: a message is written at once if the pipe takes it, and waits if not.
//!
//! Writing at once lets the target work on the first of many calls while the others are being made. A
//! target that does not read never blocks us: what waits is bounded, and written by a task of its own.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::{Buf as _, Bytes, BytesMut};
use tokio::net::unix::pipe;
use tokio::process::ChildStdin;
use tokio::sync::Notify;

/// Enough to be worth a system call.
const CHUNK: usize = 1 << 10;

/// The writing end of a target's stdin.
pub(super) struct Outbox {
    pipe: pipe::Sender,
    waiting: Mutex<BytesMut>,
    arrived: Notify,
    limit: usize,
}

/// So many bytes wait already that the message was not taken.
pub(super) struct Full {
    pub(super) waiting: usize,
}

impl Outbox {
    /// Takes the pipe; at most `limit` bytes may wait.
    pub(super) fn open(stdin: ChildStdin, limit: usize) -> io::Result<Arc<Self>> {
        let pipe = pipe::Sender::from_owned_fd(stdin.into_owned_fd()?)?;
        Ok(Arc::new(Self { pipe, waiting: Mutex::default(), arrived: Notify::new(), limit }))
    }

    /// Takes a message as one line. What has come together is written when it makes a chunk, or
    /// else by the writer, which has its turn after everybody who is about to send.
    pub(super) fn send(&self, message: &Bytes) -> Result<(), Full> {
        let mut waiting = self.waiting();
        if !waiting.is_empty() && waiting.len() + message.len() > self.limit {
            return Err(Full { waiting: waiting.len() });
        }
        waiting.extend_from_slice(message);
        waiting.extend_from_slice(b"\n");
        if waiting.len() >= CHUNK {
            // A broken pipe shows in the target's exit, which is watched elsewhere.
            let written = self.pipe.try_write(&waiting).unwrap_or(0);
            waiting.advance(written);
        }
        if !waiting.is_empty() {
            self.arrived.notify_one();
        }
        Ok(())
    }

    /// Writes what waits, for as long as the target lives.
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
