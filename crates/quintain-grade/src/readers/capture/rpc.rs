//! What is known about JSON-RPC messages of MCP: who sends which method, and what makes a message malformed.

use serde_json::Value;

use crate::json_input::record::{id_text, text};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Side {
    Client,
    Server,
}

impl Side {
    pub(super) fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }
}

/// Who sends a message, if only one side can. Responses go both ways.
pub(super) fn sender_of(message: &Value) -> Option<Side> {
    let message = match message {
        Value::Array(batch) => batch.first()?,
        other => other,
    };
    let method = text(message, "method")?;
    let is_client = matches!(method, "initialize" | "notifications/initialized")
        || method == "notifications/roots/list_changed"
        || [
            "tools/",
            "resources/",
            "prompts/",
            "completion/",
            "logging/",
            "server/",
            "subscriptions/",
        ]
        .iter()
        .any(|start| method.starts_with(start));
    let is_server = matches!(
        method,
        "sampling/createMessage"
            | "roots/list"
            | "elicitation/create"
            | "notifications/message"
            | "notifications/resources/updated"
            | "notifications/tools/list_changed"
            | "notifications/resources/list_changed"
            | "notifications/prompts/list_changed"
            | "notifications/elicitation/complete"
    );
    match (is_client, is_server) {
        (true, false) => Some(Side::Client),
        (false, true) => Some(Side::Server),
        _ => None,
    }
}

/// A message by what it does.
#[derive(Debug)]
pub(super) enum Rpc {
    Request {
        id: String,
        method: String,
        params: Value,
        is_text_id: bool,
    },
    Notification {
        method: String,
        params: Value,
    },
    Response {
        id: Option<String>,
        answer: Result<Value, Value>,
        is_text_id: bool,
    },
    /// What cannot be used at all.
    Nothing,
}

/// Reads a message, and says what is malformed about it.
pub(super) fn read(mut message: Value) -> (Rpc, Option<&'static str>) {
    let problem = problem(&message);
    let Some(members) = message.as_object_mut() else { return (Rpc::Nothing, problem) };
    let id = members.get("id").and_then(id_text);
    // A response must repeat the id as it was: 3 and "3" are two ids.
    let is_text_id = members.get("id").is_some_and(Value::is_string);
    let mut take = |key: &str| members.get_mut(key).map(Value::take);
    if let Some(Value::String(method)) = take("method") {
        let params = take("params").unwrap_or_default();
        let rpc = match id {
            Some(id) => Rpc::Request { id, method, params, is_text_id },
            None => Rpc::Notification { method, params },
        };
        return (rpc, problem);
    }
    let rpc = match (take("error"), take("result")) {
        (Some(error), _) if !error.is_null() => {
            Rpc::Response { id, answer: Err(error), is_text_id }
        }
        (_, Some(result)) => Rpc::Response { id, answer: Ok(result), is_text_id },
        _ => Rpc::Nothing,
    };
    (rpc, problem)
}

fn problem(message: &Value) -> Option<&'static str> {
    let Some(members) = message.as_object() else { return Some("a message is not an object") };
    if members.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Some("`jsonrpc` is not \"2.0\"");
    }
    let id = members.get("id");
    let is_id = |id: &Value| id.is_string() || id.is_i64() || id.is_u64();
    if let Some(method) = members.get("method") {
        if !method.is_string() {
            return Some("`method` is not a string");
        }
        if id.is_some_and(|id| !is_id(id)) {
            return Some("the `id` of a request is neither a string nor an integer");
        }
        if members.get("params").is_some_and(|params| !params.is_object()) {
            return Some("`params` is not an object");
        }
        if members.contains_key("result") || members.contains_key("error") {
            return Some("a message is both a request and a response");
        }
        return None;
    }
    match (members.get("result"), members.get("error")) {
        (Some(_), Some(_)) => Some("a response has both `result` and `error`"),
        (None, None) => Some("a message has neither `method` nor `result` nor `error`"),
        (Some(_), None) if !id.is_some_and(is_id) => Some("a response with a result has no `id`"),
        (Some(result), None) if !result.is_object() => Some("`result` is not an object"),
        (None, Some(error)) if error.get("code").and_then(Value::as_i64).is_none() => {
            Some("`error` has no integer `code`")
        }
        (None, Some(error)) if text(error, "message").is_none() => Some("`error` has no `message`"),
        _ => None,
    }
}

/// The capability that a request needs, and the side that must have declared it. List requests are left out: clients
/// ask for lists to find out.
pub(super) fn needed_capability(method: &str) -> Option<(&'static str, Side)> {
    Some(match method {
        "tools/call" => ("tools", Side::Server),
        "resources/read" => ("resources", Side::Server),
        "resources/subscribe" | "resources/unsubscribe" => ("resources/subscribe", Side::Server),
        "prompts/get" => ("prompts", Side::Server),
        "logging/setLevel" => ("logging", Side::Server),
        "sampling/createMessage" => ("sampling", Side::Client),
        "elicitation/create" => ("elicitation", Side::Client),
        "roots/list" => ("roots", Side::Client),
        _ => return None,
    })
}

/// Whether capabilities contain one: an object by its presence, a boolean by being true.
pub(super) fn declares(capabilities: &Value, path: &str) -> bool {
    let found = path.split('/').try_fold(capabilities, |value, key| value.get(key));
    found.is_some_and(|value| !matches!(value, Value::Null | Value::Bool(false)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sound_messages_have_no_problem() {
        for message in [
            json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}),
            json!({"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {}}),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
            json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "x"}}),
            json!({"jsonrpc": "2.0", "error": {"code": -32600, "message": "x"}}),
        ] {
            assert_eq!(read(message.clone()).1, None, "{message}");
        }
    }

    #[test]
    fn malformed_messages_are_named() {
        for message in [
            json!([]),
            json!("x"),
            json!({"id": 1, "method": "ping"}),
            json!({"jsonrpc": "1.0", "id": 1, "method": "ping"}),
            json!({"jsonrpc": "2.0", "id": null, "method": "ping"}),
            json!({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}),
            json!({"jsonrpc": "2.0", "id": 1, "method": 7}),
            json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}),
            json!({"jsonrpc": "2.0", "id": 1}),
            json!({"jsonrpc": "2.0", "id": 1, "result": {}, "error": {}}),
            json!({"jsonrpc": "2.0", "result": {}}),
            json!({"jsonrpc": "2.0", "id": 1, "result": "x"}),
            json!({"jsonrpc": "2.0", "id": 1, "error": {"code": "x", "message": "y"}}),
            json!({"jsonrpc": "2.0", "id": 1, "error": "boom"}),
        ] {
            assert!(read(message.clone()).1.is_some(), "{message}");
        }
    }
}
