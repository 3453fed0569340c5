//! Raw JSON-RPC messages between a client and a server: our own captures, exports of the MCP Inspector, and logs of a
//! program between the two. Every session is a trace.

mod entry;
mod evidence;
mod lists;
mod requests;
mod rpc;
mod session;

use quintain_content::registry::Meta;
use serde_json::Value;

use self::entry::{Entry, Frame};
use self::session::Session;
use super::{JsonRecord, MAX_RECORD, Parser, Position, Reader, Sample, Traces};
use crate::json_input::tolerant;
use crate::json_input::walk::Path;

pub(super) struct Capture;

static META: Meta = Meta {
    id: "capture",
    aliases: &["jsonrpc", "inspector"],
    summary: "JSON-RPC messages as recorded between a client and a server",
    docs: "\
# What it does
Reads captures of `quintain record`, exports of the MCP Inspector, and lines with one JSON-RPC message each, with or without
the direction. Lists of tools hold from the moment at which the server gave them. Violations of the protocol are kept with
the trace: malformed messages, responses without a request, ids used twice, calls before `initialize`, capabilities that
were not declared, requests without a response.

# Example
```json
{\"t\": 0.1, \"direction\": \"client\", \"transport\": \"stdio\", \"frame\": {\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/call\", \"params\": {\"name\": \"add\"}}}
{\"t\": 0.2, \"direction\": \"server\", \"transport\": \"stdio\", \"frame\": {\"jsonrpc\": \"2.0\", \"id\": 1, \"result\": {\"content\": []}}}
```
",
    since: "0.2.0",
};

static CONTAINERS: &[Path] =
    &[&["frames"], &["entries"], &["history"], &["requests"], &["messages"]];

impl Reader for Capture {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn recognises(&self, sample: &Sample) -> u8 {
        let records = sample.best(|record| {
            let lists = CONTAINERS.iter().filter_map(|path| record.get(path[0])?.as_array());
            let inner = lists.flatten().any(|item| entry::certainty(item) > 0);
            if inner { 97 } else { entry::certainty(record) }
        });
        let is_logged = |line: &String| entry::of_line(line).is_some();
        if records == 0 && sample.texts.iter().any(is_logged) { 90 } else { records }
    }

    fn containers(&self) -> &'static [Path] {
        CONTAINERS
    }

    fn open(&self) -> Box<dyn Parser> {
        Box::new(CaptureParser::default())
    }
}

/// More sessions than these are not open at a time.
const MAX_SESSIONS: usize = 64;

#[derive(Default)]
struct CaptureParser {
    sessions: Vec<Session>,
    /// Entries of an export that may be in reverse order.
    export: Vec<(Option<f64>, Position, Vec<Frame>)>,
    bytes: usize,
    has_start: bool,
    /// A line that is not JSON, perhaps because the recorder was killed.
    cut_line: Option<(Position, String)>,
}

impl Parser for CaptureParser {
    fn record(&mut self, record: JsonRecord<'_>, traces: &mut Traces) -> Result<(), String> {
        let beyond_limits = || {
            let text = std::str::from_utf8(record.bytes).ok();
            text.filter(|_| self.has_start).and_then(tolerant::parse)
        };
        let value = record.value().or_else(|problem| beyond_limits().ok_or(problem));
        let value = match value {
            Ok(value) => value,
            Err(problem) => {
                // A line such as `[client] {...}`.
                let line = String::from_utf8_lossy(record.bytes);
                match entry::of_line(&line) {
                    Some(frame) => self.frame(frame, record.at, traces),
                    // The last line of a recorder that was killed is cut. Whether it is the last shows later.
                    None if self.has_start => {
                        self.report_cut_line(traces);
                        self.cut_line = Some((record.at, problem));
                    }
                    None => return Err(problem),
                }
                return Ok(());
            }
        };
        self.bytes += record.bytes.len();
        if self.bytes > MAX_RECORD {
            self.finish(traces);
            return Err(format!(
                "the capture is larger than {} MB; the messages from here on are a trace of their own",
                MAX_RECORD >> 20
            ));
        }
        let entry = entry::of_value(value);
        if !matches!(entry, Some(Entry::Note(_))) {
            self.report_cut_line(traces);
        }
        match entry {
            Some(Entry::Frame(frame)) => self.frame(*frame, record.at, traces),
            Some(Entry::Exported { at, frames }) => self.export.push((at, record.at, frames)),
            Some(Entry::Note(note)) => self.note(&note, traces),
            None => {
                return Err("expected a JSON-RPC message, or an object with one in `frame` or \
                            `message`"
                    .to_owned());
            }
        }
        Ok(())
    }

