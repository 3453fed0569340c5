//! JSON-RPC messages as slices of the received bytes: nothing is dropped, little is copied.

mod oversized;

use std::borrow::Cow;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

pub(crate) use oversized::Skip;
pub use oversized::{Oversized, Part, TooLong};

/// A request id. Targets may send anything; ours are numbers except in deliberate faults.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Id {
    /// The usual kind.
    Number(i64),
    /// Any other value, as JSON text.
    Other(Box<str>),
}

impl Id {
    /// Reads an id from its JSON text.
    pub fn from_json(json: &str) -> Self {
        match json.parse() {
            // Minus zero would lose its sign.
            Ok(number) if json != "-0" => Self::Number(number),
            _ => Self::Other(json.into()),
        }
    }
}

impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Other(json) => f.write_str(json),
        }
    }
}

/// The `error` member of a response.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("MCP error {code}: {message}")]
pub struct RpcError {
    /// The code; 0 if the target sends no number.
    pub code: i64,
    /// The message; empty if the target sends none.
    pub message: String,
    /// Additional data of the target.
    pub data: Option<Value>,
}

impl RpcError {
    /// An error that we send as a response to a target's request.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// Reads the `error` member leniently: a target may send anything.
    pub fn from_json(json: &[u8]) -> Self {
        let value: Value = serde_json::from_slice(json).unwrap_or_default();
        Self {
            code: value.get("code").and_then(Value::as_i64).unwrap_or_default(),
            message: match value.get("message") {
                Some(Value::String(message)) => message.clone(),
                Some(other) => other.to_string(),
                None if value.is_object() => String::new(),
                None => value.to_string(),
            },
            data: value.get("data").cloned(),
        }
    }

    /// The JSON object to send.
    pub fn to_json(&self) -> Value {
        let mut error = serde_json::json!({"code": self.code, "message": self.message});
        if let Some(data) = &self.data {
            error["data"] = data.clone();
        }
        error
    }
}

/// A message by its role; every body is a slice of the received frame.
#[derive(Debug, Clone)]
pub enum Message {
    /// `result` or `error` for one of our requests.
    Response {
        /// The id of the request.
        id: Id,
        /// The JSON of `result`, or the error.
        body: Result<Bytes, RpcError>,
    },
    /// A request of the target.
    Request {
        /// To be returned verbatim in our response.
        id: Id,
        /// The requested method.
        method: String,
        /// The JSON of `params`, `null` if absent.
        params: Bytes,
    },
    /// A notification of the target.
    Notification {
        /// The method.
        method: String,
        /// The JSON of `params`, `null` if absent.
        params: Bytes,
    },
    /// Not JSON-RPC. It is kept as evidence.
    Garbled {
        /// What is wrong with it.
        why: String,
    },
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// Reads one frame: a message, or a batch of them (2025-03-26 allowed batches).
pub fn read(frame: &Bytes, mut each: impl FnMut(Message)) {
    let first = frame.iter().find(|byte| !byte.is_ascii_whitespace());
    if first != Some(&b'[') {
        return each(read_one(frame));
    }
    match serde_json::from_slice::<Vec<&RawValue>>(frame) {
        Ok(batch) => {
            for item in batch {
                each(read_one(&slice(frame, item)));
            }
        }
        Err(error) => each(Message::Garbled { why: error.to_string() }),
    }
}

fn read_one(frame: &Bytes) -> Message {
    let envelope: Envelope<'_> = match serde_json::from_slice(frame) {
        Ok(envelope) => envelope,
        Err(error) => return Message::Garbled { why: error.to_string() },
    };
    let id = envelope.id.filter(|id| id.get() != "null").map(|id| Id::from_json(id.get()));
    let params = || envelope.params.map_or(Bytes::from_static(b"null"), |raw| slice(frame, raw));
    match (envelope.method, id) {
        (Some(method), Some(id)) => {
            Message::Request { id, method: method.into_owned(), params: params() }
        }
        (Some(method), None) => {
            Message::Notification { method: method.into_owned(), params: params() }
        }
        (None, Some(id)) => match (envelope.result, envelope.error) {
            // Some servers always write both members, with a null for the absent one.
            (_, Some(error)) if error.get() != "null" => {
                Message::Response { id, body: Err(RpcError::from_json(error.get().as_bytes())) }
            }
            (Some(result), _) => Message::Response { id, body: Ok(slice(frame, result)) },
            _ => Message::Garbled { why: "a response without `result` or `error`".into() },
        },
        (None, None) => match envelope.error {
            Some(error) => Message::Garbled {
                why: format!(
                    "an error without an id: {}",
                    RpcError::from_json(error.get().as_bytes())
                ),
            },
            None => Message::Garbled { why: "neither `method` nor `id`".into() },
        },
    }
}

/// The bytes of `part` as a slice of `frame`, which it was parsed from.
fn slice(frame: &Bytes, part: &RawValue) -> Bytes {
    frame.slice_ref(part.get().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Message {
        let mut messages = Vec::new();
        read(&Bytes::copy_from_slice(text.as_bytes()), |message| messages.push(message));
        assert_eq!(messages.len(), 1);
        messages.remove(0)
    }

    #[test]
    fn a_result_keeps_its_exact_bytes() {
        let text = r#"{"jsonrpc":"2.0","id":7,"result":{ "a" : 1.50 , "x":[ ]}}"#;
        let Message::Response { id, body: Ok(body) } = one(text) else { panic!() };
        assert_eq!(id, Id::Number(7));
        assert_eq!(body, r#"{ "a" : 1.50 , "x":[ ]}"#);
    }

    #[test]
    fn a_string_id_is_not_taken_for_a_number() {
        let Message::Response { id, .. } = one(r#"{"id":"7","result":{}}"#) else { panic!() };
        assert_eq!(id, Id::Other(r#""7""#.into()));
    }

    #[test]
    fn an_id_is_written_as_it_was_read() {
        for json in ["7", "-7", "0", "-0", "7.0", "1e3", "99999999999999999999", r#""a""#] {
            assert_eq!(Id::from_json(json).to_string(), json);
        }
    }

    #[test]
    fn errors_are_read_however_malformed() {
        for (text, expected) in [
            (r#"{"id":1,"error":{"code":-32601,"message":"no"}}"#, "MCP error -32601: no"),
            (r#"{"id":1,"error":{"code":"x"}}"#, "MCP error 0: "),
            (r#"{"id":1,"error":"broken"}"#, "MCP error 0: \"broken\""),
        ] {
            let Message::Response { body: Err(error), .. } = one(text) else { panic!("{text}") };
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn a_batch_yields_each_of_its_messages() {
        let mut count = 0;
        let frame = Bytes::from_static(br#" [{"id":1,"result":1},{"method":"x"},3]"#);
        read(&frame, |_| count += 1);
        assert_eq!(count, 3);
    }

    #[test]
    fn nesting_beyond_all_reason_is_garbled_or_kept_but_never_overflows() {
        let deep =
            format!(r#"{{"id":1,"result":{}1{}}}"#, "[".repeat(200_000), "]".repeat(200_000));
        let _ = one(&deep);
        let _ = one(&"[".repeat(200_000));
    }
}
