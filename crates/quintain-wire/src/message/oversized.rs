//! Finds out which request a message belongs to that is too large to keep, while it is skipped.
//!
//! The scan follows only brackets and strings, so it needs a few hundred bytes for a message of any size, and finds an
//! `id` at any position. It does not validate, because the message is dropped anyway.

use bytes::Bytes;

use super::Id;

/// Number of bytes of the start of the message to keep, for people to read.
const HEAD: usize = 200;
/// Maximum length of names and ids; ours are never longer.
const LONGEST_TOKEN: usize = 256;
/// Maximum number of messages to distinguish in a batch.
const PARTS: usize = 1_024;

/// A message that exceeded the limit and was skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Oversized {
    /// Its first bytes.
    pub head: Bytes,
    /// The messages in it: one, several for a batch, none if it is not JSON.
    pub parts: Vec<Part>,
}

/// The kind of a skipped JSON-RPC message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// A response to our request.
    Response(Id),
    /// A request of the target, which waits for a response.
    Request(Id),
    /// A notification of the target.
    Notification,
    /// Neither `method` nor `id`.
    Nameless,
}

/// Why a reader returns no message.
#[derive(Debug, PartialEq, Eq)]
pub enum TooLong {
    /// The message exceeded the limit and was skipped; reading can continue.
    Skipped(Oversized),
    /// The message exceeded the limit for skipping, too; nothing after it can be read.
    Endless,
}

/// Skips a message in pieces of any size.
#[derive(Debug)]
pub(crate) struct Skip {
    head: Vec<u8>,
    scan: Scan,
    /// Number of bytes that may still be skipped.
    left: usize,
}

impl Skip {
    /// Skips at most `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self { head: Vec::new(), scan: Scan::default(), left: limit }
    }

    /// Skips the next piece of the message.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        self.pass(bytes.len())?;
        let room = HEAD - self.head.len();
        self.head.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.scan.feed(bytes);
        Ok(())
    }

    /// Skips bytes of framing, which are not part of the message.
    pub(crate) fn pass(&mut self, count: usize) -> Result<(), TooLong> {
        self.left = self.left.checked_sub(count).ok_or(TooLong::Endless)?;
        Ok(())
    }

    /// The result, at the end of the message.
    pub(crate) fn end(self) -> Oversized {
        Oversized { head: self.head.into(), parts: self.scan.end() }
    }
}

/// What the scan reads among the members of a message.
#[derive(Debug, Default, PartialEq, Eq)]
enum Reading {
    #[default]
    Name,
    Id,
    OtherValue,
}

#[derive(Debug, Default)]
struct Scan {
    /// Depth of the members of a message: 1, or 2 in a batch; 0 before the first bracket.
    level: usize,
    depth: usize,
    is_json: Option<bool>,
    in_string: bool,
    escaped: bool,
    reading: Reading,
    /// The name or id that is being read; longer ones are truncated.
    token: Vec<u8>,
    id: Option<Id>,
    has_method: bool,
    parts: Vec<Part>,
}

impl Scan {
    fn feed(&mut self, mut bytes: &[u8]) {
        while let Some(&byte) = bytes.first() {
            if self.is_json == Some(false) {
                return;
            }
            if self.in_string && !self.escaped {
                // Most of a large message is text, which is skipped at once.
                let plain = memchr::memchr2(b'"', b'\\', bytes).unwrap_or(bytes.len());
                if plain > 0 {
                    self.keep(&bytes[..plain]);
                    bytes = &bytes[plain..];
                    continue;
                }
            }
            self.step(byte);
            bytes = &bytes[1..];
        }
    }

    fn step(&mut self, byte: u8) {
        if self.in_string {
            self.keep(&[byte]);
            let ends = byte == b'"' && !self.escaped;
            self.escaped = byte == b'\\' && !self.escaped;
            self.in_string = !ends;
            return;
        }
        match byte {
            b'"' => {
                self.in_string = true;
                self.is_json.get_or_insert(false);
                self.keep(b"\"");
            }
            b'{' | b'[' => self.open(byte),
            b'}' | b']' => self.close(byte),
            b':' if self.is_member() && self.reading == Reading::Name => self.named(),
            b',' if self.is_member() => self.member_ends(),
            _ if byte.is_ascii_whitespace() => {}
            _ => {
                self.is_json.get_or_insert(false);
                self.keep(&[byte]);
            }
        }
    }

    fn is_member(&self) -> bool {
        self.level > 0 && self.depth == self.level
    }

