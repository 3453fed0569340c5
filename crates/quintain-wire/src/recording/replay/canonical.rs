//! JSON for comparison: two texts that mean the same are equal. Numbers are compared by value at any length, because two
//! calls may differ only in digits that a machine number cannot represent.

use std::collections::BTreeMap;

use crate::recording::json_text::decoded;
use crate::redact::MASK;

/// Deeper values are compared as text.
const MAX_DEPTH: usize = 200;

/// A value in the form in which it is compared.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Json {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Json>),
    Map(BTreeMap<String, Json>),
    /// As written, because it is nested too deeply.
    Raw(String),
}

/// `digits` times ten to the power of `exponent`, without zeros at either end.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Number {
    is_negative: bool,
    digits: String,
    exponent: i64,
}

impl Json {
    /// Reads a valid JSON text.
    pub(super) fn read(text: &str) -> Self {
        let mut reader = Reader { text, at: 0 };
        reader.value(0).unwrap_or_else(|| Self::Raw(text.trim().to_owned()))
    }

    /// Whether a value of a capture, in which secrets are masked, can stand for this one.
    pub(super) fn matches_masked(&self, masked: &Self) -> bool {
        match (self, masked) {
            (Self::Text(text), Self::Text(masked)) => fits(text, masked),
            // A secret number became a mask.
            (Self::Number(_), Self::Text(masked)) => masked == MASK,
            (Self::List(one), Self::List(masked)) => {
                one.len() == masked.len()
                    && one.iter().zip(masked).all(|(one, masked)| one.matches_masked(masked))
            }
            (Self::Map(one), Self::Map(masked)) => {
                one.len() == masked.len()
                    && masked.iter().all(|(name, masked)| {
                        one.get(name).is_some_and(|one| one.matches_masked(masked))
                    })
            }
            _ => self == masked,
        }
    }

    /// Whether a mask is in it.
    pub(super) fn is_masked(&self) -> bool {
        match self {
            Self::Text(text) | Self::Raw(text) => text.contains(MASK),
            Self::List(items) => items.iter().any(Self::is_masked),
            Self::Map(entries) => entries.values().any(Self::is_masked),
            Self::Null | Self::Bool(_) | Self::Number(_) => false,
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Map(entries) => entries.get(name),
            _ => None,
        }
    }
}

/// Whether the parts between the masks occur in the text, in their order and at its ends.
fn fits(text: &str, masked: &str) -> bool {
    let parts: Vec<&str> = masked.split(MASK).collect();
    let [first, inner @ .., last] = &parts[..] else { return text == masked };
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    for part in inner {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn peek(&mut self) -> Option<u8> {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        self.text.as_bytes().get(self.at).copied()
    }

    /// Takes a byte if it is the next one.
    fn takes(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn value(&mut self, depth: usize) -> Option<Json> {
        if depth > MAX_DEPTH {
            return None;
        }
        Some(match self.peek()? {
            b'{' => {
                self.at += 1;
                let mut entries = BTreeMap::new();
                while !self.takes(b'}') {
                    self.peek()?;
                    let name = decoded(self.string()).into_owned();
                    self.takes(b':');
                    entries.insert(name, self.value(depth + 1)?);
                    self.takes(b',');
                }
                Json::Map(entries)
            }
            b'[' => {
                self.at += 1;
                let mut items = Vec::new();
                while !self.takes(b']') {
                    items.push(self.value(depth + 1)?);
                    self.takes(b',');
                }
                Json::List(items)
            }
            b'"' => Json::Text(decoded(self.string()).into_owned()),
            _ => {
                let rest = &self.text[self.at..];
                let end = rest.find([',', ']', '}', ' ', '\t', '\n', '\r']).unwrap_or(rest.len());
                let (word, length) = (&rest[..end], end.max(1));
                self.at = (self.at + length).min(self.text.len());
                match word {
                    "true" => Json::Bool(true),
                    "false" => Json::Bool(false),
                    "null" => Json::Null,
                    number => Json::Number(Number::read(number)?),
                }
            }
        })
    }

    /// The string token at this position.
    fn string(&mut self) -> &'t str {
        let bytes = self.text.as_bytes();
        let start = self.at;
        self.at += 1;
        while let Some(byte) = bytes.get(self.at) {
            self.at += match byte {
                b'"' => {
                    self.at += 1;
                    return &self.text[start..self.at];
                }
                b'\\' => 2,
                _ => 1,
            };
        }
        self.at = bytes.len();
        self.text.get(start..).unwrap_or_default()
    }
}

impl Number {
    fn read(text: &str) -> Option<Self> {
        let (is_negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}");
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let kept = digits.trim_end_matches('0');
        if kept.is_empty() {
            return Some(Self { is_negative: false, digits: String::new(), exponent: 0 });
        }
        let zeros = i64::try_from(digits.len() - kept.len()).ok()?;
        let places = i64::try_from(fraction.len()).ok()?;
        let exponent = exponent.checked_sub(places)?.checked_add(zeros)?;
        Some(Self { is_negative, digits: kept.trim_start_matches('0').to_owned(), exponent })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn order_space_escapes_and_notation_do_not_matter() {
        for (one, other) in [
            (r#"{"a":1,"b":[true,null]}"#, r#"{ "b" : [ true , null ], "a":1.0 }"#),
            ("100", "1e2"),
            ("-0.0", "0"),
            ("0.015", "15E-3"),
            (r#""a\u002fb""#, r#""a\/b""#),
            ("12345678901234567890123.0", "12345678901234567890123"),
        ] {
            assert_eq!(Json::read(one), Json::read(other), "{one}");
        }
    }

    #[test]
    fn values_that_differ_in_any_digit_differ() {
        for (one, other) in [
            ("12345678901234567890123", "12345678901234567890124"),
            ("1", "\"1\""),
            ("1e400", "1e401"),
            ("-1", "1"),
            ("[1,2]", "[2,1]"),
            ("10", "1"),
        ] {
            assert_ne!(Json::read(one), Json::read(other), "{one}");
        }
    }

    #[test]
    fn a_mask_stands_for_any_text_at_its_place() {
        let fits = |text: &str, masked: &str| Json::read(text).matches_masked(&Json::read(masked));
        assert!(fits(r#"{"k":"Bearer abc","n":1}"#, r#"{"k":"Bearer ***","n":1}"#));
        assert!(fits(r#"["a-x-b-y-c", 1234567]"#, r#"["a-***-b-***-c", "***"]"#));
        assert!(!fits(r#"{"k":"Basic abc"}"#, r#"{"k":"Bearer ***"}"#));
        assert!(!fits(r#"{"k":"Bearer abc","m":1}"#, r#"{"k":"Bearer ***"}"#));
        assert!(!fits(r#""x""#, r#""y""#));
    }

    #[test]
    fn deep_values_are_compared_as_text() {
        let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(matches!(Json::read(&deep), Json::Raw(_)));
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in "[\\[\\]{}\",:0-9a-z\\\\ é.-]{0,60}") {
            let _ = Json::read(&text);
        }
    }
}