    /// Other programs write to the same log; what is not a message is not part of the capture.
    fn text(&mut self, line: &[u8], at: Position, traces: &mut Traces) -> Result<(), String> {
        if let Some(frame) = entry::of_line(&String::from_utf8_lossy(line)) {
            self.bytes += line.len();
            self.frame(frame, at, traces);
        }
        Ok(())
    }

    fn finish(&mut self, traces: &mut Traces) {
        let mut export = std::mem::take(&mut self.export);
        let mut times = export.iter().filter_map(|(at, ..)| *at);
        let first = times.next();
        // The newest entry first, as it was shown.
        if first.zip(times.next_back()).is_some_and(|(first, last)| last < first) {
            export.reverse();
        }
        for (_, at, frames) in export {
            for frame in frames {
                self.frame(frame, at, traces);
            }
        }
        let is_only = self.sessions.len() == 1;
        for session in self.sessions.drain(..).filter(|session| is_only || !session.is_idle()) {
            traces.push((session.started, Ok(session.finish())));
        }
        self.bytes = 0;
    }
}

impl CaptureParser {
    fn report_cut_line(&mut self, traces: &mut Traces) {
        traces.extend(self.cut_line.take().map(|(at, problem)| (at, Err(problem))));
    }

    fn frame(&mut self, frame: Frame, at: Position, traces: &mut Traces) {
        let key = frame.session.clone();
        let found = self.sessions.iter().rposition(|session| session.key == key);
        let found = found.or_else(|| self.adopt(key.as_ref(), &frame));
        let index = match found {
            Some(index) if !self.sessions[index].ends_with(&frame) => index,
            _ => {
                if self.sessions.len() >= MAX_SESSIONS {
                    let oldest = self.sessions.remove(0);
                    traces.push((oldest.started, Ok(oldest.finish())));
                }
                let is_first = self.sessions.is_empty();
                let is_complete = is_first && self.has_start;
                let mut session = Session::new(key.clone(), at, is_complete);
                let same = self.sessions.iter_mut().filter(|session| session.key == key);
                for earlier in same.filter(|session| session.is_running()) {
                    earlier.is_shared = true;
                    session.is_shared = true;
                }
                self.sessions.push(session);
                self.sessions.len() - 1
            }
        };
        // A response to a request of an earlier session of the same client.
        let same = self.awaiting(&frame, |session| session.key == key || key.is_none());
        self.sessions[same.unwrap_or(index)].add(frame);
    }

    /// The session that a number belongs to which was not seen before: the one that was just opened. A frame without a
    /// number belongs to the newest session.
    fn adopt(&mut self, key: Option<&String>, frame: &Frame) -> Option<usize> {
        let Some(key) = key else { return self.sessions.len().checked_sub(1) };
        let awaiting = self.awaiting(frame, |session| session.key.is_none());
        let found = awaiting.or_else(|| self.sessions.iter().rposition(Session::is_opening))?;
        let session = &mut self.sessions[found];
        session.key = Some(key.clone());
        session.is_shared = false;
        Some(found)
    }

    /// The newest session that waits for a frame.
    fn awaiting(&self, frame: &Frame, is_meant: impl Fn(&Session) -> bool) -> Option<usize> {
        let sessions = self.sessions.iter().enumerate().filter(|(_, session)| is_meant(session));
        let waiting = sessions.map(|(index, session)| (session.awaits(frame), index));
        waiting.filter(|(rank, _)| *rank > 0).max().map(|(_, index)| index)
    }

    fn note(&mut self, note: &Value, traces: &mut Traces) {
        let words = note.to_string().to_ascii_lowercase();
        // The recorder was started again, and continues the file.
        if words.contains("start") {
            self.cut_line = None;
            self.finish(traces);
            self.has_start = true;
        }
        if words.contains("exit") {
            for session in &mut self.sessions {
                session.has_ended = true;
            }
        }
    }
}
