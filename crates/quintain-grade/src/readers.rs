//! Readers of traces: each turns one format into traces. One file each; the registry below lists them all. A file is
//! read record by record in bounded memory, and a record that cannot be read does not affect the others.
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! use quintain_grade::readers::{ReadOptions, Record, read};
//!
//! let file = "{\"input\": \"Hi\", \"actual_output\": \"Hello\"}\nnonsense\n";
//! let mut seen = Vec::new();
//! let mut sink = |record| {
//!     seen.push(match record {
//!         Record::Trace(trace, place) => format!("{place}: {:?}", trace.answer()),
//!         Record::Bad(bad) => bad.to_string(),
//!     });
//!     ControlFlow::Continue(())
//! };
//! let reader = read(file.as_bytes(), "cases.jsonl", None, &ReadOptions::default(), &mut sink)?;
//! assert_eq!(reader.meta().id, "deepeval");
//! assert_eq!(
//!     seen,
//!     ["cases.jsonl:1:1: Some(\"Hello\")", "cases.jsonl:2:1: expected a JSON object or array on the line, found `nonsense`"]
//! );
//! # Ok::<(), quintain_grade::readers::ReadError>(())
//! ```

use std::io::{self, BufRead, Read as _};
use std::ops::ControlFlow;

use quintain_content::registry::Meta;
use quintain_evidence::result::SourcePlace;
use quintain_evidence::trace::{Trace, TraceServer};
use thiserror::Error;

mod anthropic;
mod capture;
mod chat_record;
mod conversation;
mod deepeval;
mod message;
mod model_prompt;
mod native;
mod openai_chat;
mod openai_responses;
mod otlp;
mod promptfoo;
mod router;
pub mod stored_run;
pub mod surface_file;

pub use self::router::Router;
pub use crate::json_input::record::JsonRecord;
use crate::json_input::sample::{self, Sample};
pub use crate::json_input::walk::Position;
use crate::json_input::walk::{self, Path, Piece};

/// A record above this size is not kept in memory.
pub const MAX_RECORD: usize = 256 << 20;

/// One format.
pub trait Reader: Sync {
    fn meta(&self) -> &'static Meta;

    /// How certain it is that the sample is of this format, from 0 to 100.
    fn recognises(&self, sample: &Sample) -> u8;

    /// Where the records are in a document that is one object: paths of keys to lists.
    fn containers(&self) -> &'static [Path] {
        &[]
    }

    fn open(&self) -> Box<dyn Parser>;
}

/// Turns the records of one file into traces.
pub trait Parser {
    /// Reads a record. A trace may need several records; then it follows with a later one, or at the end.
    ///
    /// # Errors
    /// What is wrong with the record.
    fn record(&mut self, record: JsonRecord<'_>, traces: &mut Traces) -> Result<(), String>;

    /// What precedes the list of records in a document: an object.
    fn envelope(&mut self, _bytes: &[u8]) {}

    /// A line that is not JSON.
    ///
    /// # Errors
    /// That it is not, unless the format has such lines.
    fn text(&mut self, line: &[u8], _at: Position, _traces: &mut Traces) -> Result<(), String> {
        let start: String = String::from_utf8_lossy(line).chars().take(40).collect();
        Err(format!("expected a JSON object or array on the line, found `{start}`"))
    }

    /// The end of the file.
    fn finish(&mut self, _traces: &mut Traces) {}
}

/// The traces that a parser has completed, each with the place at which it starts, and what it could not use.
pub type Traces = Vec<(Position, Result<Trace, String>)>;

/// What users decide.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    /// How calls through a router are unwrapped; none leaves them alone.
    pub router: Option<Router>,
    /// Servers with their tools, for traces that do not record them.
    pub servers: Vec<TraceServer>,
    /// In bytes.
    pub max_record: usize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { router: None, servers: Vec::new(), max_record: MAX_RECORD }
    }
}

/// What a file contains.
#[derive(Debug, Clone, PartialEq)]
pub enum Record {
    Trace(Box<Trace>, SourcePlace),
    Bad(BadRecord),
}

/// A record that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{place}: {problem}")]
pub struct BadRecord {
    pub place: SourcePlace,
    pub problem: String,
}

/// Why a file cannot be read at all.
#[derive(Debug, Error)]
pub enum ReadError {
    #[error("cannot read `{file}`: {source}")]
    Io { file: String, source: io::Error },
    #[error("`{file}` is empty")]
    Empty { file: String },
    #[error("`{file}`: {problem}")]
    NotText { file: String, problem: &'static str },
    #[error("the format of `{file}` is unknown; name it with --format, one of: {formats}")]
    UnknownFormat { file: String, formats: String },
}

/// All formats.
pub static READERS: &[&dyn Reader] = &[
    &native::Native,
    &capture::Capture,
    &otlp::Otlp,
    &promptfoo::Promptfoo,
    &deepeval::DeepEval,
    &openai_responses::OpenAiResponses,
    &anthropic::Anthropic,
    &openai_chat::OpenAiChat,
];

/// A format by its id or an alias.
pub fn by_name(name: &str) -> Option<&'static dyn Reader> {
    READERS.iter().copied().find(|reader| reader.meta().answers_to(name))
}

/// The ids of all formats, for messages.
pub fn names() -> String {
    READERS.iter().map(|reader| reader.meta().id).collect::<Vec<_>>().join(", ")
}

