//! Hands out the records of a file one by one, in constant memory: the lines of a log, or the elements of the lists of
//! a document. Knows nothing of formats.

mod members;

use std::io::{self, BufRead};
use std::ops::ControlFlow;

use memchr::{memchr, memchr_iter, memrchr};

use super::scan::Scan;
use members::Members;

/// A place in a file, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

/// A part of a file.
#[derive(Debug, PartialEq)]
pub(crate) enum Piece<'b> {
    /// A whole JSON value: a line, a document, or an element of a list.
    Value { bytes: &'b [u8], at: Position, is_element: bool },
    /// The members of an object before the list of records, as an object.
    Envelope { bytes: &'b [u8] },
    /// A line that does not start like an object or a list.
    Text { bytes: &'b [u8], at: Position },
    /// What cannot be read.
    Broken { at: Position, problem: String },
}

pub(crate) type OnPiece<'f> = &'f mut dyn FnMut(Piece<'_>) -> ControlFlow<()>;

/// A path of keys to a list of records.
pub(crate) type Path = &'static [&'static str];

/// A longer key is none of those that matter.
const LONGEST_KEY: usize = 4096;

/// A buffer above this size is given back after use.
const KEPT_BUFFER: usize = 4 << 20;

impl Position {
    pub(crate) const START: Self = Self { line: 1, column: 1 };

    fn advance(&mut self, bytes: &[u8]) {
        match memrchr(b'\n', bytes) {
            Some(last) => {
                self.line += memchr_iter(b'\n', bytes).count();
                self.column = bytes.len() - last;
            }
            None => self.column += bytes.len(),
        }
    }
}

/// Reads a file in which every line is a record.
pub(crate) fn lines(
    input: &mut impl BufRead,
    limit: usize,
    on: OnPiece<'_>,
) -> io::Result<ControlFlow<()>> {
    let mut at = Position::START;
    let mut partial = Vec::new();
    let mut is_too_large = false;
    loop {
        let chunk = retry(|| input.fill_buf().map(<[u8]>::len))?;
        let bytes = &input.fill_buf()?[..chunk];
        if bytes.is_empty() {
            if partial.is_empty() && !is_too_large {
                return Ok(ControlFlow::Continue(()));
            }
            return Ok(line(&partial, is_too_large, limit, at, on));
        }
        let end = memchr(b'\n', bytes);
        let part = &bytes[..end.unwrap_or(chunk)];
        let mut flow = ControlFlow::Continue(());
        if end.is_some() && partial.is_empty() && !is_too_large && part.len() <= limit {
            flow = line(part, false, limit, at, on);
        } else {
            is_too_large |= partial.len() + part.len() > limit;
            if is_too_large {
                partial = Vec::new();
            } else {
                partial.extend_from_slice(part);
            }
            if end.is_some() {
                flow = line(&partial, is_too_large, limit, at, on);
                renew(&mut partial);
                is_too_large = false;
            }
        }
        if end.is_some() {
            at.line += 1;
        }
        let taken = end.map_or(chunk, |end| end + 1);
        input.consume(taken);
        if flow.is_break() {
            return Ok(flow);
        }
    }
}

fn line(
    bytes: &[u8],
    is_too_large: bool,
    limit: usize,
    mut at: Position,
    on: OnPiece<'_>,
) -> ControlFlow<()> {
    if is_too_large {
        return on(Piece::Broken { at, problem: too_large(limit) });
    }
    // Blanks, and the record separator of RFC 7464.
    let is_blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0x1e;
    let Some(start) = bytes.iter().position(|byte| !is_blank(byte)) else {
        return ControlFlow::Continue(());
    };
    at.column += start;
    let bytes = bytes[start..].trim_ascii_end();
    match bytes.first() {
        Some(b'{' | b'[') => on(Piece::Value { bytes, at, is_element: false }),
        _ => on(Piece::Text { bytes, at }),
    }
}

/// Reads documents: the elements of a list, the elements of lists inside of an object, or objects.
pub(crate) fn document(
    input: &mut impl BufRead,
    containers: &[Path],
    limit: usize,
    on: OnPiece<'_>,
) -> io::Result<ControlFlow<()>> {
    let mut walk = Walk {
        input,
        at: Position::START,
        limit,
        buffer: Vec::new(),
        keep: true,
        is_too_large: false,
        key: None,
    };
    loop {
        walk.start_value();
        walk.space()?;
        walk.start_value();
        let flow = match walk.peek()? {
            None => return Ok(ControlFlow::Continue(())),
            Some(b'[') => walk.array(on)?,
            Some(b'{') => walk.object(containers, on)?,
            // Between documents that somebody joined.
            Some(b',' | 0x1e) => {
                walk.take()?;
                ControlFlow::Continue(())
            }
            Some(_) => walk.text_line(on)?,
        };
        if flow.is_break() {
            return Ok(flow);
        }
    }
}

struct Walk<'i, R> {
    input: &'i mut R,
    at: Position,
    limit: usize,
    /// The bytes of the current value.
    buffer: Vec<u8>,
    keep: bool,
    is_too_large: bool,
    /// The key that is being read. Apart from the buffer, which may be too large to be kept.
    key: Option<Vec<u8>>,
}

/// How a value ended.
enum Ended {
    Whole,
    CutOff,
    Faulty(Position, &'static str),
}

impl<R: BufRead> Walk<'_, R> {
    fn start_value(&mut self) {
        renew(&mut self.buffer);
        self.is_too_large = false;
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        retry(|| self.input.fill_buf().map(|chunk| chunk.first().copied()))
    }

    fn take(&mut self) -> io::Result<()> {
        self.consume(1)
    }

    fn consume(&mut self, count: usize) -> io::Result<()> {
        let bytes = &self.input.fill_buf()?[..count];
        self.at.advance(bytes);
        if let Some(key) = self.key.as_mut().filter(|key| key.len() < LONGEST_KEY) {
            key.extend_from_slice(bytes);
        }
        if self.keep && !self.is_too_large {
            if self.buffer.len() + count > self.limit {
                self.is_too_large = true;
                self.buffer = Vec::new();
            } else {
                self.buffer.extend_from_slice(bytes);
            }
        }
        self.input.consume(count);
        Ok(())
    }

    fn space(&mut self) -> io::Result<()> {
        loop {
            let (blanks, length) = retry(|| {
                self.input.fill_buf().map(|chunk| {
                    let other = chunk.iter().position(|byte| !byte.is_ascii_whitespace());
                    (other.unwrap_or(chunk.len()), chunk.len())
                })
            })?;
            self.consume(blanks)?;
            if blanks < length || length == 0 {
                return Ok(());
            }
        }
    }

    /// Reads one value: to its end, or only to what is broken in it.
    fn value(&mut self, stop_at_fault: bool) -> io::Result<Ended> {
        let mut scan = Scan::new();
        let mut fault = None;
        loop {
            let fed = retry(|| {
                self.input.fill_buf().map(|chunk| {
                    (!chunk.is_empty()).then(|| {
                        let fed = scan.feed(chunk);
                        let fault = fed.fault_at.map(|fault_at| {
                            let mut at = self.at;
                            at.advance(&chunk[..fault_at]);
                            at
                        });
                        (fed, fault)
                    })
                })
            })?;
            let Some((fed, found)) = fed else {
                return Ok(match (fault, scan.fault) {
                    _ if scan.is_whole_at_end() => Ended::Whole,
                    (Some(at), Some(what)) => Ended::Faulty(at, what),
                    _ => Ended::CutOff,
                });
            };
            fault = fault.or(found);
            if let (true, Some(fault_at)) = (stop_at_fault, fed.fault_at) {
                self.consume(fault_at)?;
                return Ok(Ended::Faulty(self.at, scan.fault.unwrap_or_default()));
            }
            self.consume(fed.taken)?;
            if fed.ended {
                return Ok(match (fault, scan.fault) {
                    (Some(at), Some(what)) => Ended::Faulty(at, what),
                    _ => Ended::Whole,
                });
            }
        }
    }

    /// Hands out the elements of a list.
    fn array(&mut self, on: OnPiece<'_>) -> io::Result<ControlFlow<()>> {
        let start = self.at;
        self.take()?;
        let mut has_stray = false;
        loop {
            self.start_value();
            self.space()?;
            self.start_value();
            let at = self.at;
            match self.peek()? {
                None => {
                    let problem = "the file ends inside of a list".to_owned();
                    return Ok(on(Piece::Broken { at: start, problem }));
                }
                Some(b']') => {
                    self.take()?;
                    return Ok(ControlFlow::Continue(()));
                }
                Some(b',') => {
                    self.take()?;
                    continue;
                }
                Some(b'}' | b':') => {
                    self.take()?;
                    if std::mem::replace(&mut has_stray, true) {
                        continue;
                    }
                    let problem = "unexpected character in a list".to_owned();
                    if on(Piece::Broken { at, problem }).is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                    continue;
                }
                Some(_) => {}
            }
            let ended = self.value(false)?;
            let is_cut_off = matches!(ended, Ended::CutOff);
            if self.hand_out(at, ended, true, on).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            if is_cut_off {
                return Ok(ControlFlow::Continue(()));
            }
        }
    }

    fn hand_out(
        &mut self,
        at: Position,
        ended: Ended,
        is_element: bool,
        on: OnPiece<'_>,
    ) -> ControlFlow<()> {
        match ended {
            Ended::CutOff => {
                let problem = "the file ends inside of this record".to_owned();
                on(Piece::Broken { at, problem })
            }
            Ended::Faulty(place, what) => on(Piece::Broken { at, problem: faulty(place, what) }),
            Ended::Whole if self.is_too_large => {
                on(Piece::Broken { at, problem: too_large(self.limit) })
            }
            Ended::Whole => on(Piece::Value { bytes: &self.buffer, at, is_element }),
        }
    }

    /// Hands out an object, or the elements of the lists in it.
    fn object(&mut self, containers: &[Path], on: OnPiece<'_>) -> io::Result<ControlFlow<()>> {
        let at = self.at;
        let mut is_envelope = false;
        let mut depth = 0;
        let members = self.members(containers, &mut depth, &mut is_envelope, on)?;
        self.keep = true;
        let ended = match members {
            Members::Stopped => return Ok(ControlFlow::Break(())),
            Members::Ended(ended) => ended,
        };
        if let Ended::Faulty(place, what) = ended {
            self.skip_to_record()?;
            return Ok(on(Piece::Broken { at, problem: faulty(place, what) }));
        }
        match ended {
            Ended::Whole if is_envelope => Ok(ControlFlow::Continue(())),
            ended => Ok(self.hand_out(at, ended, false, on)),
        }
    }

    /// After a broken record, the next one starts where a line starts with a bracket.
    fn skip_to_record(&mut self) -> io::Result<()> {
        self.keep = false;
        while self.peek()?.is_some() {
            let is_start = self.at.column == 1 && matches!(self.peek()?, Some(b'{' | b'['));
            if is_start {
                break;
            }
            let (end, length) = self.rest_of_line()?;
            self.consume(end.map_or(length, |end| end + 1))?;
        }
        self.keep = true;
        Ok(())
    }

    /// Where the line ends in what was read, and how much was read.
    fn rest_of_line(&mut self) -> io::Result<(Option<usize>, usize)> {
        retry(|| self.input.fill_buf().map(|chunk| (memchr(b'\n', chunk), chunk.len())))
    }

    fn text_line(&mut self, on: OnPiece<'_>) -> io::Result<ControlFlow<()>> {
        let at = self.at;
        loop {
            let (end, length) = self.rest_of_line()?;
            self.consume(end.unwrap_or(length))?;
            if end.is_some() || length == 0 {
                break;
            }
        }
        if self.is_too_large {
            return Ok(on(Piece::Broken { at, problem: too_large(self.limit) }));
        }
        Ok(on(Piece::Text { bytes: self.buffer.trim_ascii_end(), at }))
    }
}

fn renew(buffer: &mut Vec<u8>) {
    buffer.clear();
    if buffer.capacity() > KEPT_BUFFER {
        *buffer = Vec::new();
    }
}

fn too_large(limit: usize) -> String {
    format!("the record is larger than {} MB", limit >> 20)
}

fn faulty(at: Position, what: &str) -> String {
    format!("invalid JSON: {what} at line {} column {}", at.line, at.column)
}

/// Repeats a read that a signal interrupted.
fn retry<T>(mut read: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match read() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

#[cfg(test)]
mod tests;
