//! The meaning of a bare word: the YAML 1.2 core schema and nothing else. A payload under test
//! must reach the target as written, so `no`, `on` and `012` stay text.

use crate::node::{Scalar, ScalarValue, Style};

/// The meaning of a plain scalar; `None` is null.
pub(crate) fn resolve(raw: &str) -> Option<ScalarValue> {
    Some(match raw {
        "" | "~" | "null" | "Null" | "NULL" => return None,
        "true" | "True" | "TRUE" => ScalarValue::Bool(true),
        "false" | "False" | "FALSE" => ScalarValue::Bool(false),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => ScalarValue::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => ScalarValue::Float(f64::NEG_INFINITY),
        ".nan" | ".NaN" | ".NAN" => ScalarValue::Float(f64::NAN),
        _ => number(raw).unwrap_or(ScalarValue::Text),
    })
}

fn number(raw: &str) -> Option<ScalarValue> {
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = raw.strip_prefix(prefix) {
            let all = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
            return all.then(|| u64::from_str_radix(digits, radix).ok()).flatten().map(whole);
        }
    }
    let unsigned = raw.strip_prefix(['-', '+']).unwrap_or(raw);
    if leads_with_zero(unsigned) || !is_decimal(unsigned) {
        return None;
    }
    if unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        let unsigned_value = || raw.strip_prefix('+').unwrap_or(raw).parse().ok().map(whole);
        let value = raw.parse().ok().map(ScalarValue::Int).or_else(unsigned_value);
        // Beyond 64 bits a float is the closest number.
        return value.or_else(|| raw.parse().ok().map(ScalarValue::Float));
    }
    raw.parse().ok().map(ScalarValue::Float)
}

fn whole(value: u64) -> ScalarValue {
    i64::try_from(value).map_or(ScalarValue::Unsigned(value), ScalarValue::Int)
}

/// `012` is octal for some readers and decimal for others; only the text is unambiguous.
fn leads_with_zero(unsigned: &str) -> bool {
    let mut bytes = unsigned.bytes();
    bytes.next() == Some(b'0') && bytes.next().is_some_and(|byte| byte.is_ascii_digit())
}

/// `12`, `12.`, `.5`, `1.5e-3`.
fn is_decimal(unsigned: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent_fits = exponent.is_none_or(|exponent| {
        let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        !exponent.is_empty() && digits(exponent)
    });
    !(integer.is_empty() && fraction.is_empty())
        && digits(integer)
        && digits(fraction)
        && exponent_fits
}

/// The value that a YAML 1.1 reader sees in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Yaml11 {
    /// `yes`, `no`, `on`, `off`.
    Boolean(bool),
    /// `012`, `1_000`, `0b101`.
    Number,
}

impl Scalar {
    /// Whether the author of this bare word may have meant a boolean or a number. It is text.
    pub fn yaml_11(&self) -> Option<Yaml11> {
        if self.style != Style::Plain || self.value != ScalarValue::Text {
            return None;
        }
        match self.raw.as_str() {
            "yes" | "Yes" | "YES" | "on" | "On" | "ON" => return Some(Yaml11::Boolean(true)),
            "no" | "No" | "NO" | "off" | "Off" | "OFF" => return Some(Yaml11::Boolean(false)),
            _ => {}
        }
        let unsigned = self.raw.strip_prefix(['-', '+']).unwrap_or(&self.raw);
        let first = unsigned.bytes().next().is_some_and(|byte| byte.is_ascii_digit());
        let plain = unsigned.replace('_', "");
        let binary = plain.strip_prefix("0b").is_some_and(|bits| {
            !bits.is_empty() && bits.bytes().all(|bit| matches!(bit, b'0' | b'1'))
        });
        (first && (binary || is_decimal(&plain))).then_some(Yaml11::Number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::Origin;

    fn plain(raw: &str) -> Scalar {
        let value = resolve(raw).expect("not null");
        Scalar { raw: raw.to_owned(), style: Style::Plain, value, origin: Origin::Rewritten }
    }

    #[test]
    fn the_core_schema_decides() {
        for (raw, value) in [
            ("true", ScalarValue::Bool(true)),
            ("12", ScalarValue::Int(12)),
            ("-7", ScalarValue::Int(-7)),
            ("+7", ScalarValue::Int(7)),
            ("0x1F", ScalarValue::Int(31)),
            ("0o14", ScalarValue::Int(12)),
            ("18446744073709551615", ScalarValue::Unsigned(u64::MAX)),
            ("1.5", ScalarValue::Float(1.5)),
            (".5", ScalarValue::Float(0.5)),
            ("1e3", ScalarValue::Float(1000.0)),
            ("0.1", ScalarValue::Float(0.1)),
        ] {
            assert_eq!(resolve(raw), Some(value), "{raw}");
        }
        for raw in ["", "~", "null"] {
            assert_eq!(resolve(raw), None);
        }
    }

    #[test]
    fn what_older_readers_would_change_stays_text() {
        for raw in [
            "no",
            "on",
            "Yes",
            "012",
            "1_000",
            "0b1",
            "-012",
            "12:30",
            "2024-01-01",
            "1e",
            ".",
            "-",
            "+",
            "e3",
            "0x",
            "0xg",
            "infinity",
            "nan",
            "1.2.3",
        ] {
            assert_eq!(resolve(raw), Some(ScalarValue::Text), "{raw}");
        }
    }

    #[test]
    fn old_looking_words_are_recognised() {
        for raw in ["no", "On", "YES", "off"] {
            assert!(matches!(plain(raw).yaml_11(), Some(Yaml11::Boolean(_))), "{raw}");
        }
        for raw in ["012", "-012", "1_000", "0b101", "00.5"] {
            assert_eq!(plain(raw).yaml_11(), Some(Yaml11::Number), "{raw}");
        }
        for raw in ["12", "true", "nope", "12a", "_1", "v1_0", "1.2.3", "x"] {
            assert_eq!(plain(raw).yaml_11(), None, "{raw}");
        }
        assert_eq!(Scalar { style: Style::DoubleQuoted, ..plain("no") }.yaml_11(), None);
    }
}
