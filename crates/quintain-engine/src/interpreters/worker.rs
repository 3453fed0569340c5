//! One interpreter process, which exchanges one JSON line per request and answer.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::process::{Pipes, Program, RunningProcess};

/// How many bytes of stderr to keep for the error message if the process ends.
const KEPT: usize = 2 << 10;
/// How long to wait for the rest of stderr.
const TRAIL: Duration = Duration::from_millis(200);

/// Why there is no answer. The worker cannot be used afterwards.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("the interpreter took too long")]
    TimedOut,
    #[error("the answer of the interpreter is too long")]
    TooLong,
    #[error("the interpreter ended")]
    Exited,
    #[error("cannot communicate with the interpreter: {0}")]
    Broken(String),
}

pub(super) struct Worker {
    running: RunningProcess,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    printed: Arc<Mutex<VecDeque<u8>>>,
    listener: JoinHandle<()>,
}

impl Worker {
    pub(super) fn start(program: &Program) -> io::Result<Self> {
        let (running, Pipes { stdin, stdout, stderr }) = RunningProcess::start(program)?;
        let printed = Arc::default();
        let listener = tokio::spawn(listen(stderr, Arc::clone(&printed)));
        Ok(Self { running, requests: stdin, answers: BufReader::new(stdout), printed, listener })
    }

    /// Whether the process still runs.
    pub(super) fn is_alive(&mut self) -> bool {
        self.running.is_alive()
    }

    /// Sends a request and waits for its answer.
    pub(super) async fn ask(
        &mut self,
        request: &Value,
        time: Duration,
        limit: usize,
    ) -> Result<Value, Failure> {
        let work = async {
            let mut line = request.to_string();
            line.push('\n');
            let sent = self.requests.write_all(line.as_bytes()).await;
            sent.map_err(|_| Failure::Exited)?;
            let mut line = Vec::new();
            let room = u64::try_from(limit).unwrap_or(u64::MAX);
            let mut answers = (&mut self.answers).take(room);
            answers
                .read_until(b'\n', &mut line)
                .await
                .map_err(|error| Failure::Broken(error.to_string()))?;
            if line.last() != Some(&b'\n') {
                return Err(if line.len() >= limit { Failure::TooLong } else { Failure::Exited });
            }
            serde_json::from_slice(&line).map_err(|error| Failure::Broken(error.to_string()))
        };
        timeout(time, work).await.unwrap_or(Err(Failure::TimedOut))
    }

    /// What the process printed to stderr before it ended.
    pub(super) async fn stderr_suffix(mut self) -> String {
        let _ = timeout(TRAIL, &mut self.listener).await;
        let mut printed = self.printed.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(printed.make_contiguous()).trim().to_owned();
        if text.is_empty() { text } else { format!("; it printed:\n{text}") }
    }

    /// Closes stdin, so that the process ends.
    pub(super) async fn leave(self) {
        drop(self.requests);
        self.running.leave().await;
    }
}

async fn listen(mut stderr: ChildStderr, printed: Arc<Mutex<VecDeque<u8>>>) {
    let mut chunk = [0; 4096];
    while let Ok(size @ 1..) = stderr.read(&mut chunk).await {
        tracing::debug!(target: "quintain::code", "{}", String::from_utf8_lossy(&chunk[..size]));
        let mut kept = printed.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(&chunk[..size]);
        let surplus = kept.len().saturating_sub(KEPT);
        kept.drain(..surplus);
    }
}
