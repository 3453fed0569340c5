//! Finds where a JSON value ends without building it. A broken value is reported, and its brackets are counted on, so
//! that the values after it can still be read.

use memchr::memchr3;

/// As deep as the JSON parser goes.
const MAX_DEPTH: usize = 128;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expect {
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    Colon,
    CommaOrEnd,
}

/// The state between two chunks of one value.
#[derive(Debug)]
pub(super) struct Scan {
    open: Vec<u8>,
    /// How many of the open brackets are braces.
    braces: usize,
    /// Brackets beyond the depth limit, only counted.
    beyond: usize,
    expect: Expect,
    in_string: bool,
    is_key: bool,
    escaped: bool,
    in_scalar: bool,
    /// Commas and brackets: an upper bound of the number of values.
    pub(super) values: usize,
    pub(super) fault: Option<&'static str>,
}

/// What one chunk brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fed {
    pub(super) taken: usize,
    pub(super) ended: bool,
    /// The place in the chunk at which the value turned out to be broken.
    pub(super) fault_at: Option<usize>,
}

impl Scan {
    pub(super) fn new() -> Self {
        Self {
            open: Vec::new(),
            braces: 0,
            beyond: 0,
            expect: Expect::Value,
            in_string: false,
            is_key: false,
            escaped: false,
            in_scalar: false,
            values: 0,
            fault: None,
        }
    }

    /// Whether the end of the input ends the value, too.
    pub(super) fn is_whole_at_end(&self) -> bool {
        self.open.is_empty() && self.beyond == 0 && self.in_scalar
    }

    pub(super) fn feed(&mut self, chunk: &[u8]) -> Fed {
        let was_sound = self.fault.is_none();
        let mut fault_at = None;
        let mut at = 0;
        let mut ended = false;
        while at < chunk.len() && !ended {
            if self.in_string {
                at = self.string(chunk, at, &mut ended);
            } else {
                (at, ended) = self.byte(chunk, at);
            }
            if was_sound && fault_at.is_none() && self.fault.is_some() {
                fault_at = Some(at.saturating_sub(1).min(chunk.len() - 1));
            }
        }
        Fed { taken: at, ended, fault_at }
    }

    fn string(&mut self, chunk: &[u8], at: usize, ended: &mut bool) -> usize {
        if self.escaped {
            self.escaped = false;
            return at + 1;
        }
        let Some(found) = memchr3(b'"', b'\\', b'\n', &chunk[at..]) else { return chunk.len() };
        let at = at + found;
        match chunk[at] {
            b'\\' => {
                self.escaped = true;
                at + 1
            }
            quote => {
                self.in_string = false;
                if quote == b'\n' {
                    self.fail("a string is not closed at the end of its line");
                }
                if self.is_key {
                    self.expect = Expect::Colon;
                } else {
                    *ended = self.value_ended();
                }
                at + 1
            }
        }
    }

    fn byte(&mut self, chunk: &[u8], at: usize) -> (usize, bool) {
        let byte = chunk[at];
        let is_space = matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        if self.in_scalar {
            if !is_space && !matches!(byte, b',' | b':' | b'"' | b'{' | b'}' | b'[' | b']') {
                return (at + 1, false);
            }
            self.in_scalar = false;
            if self.value_ended() {
                return (at, true);
            }
        }
        match byte {
            _ if is_space => {}
            b'"' => {
                self.is_key = matches!(self.expect, Expect::Key | Expect::KeyOrEnd);
                if !self.is_key {
                    self.expect_value();
                }
                self.in_string = true;
            }
            b'{' | b'[' => self.open(byte),
            b'}' | b']' => return (at + 1, self.close(byte)),
            b',' => {
                self.values += 1;
                if self.expect != Expect::CommaOrEnd {
                    self.fail("unexpected `,`");
                }
                self.expect =
                    if self.open.last() == Some(&b'{') { Expect::Key } else { Expect::Value };
            }
            b':' => {
                if self.expect != Expect::Colon {
                    self.fail("unexpected `:`");
                }
                self.expect = Expect::Value;
            }
            _ => {
                self.expect_value();
                self.in_scalar = true;
            }
        }
        (at + 1, false)
    }

    fn expect_value(&mut self) {
        match self.expect {
            Expect::Value | Expect::ValueOrEnd => {}
            Expect::Key | Expect::KeyOrEnd => self.fail("expected a key in double quotes"),
            Expect::Colon => self.fail("expected `:`"),
            Expect::CommaOrEnd => self.fail("expected `,` or a closing bracket"),
        }
    }

