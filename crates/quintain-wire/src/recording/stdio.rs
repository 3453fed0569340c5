//! Runs in front of a command on stdin and stdout: passes every byte on at once, records every line before its end is passed
//! on, hands signals on, and ends as the command ends.
//!
//! Each direction has a thread of its own that blocks on its pipe, so that neither waits for the other. Standard error
//! is inherited and does not pass through here.

use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::sync::oneshot;

use super::capture::{Batch, Capture, FrameMeta, Side, Via};
use super::{HEAD_OF_LONG_FRAME, MAX_FRAME};

const CHUNK: usize = 64 << 10;
/// How long to wait for output after the exit of the command, while a process that it started keeps its output open.
const TRAIL: Duration = Duration::from_millis(500);

/// Runs the command until it exits, and returns its status. Must be called on the thread that lives as long as the process:
/// the system kills the command when that thread ends.
///
/// # Errors
/// When the command cannot be started.
pub async fn relay(mut command: Command, capture: &Capture) -> io::Result<ExitStatus> {
    let mut signals = signals::Signals::listen();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        // A signal from the terminal reaches only this process, which hands it on once.
        command.process_group(0);
    }
    let mut child = command.spawn()?;
    let pid = child.id();
    let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(io::Error::other("its pipes could not be opened"));
    };
    let upwards = Relay::new(Side::Client, capture);
    std::thread::Builder::new().name("to server".into()).spawn(move || {
        upwards.run(&mut io::stdin().lock(), input);
    })?;
    let passed = Arc::new(AtomicU64::new(0));
    let downwards = Relay { passed: passed.clone(), ..Relay::new(Side::Server, capture) };
    let (finish, mut finished) = oneshot::channel();
    std::thread::Builder::new().name("to client".into()).spawn(move || {
        let mut output = output;
        downwards.run(&mut output, io::stdout());
        let _ = finish.send(());
    })?;
    let mut exit = exit_of(child)?;
    let status = loop {
        tokio::select! {
            status = &mut exit => break status.map_err(io::Error::other)??,
            signal = signals.next() => {
                capture.note("signal", Map::from_iter([("signal".to_owned(), Value::from(signal))]));
                signals::send(pid, signal);
            }
        }
    };
    // What it wrote before its exit is still in the pipe.
    let mut before = passed.load(Ordering::Relaxed);
    while tokio::time::timeout(TRAIL, &mut finished).await.is_err() {
        let now = passed.load(Ordering::Relaxed);
        if now == before {
            break;
        }
        before = now;
    }
    capture.note("exit", exit_details(status));
    Ok(status)
}

/// Waits for the exit on a thread, because the current one also waits for signals.
fn exit_of(mut child: Child) -> io::Result<oneshot::Receiver<io::Result<ExitStatus>>> {
    let (exited, exit) = oneshot::channel();
    std::thread::Builder::new().name("exit".into()).spawn(move || {
        let _ = exited.send(child.wait());
    })?;
    Ok(exit)
}

fn exit_details(status: ExitStatus) -> Map<String, Value> {
    let mut details = Map::new();
    if let Some(code) = status.code() {
        details.insert("code".to_owned(), json!(code));
    }
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt as _;
        if let Some(signal) = status.signal() {
            details.insert("signal".to_owned(), json!(signal));
        }
    }
    details
}

/// The exit code that a shell reports for this status.
pub fn exit_code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt as _;
        if let Some(signal) = status.signal() {
            return u8::try_from(128 + signal).unwrap_or(u8::MAX);
        }
    }
    status.code().map_or(u8::MAX, |code| (code & 0xff) as u8)
}

/// One direction.
struct Relay {
    side: Side,
    capture: Capture,
    /// Number of bytes passed on.
    passed: Arc<AtomicU64>,
}

impl Relay {
    fn new(side: Side, capture: &Capture) -> Self {
        Self { side, capture: capture.clone(), passed: Arc::default() }
    }

