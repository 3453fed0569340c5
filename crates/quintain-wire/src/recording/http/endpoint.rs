//! Rewrites the `endpoint` event of the older HTTP transport: an absolute URL on the server's origin would lead clients
//! past the proxy. Its origin is replaced by the one that the client uses. Nothing else changes.
//!
//! Bytes are held back only while they may be such an event.

use url::Url;

/// A longer event is not an endpoint.
const MAX_EVENT: usize = 4 << 10;

/// Watches a stream of events.
pub(super) struct EndpointRewriter {
    /// The origin of the server, to be replaced.
    upstream: Url,
    /// Scheme and authority as the client writes them.
    own: String,
    /// The start of the current event.
    held: Vec<u8>,
    /// Whether the current event is known to be something else.
    passing: bool,
    /// The end of the last bytes that were passed on, to find the end of an event.
    line_is_empty: bool,
    after_return: bool,
}

impl EndpointRewriter {
    pub(super) fn new(upstream: Url, own: String) -> Self {
        Self {
            upstream,
            own,
            held: Vec::new(),
            passing: false,
            line_is_empty: true,
            after_return: false,
        }
    }

    /// The bytes to pass on now.
    pub(super) fn push(&mut self, chunk: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(chunk.len());
        for &byte in chunk {
            let ends_event = self.is_end_of_event(byte);
            if self.passing {
                out.push(byte);
            } else {
                self.held.push(byte);
            }
            if ends_event {
                let event = std::mem::take(&mut self.held);
                out.extend_from_slice(&self.rewritten(event));
                self.passing = false;
            } else if !self.passing && !self.may_be_endpoint(byte) {
                out.append(&mut self.held);
                self.passing = true;
            }
        }
        // A comment keeps a connection alive, so it must not wait for more.
        if !self.passing && self.line_is_empty && has_only_comments(&self.held) {
            out.append(&mut self.held);
        }
        out
    }

    /// The bytes that are still held back when the stream ends.
    pub(super) fn end(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }

    /// An event ends with an empty line; `\r\n` is one line end.
    fn is_end_of_event(&mut self, byte: u8) -> bool {
        let after_return = std::mem::replace(&mut self.after_return, byte == b'\r');
        match byte {
            b'\n' if after_return => false,
            b'\n' | b'\r' => std::mem::replace(&mut self.line_is_empty, true),
            _ => {
                self.line_is_empty = false;
                false
            }
        }
    }

    /// Whether what is held may become an endpoint event with an absolute URL. Called after every byte, so it looks only
    /// at the last line, and decides at its end or when its first letters exclude it.
    fn may_be_endpoint(&self, byte: u8) -> bool {
        if self.held.len() > MAX_EVENT {
            return false;
        }
        let is_end = matches!(byte, b'\n' | b'\r');
        let body = if is_end { &self.held[..self.held.len() - 1] } else { &self.held[..] };
        let start =
            body.iter().rposition(|byte| matches!(byte, b'\n' | b'\r')).map_or(0, |at| at + 1);
        let line = body[start..].strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&body[start..]);
        if let Some(kind) = value(line, b"event") {
            return if is_end { kind == b"endpoint" } else { b"endpoint".starts_with(kind) };
        }
        if let Some(data) = value(line, b"data") {
            let starts = |word: &[u8]| {
                let length = word.len().min(data.len());
                data[..length].eq_ignore_ascii_case(&word[..length])
            };
            // An empty first line of data cannot be a URL.
            return [&b"http:"[..], b"https:", b"//"].into_iter().any(starts)
                && !(is_end && data.is_empty());
        }
        true
    }

    fn rewritten(&self, event: Vec<u8>) -> Vec<u8> {
        let Some(place) = self.url_place(&event) else { return event };
        let mut new = Vec::with_capacity(event.len() + self.own.len());
        new.extend_from_slice(&event[..place.start]);
        new.extend_from_slice(self.own.as_bytes());
        new.extend_from_slice(&event[place.end..]);
        new
    }

    /// The place of the origin in an endpoint event, if it is the server's.
    fn url_place(&self, event: &[u8]) -> Option<std::ops::Range<usize>> {
        let mut kind: &[u8] = b"";
        let mut data = None;
        let mut at = 0;
        for line in event.split(|byte| matches!(byte, b'\n' | b'\r')) {
            let bare = line.strip_prefix(b"\xEF\xBB\xBF").filter(|_| at == 0).unwrap_or(line);
            kind = value(bare, b"event").unwrap_or(kind);
            if let Some(text) = value(bare, b"data") {
                // A URL has one line.
                if data.is_some() {
                    return None;
                }
                data = Some((at + line.len() - text.len(), text));
            }
            at += line.len() + 1;
        }
        let (start, text) = data.filter(|_| kind == b"endpoint")?;
        let text = std::str::from_utf8(text).ok()?;
        let url = self.upstream.join(text).ok()?;
        let is_absolute = text.starts_with("//") || Url::parse(text).is_ok();
        if !is_absolute || !same_origin(&url, &self.upstream) {
            return None;
        }
        let authority = text.find("//")? + 2;
        let end = text[authority..].find(['/', '?', '#']).map_or(text.len(), |end| authority + end);
        Some(start..start + end)
    }
}

