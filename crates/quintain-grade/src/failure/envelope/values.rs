//! What the values of an object that describes a failure mean.

use serde_json::Value;

use super::keys;
use crate::word_list;

/// A key or word without case and separators.
pub(super) fn plain(key: &str) -> String {
    let letters = key.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

pub(super) fn is_failed(word: &str) -> bool {
    [keys::ERROR_WORDS, keys::FAILED_WORDS, keys::REFUSED_WORDS]
        .iter()
        .any(|list| word_list::contains(list, word))
}

pub(super) fn is_false(value: &Value) -> bool {
    match value {
        Value::Bool(flag) => !flag,
        Value::String(text) => text.eq_ignore_ascii_case("false"),
        _ => false,
    }
}

pub(super) fn is_none(text: &str) -> bool {
    let text = text.trim().to_lowercase();
    keys::NO_ERROR.contains(&text.as_str())
}

/// Numbers are measurements or counters.
pub(super) fn is_error(value: &Value) -> bool {
    match value {
        Value::Bool(flag) => *flag,
        Value::String(text) => !is_none(text) && text.trim().parse::<f64>().is_err(),
        Value::Object(map) => {
            let mut texts = map.values().filter_map(Value::as_str);
            texts.any(|text| !is_none(text))
        }
        Value::Null | Value::Number(_) | Value::Array(_) => false,
    }
}

/// Errors as a list, or as an object with texts by field: `{"id": ["is invalid"]}`.
pub(super) fn is_error_list(value: &Value) -> bool {
    let is_text = |value: &Value| value.as_str().is_some_and(|text| !text.trim().is_empty());
    match value {
        Value::Array(items) => {
            !items.is_empty() && items.iter().all(|item| item.is_string() || item.is_object())
        }
        Value::Object(fields) => {
            let is_told = |value: &Value| {
                let texts = value.as_array();
                is_text(value)
                    || texts.is_some_and(|texts| !texts.is_empty() && texts.iter().all(is_text))
            };
            !fields.is_empty() && fields.values().all(is_told)
        }
        _ => false,
    }
}

/// Whether a word names the class of an error: `ResourceNotFoundException`.
pub(super) fn is_error_class(word: &str) -> bool {
    let name = word.rsplit(['.', '#', ':', '/']).next().unwrap_or(word);
    let ends = ["Exception", "Error", "Fault", "_error", "_exception"];
    name.len() > 6
        && !name.contains(char::is_whitespace)
        && ends.iter().any(|end| name.ends_with(end))
}

/// A number that is not zero, also as a text.
pub(super) fn nonzero(value: &Value) -> Option<i64> {
    let number = match value {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    number.filter(|number| *number != 0)
}

/// Whether a key names the error of a part of the system: `tool_error`. Measurements and what happened last do not count.
pub(super) fn is_error_key(key: &str) -> bool {
    const OTHERS: [&str; 14] = [
        "last", "previous", "prev", "recent", "standard", "std", "mean", "max", "min", "no", "is",
        "has", "absolute", "relative",
    ];
    let words = quintain_evidence::lexicon::words(key);
    matches!(words.as_slice(), [first, .., last]
        if matches!(last.as_str(), "error" | "exception") && !OTHERS.contains(&first.as_str()))
}

pub(super) fn is_http_error(key: &str, value: &Value) -> bool {
    let number = match value {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    // Errors of JSON-RPC are negative.
    let is_rpc = plain(key) == "code";
    number.is_some_and(|number| {
        (400..600).contains(&number) || (is_rpc && (-32_800..=-32_000).contains(&number))
    })
}

/// Zero, false, null and empty values are no data.
pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.values().all(is_empty),
    }
}
