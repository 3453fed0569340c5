//! One record of a file as a reader sees it, and how its JSON is parsed with limits.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::scan;
use super::walk::Position;

/// Values take up to 40 times the memory of their text, so large records are counted before they are parsed.
const COUNTED_ABOVE: usize = 1 << 20;
const MAX_VALUES: usize = 10_000_000;

/// A JSON value in a file.
#[derive(Debug, Clone, Copy)]
pub struct JsonRecord<'b> {
    pub bytes: &'b [u8],
    pub at: Position,
    /// Whether it is an element of a list, not a line or a document of its own.
    pub is_element: bool,
}

impl JsonRecord<'_> {
    /// # Errors
    /// What is wrong with it, with the line in the file.
    pub fn value(&self) -> Result<Value, String> {
        self.parse()
    }

    /// # Errors
    /// What is wrong with it, with the line in the file.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, String> {
        limit_values(self.bytes)?;
        serde_json::from_slice(self.bytes).or_else(|error| self.parse_odd(error))
    }

    /// Text that the parser refuses: halves of surrogate pairs, which JavaScript writes.
    fn parse_odd<T: DeserializeOwned>(&self, error: serde_json::Error) -> Result<T, String> {
        if error.is_data() {
            return Err(self.problem(&error));
        }
        let text = std::str::from_utf8(self.bytes).map_err(|_| self.encoding())?;
        let value =
            quintain_content::json_text::parse(text).map_err(|error| self.problem(&error))?;
        T::deserialize(value).map_err(|error| error.to_string())
    }

    fn encoding(&self) -> String {
        let line = self.at.line;
        format!("invalid UTF-8 in the record that starts at line {line}")
    }

    /// The parser counts from the start of the record.
    fn problem(&self, error: &serde_json::Error) -> String {
        let text = error.to_string();
        let what = text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what);
        let line = self.at.line + error.line().saturating_sub(1);
        let column = match error.line() {
            0 | 1 => self.at.column + error.column().saturating_sub(1),
            _ => error.column(),
        };
        let kind = if error.is_data() { "" } else { "invalid JSON: " };
        format!("{kind}{what} at line {line} column {column}")
    }
}

fn limit_values(bytes: &[u8]) -> Result<(), String> {
    if bytes.len() > COUNTED_ABOVE && scan::count_values(bytes) > MAX_VALUES {
        return Err(format!("the record has more than {MAX_VALUES} values"));
    }
    Ok(())
}

/// JSON in a text of a record, with the same limits.
pub(crate) fn json_in(text: &str) -> Option<Value> {
    limit_values(text.as_bytes()).ok()?;
    serde_json::from_str(text).ok()
}

/// Takes a member out of an object. Null counts as absent.
pub(crate) fn take(object: &mut Value, key: &str) -> Option<Value> {
    object.get_mut(key).map(Value::take).filter(|value| !value.is_null())
}

/// The first of several members that is present, taken out.
pub(crate) fn take_any(object: &mut Value, keys: &[&str]) -> Option<Value> {
    keys.iter().find_map(|key| take(object, key))
}

pub(crate) fn text<'v>(object: &'v Value, key: &str) -> Option<&'v str> {
    object.get(key)?.as_str()
}

pub(crate) fn any_text<'v>(object: &'v Value, keys: &[&str]) -> Option<&'v str> {
    keys.iter().find_map(|key| text(object, key))
}

/// An id as text: servers and models use strings and numbers.
pub(crate) fn id_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Seconds since 1970, from a number in any of the usual units or from a date in text. None for other numbers, such as
/// those that count from the start of a program.
pub(crate) fn seconds(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) => date_seconds(text),
        other => epoch_seconds(other.as_f64()?),
    }
}

fn epoch_seconds(number: f64) -> Option<f64> {
    let units = [(1e8, 1e11, 1.0), (1e11, 1e14, 1e3), (1e14, 1e17, 1e6), (1e17, 1e20, 1e9)];
    let unit = units.iter().find(|(low, high, _)| (*low..*high).contains(&number))?;
    Some(number / unit.2)
}

fn date_seconds(text: &str) -> Option<f64> {
    use time::format_description::well_known::Rfc3339;
    if let Ok(number) = text.parse::<f64>() {
        return epoch_seconds(number);
    }
    let zoned = text.replacen(' ', "T", 1);
    let date = time::OffsetDateTime::parse(&zoned, &Rfc3339)
        .or_else(|_| time::OffsetDateTime::parse(&format!("{zoned}Z"), &Rfc3339));
    Some(date.ok()?.unix_timestamp_nanos() as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn record(text: &[u8]) -> Result<Value, String> {
        JsonRecord { bytes: text, at: Position { line: 7, column: 3 }, is_element: false }.value()
    }

    #[test]
    fn errors_name_the_line_of_the_file() {
        let error = record(b"{\"a\": tru}").unwrap_err();
        assert_eq!(error, "invalid JSON: expected ident at line 7 column 12");
        let error = record(b"{\n\"a\": \x80}").unwrap_err();
        assert!(error.contains("UTF-8") || error.contains("line 8"), "{error}");
        assert!(record(b"{\"a\": \"\x80\"}").unwrap_err().contains("UTF-8"));
        assert!(record(b"{\"a\": \0}").is_err());
    }

    #[test]
    fn half_a_surrogate_pair_is_replaced() {
        assert_eq!(record(br#"{"a": "\ud800"}"#), Ok(json!({"a": "\u{fffd}"})));
    }

    #[test]
    fn depth_and_number_of_values_are_limited() {
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        assert!(record(deep.as_bytes()).unwrap_err().contains("recursion limit"));
        let dense = format!("[{}1]", "1,".repeat(10_000_001));
        assert!(record(dense.as_bytes()).unwrap_err().contains("more than 10000000 values"));
        let text = format!("[\"{}\"]", "1,".repeat(10_000_001));
        assert!(record(text.as_bytes()).is_ok());
    }

    #[test]
    fn times_are_seconds_since_1970() {
        for (value, expected) in [
            (json!(1_700_000_000), Some(1.7e9)),
            (json!(1_700_000_000_000_i64), Some(1.7e9)),
            (json!("1700000000000000000"), Some(1.7e9)),
            (json!("2023-11-14T22:13:20Z"), Some(1.7e9)),
            (json!("2023-11-14 22:13:20.500"), Some(1.7e9 + 0.5)),
            (json!(0.25), None),
            (json!("soon"), None),
            (json!(null), None),
        ] {
            assert_eq!(seconds(&value), expected, "{value}");
        }
    }
}