/// Reads the traces of a file in order, until the sink breaks. Without a format it is detected from the head of the
/// file. Returns the format.
///
/// # Errors
/// If the file as a whole cannot be read; what concerns one record goes to the sink.
pub fn read(
    mut input: impl BufRead,
    file: &str,
    format: Option<&'static dyn Reader>,
    options: &ReadOptions,
    sink: &mut dyn FnMut(Record) -> ControlFlow<()>,
) -> Result<&'static dyn Reader, ReadError> {
    let failed = |source| ReadError::Io { file: file.to_owned(), source };
    let mut head = Vec::new();
    (&mut input).take(sample::HEAD as u64).read_to_end(&mut head).map_err(failed)?;
    let is_whole = head.len() < sample::HEAD;
    if head.starts_with(b"\xef\xbb\xbf") {
        head.drain(..3);
    }
    if is_whole && head.trim_ascii().is_empty() {
        return Err(ReadError::Empty { file: file.to_owned() });
    }
    // A list of no traces is a valid file of any format.
    if is_whole && head.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).eq(*b"[]") {
        return Ok(format.unwrap_or(READERS[0]));
    }
    let sample = Sample::of(&head, is_whole)
        .map_err(|problem| ReadError::NotText { file: file.to_owned(), problem })?;
    let reader = format
        .or_else(|| detect(&sample))
        .ok_or_else(|| ReadError::UnknownFormat { file: file.to_owned(), formats: names() })?;
    let mut input = io::Cursor::new(head).chain(input);
    let mut delivery = Delivery { parser: reader.open(), file, options, sink, traces: Vec::new() };
    let mut on = |piece: Piece<'_>| delivery.piece(piece);
    let limit = options.max_record;
    let flow = if sample.is_lines(reader.containers()) {
        walk::lines(&mut input, limit, &mut on)
    } else {
        walk::document(&mut input, reader.containers(), limit, &mut on)
    };
    if flow.map_err(failed)?.is_continue() {
        delivery.parser.finish(&mut delivery.traces);
        let _ = delivery.deliver();
    }
    Ok(reader)
}

/// The most certain reader; of several the first.
fn detect(sample: &Sample) -> Option<&'static dyn Reader> {
    let mut best = None;
    for reader in READERS {
        let certainty = reader.recognises(sample);
        if certainty > best.map_or(0, |(most, _)| most) {
            best = Some((certainty, *reader));
        }
    }
    best.map(|(_, reader)| reader)
}

/// Passes pieces of a file to a parser, and what it makes of them to the sink.
struct Delivery<'d> {
    parser: Box<dyn Parser>,
    file: &'d str,
    options: &'d ReadOptions,
    sink: &'d mut dyn FnMut(Record) -> ControlFlow<()>,
    traces: Traces,
}

impl Delivery<'_> {
    fn piece(&mut self, piece: Piece<'_>) -> ControlFlow<()> {
        let traces = &mut self.traces;
        let (at, read) = match piece {
            Piece::Envelope { bytes } => {
                self.parser.envelope(bytes);
                return ControlFlow::Continue(());
            }
            Piece::Value { bytes, at, is_element } => {
                let record = JsonRecord { bytes, at, is_element };
                (at, self.parser.record(record, traces))
            }
            Piece::Text { bytes, at } => (at, self.parser.text(bytes, at, traces)),
            Piece::Broken { at, problem } => (at, Err(problem)),
        };
        if let Err(problem) = read {
            traces.push((at, Err(problem)));
        }
        self.deliver()
    }

    fn deliver(&mut self) -> ControlFlow<()> {
        for (at, trace) in self.traces.drain(..) {
            let place =
                SourcePlace { file: self.file.to_owned(), line: at.line, column: at.column };
            let record = match trace {
                // Nothing is wrong with nothing, so it would pass; a session without calls is a fact of its own.
                Ok(trace)
                    if trace.steps.is_empty() && trace.expected.is_empty() && !trace.is_capture =>
                {
                    let problem = "the record contains neither messages nor calls".to_owned();
                    Record::Bad(BadRecord { place, problem })
                }
                Ok(mut trace) => {
                    complete(&mut trace, self.options);
                    Record::Trace(Box::new(trace), place)
                }
                Err(problem) => Record::Bad(BadRecord { place, problem }),
            };
            (self.sink)(record)?;
        }
        ControlFlow::Continue(())
    }
}

/// Applies what does not depend on the format: the router, and servers for traces that do not record them.
pub fn complete(trace: &mut Trace, options: &ReadOptions) {
    if let Some(router) = &options.router {
        router::unwrap(trace, router, &options.servers);
    }
    // One list without a name is that of every server whose own is not recorded.
    if let [known] = options.servers.as_slice()
        && known.name.is_none()
    {
        let mut unlisted = trace.servers.iter_mut().filter(|server| server.listings.is_empty());
        if let Some(first) = unlisted.next() {
            for server in std::iter::once(first).chain(unlisted) {
                server.listings.clone_from(&known.listings);
            }
            return;
        }
    }
    for known in &options.servers {
        let same = trace.servers.iter_mut().find(|server| server.name == known.name);
        match same {
            None => trace.servers.push(known.clone()),
            Some(server) if server.listings.is_empty() => server.clone_from(known),
            Some(_) => {}
        }
    }
}

#[cfg(test)]
mod tests;
