//! Splits a byte stream into lines; buffers at most one line up to a limit.

use bytes::{Buf, Bytes, BytesMut};

use crate::message::{Skip, TooLong};

/// Initial capacity: enough for most lines.
const ORDINARY: usize = 64 << 10;

/// Collects bytes and returns whole lines, without `\n`, `\r\n` or empty lines.
#[derive(Debug)]
pub struct Lines {
    buffer: BytesMut,
    /// Number of bytes without a line end, so that no byte is searched twice.
    searched: usize,
    limit: usize,
    skippable: usize,
    /// The line that is being skipped because it exceeded the limit.
    skip: Option<Skip>,
}

impl Lines {
    /// Accepts lines of at most `limit` bytes; a longer one ends the stream.
    pub fn new(limit: usize) -> Self {
        let buffer = BytesMut::with_capacity(ORDINARY);
        Self { buffer, searched: 0, limit, skippable: 0, skip: None }
    }

    /// Skips lines above the limit, up to this number of bytes, instead of ending the stream.
    #[must_use]
    pub fn skipping(mut self, bytes: usize) -> Self {
        self.skippable = bytes;
        self
    }

    /// The buffer to read the next bytes into.
    pub fn buffer(&mut self) -> &mut BytesMut {
        // Growing with the line keeps the number of reads of a long line logarithmic.
        let room = (self.buffer.len() / 2).clamp(16 << 10, 1 << 20);
        self.buffer.reserve(room);
        &mut self.buffer
    }

    /// The next whole line, `None` if more bytes are needed.
    ///
    /// # Errors
    /// When a line exceeds the limit.
    pub fn next_line(&mut self) -> Result<Option<Bytes>, TooLong> {
        loop {
            let Some(end) = memchr::memchr(b'\n', &self.buffer[self.searched..]) else {
                if self.skip.is_some() || self.buffer.len() > self.limit {
                    self.skip_buffer()?;
                }
                self.searched = self.buffer.len();
                return Ok(None);
            };
            let mut line = self.buffer.split_to(self.searched + end);
            self.buffer.advance(1);
            self.searched = 0;
            if self.skip.is_some() || line.len() > self.limit {
                return Err(self.skip_end(&line));
            }
            if line.last() == Some(&b'\r') {
                line.truncate(line.len() - 1);
            }
            if !line.is_empty() {
                return Ok(Some(line.freeze()));
            }
        }
    }

    /// The bytes after the last line end, at the end of the stream.
    ///
    /// # Errors
    /// When they exceed the limit.
    pub fn rest(&mut self) -> Result<Option<Bytes>, TooLong> {
        self.searched = 0;
        let rest = self.buffer.split().freeze();
        if self.skip.is_some() {
            return Err(self.skip_end(&rest));
        }
        Ok((!rest.iter().all(u8::is_ascii_whitespace)).then_some(rest))
    }

    /// Skips the received part of a line, and frees its memory.
    fn skip_buffer(&mut self) -> Result<(), TooLong> {
        let first = self.skip.is_none();
        self.skip.get_or_insert_with(|| Skip::new(self.skippable)).feed(&self.buffer)?;
        if first {
            self.buffer = BytesMut::with_capacity(ORDINARY);
        }
        self.buffer.clear();
        Ok(())
    }

    fn skip_end(&mut self, rest: &[u8]) -> TooLong {
        let mut skip = self.skip.take().unwrap_or_else(|| Skip::new(self.skippable));
        match skip.feed(rest) {
            Ok(()) => TooLong::Skipped(skip.end()),
            Err(endless) => endless,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Id, Part};
    use proptest::prelude::*;

    fn split(chunks: &[Vec<u8>]) -> Vec<Bytes> {
        let mut lines = Lines::new(1 << 20);
        let mut out = Vec::new();
        for chunk in chunks {
            lines.buffer().extend_from_slice(chunk);
            while let Some(line) = lines.next_line().unwrap() {
                out.push(line);
            }
        }
        out.extend(lines.rest().unwrap());
        out
    }

    proptest! {
        #[test]
        fn lines_survive_any_chunking(
            lines in prop::collection::vec("[^\r\n]{1,40}", 0..20),
            cuts in prop::collection::vec(0usize..2000, 0..20),
        ) {
            prop_assume!(lines.iter().all(|line| !line.trim().is_empty()));
            let text = lines.iter().fold(String::new(), |text, line| text + line + "\n");
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut % (text.len() + 1)).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let chunks: Vec<Vec<u8>> =
                cuts.windows(2).map(|cut| text.as_bytes()[cut[0]..cut[1]].to_vec()).collect();
            prop_assert_eq!(split(&chunks), lines);
        }
    }

    #[test]
    fn an_endless_line_is_refused_at_the_limit() {
        let mut lines = Lines::new(10);
        lines.buffer().extend_from_slice(b"0123456789a");
        assert_eq!(lines.next_line(), Err(TooLong::Endless));
    }

    #[test]
    fn a_line_above_the_limit_is_skipped_and_the_next_one_read_however_they_are_cut() {
        let text = br#"{"id":1}
{"result":"0123456789","id":7}
{"id":2}
{"id":8,"result":"0123456789"}"#;
        for size in 1..=text.len() {
            let mut lines = Lines::new(10).skipping(100);
            let mut out = Vec::new();
            for chunk in text.chunks(size) {
                lines.buffer().extend_from_slice(chunk);
                loop {
                    match lines.next_line() {
                        Ok(None) => break,
                        read => out.push(read),
                    }
                }
                assert!(lines.buffer.len() <= 10 || size > 10, "{}", lines.buffer.len());
            }
            out.push(lines.rest());
            let skipped = |id| {
                move |read: &Result<Option<Bytes>, TooLong>| match read {
                    Err(TooLong::Skipped(message)) => {
                        message.parts == [Part::Response(Id::Number(id))]
                    }
                    _ => false,
                }
            };
            assert_eq!(out.len(), 4, "{out:?}");
            assert_eq!(out[0], Ok(Some("{\"id\":1}".into())));
            assert!(skipped(7)(&out[1]), "{out:?}");
            assert_eq!(out[2], Ok(Some("{\"id\":2}".into())));
            assert!(skipped(8)(&out[3]), "{out:?}");
        }
    }

    #[test]
    fn a_line_above_what_is_skipped_ends_the_stream() {
        let mut lines = Lines::new(10).skipping(20);
        lines.buffer().extend_from_slice(b"0123456789abcde");
        assert_eq!(lines.next_line(), Ok(None));
        lines.buffer().extend_from_slice(b"0123456789\n");
        assert_eq!(lines.next_line(), Err(TooLong::Endless));
    }

    #[test]
    fn carriage_returns_and_empty_lines_are_framing() {
        assert_eq!(split(&[b"a\r\n\r\n\nb\n".to_vec()]), ["a", "b"]);
    }

    #[test]
    fn a_last_line_without_an_end_is_kept() {
        assert_eq!(split(&[b"a\nb".to_vec()]), ["a", "b"]);
    }
}
