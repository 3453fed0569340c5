//! Splits a byte stream into lines without ever holding more than one capped line.

use bytes::{Buf, Bytes, BytesMut};

/// A line grew beyond the cap before it ended.
#[derive(Debug, PartialEq, Eq)]
pub struct LineTooLong;

/// Collects bytes and gives back whole lines, without `\n`, `\r\n` or empty lines.
#[derive(Debug)]
pub struct Lines {
    buffer: BytesMut,
    /// Bytes of the buffer known to hold no line end, so that no byte is looked at twice.
    searched: usize,
    limit: usize,
}

impl Lines {
    /// Lines of at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { buffer: BytesMut::with_capacity(64 << 10), searched: 0, limit }
    }

    /// Where the next bytes are to be read into.
    pub fn buffer(&mut self) -> &mut BytesMut {
        // Growing with the line keeps the number of reads of a long line logarithmic.
        let room = (self.buffer.len() / 2).clamp(16 << 10, 1 << 20);
        self.buffer.reserve(room);
        &mut self.buffer
    }

    /// The next whole line, `None` if more bytes are needed.
    ///
    /// # Errors
    /// When the line that is being collected exceeds the limit.
    pub fn next_line(&mut self) -> Result<Option<Bytes>, LineTooLong> {
        loop {
            let Some(end) = memchr::memchr(b'\n', &self.buffer[self.searched..]) else {
                self.searched = self.buffer.len();
                return if self.searched > self.limit { Err(LineTooLong) } else { Ok(None) };
            };
            let mut line = self.buffer.split_to(self.searched + end);
            self.buffer.advance(1);
            self.searched = 0;
            if line.len() > self.limit {
                return Err(LineTooLong);
            }
            if line.last() == Some(&b'\r') {
                line.truncate(line.len() - 1);
            }
            if !line.is_empty() {
                return Ok(Some(line.freeze()));
            }
        }
    }

    /// What stands after the last line end, once the stream is over.
    pub fn rest(&mut self) -> Option<Bytes> {
        self.searched = 0;
        let rest = self.buffer.split().freeze();
        (!rest.iter().all(u8::is_ascii_whitespace)).then_some(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
        out.extend(lines.rest());
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
        assert_eq!(lines.next_line(), Err(LineTooLong));
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
