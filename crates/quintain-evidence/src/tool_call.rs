//! The JSON tool call that a prompt carries: `{"tool": "name", "args": {...}}` and its dialects.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;

/// A call of one tool as written in a prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    pub tool: String,
    pub args: Map<String, Value>,
    /// The server to call, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
}

/// Why a prompt is not a tool call. Existing suites match the first two texts.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ToolCallError {
    #[error(
        "Invalid JSON in prompt. MCP provider expects a JSON payload with tool call information."
    )]
    InvalidJson {
        /// Message of the JSON reader.
        reason: String,
        /// Counted from 1, as the JSON reader does.
        line: usize,
        column: usize,
    },
    #[error(
        "No tool name found in JSON payload. Expected format: \
         {{\"tool\": \"function_name\", \"args\": {{...}}}}"
    )]
    NoToolName,
    #[error("`{key}` of the tool call must be an object, not {found}")]
    ArgsNotObject { key: &'static str, found: &'static str },
    #[error("`{key}` of the tool call must be a string, not {found}")]
    NameNotString { key: &'static str, found: &'static str },
}

/// The keys that name the tool.
pub const NAME_KEYS: [&str; 5] = ["tool", "toolName", "function", "functionName", "name"];
/// The keys of its arguments.
pub const ARGS_KEYS: [&str; 4] = ["args", "arguments", "params", "parameters"];

pub fn parse(text: &str) -> Result<ToolCall, ToolCallError> {
    from_value(&read(text)?)
}

/// Reads the JSON of a prompt.
pub fn read(text: &str) -> Result<Value, ToolCallError> {
    serde_json::from_str(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        ToolCallError::InvalidJson { reason: error.to_string(), line, column }
    })
}

pub fn from_value(payload: &Value) -> Result<ToolCall, ToolCallError> {
    // A whole JSON-RPC request has the call in its params.
    let is_rpc = payload.get("method").and_then(Value::as_str) == Some("tools/call");
    let call = payload.get("params").filter(|_| is_rpc).unwrap_or(payload);
    let tool = match first(call, &NAME_KEYS) {
        None => return Err(ToolCallError::NoToolName),
        Some((_, Value::String(name))) => name.clone(),
        Some((key, other)) => {
            return Err(ToolCallError::NameNotString { key, found: kind(other) });
        }
    };
    let args = match first(call, &ARGS_KEYS) {
        None => Map::new(),
        Some((_, Value::Object(args))) => args.clone(),
        Some((key, other)) => {
            return Err(ToolCallError::ArgsNotObject { key, found: kind(other) });
        }
    };
    let server = [call, payload].iter().find_map(|value| value.get("server")?.as_str());
    Ok(ToolCall { tool, args, server: server.map(str::to_owned) })
}

/// The first key with a value; null and an empty name do not count.
fn first<'v>(call: &'v Value, keys: &[&'static str]) -> Option<(&'static str, &'v Value)> {
    keys.iter().find_map(|key| {
        let value = call.get(key)?;
        let silent = value.is_null() || value.as_str() == Some("");
        (!silent).then_some((*key, value))
    })
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_alias_of_name_and_arguments_is_understood() {
        for name in NAME_KEYS {
            for args in ARGS_KEYS {
                let call = parse(&json!({name: "pay", args: {"n": 1}}).to_string()).unwrap();
                assert_eq!((call.tool.as_str(), &call.args["n"]), ("pay", &json!(1)));
            }
        }
    }

    #[test]
    fn the_first_alias_that_says_something_wins() {
        let call = parse(r#"{"tool": "", "name": "b", "function": "a", "args": null}"#).unwrap();
        assert_eq!(call.tool, "a");
        assert!(call.args.is_empty());
    }

    #[test]
    fn a_json_rpc_request_is_a_tool_call() {
        let call = parse(
            r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "server": "s",
                "params": {"name": "pay", "arguments": {"n": 1}}}"#,
        );
        let call = call.unwrap();
        assert_eq!((call.tool.as_str(), call.server.as_deref()), ("pay", Some("s")));
        assert_eq!(call.args.len(), 1);
    }

    #[test]
    fn the_known_error_texts_are_exact() {
        assert_eq!(
            parse("hello").unwrap_err().to_string(),
            "Invalid JSON in prompt. MCP provider expects a JSON payload with tool call information."
        );
        for payload in ["{}", "[]", "7", "null", r#"{"args": {}}"#, r#"{"tool": null}"#] {
            assert_eq!(
                parse(payload).unwrap_err().to_string(),
                "No tool name found in JSON payload. Expected format: \
                 {\"tool\": \"function_name\", \"args\": {...}}"
            );
        }
    }

    #[test]
    fn arguments_of_another_kind_are_refused_not_emptied() {
        for args in [json!([1]), json!("x"), json!(0), json!(false)] {
            let error = from_value(&json!({"tool": "t", "args": args})).unwrap_err();
            assert!(matches!(error, ToolCallError::ArgsNotObject { key: "args", .. }), "{error}");
        }
        let error = from_value(&json!({"tool": 7})).unwrap_err();
        assert_eq!(error.to_string(), "`tool` of the tool call must be a string, not a number");
    }
}
