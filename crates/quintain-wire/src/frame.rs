//! Frames: bytes, direction, time and, over HTTP, status and headers.
//!
//! Frames are redacted before a recorder receives them, so that no artefact contains a secret.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime};

use bytes::Bytes;
use http::HeaderMap;

use crate::redact::{MASK, Redactor};

/// Direction of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// We wrote it.
    Sent,
    /// The target wrote it.
    Received,
}

/// The HTTP side of a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpMeta {
    /// Request line for a sent frame (`POST /mcp`), status line for a received one (`200 OK`).
    pub line: String,
    /// Status code of a received frame.
    pub status: Option<u16>,
    /// Headers, with the values of credentials masked.
    pub headers: Vec<(String, String)>,
}

impl HttpMeta {
    /// Describes a request; masks credentials in headers.
    pub fn request(method: &str, url: &url::Url, headers: &HeaderMap) -> Self {
        Self { line: format!("{method} {}", url.path()), status: None, headers: visible(headers) }
    }

    /// Describes a response.
    pub fn response(status: http::StatusCode, headers: &HeaderMap) -> Self {
        Self { line: status.to_string(), status: Some(status.as_u16()), headers: visible(headers) }
    }
}

fn visible(headers: &HeaderMap) -> Vec<(String, String)> {
    headers
        .iter()
        .map(|(name, value)| {
            let secret = value.is_sensitive()
                || matches!(name.as_str(), "authorization" | "cookie" | "set-cookie");
            let text = if secret {
                MASK.to_owned()
            } else {
                String::from_utf8_lossy(value.as_bytes()).into_owned()
            };
            (name.as_str().to_owned(), text)
        })
        .collect()
}

/// One message, or one HTTP event without a message (an empty 202, a refused GET).
#[derive(Debug, Clone)]
pub struct Frame {
    /// Who wrote it.
    pub direction: Direction,
    /// When it was passed to the transport or received from it.
    pub at: Instant,
    /// The message, byte for byte, without framing; empty for an HTTP event without a message.
    pub bytes: Bytes,
    /// Status and headers, over HTTP.
    pub http: Option<Arc<HttpMeta>>,
}

/// Passes redacted frames to a tape; without a tape it does nothing.
#[derive(Clone, Default)]
pub struct Recording {
    tape: Option<Arc<MemoryRecorder>>,
    redactor: Redactor,
}

impl Recording {
    /// Records to `tape` after masking with `redactor`.
    pub fn new(tape: Option<Arc<MemoryRecorder>>, redactor: Redactor) -> Self {
        Self { tape, redactor }
    }

    /// The redactor of this connection.
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    pub(crate) fn is_on(&self) -> bool {
        self.tape.is_some()
    }

    pub(crate) fn record(&self, direction: Direction, bytes: &Bytes, http: Option<HttpMeta>) {
        let Some(tape) = &self.tape else { return };
        let http = http.map(|mut http| {
            for (_, value) in &mut http.headers {
                if let std::borrow::Cow::Owned(masked) = self.redactor.text(value) {
                    *value = masked;
                }
            }
            Arc::new(http)
        });
        let bytes = self.redactor.bytes(bytes);
        tape.record(Frame { direction, at: Instant::now(), bytes, http });
    }
}

/// The frames of connections, in memory; drops the oldest ones when it is full.
pub struct MemoryRecorder {
    opened: (Instant, SystemTime),
    capacity: usize,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    frames: VecDeque<Frame>,
    bytes: usize,
    forgotten: usize,
}

impl MemoryRecorder {
    /// A tape for at most `capacity` bytes of messages.
    pub fn new(capacity: usize) -> Self {
        Self {
            opened: (Instant::now(), SystemTime::now()),
            capacity,
            kept: Mutex::new(Kept::default()),
        }
    }

    /// The start of the recording on both clocks, to convert times of frames.
    pub fn opened(&self) -> (Instant, SystemTime) {
        self.opened
    }

    /// The recorded frames, and the number of dropped ones.
    pub fn frames(&self) -> (Vec<Frame>, usize) {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        (kept.frames.iter().cloned().collect(), kept.forgotten)
    }

    fn record(&self, frame: Frame) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.bytes += frame.bytes.len();
        kept.frames.push_back(frame);
        while kept.bytes > self.capacity && kept.frames.len() > 1 {
            if let Some(oldest) = kept.frames.pop_front() {
                kept.bytes -= oldest.bytes.len();
                kept.forgotten += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::SecretString;

    #[test]
    fn a_full_tape_forgets_its_oldest_frames_and_counts_them() {
        let tape = Arc::new(MemoryRecorder::new(8));
        let recording = Recording::new(Some(tape.clone()), Redactor::default());
        for message in ["aaaa", "bbbb", "cccc"] {
            recording.record(Direction::Sent, &Bytes::from_static(message.as_bytes()), None);
        }
        let (frames, forgotten) = tape.frames();
        assert_eq!(forgotten, 1);
        assert_eq!(frames[0].bytes, "bbbb");
    }

    #[test]
    fn secrets_are_masked_in_bytes_and_headers_before_the_recorder_sees_them() {
        let redactor = Redactor::default();
        redactor.learn(&SecretString::from("tok_canary"));
        let tape = Arc::new(MemoryRecorder::new(1 << 10));
        let recording = Recording::new(Some(tape.clone()), redactor);
        let mut headers = HeaderMap::new();
        headers.insert("x-note", "has tok_canary inside".parse().unwrap());
        headers.insert("authorization", "Bearer whatever".parse().unwrap());
        let http = HttpMeta::response(http::StatusCode::OK, &headers);
        recording.record(Direction::Received, &Bytes::from_static(b"x tok_canary"), Some(http));
        let shown = format!("{:?}", tape.frames().0);
        assert!(!shown.contains("tok_canary") && !shown.contains("whatever"), "{shown}");
    }
}
