//! Streams of events: server-sent events, and JSON lines.

/// How a stream separates its events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    Sse,
    Lines,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) data: String,
}

/// Splits bytes into events, wherever chunks end.
pub(crate) struct Splitter {
    framing: Framing,
    /// Bytes of a line that is not complete.
    rest: Vec<u8>,
    data: Vec<String>,
}

impl Splitter {
    pub(crate) fn new(framing: Framing) -> Self {
        Self { framing, rest: Vec::new(), data: Vec::new() }
    }

    /// The events that a chunk completes.
    pub(crate) fn push(&mut self, chunk: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            self.rest.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                let line = std::mem::take(&mut self.rest);
                events.extend(self.line(&line));
            }
        }
        events
    }

    /// The event that the end of the stream completes. A last line without a line break is a line; an event without
    /// the empty line after it counts as well, since some servers leave it out.
    pub(crate) fn finish(&mut self) -> Vec<Event> {
        let line = std::mem::take(&mut self.rest);
        let mut events: Vec<Event> = self.line(&line).into_iter().collect();
        events.extend(self.complete());
        events
    }

    fn line(&mut self, line: &[u8]) -> Option<Event> {
        let line = String::from_utf8_lossy(line);
        let line = line.trim_end_matches(['\r', '\n']).trim_start_matches('\u{feff}');
        if self.framing == Framing::Lines {
            let data = line.trim();
            return (!data.is_empty()).then(|| Event { data: data.to_owned() });
        }
        if line.is_empty() {
            return self.complete();
        }
        // Names of events repeat what the data has as `type`; ids and comments do not matter.
        if let Some(data) = line.strip_prefix("data:") {
            self.data.push(data.strip_prefix(' ').unwrap_or(data).to_owned());
        }
        None
    }

    fn complete(&mut self) -> Option<Event> {
        let data = std::mem::take(&mut self.data);
        (!data.is_empty()).then(|| Event { data: data.join("\n") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(framing: Framing, chunks: &[&str]) -> Vec<String> {
        let mut splitter = Splitter::new(framing);
        let mut events: Vec<Event> =
            chunks.iter().flat_map(|chunk| splitter.push(chunk.as_bytes())).collect();
        events.extend(splitter.finish());
        events.into_iter().map(|event| event.data).collect()
    }

    #[test]
    fn events_are_found_wherever_chunks_end() {
        let text = ": ping\r\nevent: a\r\ndata: {\"x\":\r\ndata: \"ä\"}\r\n\r\ndata: [DONE]\n\n";
        let expected = vec!["{\"x\":\n\"ä\"}", "[DONE]"];
        assert_eq!(split(Framing::Sse, &[text]), expected);
        let mut splitter = Splitter::new(Framing::Sse);
        let bytes = text.as_bytes().chunks(1).flat_map(|byte| splitter.push(byte));
        let bytes: Vec<String> = bytes.map(|event| event.data).collect();
        assert_eq!(bytes, expected);
    }

    #[test]
    fn a_last_event_needs_no_empty_line() {
        assert_eq!(split(Framing::Sse, &["data: a"]), ["a"]);
        assert_eq!(
            split(Framing::Lines, &["{\"a\":1}\n\n{\"b\"", ":2}"]),
            ["{\"a\":1}", "{\"b\":2}"]
        );
    }
}
