//! A target that we start and talk to over stdin and stdout.
//!
//! The target is hostile: it may not read, may not end its lines, may exit while a grandchild keeps the pipe open, and
//! may ignore SIGTERM. Each of these ends in an error, never in a hang.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use process_wrap::tokio::{ChildWrapper, CommandWrap};
use tokio::io::AsyncReadExt;
use tokio::process::{ChildStderr, ChildStdout};
use tokio::sync::oneshot;
use tokio::task::{AbortHandle, JoinHandle};
use tokio::time::timeout;

use super::lines::Lines;
use super::outbox::{Full, Outbox};
use super::{Headers, Outgoing, Sink, Transport, TransportError};
use crate::limits::Limits;
use crate::message::TooLong;

/// How long a target may take to exit after its stdin was closed. Kept short, because many targets wait for a timer
/// first, and the caller waits for them.
const NOTICE: Duration = Duration::from_millis(100);
/// How long it may take after SIGTERM.
const LEAVE: Duration = Duration::from_millis(500);
/// How long to read output after the exit of a target.
const TRAIL: Duration = Duration::from_millis(200);
const SIGTERM: i32 = 15;
/// Index of the writer task.
const WRITER: usize = 0;

/// Variables that a target always inherits: enough to find programs and to know the language.
pub const INHERITED: &[&str] = &[
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "LANG", "LC_ALL", "LC_CTYPE",
    "TZ",
];

/// How to start a target.
#[derive(Debug, Clone, Default)]
pub struct StdioConfig {
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its whole environment; nothing else is inherited.
    pub env: Vec<(String, String)>,
    /// Its working directory; ours if absent.
    pub cwd: Option<PathBuf>,
}

/// A running target. Dropping it kills the whole process group.
pub struct StdioTransport {
    outbox: Mutex<Option<Arc<Outbox>>>,
    sink: Arc<dyn Sink>,
    leave: Mutex<Option<oneshot::Sender<()>>>,
    keeper: Mutex<Option<JoinHandle<()>>>,
    tasks: [AbortHandle; 3],
}

impl StdioTransport {
    /// Starts the target.
    ///
    /// # Errors
    /// When the command cannot be started.
    pub fn spawn(
        config: &StdioConfig,
        limits: Limits,
        sink: Arc<dyn Sink>,
    ) -> Result<Self, TransportError> {
        let refuse = |why: String| TransportError::Spawn { command: config.command.clone(), why };
        let mut child = start(config).map_err(|error| refuse(error.to_string()))?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.0.stdin().take(), child.0.stdout().take(), child.0.stderr().take())
        else {
            return Err(refuse("its pipes could not be opened".into()));
        };

        let outbox = Outbox::open(stdin, limits.queue_bytes)
            .map_err(|error| refuse(format!("its input could not be opened: {error}")))?;
        let ring = Arc::new(Ring::new(limits.stderr_bytes));
        let (leave, left) = oneshot::channel();
        let writer = tokio::spawn(outbox.clone().keep_writing());
        let reader = tokio::spawn(read(stdout, limits, sink.clone()));
        let listener = tokio::spawn(listen(stderr, ring.clone()));
        let tasks = [writer.abort_handle(), reader.abort_handle(), listener.abort_handle()];
        let keeper = tokio::spawn(keep(child, reader, listener, left, sink.clone(), ring));
        Ok(Self {
            outbox: Mutex::new(Some(outbox)),
            sink,
            leave: Mutex::new(Some(leave)),
            keeper: Mutex::new(Some(keeper)),
            tasks,
        })
    }
}

impl Transport for StdioTransport {
    fn send(&self, outgoing: Outgoing) {
        // Without an outbox the transport is closing, which the sink knows.
        let outbox = self.outbox.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let sent = outbox.map_or(Ok(()), |outbox| outbox.send(&outgoing.bytes));
        if let (Err(Full { waiting: queued }), Some(id)) = (sent, &outgoing.expects) {
            return self.sink.failed(id, TransportError::NotReading { queued });
        }
        if let Some(delivered) = outgoing.delivered {
            // A pipe keeps the order, so a queued message counts as delivered.
            let _ = delivered.send(Ok(()));
        }
    }

    fn close(&self, _headers: Headers) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            take(&self.outbox);
            // The writer has the other reference; when both are gone, the target's stdin is closed.
            self.tasks[WRITER].abort();
            if let Some(leave) = take(&self.leave) {
                let _ = leave.send(());
            }
            if let Some(keeper) = take(&self.keeper) {
                let _ = keeper.await;
            }
        })
    }
}

