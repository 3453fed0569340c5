//! Encodes messages directly as bytes, without building values first.

use std::io::Write as _;

use bytes::Bytes;
use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};
use serde_json::{Map, Value};

use crate::message::{Id, RpcError};

/// Initial capacity: enough for most messages.
const ORDINARY: usize = 256;

/// A request; if its id is a number, its `_meta` carries that number as the progress token.
pub(crate) fn request(id: &Id, method: &str, params: &Map<String, Value>) -> Bytes {
    let mut bytes = open(Some(id));
    method_of(&mut bytes, method);
    match id {
        Id::Number(token) => {
            bytes.extend_from_slice(br#","params":"#);
            write_json(&mut bytes, &WithToken { members: params, token: *token });
        }
        Id::Other(_) => params_of(&mut bytes, params),
    }
    close(bytes)
}

/// A notification.
pub(crate) fn notification(method: &str, params: &Map<String, Value>) -> Bytes {
    let mut bytes = open(None);
    method_of(&mut bytes, method);
    params_of(&mut bytes, params);
    close(bytes)
}

/// The response to a request of the target.
pub(crate) fn response(id: &Id, outcome: Result<Value, RpcError>) -> Bytes {
    let mut bytes = open(Some(id));
    match outcome {
        Ok(result) => {
            bytes.extend_from_slice(br#","result":"#);
            write_json(&mut bytes, &result);
        }
        Err(error) => {
            bytes.extend_from_slice(br#","error":"#);
            write_json(&mut bytes, &error.to_json());
        }
    }
    close(bytes)
}

fn open(id: Option<&Id>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(ORDINARY);
    bytes.extend_from_slice(br#"{"jsonrpc":"2.0""#);
    if let Some(id) = id {
        // Writing into memory cannot fail.
        let _ = write!(bytes, r#","id":{id}"#);
    }
    bytes
}

fn method_of(bytes: &mut Vec<u8>, method: &str) {
    bytes.extend_from_slice(br#","method":"#);
    write_json(bytes, method);
}

fn params_of(bytes: &mut Vec<u8>, params: &Map<String, Value>) {
    if !params.is_empty() {
        bytes.extend_from_slice(br#","params":"#);
        write_json(bytes, params);
    }
}

fn close(mut bytes: Vec<u8>) -> Bytes {
    bytes.push(b'}');
    bytes.into()
}

/// Serialising values and strings to memory cannot fail, so no error is returned.
fn write_json(bytes: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    let written = serde_json::to_writer(bytes, value);
    debug_assert!(written.is_ok());
}

/// Parameters with a progress token in their `_meta`. Writing the token while serialising saves two maps and their
/// keys for every call.
struct WithToken<'a> {
    members: &'a Map<String, Value>,
    token: i64,
}

impl Serialize for WithToken<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in self.members {
            match value {
                Value::Object(members) if name == "_meta" => {
                    map.serialize_entry(name, &Meta { members, token: self.token })?;
                }
                // The caller chose another value deliberately.
                value => map.serialize_entry(name, value)?,
            }
        }
        if !self.members.contains_key("_meta") {
            map.serialize_entry("_meta", &Meta { members: &Map::new(), token: self.token })?;
        }
        map.end()
    }
}

/// The members of a `_meta`, and a progress token unless it has one.
struct Meta<'a> {
    members: &'a Map<String, Value>,
    token: i64,
}

impl Serialize for Meta<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in self.members {
            map.serialize_entry(name, value)?;
        }
        if !self.members.contains_key("progressToken") {
            map.serialize_entry("progressToken", &self.token)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn params_as_sent(params: Value) -> Value {
        let Value::Object(params) = params else { panic!("not an object") };
        let bytes = request(&Id::Number(7), "x", &params);
        let mut sent: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(sent["id"], 7);
        sent["params"].take()
    }

    #[test]
    fn a_progress_token_joins_the_metadata_unless_there_is_one_or_no_place_for_it() {
        for (params, expected) in [
            (json!({}), json!({"_meta": {"progressToken": 7}})),
            (json!({"a": 1}), json!({"a": 1, "_meta": {"progressToken": 7}})),
            (
                json!({"_meta": {"k": 1}, "a": 1}),
                json!({"_meta": {"k": 1, "progressToken": 7}, "a": 1}),
            ),
            (
                json!({"_meta": {"progressToken": "mine"}}),
                json!({"_meta": {"progressToken": "mine"}}),
            ),
            (json!({"_meta": 3}), json!({"_meta": 3})),
        ] {
            assert_eq!(params_as_sent(params), expected);
        }
    }

    #[test]
    fn messages_are_written_in_the_usual_order() {
        let other = Id::Other(r#""a""#.into());
        assert_eq!(
            request(&other, "ping", &Map::new()),
            r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#
        );
        assert_eq!(notification("n", &Map::new()), r#"{"jsonrpc":"2.0","method":"n"}"#);
        assert_eq!(
            response(&Id::Number(1), Ok(json!(2))),
            r#"{"jsonrpc":"2.0","id":1,"result":2}"#
        );
    }
}
