//! A parser for server-sent events that accepts chunks of any size.

use bytes::{Buf, Bytes, BytesMut};

use crate::message::{Skip, TooLong};

/// One dispatched event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Event {
    /// The `event` field; empty means `message`.
    pub kind: String,
    /// The `data` lines joined by line feeds.
    pub data: Bytes,
}

/// Collects chunks and returns whole events; skips comments and unknown fields.
#[derive(Debug)]
pub struct Events {
    buffer: BytesMut,
    searched: usize,
    limit: usize,
    kind: String,
    data: BytesMut,
    has_data: bool,
    last_id: Option<String>,
    retry_ms: Option<u64>,
    at_start: bool,
    /// The last line ended with `\r`: a following `\n` belongs to it.
    skip_feed: bool,
    skippable: usize,
    /// The event that is being skipped because it exceeded the limit.
    skip: Option<Skip>,
    /// The kind of a line whose start was skipped already.
    cut_line: Option<CutLine>,
}

/// A line that exceeds the limit.
#[derive(Debug, Clone, Copy)]
enum CutLine {
    Data,
    Other,
}

impl Events {
    /// Accepts events of at most `limit` bytes; a longer one ends the stream.
    pub fn new(limit: usize) -> Self {
        Self {
            buffer: BytesMut::new(),
            searched: 0,
            limit,
            kind: String::new(),
            data: BytesMut::new(),
            has_data: false,
            last_id: None,
            retry_ms: None,
            at_start: true,
            skip_feed: false,
            skippable: 0,
            skip: None,
            cut_line: None,
        }
    }

    /// Skips events above the limit, up to this number of bytes, instead of ending the stream.
    #[must_use]
    pub fn skipping(mut self, bytes: usize) -> Self {
        self.skippable = bytes;
        self
    }

    /// The id of the last event that had one, for resuming.
    pub fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// The time that the server asks us to wait before reconnecting.
    pub fn retry_ms(&self) -> Option<u64> {
        self.retry_ms
    }

    /// Adds bytes from the stream.
    pub fn push(&mut self, chunk: &[u8]) {
        self.buffer.extend_from_slice(chunk);
    }

    /// The next whole event, `None` if more bytes are needed.
    ///
    /// # Errors
    /// When an event exceeds the limit.
    pub fn next_event(&mut self) -> Result<Option<Event>, TooLong> {
        while let Some(line) = self.next_line() {
            if let Some(cut) = self.cut_line.take() {
                self.skip_piece(cut, &line)?;
                continue;
            }
            if line.is_empty() {
                if let Some(event) = self.dispatch()? {
                    return Ok(Some(event));
                }
                continue;
            }
            self.field(&line)?;
            if self.data.len() > self.limit {
                self.skip_data()?;
            }
        }
        let too_long = self.buffer.len() + self.data.len() > self.limit;
        if self.cut_line.is_some() || too_long {
            self.skip_line()?;
        }
        self.searched = self.buffer.len();
        Ok(None)
    }

    /// Skips the data so far, and all data that follows.
    fn skip_data(&mut self) -> Result<&mut Skip, TooLong> {
        let data = std::mem::take(&mut self.data);
        let skip = self.skip.get_or_insert_with(|| Skip::new(self.skippable));
        skip.feed(&data)?;
        Ok(skip)
    }

    /// Skips the received part of a line that exceeds the limit.
    fn skip_line(&mut self) -> Result<(), TooLong> {
        if let Some(cut) = self.cut_line {
            let piece = std::mem::take(&mut self.buffer);
            return self.skip_piece(cut, &piece);
        }
        self.skip_data()?;
        if b"data:".starts_with(&self.buffer) {
            // The kind of this line is not known yet.
            return Ok(());
        }
        let piece = std::mem::take(&mut self.buffer);
        if piece.starts_with(b"data:") {
            self.cut_line = Some(CutLine::Data);
            return self.field(&piece);
        }
        self.cut_line = Some(CutLine::Other);
        self.skip_piece(CutLine::Other, &piece)
    }

    fn skip_piece(&mut self, cut: CutLine, piece: &[u8]) -> Result<(), TooLong> {
        let skip = self.skip_data()?;
        match cut {
            CutLine::Data => skip.feed(piece),
            CutLine::Other => skip.pass(piece.len()),
        }
    }

    fn next_line(&mut self) -> Option<Bytes> {
        if self.skip_feed && !self.buffer.is_empty() {
            self.skip_feed = false;
            if self.buffer[0] == b'\n' {
                self.buffer.advance(1);
            }
        }
        let rest = &self.buffer[self.searched..];
        let Some(end) = memchr::memchr2(b'\n', b'\r', rest) else {
            self.searched = self.buffer.len();
            return None;
        };
        let mut line = self.buffer.split_to(self.searched + end);
        self.skip_feed = self.buffer[0] == b'\r';
        self.buffer.advance(1);
        self.searched = 0;
        if std::mem::take(&mut self.at_start) && line.starts_with(b"\xEF\xBB\xBF") {
            line.advance(3);
        }
        Some(line.freeze())
    }

