//! Writes a capture: JSON lines, one per frame or note, each written before its frame is passed on. A capture is therefore
//! valid after the process is killed, except that its last line may be cut.
//!
//! A failed write ends the recording and never the session.

mod content;

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, IoSlice, Write as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value};

use super::file::SIGNATURE;
use super::json_text::{depth, quoted};
use super::mask::Masking;
use content::{Content, MessageKind};

/// Larger frames are written from where they are instead of being copied.
const COPIED: usize = 64 << 10;
/// Messages that are nested deeper are recorded as texts, because most readers of JSON refuse them and with them the line.
/// The lowest limit of a common reader is 127 levels.
const MAX_DEPTH: usize = 100;

/// Who sent a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Client,
    Server,
}

impl Side {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }

    pub(super) fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

/// How a frame was transported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Via {
    Stdio,
    /// Streamable HTTP.
    Http,
    /// The older transport with one stream of events, and separate requests.
    Sse,
}

impl Via {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
            Self::Sse => "sse",
        }
    }
}

/// What is known of a frame besides its content.
#[derive(Debug, Clone, Copy)]
pub struct FrameMeta<'a> {
    pub side: Side,
    pub via: Via,
    /// Number of the HTTP exchange.
    pub exchange: Option<u64>,
    /// Number of the session, if the transport shows it.
    pub session: Option<u64>,
    /// Kind of the event, unless it is a message.
    pub event: &'a str,
    /// Length of a frame of which only the start is recorded.
    pub whole: Option<u64>,
}

impl FrameMeta<'_> {
    pub fn new(side: Side, via: Via) -> Self {
        Self { side, via, exchange: None, session: None, event: "", whole: None }
    }
}

/// What a capture contains so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    pub frames: u64,
    /// Requests of the client.
    pub calls: u64,
    /// Errors of the server: JSON-RPC errors, and results of tools that are errors.
    pub errors: u64,
}

/// A capture that is being written; clones write to the same file.
#[derive(Clone)]
pub struct Capture(Arc<Inner>);

struct Inner {
    state: Mutex<State>,
    masking: Masking,
    warn: Box<dyn Fn(&str) + Send + Sync>,
}

struct State {
    /// None after a failed write.
    file: Option<File>,
    totals: Totals,
}

impl Capture {
    /// Writes to a file from [`super::open`]. `warn` is called at most once, when a write fails.
    pub fn new(file: File, masking: Masking, warn: Box<dyn Fn(&str) + Send + Sync>) -> Self {
        let state = Mutex::new(State { file: Some(file), totals: Totals::default() });
        Self(Arc::new(Inner { state, masking, warn }))
    }

    pub(super) fn masking(&self) -> &Masking {
        &self.0.masking
    }

    /// Notes that a session starts; it is the first line of a capture.
    pub fn start(&self, via: Via, details: Map<String, Value>) {
        let mut batch = Batch::default();
        batch.open(SIGNATURE);
        batch.note_fields("start", Map::from_iter([("transport".to_owned(), via.word().into())]));
        batch.close(details, &self.0.masking);
        self.write(batch);
    }

    /// Writes one note.
    pub fn note(&self, what: &str, details: Map<String, Value>) {
        self.note_with(what, &[], details);
    }

    /// Writes one note with some texts that are masked already.
    pub(super) fn note_with(
        &self,
        what: &str,
        masked: &[(&str, &str)],
        details: Map<String, Value>,
    ) {
        let mut batch = Batch::default();
        let masked = masked.iter().map(|(name, text)| ((*name).to_owned(), (*text).into()));
        batch.open("{");
        batch.note_fields(what, masked.collect());
        batch.close(details, &self.0.masking);
        self.write(batch);
    }

    /// Writes one frame.
    pub fn frame(&self, meta: FrameMeta<'_>, bytes: &[u8]) {
        let mut batch = Batch::default();
        batch.frame(meta, bytes, &self.0.masking);
        self.write(batch);
    }

    /// Writes the lines of a batch at once.
    pub fn write(&self, batch: Batch<'_>) {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.totals.frames += batch.totals.frames;
        state.totals.calls += batch.totals.calls;
        state.totals.errors += batch.totals.errors;
        let Some(file) = &mut state.file else { return };
        let length =
            file.metadata().ok().filter(std::fs::Metadata::is_file).map(|found| found.len());
        if let Err(error) = write_all(file, &batch.pieces) {
            // Without the part that was written, the capture ends with a whole line.
            let _ = length.map(|length| file.set_len(length));
            state.file = None;
            drop(state);
            (self.0.warn)(&format!("the recording ended, the session continues: {error}"));
        }
    }

    pub fn totals(&self) -> Totals {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner).totals
    }

    /// Whether every line was written.
    pub fn is_complete(&self) -> bool {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner).file.is_some()
    }
}