impl Drop for StdioTransport {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
        // Aborting the keeper drops the process group, which kills it.
        if let Some(keeper) = take(&self.keeper) {
            keeper.abort();
        }
    }
}

fn take<T>(slot: &Mutex<Option<T>>) -> Option<T> {
    slot.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// The process group of the target; killed when dropped.
struct Group(Box<dyn ChildWrapper>);

impl Drop for Group {
    fn drop(&mut self) {
        // Also after the leader has exited: its children may still run.
        let _ = self.0.start_kill();
    }
}

fn start(config: &StdioConfig) -> std::io::Result<Group> {
    let mut command = CommandWrap::with_new(&config.command, |command| {
        command
            .args(&config.args)
            .env_clear()
            .envs(config.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(cwd) = &config.cwd {
            command.current_dir(cwd);
        }
    });
    command.wrap(process_wrap::tokio::ProcessGroup::leader());
    command.spawn().map(Group)
}

/// Watches the target until it exits, closes its output, or the transport is closed.
async fn keep(
    mut child: Group,
    mut reader: JoinHandle<Option<TransportError>>,
    mut listener: JoinHandle<()>,
    left: oneshot::Receiver<()>,
    sink: Arc<dyn Sink>,
    stderr: Arc<Ring>,
) {
    enum End {
        Exited(ExitStatus),
        Output(Option<TransportError>),
        Asked,
    }
    let end = tokio::select! {
        status = child.0.wait() => status.map_or(End::Output(None), End::Exited),
        output = &mut reader => End::Output(output.ok().flatten()),
        _ = left => End::Asked,
    };
    let mut status = None;
    match end {
        End::Exited(exited) => {
            // Read what it wrote before its exit; the time limit is for a grandchild that keeps the pipe open.
            let _ = timeout(TRAIL, &mut reader).await;
            status = Some(exited);
        }
        End::Output(Some(error)) => return sink.closed(error),
        End::Output(None) => {
            if let Ok(Ok(exited)) = timeout(TRAIL, child.0.wait()).await {
                status = Some(exited);
            }
        }
        End::Asked => {
            leave(&mut child).await;
            return sink.closed(TransportError::Closed);
        }
    }
    let _ = timeout(TRAIL, &mut listener).await;
    let stderr = stderr.text();
    sink.closed(match status {
        Some(status) => TransportError::Exited { status: status.to_string(), stderr },
        None => TransportError::OutputClosed { stderr },
    });
}

/// Waits for the exit, then sends SIGTERM, then SIGKILL. Stdin is closed already.
async fn leave(child: &mut Group) {
    if timeout(NOTICE, child.0.wait()).await.is_ok() {
        return;
    }
    let _ = child.0.signal(SIGTERM);
    if timeout(LEAVE, child.0.wait()).await.is_ok() {
        return;
    }
    let _ = child.0.start_kill();
    let _ = timeout(LEAVE, child.0.wait()).await;
}

async fn read(
    mut stdout: ChildStdout,
    limits: Limits,
    sink: Arc<dyn Sink>,
) -> Option<TransportError> {
    let mut lines = Lines::new(limits.message_bytes).skipping(limits.skipped_bytes);
    loop {
        match stdout.read_buf(lines.buffer()).await {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) => return Some(TransportError::Broken(error.to_string())),
        }
        loop {
            match lines.next_line() {
                Ok(Some(line)) => sink.received(line),
                Ok(None) => break,
                Err(TooLong::Skipped(message)) => sink.oversized(message),
                Err(TooLong::Endless) => {
                    return Some(TransportError::Endless { limit: limits.skipped_bytes });
                }
            }
        }
    }
    match lines.rest() {
        Ok(Some(rest)) => sink.received(rest),
        Err(TooLong::Skipped(message)) => sink.oversized(message),
        Ok(None) | Err(TooLong::Endless) => {}
    }
    None
}

async fn listen(mut stderr: ChildStderr, ring: Arc<Ring>) {
    let mut chunk = [0; 4096];
    while let Ok(size @ 1..) = stderr.read(&mut chunk).await {
        ring.push(&chunk[..size]);
    }
}

/// The last bytes of a target's stderr.
struct Ring {
    kept: Mutex<VecDeque<u8>>,
    limit: usize,
}

impl Ring {
    fn new(limit: usize) -> Self {
        Self { kept: Mutex::default(), limit }
    }

    fn push(&self, bytes: &[u8]) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(bytes);
        let surplus = kept.len().saturating_sub(self.limit);
        kept.drain(..surplus);
    }

    fn text(&self) -> String {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(kept.make_contiguous()).into_owned()
    }
}