    fn field(&mut self, line: &[u8]) -> Result<(), TooLong> {
        let (name, value) = match line.iter().position(|&byte| byte == b':') {
            Some(0) => return Ok(()),
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"event" => self.kind = String::from_utf8_lossy(value).into_owned(),
            b"data" => {
                let between: &[u8] =
                    if std::mem::replace(&mut self.has_data, true) { b"\n" } else { b"" };
                if let Some(skip) = &mut self.skip {
                    skip.feed(between)?;
                    skip.feed(value)?;
                } else {
                    self.data.extend_from_slice(between);
                    self.data.extend_from_slice(value);
                }
            }
            b"id" if !value.contains(&0) => {
                self.last_id = Some(String::from_utf8_lossy(value).into_owned());
            }
            b"retry" => {
                if let Ok(Ok(retry)) = std::str::from_utf8(value).map(str::parse) {
                    self.retry_ms = Some(retry);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn dispatch(&mut self) -> Result<Option<Event>, TooLong> {
        let kind = std::mem::take(&mut self.kind);
        let has_data = std::mem::take(&mut self.has_data);
        if let Some(skip) = self.skip.take() {
            return Err(TooLong::Skipped(skip.end()));
        }
        let data = self.data.split().freeze();
        // An event without data (a priming event with only an id) is not dispatched.
        Ok((has_data && !data.is_empty()).then_some(Event { kind, data }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Id, Part};
    use proptest::prelude::*;

    fn parse(chunks: &[&[u8]]) -> (Vec<Event>, Events) {
        let mut events = Events::new(1 << 20);
        let mut out = Vec::new();
        for chunk in chunks {
            events.push(chunk);
            while let Some(event) = events.next_event().unwrap() {
                out.push(event);
            }
        }
        (out, events)
    }

    const STREAM: &[u8] =
        b"\xEF\xBB\xBF: hello\r\nid: 7\nretry: 30\ndata:\n\nevent: endpoint\rdata: /m?x=1\r\r\
          data: {\"a\":\r\ndata: 1}\r\n\r\nnonsense\nid: 8\ndata: z\n\n";

    fn expected() -> Vec<Event> {
        let event = |kind: &str, data: &'static str| Event { kind: kind.into(), data: data.into() };
        vec![event("endpoint", "/m?x=1"), event("", "{\"a\":\n1}"), event("", "z")]
    }

    #[test]
    fn reads_every_line_ending_comments_priming_events_and_ids() {
        let (events, state) = parse(&[STREAM]);
        assert_eq!(events, expected());
        assert_eq!(state.last_id(), Some("8"));
        assert_eq!(state.retry_ms(), Some(30));
    }

    proptest! {
        #[test]
        fn chunking_never_changes_the_events(cuts in prop::collection::vec(0usize..=STREAM.len(), 0..40)) {
            let mut cuts = cuts;
            cuts.extend([0, STREAM.len()]);
            cuts.sort_unstable();
            let chunks: Vec<&[u8]> = cuts.windows(2).map(|cut| &STREAM[cut[0]..cut[1]]).collect();
            prop_assert_eq!(parse(&chunks).0, expected());
        }

        #[test]
        fn arbitrary_bytes_never_panic(chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..50), 0..20)) {
            let chunks: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
            let _ = parse(&chunks);
        }
    }

    #[test]
    fn a_giant_event_is_refused_at_the_limit_however_it_is_cut() {
        let mut events = Events::new(10);
        events.push(b"data: 0123456789abcdef");
        assert_eq!(events.next_event(), Err(TooLong::Endless));
        let mut events = Events::new(10);
        events.push(b"data: 01234\ndata: 56789\ndata: a\n");
        assert_eq!(events.next_event(), Err(TooLong::Endless));
    }

    #[test]
    fn an_event_above_the_limit_is_skipped_and_the_next_one_read_however_they_are_cut() {
        let stream = b"id: 1\ndata: {\"id\":1}\n\n\
            id: 2\ndata: {\"result\":\"0123456789\",\r\ndata: \"id\":7}\r\n\r\n\
            : a comment that is longer than the limit is no message\r\r\
            event: message\ndata: {\"id\":2}\n\n\
            data: {\"id\":8,\"result\":\"0123456789\"}\nid: 3\n\n";
        for size in 1..=stream.len() {
            let mut events = Events::new(16).skipping(200);
            let (mut whole, mut skipped) = (Vec::new(), Vec::new());
            for chunk in stream.chunks(size) {
                events.push(chunk);
                loop {
                    match events.next_event() {
                        Ok(Some(event)) => whole.push(event.data),
                        Ok(None) => break,
                        Err(TooLong::Skipped(message)) => skipped.extend(message.parts),
                        Err(TooLong::Endless) => panic!("cut into {size}"),
                    }
                }
            }
            assert_eq!(whole, ["{\"id\":1}", "{\"id\":2}"], "cut into {size}");
            let expected = [7, 8].map(|id| Part::Response(Id::Number(id)));
            assert_eq!(skipped, expected, "cut into {size}");
            assert_eq!(events.last_id(), Some("3"), "cut into {size}");
        }
    }

    #[test]
    fn an_event_above_what_is_skipped_ends_the_stream() {
        let mut events = Events::new(10).skipping(20);
        events.push(b"data: 0123456789abcde");
        assert_eq!(events.next_event(), Ok(None));
        events.push(b"0123456789");
        assert_eq!(events.next_event(), Err(TooLong::Endless));
    }
}