    /// Adds bytes to the current token, if there is one.
    fn keep(&mut self, bytes: &[u8]) {
        let wanted = match self.reading {
            Reading::Name => self.is_member(),
            Reading::Id => self.depth >= self.level,
            Reading::OtherValue => false,
        };
        if wanted {
            let room = (LONGEST_TOKEN + 1).saturating_sub(self.token.len());
            self.token.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
    }

    fn open(&mut self, byte: u8) {
        if self.is_json.is_none() {
            self.is_json = Some(true);
            self.level = if byte == b'{' { 1 } else { 2 };
        }
        self.keep(&[byte]);
        self.depth += 1;
        if self.is_member() {
            self.reading = Reading::Name;
            self.token.clear();
        }
    }

    fn close(&mut self, byte: u8) {
        if self.is_member() {
            self.message_ends();
        }
        self.depth = self.depth.saturating_sub(1);
        self.keep(&[byte]);
    }

    fn named(&mut self) {
        // A name may contain escapes.
        let name = serde_json::from_slice::<String>(&self.token).unwrap_or_default();
        self.token.clear();
        self.has_method |= name == "method";
        self.reading = if name == "id" { Reading::Id } else { Reading::OtherValue };
    }

    fn member_ends(&mut self) {
        if self.reading == Reading::Id && self.token.len() <= LONGEST_TOKEN {
            let id = std::str::from_utf8(&self.token).ok();
            self.id = id.filter(|id| !matches!(*id, "" | "null")).map(Id::from_json);
        }
        self.token.clear();
        self.reading = Reading::Name;
    }

    fn message_ends(&mut self) {
        self.member_ends();
        let has_method = std::mem::take(&mut self.has_method);
        let part = match (self.id.take(), has_method) {
            (Some(id), false) => Part::Response(id),
            (Some(id), true) => Part::Request(id),
            (None, true) => Part::Notification,
            (None, false) => Part::Nameless,
        };
        if self.parts.len() < PARTS {
            self.parts.push(part);
        }
    }

    fn end(mut self) -> Vec<Part> {
        // An incomplete message counts by its members so far.
        if self.level > 0 && self.depth >= self.level {
            // An incomplete id could be the start of another one.
            self.token.clear();
            self.message_ends();
        }
        self.parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parts(chunks: &[&[u8]]) -> Vec<Part> {
        let mut skip = Skip::new(usize::MAX);
        for chunk in chunks {
            skip.feed(chunk).unwrap();
        }
        skip.end().parts
    }

    fn response(id: i64) -> Part {
        Part::Response(Id::Number(id))
    }

    #[test]
    fn the_id_is_found_before_between_and_after_large_members() {
        let large = format!(r#"{{"text":"{}","id":99,"x":[{{"id":98}}]}}"#, "a".repeat(100_000));
        for text in [
            format!(r#"{{"jsonrpc":"2.0","id":7,"result":{large}}}"#),
            format!(r#"{{"result":{large},"jsonrpc":"2.0" , "id" : 7 }}"#),
            format!(r#"{{"result":{large},"id":7,"_meta":{large}}}"#),
            format!(r#"{{"\u0069d":7,"result":{large}}}"#),
        ] {
            assert_eq!(parts(&[text.as_bytes()]), [response(7)], "{}", &text[..60]);
        }
    }

    #[test]
    fn text_that_looks_like_an_id_is_not_one() {
        for text in [
            r#"{"result":"\",\"id\":7,\"x\":\""}"#,
            r#"{"result":"\\","error":{"id":7}}"#,
            r#"{"result":{"id":7}}"#,
            r#"{"result":["id",7]}"#,
            r#"{"id":null,"result":1}"#,
            r#"{"result":"id"}"#,
        ] {
            assert_eq!(parts(&[text.as_bytes()]), [Part::Nameless], "{text}");
        }
    }

    #[test]
    fn ids_of_any_kind_are_read_as_they_are_in_a_whole_message() {
        for id in ["7", "-7", "1.5", r#""a,}\"b""#, r#"{"a":[1,2]}"#] {
            let expected = [Part::Response(Id::from_json(id))];
            assert_eq!(parts(&[format!(r#"{{"result":1,"id":{id}}}"#).as_bytes()]), expected);
        }
        let endless = format!(r#"{{"id":"{}","result":1}}"#, "a".repeat(10_000));
        assert_eq!(parts(&[endless.as_bytes()]), [Part::Nameless]);
    }

    #[test]
    fn requests_notifications_and_batches_are_told_apart() {
        let batch = br#" [{"id":1,"result":{}},{"method":"m","params":{}},{"method":"m","id":"a"},3,{"id":2}]"#;
        let asked = Part::Request(Id::Other(r#""a""#.into()));
        assert_eq!(parts(&[batch]), [response(1), Part::Notification, asked, response(2)]);
    }

    #[test]
    fn what_is_not_json_has_no_parts() {
        for text in ["", "aaaa {\"id\":1}", "\"{\"", "12,{\"id\":3}"] {
            assert_eq!(parts(&[text.as_bytes()]), [], "{text}");
        }
    }

    #[test]
    fn a_message_that_is_cut_off_counts_by_what_it_said() {
        assert_eq!(parts(&[br#"{"id":7,"result":{"a":"bb"#]), [response(7)]);
        assert_eq!(parts(&[br#"{"result":{"a":"bb"#]), [Part::Nameless]);
        assert_eq!(parts(&[br#"{"result":1,"id":"b"#]), [Part::Nameless]);
    }

    #[test]
    fn skipping_ends_at_its_limit() {
        let mut skip = Skip::new(10);
        assert_eq!(skip.feed(b"0123456789"), Ok(()));
        assert_eq!(skip.feed(b"a"), Err(TooLong::Endless));
    }

    proptest! {
        #[test]
        fn chunking_never_changes_what_is_found(cuts in prop::collection::vec(0usize..90, 0..20)) {
            let text = br#"{"a":"\\\"{[","result":{"id":1,"x":["\u0022}"]},"id":"q,}","method":"m"}"#;
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let chunks: Vec<&[u8]> = cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]).collect();
            prop_assert_eq!(parts(&chunks), [Part::Request(Id::Other(r#""q,}""#.into()))]);
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parts(&[&bytes]);
        }
    }
}