    fn open(&mut self, bracket: u8) {
        self.values += 1;
        self.expect_value();
        if self.open.len() >= MAX_DEPTH {
            self.beyond += 1;
            self.fail("nested deeper than 128 levels");
            return;
        }
        self.open.push(bracket);
        self.braces += usize::from(bracket == b'{');
        self.expect = if bracket == b'{' { Expect::KeyOrEnd } else { Expect::ValueOrEnd };
    }

    /// Closes a bracket and whether the value has ended. A bracket that was never opened is skipped; one that was
    /// opened further out closes all in between.
    fn close(&mut self, bracket: u8) -> bool {
        if self.beyond > 0 {
            self.beyond -= 1;
            return false;
        }
        let opening = if bracket == b'}' { b'{' } else { b'[' };
        if !matches!(self.expect, Expect::CommaOrEnd | Expect::KeyOrEnd | Expect::ValueOrEnd) {
            self.fail("unexpected closing bracket");
        }
        let same = if opening == b'{' { self.braces } else { self.open.len() - self.braces };
        if same == 0 {
            self.fail("a closing bracket without an opening one");
            // Nothing is open: the bracket is the whole value, so that the reader moves on.
            return self.open.is_empty();
        }
        while let Some(open) = self.open.pop() {
            self.braces -= usize::from(open == b'{');
            if open == opening {
                break;
            }
            self.fail("a bracket is not closed");
        }
        self.value_ended()
    }

    fn value_ended(&mut self) -> bool {
        self.expect = Expect::CommaOrEnd;
        self.open.is_empty() && self.beyond == 0
    }

    fn fail(&mut self, what: &'static str) {
        self.fault.get_or_insert(what);
    }
}

/// An upper bound of the number of values in a text.
pub(super) fn count_values(text: &[u8]) -> usize {
    let mut scan = Scan::new();
    let mut rest = text;
    while !rest.is_empty() {
        let fed = scan.feed(rest);
        rest = &rest[fed.taken.max(1)..];
    }
    scan.values
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scan(text: &str) -> (usize, Option<&'static str>) {
        let mut scan = Scan::new();
        let fed = scan.feed(text.as_bytes());
        assert!(fed.ended, "{text}");
        (fed.taken, scan.fault)
    }

    #[test]
    fn a_value_ends_with_its_bracket() {
        for (text, length) in [
            (r#"{"a": [1, "}]", {"b": null}]} {"#, 29),
            ("[] 1", 2),
            (r#""a\"b" 1"#, 6),
            ("12,", 2),
            ("true]", 4),
        ] {
            assert_eq!(scan(text), (length, None), "{text}");
        }
    }

    #[test]
    fn a_broken_value_ends_where_its_brackets_end() {
        for (text, length) in [
            (r#"{"a": [1} , {"b": 2}"#, 9),
            (r#"{"a": 1]} , {"b": 2}"#, 9),
            (r#"{"a": 1,} , 2"#, 9),
            (r#"{"a" 1} , 2"#, 7),
            ("}", 1),
        ] {
            let (taken, fault) = scan(text);
            assert_eq!(taken, length, "{text}");
            assert!(fault.is_some(), "{text}");
        }
    }

    #[test]
    fn depth_is_limited_without_losing_the_end() {
        let text = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
        let (taken, fault) = scan(&text);
        assert_eq!((taken, fault), (10_001, Some("nested deeper than 128 levels")));
    }

    proptest! {
        #[test]
        fn chunks_do_not_matter(text in r#"[\[\]{}:,"\\a1 \n]{0,60}"#, size in 1_usize..9) {
            let mut whole = Scan::new();
            let expected = whole.feed(text.as_bytes());
            let mut parts = Scan::new();
            let mut taken = 0;
            let mut ended = false;
            while !ended && taken < text.len() {
                let end = text.len().min(taken + size);
                let fed = parts.feed(&text.as_bytes()[taken..end]);
                taken += fed.taken;
                ended = fed.ended;
                prop_assert!(fed.taken > 0 || fed.ended);
            }
            prop_assert_eq!((taken, ended), (expected.taken, expected.ended));
            prop_assert_eq!(parts.fault, whole.fault);
        }
    }
}