fn write_all(file: &mut File, pieces: &[Cow<'_, [u8]>]) -> io::Result<()> {
    let mut slices: Vec<IoSlice<'_>> = pieces.iter().map(|piece| IoSlice::new(piece)).collect();
    let mut rest = &mut slices[..];
    while !rest.is_empty() {
        match file.write_vectored(rest) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => IoSlice::advance_slices(&mut rest, count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Lines that are written at once.
#[derive(Default)]
pub struct Batch<'a> {
    pieces: Vec<Cow<'a, [u8]>>,
    totals: Totals,
}

impl<'a> Batch<'a> {
    /// Adds a note.
    pub(super) fn note(&mut self, what: &str, details: Map<String, Value>, masking: &Masking) {
        self.open("{");
        self.note_fields(what, Map::new());
        self.close(details, masking);
    }

    /// Adds a frame: a message with its numbers as written, or the text where it is not JSON or nested too deeply.
    pub(super) fn frame(&mut self, meta: FrameMeta<'_>, bytes: &'a [u8], masking: &Masking) {
        self.totals.frames += 1;
        let content =
            if meta.whole.is_some() { Content::of_text(bytes) } else { Content::of(bytes) };
        self.open("{");
        self.add(&format!(
            r#""t":{},"direction":"{}","transport":"{}""#,
            now(),
            meta.side.word(),
            meta.via.word()
        ));
        for (name, number) in [("exchange", meta.exchange), ("session", meta.session)] {
            if let Some(number) = number {
                self.add(&format!(r#","{name}":{number}"#));
            }
        }
        if !meta.event.is_empty() {
            self.add(&format!(r#","event":{}"#, quoted(&masking.text(meta.event))));
        }
        if let Some(whole) = meta.whole {
            self.add(&format!(r#","truncated":true,"bytes":{whole}"#));
        }
        self.add(r#","frame":"#);
        match content {
            Content::Json(text, kind) if depth(text) > MAX_DEPTH => {
                self.count(meta.side, kind);
                self.add(&quoted(&masking.json(text)));
            }
            Content::Json(text, kind) => {
                self.count(meta.side, kind);
                let masked = match masking.json(text) {
                    // A line end can only be between the tokens of a valid JSON text.
                    Cow::Borrowed(text) if text.contains(['\n', '\r']) => on_one_line(text).into(),
                    Cow::Owned(text) => on_one_line(&text).into(),
                    borrowed @ Cow::Borrowed(_) => borrowed,
                };
                match masked {
                    Cow::Borrowed(text) if text.len() > COPIED => {
                        self.pieces.push(Cow::Borrowed(text.as_bytes()));
                    }
                    text => self.add(&text),
                }
            }
            Content::Text(text) => self.add(&quoted(&masking.plain_frame(&text))),
        }
        self.add("}\n");
    }

    fn open(&mut self, start: &str) {
        self.add(start);
    }

    fn note_fields(&mut self, what: &str, more: Map<String, Value>) {
        self.add(&format!(r#""t":{},"note":{}"#, now(), quoted(what)));
        for (name, value) in more {
            self.add(&format!(",{}:{value}", quoted(&name)));
        }
    }

    fn close(&mut self, details: Map<String, Value>, masking: &Masking) {
        for (name, value) in details {
            let value = value.to_string();
            self.add(&format!(",{}:{}", quoted(&name), masking.json(&value)));
        }
        self.add("}\n");
    }

    fn add(&mut self, text: &str) {
        if !matches!(self.pieces.last(), Some(Cow::Owned(_))) {
            self.pieces.push(Cow::Owned(Vec::with_capacity(256)));
        }
        if let Some(Cow::Owned(last)) = self.pieces.last_mut() {
            last.extend_from_slice(text.as_bytes());
        }
    }

    fn count(&mut self, side: Side, kind: MessageKind) {
        match (side, kind) {
            (Side::Client, MessageKind::Requests(count)) => self.totals.calls += count,
            (Side::Server, MessageKind::Errors(count)) => self.totals.errors += count,
            _ => {}
        }
    }
}

fn on_one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

/// Seconds since 1970, to the microsecond.
fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{}.{:06}", since.as_secs(), since.subsec_micros())
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Seek as _};

    use proptest::prelude::*;

    use super::super::mask::tests::masking;
    use super::*;

    fn text(write: impl FnOnce(&Capture)) -> (String, Totals) {
        let mut file = tempfile::tempfile().unwrap();
        let capture = Capture::new(file.try_clone().unwrap(), masking(), Box::new(|_| {}));
        write(&capture);
        let mut text = String::new();
        file.rewind().unwrap();
        file.read_to_string(&mut text).unwrap();
        (text, capture.totals())
    }

    fn lines(write: impl FnOnce(&Capture)) -> (Vec<Value>, String, Totals) {
        let (text, totals) = text(write);
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        (lines, text, totals)
    }

    fn frame(side: Side, bytes: &[u8]) -> (Vec<Value>, String, Totals) {
        lines(|capture| capture.frame(FrameMeta::new(side, Via::Stdio), bytes))
    }

    #[test]
    fn a_message_keeps_its_numbers_and_a_line_of_its_own() {
        let (_, text, _) =
            frame(Side::Client, b"{\"id\":\r\n 12345678901234567890123, \"x\":1.50}");
        assert!(
            text.ends_with("\"frame\":{\"id\":   12345678901234567890123, \"x\":1.50}}\n"),
            "{text}"
        );
        assert_eq!(text.lines().count(), 1);
    }

    #[test]
    fn unusual_json_is_kept_as_json() {
        let deep = format!("{}1{}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH));
        for json in
            [r#"{"a":"\ud800","b":1e400}"#, r#"{"a":1,"a":2}"#, r#"[{"id":1,"method":"x"}]"#, &deep]
        {
            let meta = FrameMeta::new(Side::Server, Via::Http);
            let (text, _) = text(|capture| capture.frame(meta, json.as_bytes()));
            assert!(text.ends_with(&format!("\"frame\":{json}}}\n")), "{json:.40}");
        }
    }

    #[test]
    fn messages_that_readers_refuse_for_their_depth_become_strings_and_stay_masked() {
        for levels in [MAX_DEPTH + 1, 5_000] {
            let (open, close) = (r#"{"a":["#.repeat(levels / 2), "]}".repeat(levels / 2));
            let message = |secret: &str| {
                format!(r#"{{"id":1,"method":"x","password":"{secret}","deep":{open}"["{close}}}"#)
            };
            let (lines, _, totals) = frame(Side::Client, message("hunter2hunter2").as_bytes());
            assert_eq!(lines[0]["frame"], message("***"));
            assert_eq!(totals.calls, 1);
        }
    }

    #[test]
    fn text_and_garbage_become_strings() {
        assert_eq!(frame(Side::Server, b"hello {").0[0]["frame"], "hello {");
        assert_eq!(frame(Side::Server, b"a\xffb\x00").0[0]["frame"], "a\u{fffd}b\u{0}");
        assert_eq!(frame(Side::Server, b"banner known+secret/value").0[0]["frame"], "banner ***");
    }

    #[test]
    fn requests_and_errors_are_counted() {
        let calls = |text: &str| frame(Side::Client, text.as_bytes()).2.calls;
        assert_eq!(calls(r#"{"id":1,"method":"x"}"#), 1);
        assert_eq!(calls(r#"[{"id":1,"method":"x"},{"method":"n"},{"id":2,"method":"y"}]"#), 2);
        assert_eq!(calls(r#"{"id":1,"result":{}}"#), 0);
        let errors = |text: &str| frame(Side::Server, text.as_bytes()).2.errors;
        assert_eq!(errors(r#"{"id":1,"error":{"code":1}}"#), 1);
        assert_eq!(errors(r#"{"id":1,"result":{"isError":true}}"#), 1);
        assert_eq!(errors(r#"{"id":1,"result":{"isError":"yes"},"error":null}"#), 0);
    }

    #[test]
    fn the_first_line_identifies_a_capture() {
        let details = Map::from_iter([("command".to_owned(), Value::from(vec!["x", "sk-1"]))]);
        let (lines, text, _) = lines(|capture| capture.start(Via::Stdio, details));
        assert!(text.starts_with(SIGNATURE));
        assert_eq!(lines[0]["note"], "start");
        assert_eq!(lines[0]["command"][1], "***");
        assert!(lines[0]["t"].as_f64().is_some_and(|t| t > 1.7e9));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_reported_once() {
        use std::sync::atomic::{AtomicUsize, Ordering};

        let file = File::options().write(true).open("/dev/full").unwrap();
        let count = Arc::new(AtomicUsize::new(0));
        let counted = count.clone();
        let warn = move |_: &str| {
            counted.fetch_add(1, Ordering::Relaxed);
        };
        let capture = Capture::new(file, masking(), Box::new(warn));
        for _ in 0..3 {
            capture.frame(FrameMeta::new(Side::Client, Via::Stdio), b"{}");
        }
        assert_eq!(count.load(Ordering::Relaxed), 1);
        assert!(!capture.is_complete());
    }

    proptest! {
        #[test]
        fn any_bytes_become_one_valid_line(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let (lines, text, _) = frame(Side::Client, &bytes);
            prop_assert_eq!(lines.len(), 1);
            prop_assert!(text.ends_with('\n'));
        }
    }
}