    /// Passes bytes on until the source ends. `to` is dropped at the end, so that its reader sees the end, too.
    fn run(&self, from: &mut impl Read, to: impl Write) {
        let mut to = Some(to);
        let mut lines = LineRecorder::new(FrameMeta::new(self.side, Via::Stdio));
        let mut chunk = vec![0; CHUNK];
        loop {
            let count = match from.read(&mut chunk) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            lines.record(&chunk[..count], &self.capture);
            let Some(open) = &mut to else { continue };
            self.passed.fetch_add(count as u64, Ordering::Relaxed);
            if open.write_all(&chunk[..count]).and_then(|()| open.flush()).is_err() {
                to = None;
                let side = match self.side {
                    Side::Client => "server",
                    Side::Server => "client",
                };
                let details = Map::from_iter([("direction".to_owned(), Value::from(side))]);
                self.capture.note("input closed", details);
                if self.side == Side::Server {
                    // The server finds out by its next write, as it would without a recorder.
                    break;
                }
            }
        }
        lines.end(&self.capture);
        let details = Map::from_iter([("direction".to_owned(), Value::from(self.side.word()))]);
        self.capture.note("end of stream", details);
    }
}

/// Splits bytes into lines and records each at its end.
struct LineRecorder {
    meta: FrameMeta<'static>,
    /// The line so far; only its head once it exceeds the limit.
    line: Vec<u8>,
    /// Length of a line that exceeds the limit.
    whole: Option<u64>,
}

impl LineRecorder {
    fn new(meta: FrameMeta<'static>) -> Self {
        Self { meta, line: Vec::new(), whole: None }
    }

    /// Records the lines that end in these bytes, all in one write.
    fn record(&mut self, bytes: &[u8], capture: &Capture) {
        let Some(end) = memchr::memrchr(b'\n', bytes) else {
            self.append(bytes);
            return;
        };
        let (ended, rest) = bytes.split_at(end + 1);
        let mut lines =
            ended.split_inclusive(|byte| *byte == b'\n').map(|line| &line[..line.len() - 1]);
        if !self.line.is_empty() || self.whole.is_some() {
            self.append(lines.next().unwrap_or_default());
            let first = std::mem::take(&mut self.line);
            let meta = FrameMeta { whole: self.whole.take(), ..self.meta };
            let mut batch = Batch::default();
            add(&mut batch, meta, &first, capture);
            lines.for_each(|line| add(&mut batch, self.meta, line, capture));
            capture.write(batch);
        } else {
            let mut batch = Batch::default();
            lines.for_each(|line| add(&mut batch, self.meta, line, capture));
            capture.write(batch);
        }
        self.append(rest);
    }

    fn append(&mut self, bytes: &[u8]) {
        if let Some(whole) = &mut self.whole {
            *whole += bytes.len() as u64;
        } else if self.line.len() + bytes.len() > MAX_FRAME {
            self.whole = Some((self.line.len() + bytes.len()) as u64);
            let missing = HEAD_OF_LONG_FRAME.saturating_sub(self.line.len()).min(bytes.len());
            self.line.truncate(HEAD_OF_LONG_FRAME);
            self.line.extend_from_slice(&bytes[..missing]);
            self.line.shrink_to_fit();
        } else {
            self.line.extend_from_slice(bytes);
        }
    }

    /// Records what follows the last line end.
    fn end(&mut self, capture: &Capture) {
        let line = std::mem::take(&mut self.line);
        let meta = FrameMeta { whole: self.whole.take(), ..self.meta };
        let mut batch = Batch::default();
        add(&mut batch, meta, &line, capture);
        capture.write(batch);
    }
}

/// Blank lines are not frames.
fn add<'a>(batch: &mut Batch<'a>, meta: FrameMeta<'_>, line: &'a [u8], capture: &Capture) {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if !line.iter().all(u8::is_ascii_whitespace) {
        batch.frame(meta, line, capture.masking());
    }
}

#[cfg(unix)]
mod signals {
    use futures_util::future::select_all;
    use rustix::process::{Pid, Signal, kill_process};
    use tokio::signal::unix::{Signal as Listener, SignalKind, signal};

    /// Signals that programs handle, by their numbers.
    const HANDED_ON: [Signal; 6] =
        [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT, Signal::USR1, Signal::USR2];

