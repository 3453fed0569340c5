//! What the answers of the conformance suite's tools are made of.

use std::collections::BTreeMap;

use rmcp::ErrorData;
use rmcp::model::{CallToolRequestParams, CallToolResponse, InputRequiredResult};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

pub(super) type Answer = Result<CallToolResponse, ErrorData>;

/// A value of the protocol from its JSON. What is written here is valid, which the conformance suite proves.
pub(super) fn made<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

pub(super) fn said(text: impl AsRef<str>) -> Answer {
    content(json!([{"type": "text", "text": text.as_ref()}]))
}

pub(super) fn content(blocks: Value) -> Answer {
    Ok(CallToolResponse::Complete(made(
        json!({"content": blocks, "isError": false, "resultType": "complete"}),
    )?))
}

pub(super) fn argument(request: &CallToolRequestParams, name: &str) -> String {
    let arguments = request.arguments.as_ref();
    let text = arguments.and_then(|arguments| arguments.get(name)).and_then(Value::as_str);
    text.unwrap_or_default().to_owned()
}

pub(super) fn question(message: &str, field: &str) -> Value {
    json!({"method": "elicitation/create", "params": {
        "mode": "form",
        "message": message,
        "requestedSchema": {"type": "object", "properties": {field: {"type": "string"}}, "required": [field]},
    }})
}

/// The answer of the client to a question, if it has the form of one.
pub(super) fn response<'r>(request: &'r CallToolRequestParams, key: &str) -> Option<&'r Value> {
    request.input_responses.as_ref()?.get(key).filter(|answer| answer.is_object())
}

pub(super) fn ask<const N: usize>(questions: [(&str, Value); N], state: Option<String>) -> Answer {
    let mut requests = BTreeMap::new();
    for (key, question) in questions {
        requests.insert(key.to_owned(), made(question)?);
    }
    Ok(InputRequiredResult::new(Some(requests), state).into())
}
