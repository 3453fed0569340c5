//! Passes the bytes of one direction on, and records them.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::{Map, Value};

use super::lines::LineRecorder;
use super::pipes::{ExitWatch, Pipe, Ready, has_input, wait, wait_for_room};
use crate::recording::capture::{Capture, FrameMeta, Side, Via};

const CHUNK: usize = 64 << 10;
/// Chunks to record of what was sent to a side that has stopped reading; more than a pipe contains.
const MAX_UNREAD: usize = 16;

/// How far a direction is.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Number of bytes passed on.
    passed: AtomicU64,
    recording: AtomicBool,
}

impl Progress {
    pub(super) fn passed(&self) -> u64 {
        self.passed.load(Ordering::Relaxed)
    }

    /// Whether the recorder itself is busy, and neither side is waited for.
    pub(super) fn is_recording(&self) -> bool {
        self.recording.load(Ordering::Relaxed)
    }
}

/// One direction.
pub(super) struct Relay {
    side: Side,
    capture: Capture,
    progress: Arc<Progress>,
    lines: LineRecorder,
}

impl Relay {
    pub(super) fn new(side: Side, capture: &Capture) -> Self {
        let lines = LineRecorder::new(FrameMeta::new(side, Via::Stdio));
        Self { side, capture: capture.clone(), progress: Arc::default(), lines }
    }

    pub(super) fn progress(&self) -> Arc<Progress> {
        self.progress.clone()
    }

    /// Passes bytes on until the source ends or nobody reads them. Both pipes are closed at the end, so that either side
    /// notices what it would notice without a recorder: the end of its input, or that nobody reads its output.
    pub(super) fn run(
        mut self,
        mut from: impl Read + Pipe,
        mut to: impl Write + Pipe,
        mut exit: Option<ExitWatch>,
    ) {
        let mut chunk = vec![0; CHUNK];
        let is_read = loop {
            match wait(&from, &to, exit.as_mut()) {
                Ready::Read => {}
                Ready::Unread => break false,
                Ready::Silent => break true,
            }
            let count = match from.read(&mut chunk) {
                Ok(0) => break true,
                Ok(count) => count,
                Err(error) if is_temporary(&error) => continue,
                Err(_) => break true,
            };
            self.record(&chunk[..count]);
            if self.pass(&chunk[..count], &mut to).is_err() {
                break false;
            }
        };
        if is_read {
            self.lines.end(&self.capture);
            self.note("end of stream", self.side);
        } else {
            self.record_unread(&mut from, &mut chunk);
            self.lines.end(&self.capture);
            self.note("input closed", self.side.other());
        }
        // The end of a pipe is recorded before it is passed on, like everything else.
        drop((from, to));
    }

    fn record(&mut self, bytes: &[u8]) {
        self.progress.recording.store(true, Ordering::Relaxed);
        self.lines.record(bytes, &self.capture);
        self.progress.recording.store(false, Ordering::Relaxed);
    }

    fn pass(&self, mut bytes: &[u8], to: &mut (impl Write + Pipe)) -> io::Result<()> {
        while !bytes.is_empty() {
            match to.write(bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => {
                    self.progress.passed.fetch_add(count as u64, Ordering::Relaxed);
                    bytes = &bytes[count..];
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => wait_for_room(to),
                Err(error) if is_temporary(&error) => {}
                Err(error) => return Err(error),
            }
        }
        to.flush()
    }

    /// Records what was sent before the sender could know that nobody reads it.
    fn record_unread(&mut self, from: &mut (impl Read + Pipe), chunk: &mut [u8]) {
        for _ in 0..MAX_UNREAD {
            match has_input(from).then(|| from.read(chunk)) {
                Some(Ok(count)) if count > 0 => self.record(&chunk[..count]),
                _ => return,
            }
        }
    }

    fn note(&self, what: &str, side: Side) {
        let details = Map::from_iter([("direction".to_owned(), Value::from(side.word()))]);
        self.capture.note(what, details);
    }
}

/// Whether to try again. A pipe that is set to non-blocking is waited for first.
fn is_temporary(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock)
}