    pub(super) struct Signals(Vec<(i32, Listener)>);

    impl Signals {
        /// A signal that this process ignores from its start stays ignored, also for the command.
        pub(super) fn listen() -> Self {
            let ignored = ignored();
            let wanted = HANDED_ON.iter().map(|signal| signal.as_raw());
            let wanted = wanted.filter(|number| ignored & (1 << (number - 1)) == 0);
            let listen = |number: i32| Some((number, signal(SignalKind::from_raw(number)).ok()?));
            Self(wanted.filter_map(listen).collect())
        }

        pub(super) async fn next(&mut self) -> i32 {
            if self.0.is_empty() {
                return std::future::pending().await;
            }
            let waiting = self.0.iter_mut().map(|(number, listener)| {
                Box::pin(async move {
                    listener.recv().await;
                    *number
                })
            });
            select_all(waiting).await.0
        }
    }

    /// The mask of ignored signals; the first bit is signal 1.
    fn ignored() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
    }

    pub(super) fn send(pid: u32, number: i32) {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let signal = HANDED_ON.into_iter().find(|signal| signal.as_raw() == number);
        if let (Some(pid), Some(signal)) = (pid, signal) {
            // Fails only if the command has exited, which is noticed next.
            let _ = kill_process(pid, signal);
        }
    }
}

#[cfg(not(unix))]
mod signals {
    pub(super) struct Signals;

    impl Signals {
        pub(super) fn listen() -> Self {
            Self
        }

        pub(super) async fn next(&mut self) -> i32 {
            std::future::pending().await
        }
    }

    pub(super) fn send(_: u32, _: i32) {}
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Seek as _};

    use proptest::prelude::*;

    use super::super::mask::tests::masking;
    use super::*;

    fn recorded(chunks: &[&[u8]]) -> Vec<Value> {
        let mut file = tempfile::tempfile().unwrap();
        let capture = Capture::new(file.try_clone().unwrap(), masking(), Box::new(|_| {}));
        let mut lines = LineRecorder::new(FrameMeta::new(Side::Client, Via::Stdio));
        chunks.iter().for_each(|chunk| lines.record(chunk, &capture));
        lines.end(&capture);
        let mut text = String::new();
        file.rewind().unwrap();
        file.read_to_string(&mut text).unwrap();
        let line = |line: &str| serde_json::from_str::<Value>(line).unwrap();
        text.lines().map(line).collect()
    }

    #[test]
    fn lines_are_recorded_at_their_end_and_the_rest_at_the_end() {
        let lines = recorded(&[b"{\"a\":1}\r\n\n{\"b\":", b"2}\n  \r\nno", b" json"]);
        let frames: Vec<&Value> = lines.iter().map(|line| &line["frame"]).collect();
        assert_eq!(frames, [&json!({"a": 1}), &json!({"b": 2}), &json!("no json")]);
    }

    #[test]
    fn a_line_beyond_the_limit_is_recorded_in_part_with_its_length() {
        let piece = vec![b'x'; 8 << 20];
        let mut chunks: Vec<&[u8]> = vec![&piece; 9];
        chunks.push(b"y\n{}\n");
        let lines = recorded(&chunks);
        assert_eq!(lines[0]["bytes"], 9 * (8 << 20) + 1);
        assert_eq!(lines[0]["frame"].as_str().unwrap().len(), HEAD_OF_LONG_FRAME);
        assert_eq!(lines[1]["frame"], json!({}));
    }

    proptest! {
        #[test]
        fn chunks_never_change_what_is_recorded(cuts in prop::collection::vec(0usize..=60, 0..10)) {
            let text = b"{\"id\":1}\nplain\n\n[1,2]\r\n{\"id\":2,\"x\":\"y\"}\nrest without end";
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let chunks: Vec<&[u8]> = cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]).collect();
            let frames = |chunks: &[&[u8]]| -> Vec<Value> {
                recorded(chunks).iter().map(|line| line["frame"].clone()).collect()
            };
            prop_assert_eq!(frames(&chunks), frames(&[text]));
        }
    }
}