/// The value of a line with this field.
fn value<'l>(line: &'l [u8], field: &[u8]) -> Option<&'l [u8]> {
    let value = line.strip_prefix(field)?.strip_prefix(b":")?;
    Some(value.strip_prefix(b" ").unwrap_or(value))
}

fn has_only_comments(lines: &[u8]) -> bool {
    let mut lines = lines.split(|byte| matches!(byte, b'\n' | b'\r'));
    lines.all(|line| line.is_empty() || line.starts_with(b":"))
}

/// Whether two URLs name the same server. All names of this machine are one.
pub(super) fn same_origin(one: &Url, other: &Url) -> bool {
    let is_host_same = one.host() == other.host()
        || crate::net::is_loopback(one) && crate::net::is_loopback(other);
    one.scheme() == other.scheme()
        && is_host_same
        && one.port_or_known_default() == other.port_or_known_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rewrite(chunks: &[&[u8]]) -> String {
        let upstream = "http://127.0.0.1:3000/sse".parse().unwrap();
        let mut rewriter = EndpointRewriter::new(upstream, "http://localhost:9".to_owned());
        let mut out = Vec::new();
        chunks.iter().for_each(|chunk| out.extend(rewriter.push(chunk)));
        out.extend(rewriter.end());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn an_absolute_endpoint_of_the_server_leads_to_the_proxy() {
        for (sent, passed) in [
            (
                "event: endpoint\ndata: http://127.0.0.1:3000/m?s=1\n\n",
                "event: endpoint\ndata: http://localhost:9/m?s=1\n\n",
            ),
            (
                "data: http://localhost:3000/m\r\nevent: endpoint\r\n\r\n",
                "data: http://localhost:9/m\r\nevent: endpoint\r\n\r\n",
            ),
            (
                ": hi\n\n: more\nevent:endpoint\rdata:HTTP://127.0.0.1:3000\r\r",
                ": hi\n\n: more\nevent:endpoint\rdata:http://localhost:9\r\r",
            ),
            (
                "\u{feff}event: endpoint\ndata: //127.0.0.1:3000/m\n\ndata: x\n\n",
                "\u{feff}event: endpoint\ndata: http://localhost:9/m\n\ndata: x\n\n",
            ),
            (
                "id: 1\nevent: endpoint\nid: 2\ndata: http://127.0.0.1:3000?x\n\n",
                "id: 1\nevent: endpoint\nid: 2\ndata: http://localhost:9?x\n\n",
            ),
        ] {
            assert_eq!(rewrite(&[sent.as_bytes()]), passed);
            let bytes: Vec<&[u8]> = sent.as_bytes().chunks(1).collect();
            assert_eq!(rewrite(&bytes), passed, "byte by byte");
        }
    }

    #[test]
    fn nothing_else_changes() {
        for sent in [
            "event: endpoint\ndata: /m?u=http://127.0.0.1:3000/\n\n",
            "event: endpoint\ndata: http://example.com/m\n\n",
            "event: endpoint\ndata: http://127.0.0.1:3001/m\n\n",
            "event: endpoint\ndata: https://127.0.0.1:3000/m\n\n",
            "event: message\ndata: http://127.0.0.1:3000/m\n\n",
            "data: http://127.0.0.1:3000/m\n\n",
            "event: endpoint\ndata: http://127.0.0.1:3000/m\ndata: x\n\n",
            "event: endpoint\ndata: http://127.0.0.1:3000/m",
            "event: endpoints\ndata: http://127.0.0.1:3000/m\n\n",
        ] {
            assert_eq!(rewrite(&[sent.as_bytes()]), sent);
        }
    }

    #[test]
    fn what_cannot_be_an_endpoint_is_passed_on_at_once() {
        let upstream: Url = "http://h/sse".parse().unwrap();
        for start in [
            "data: {\"a\"",
            "event: m",
            "event: message\nda",
            ": ping\n",
            ":\r\n\r\n",
            "data: /m",
            "data:h1",
        ] {
            let mut rewriter = EndpointRewriter::new(upstream.clone(), "http://p".to_owned());
            assert_eq!(rewriter.push(start.as_bytes()), start.as_bytes(), "{start}");
        }
        let long = format!("data: http{}", "x".repeat(MAX_EVENT));
        let mut rewriter = EndpointRewriter::new(upstream, "http://p".to_owned());
        assert_eq!(rewriter.push(long.as_bytes()).len(), long.len());
    }

    proptest! {
        #[test]
        fn any_other_stream_passes_unchanged(
            parts in prop::collection::vec(prop::sample::select(vec![
                "data: ", "event: ", "endpoint", "message", "\n", "\r\n", "\r", ":", "x", "/m", "http", "https://h2/", "id: 3", "\n\n",
            ]), 0..40),
            cuts in prop::collection::vec(0usize..200, 0..8),
        ) {
            let sent: String = parts.concat();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(sent.len())).collect();
            cuts.extend([0, sent.len()]);
            cuts.sort_unstable();
            let chunks: Vec<&[u8]> = cuts.windows(2).map(|cut| &sent.as_bytes()[cut[0]..cut[1]]).collect();
            prop_assert_eq!(rewrite(&chunks), sent);
        }
    }
}
