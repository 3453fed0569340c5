//! Converts values between Rust and JavaScript. Both directions use JSON text, which the engine
//! reads and writes in C and which can be sent to the engine's thread.

use rquickjs::{Ctx, Error, Value as Js};
use serde_json::Value;

use crate::ScriptError;

/// Deeper values would overflow the stack of later readers.
const MAX_DEPTH: usize = 128;
/// Maximum bytes of text or JSON that a script may return, whatever its memory limit.
const MAX_RESULT: usize = 32 << 20;

/// An argument that can be sent to the engine's thread.
pub(crate) enum Argument {
    Text(String),
    Json(String),
}

impl Argument {
    pub(crate) fn new(name: &str, value: &Value) -> Result<Self, ScriptError> {
        let refused = |why: String| ScriptError::Argument { name: name.to_owned(), why };
        if let Value::String(text) = value {
            return Ok(Self::Text(text.clone()));
        }
        if deeper(value, MAX_DEPTH) {
            return Err(refused(format!("it is nested deeper than {MAX_DEPTH} levels")));
        }
        serde_json::to_string(value).map(Self::Json).map_err(|error| refused(error.to_string()))
    }

    /// Integers beyond 2^53 lose their last digits, as in all JavaScript.
    pub(crate) fn to_js<'js>(&self, ctx: &Ctx<'js>) -> Result<Js<'js>, Error> {
        match self {
            Self::Text(text) => Ok(rquickjs::String::from_str(ctx.clone(), text)?.into_value()),
            Self::Json(text) => ctx.json_parse(text.as_str()),
        }
    }
}

fn deeper(value: &Value, left: usize) -> bool {
    match value {
        Value::Array(items) => left == 0 || items.iter().any(|item| deeper(item, left - 1)),
        Value::Object(items) => left == 0 || items.values().any(|item| deeper(item, left - 1)),
        _ => false,
    }
}

/// A result that can be sent back.
#[derive(Debug)]
pub(crate) enum Returned {
    Value(Value),
    Json(String),
}

/// Why a result could not be converted.
pub(crate) enum Refusal {
    /// The engine threw an error, for example because of a cycle.
    Thrown,
    NotData(String),
}

impl Returned {
    /// May run code of the script: getters and `toJSON`.
    pub(crate) fn new(value: Js<'_>) -> Result<Self, Refusal> {
        if value.is_undefined() || value.is_null() {
            return Ok(Self::Value(Value::Null));
        }
        if let Some(truth) = value.as_bool() {
            return Ok(Self::Value(Value::Bool(truth)));
        }
        if let Some(number) = value.as_int() {
            return Ok(Self::Value(Value::from(number)));
        }
        if let Some(number) = value.as_float().filter(|number| !number.is_finite()) {
            let shown = if number.is_nan() { "NaN" } else { "Infinity" };
            return Err(Refusal::NotData(format!("the number {shown}")));
        }
        if value.is_big_int() {
            return Err(Refusal::NotData("a BigInt; convert it with Number() or String()".into()));
        }
        // Fails on lone surrogates, which are escaped below.
        if let Some(Ok(text)) = value.as_string().map(rquickjs::String::to_string) {
            within_limit(text.len())?;
            return Ok(Self::Value(Value::String(text)));
        }
        let kind = value.type_name();
        let text = value.ctx().clone().json_stringify(value).map_err(|_| Refusal::Thrown)?;
        // `undefined` after toJSON, functions and symbols have no JSON.
        let Some(text) = text else { return Err(Refusal::NotData(format!("a {kind}"))) };
        let text = text.to_cstring().map_err(|_| Refusal::Thrown)?;
        within_limit(text.len())?;
        Ok(Self::Json(text.as_str().to_owned()))
    }

    pub(crate) fn read(self) -> Result<Value, ScriptError> {
        match self {
            Self::Value(value) => Ok(value),
            Self::Json(text) => serde_json::from_str(&well_formed(text))
                .map_err(|error| ScriptError::Result { why: unreadable(&error) }),
        }
    }
}

fn within_limit(bytes: usize) -> Result<(), Refusal> {
    if bytes <= MAX_RESULT {
        return Ok(());
    }
    Err(Refusal::NotData(format!("more than {} MiB", MAX_RESULT >> 20)))
}

fn unreadable(error: &serde_json::Error) -> String {
    let text = error.to_string();
    if text.starts_with("recursion limit") {
        return format!("a value that is nested deeper than {MAX_DEPTH} levels");
    }
    text
}

/// The engine writes surrogate pairs unchanged and escapes only lone surrogates, which a Rust
/// string cannot contain.
fn well_formed(text: String) -> String {
    if !text.contains("\\ud") {
        return text;
    }
    let mut fixed = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        fixed.push_str(before);
        let lone = escape.starts_with("\\ud") && !escape[3..].starts_with(|c: char| c < '8');
        let length = if lone { 6 } else { 2 };
        fixed.push_str(if lone { "\u{fffd}" } else { &escape[..length] });
        rest = &escape[length..];
    }
    fixed.push_str(rest);
    fixed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_surrogates_become_replacement_characters() {
        let fixed = |text: &str| well_formed(text.to_owned());
        assert_eq!(fixed(r#""a\ud800b""#), "\"a\u{fffd}b\"");
        assert_eq!(fixed(r#""\\ud800 \ud7ff \n""#), r#""\\ud800 \ud7ff \n""#);
    }

    #[test]
    fn depth_is_measured_without_diving_deeper() {
        let nest = |levels| (0..levels).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
        assert!(Argument::new("x", &nest(MAX_DEPTH)).is_ok());
        assert!(Argument::new("x", &nest(MAX_DEPTH + 1)).is_err());
    }
}
