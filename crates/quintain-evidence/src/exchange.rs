//! One request and its outcome: the smallest unit of evidence.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::probe::Step;
use crate::tool_call::ToolCall;

/// One request and its outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// The key of the server.
    pub server: String,
    pub method: String,
    /// The whole request as it was sent.
    pub sent: Value,
    pub outcome: Outcome,
    #[serde(rename = "took_ms", with = "millis")]
    pub took: Duration,
    /// Notifications that arrived while the request was open (progress, log messages, ...).
    pub notices: Vec<Value>,
}

/// The outcome of a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The `result` of the response.
    Reply(Value),
    /// The `result` of a tool call with `isError: true`.
    ToolError(Value),
    /// The `error` of the response.
    RpcError { code: i64, message: String, data: Option<Value> },
    /// No response arrived within the time limit.
    TimedOut {
        #[serde(rename = "after_ms", with = "millis")]
        after: Duration,
    },
    /// The connection ended before a response arrived.
    Closed { why: String },
    /// The server sent something that is not a valid response.
    Garbled {
        why: String,
        #[serde(with = "base64_bytes")]
        bytes: Vec<u8>,
    },
    /// Quintain did not send it, or the transport rejected it (a filtered tool, HTTP 401, ...).
    Refused { why: String },
}

impl Exchange {
    /// A request that was made outside of a session, and its outcome. Its duration is 0.
    pub fn new(server: &str, method: &str, sent: Value, outcome: Outcome) -> Self {
        let (server, method) = (server.to_owned(), method.to_owned());
        Self { server, method, sent, outcome, took: Duration::ZERO, notices: Vec::new() }
    }

    /// A tool call that was made outside of a session.
    pub fn called(server: &str, tool: &str, arguments: Value, outcome: Outcome) -> Self {
        let sent = json!({"name": tool, "arguments": arguments});
        Self::new(server, "tools/call", sent, outcome)
    }

    /// A step that was made outside of a session; the reverse of [`Self::step`].
    pub fn of_step(step: &Step, outcome: Outcome) -> Self {
        match step {
            Step::Call(ToolCall { tool, args, server }) => {
                let server = server.as_deref().unwrap_or_default();
                Self::called(server, tool, args.clone().into(), outcome)
            }
            Step::Request { method, params, server } => {
                let server = server.as_deref().unwrap_or_default();
                Self::new(server, method, params.clone().into(), outcome)
            }
        }
    }

    /// A tool call answered with this text, to judge an answer that no server sent.
    pub fn answered(text: &str) -> Self {
        Self::called("", "", json!({}), Outcome::says(text))
    }

    /// The same exchange with a duration.
    #[must_use]
    pub fn within(mut self, took: Duration) -> Self {
        self.took = took;
        self
    }

    /// The step that sends the same request to the same server again.
    pub fn step(&self) -> Step {
        let server = Some(self.server.clone()).filter(|server| !server.is_empty());
        let field = |name: &str| self.sent.get(name).and_then(Value::as_object).cloned();
        match self.sent.get("name").and_then(Value::as_str) {
            Some(tool) if self.method == "tools/call" => {
                let args = field("arguments").unwrap_or_default();
                Step::Call(ToolCall { tool: tool.to_owned(), args, server })
            }
            _ => {
                let params = self.sent.as_object().cloned().unwrap_or_default();
                Step::Request { method: self.method.clone(), params, server }
            }
        }
    }
}

impl Outcome {
    /// The result of a tool call with this text.
    pub fn says(text: &str) -> Self {
        Self::Reply(json!({"content": [{"type": "text", "text": text}]}))
    }

    /// Sorts the `result` of a tool call by its `isError` field. A result of the wrong shape is not an answer, because
    /// nobody knows whether the tool succeeded. `content` may be missing: clients accept that, and take it as empty.
    pub fn of_tool_result(result: Value) -> Self {
        let why = match (result.get("isError"), result.get("content")) {
            _ if !result.is_object() => "the result of the tool is not an object",
            (Some(flag), _) if !flag.is_boolean() && !flag.is_null() => {
                "`isError` of the result is not a boolean"
            }
            (_, Some(content)) if !content.is_array() && !content.is_null() => {
                "`content` of the result is not a list"
            }
            (Some(Value::Bool(true)), _) => return Self::ToolError(result),
            _ => return Self::Reply(result),
        };
        Self::Garbled { why: why.to_owned(), bytes: result.to_string().into_bytes() }
    }

    /// The result of the response, whether success or tool error.
    pub fn result(&self) -> Option<&Value> {
        match self {
            Self::Reply(result) | Self::ToolError(result) => Some(result),
            _ => None,
        }
    }

    /// Whether the server sent a valid response at all.
    pub fn is_answer(&self) -> bool {
        matches!(self, Self::Reply(_) | Self::ToolError(_) | Self::RpcError { .. })
    }

    /// Why there is no response, in words; none if there is one.
    pub fn failure(&self) -> Option<String> {
        match self {
            Self::Reply(_) | Self::ToolError(_) | Self::RpcError { .. } => None,
            Self::TimedOut { after } => Some(format!("no response after {} ms", after.as_millis())),
            Self::Closed { why } | Self::Garbled { why, .. } | Self::Refused { why } => {
                Some(why.clone())
            }
        }
    }

    /// The whole response as text: content of every kind, structured data, errors.
    pub fn said(&self) -> String {
        let mut said = String::new();
        let mut add = |text: &str| {
            said.push_str(text);
            said.push('\n');
        };
        match self {
            Self::Reply(value) | Self::ToolError(value) => strings(value, &mut add),
            Self::RpcError { message, data, .. } => {
                add(message);
                data.iter().for_each(|data| strings(data, &mut add));
            }
            Self::Closed { why } | Self::Refused { why } => add(why),
            Self::Garbled { bytes, .. } => add(&String::from_utf8_lossy(bytes)),
            Self::TimedOut { .. } => {}
        }
        said
    }

    /// The texts of the content blocks in order, without blocks of other kinds.
    pub fn texts(&self) -> Vec<&str> {
        let content = self.result().and_then(|result| result.get("content"));
        let blocks = content.and_then(Value::as_array).into_iter().flatten();
        blocks
            .filter(|block| block.get("type").and_then(Value::as_str) == Some("text"))
            .filter_map(|block| block.get("text").and_then(Value::as_str))
            .collect()
    }
}

/// All strings and numbers in a value, in order.
fn strings(value: &Value, add: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => add(text),
        Value::Number(number) => add(&number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| strings(item, add)),
        Value::Object(entries) => entries.values().for_each(|entry| strings(entry, add)),
        Value::Null | Value::Bool(_) => {}
    }
}

/// Durations as milliseconds, the unit of every report.
pub(crate) mod millis {
    use std::time::Duration;

    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(took: &Duration, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_f64(took.as_secs_f64() * 1e3)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Duration, D::Error> {
        let millis = f64::deserialize(input)?;
        Duration::try_from_secs_f64(millis / 1e3).map_err(serde::de::Error::custom)
    }
}

/// Bytes that are not valid text are stored unchanged.
mod base64_bytes {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&STANDARD.encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(input)?;
        // Masked bytes are not valid base64; then the masked text is kept.
        Ok(STANDARD.decode(&text).unwrap_or_else(|_| text.into_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_result_with_is_error_is_a_tool_error() {
        let failed = Outcome::of_tool_result(json!({"isError": true, "content": []}));
        assert!(matches!(failed, Outcome::ToolError(_)));
        for fine in [json!({}), json!({"isError": null}), json!({"structuredContent": 1})] {
            assert!(matches!(Outcome::of_tool_result(fine), Outcome::Reply(_)));
        }
    }

    #[test]
    fn a_tool_result_of_the_wrong_shape_is_not_an_answer() {
        for (wrong, why) in [
            (json!("ok"), "not an object"),
            (json!(null), "not an object"),
            (json!([]), "not an object"),
            (json!({"isError": "true"}), "`isError`"),
            (json!({"isError": 1, "content": []}), "`isError`"),
            (json!({"content": "ok"}), "`content`"),
        ] {
            let outcome = Outcome::of_tool_result(wrong.clone());
            assert!(!outcome.is_answer(), "{wrong}");
            let Outcome::Garbled { why: found, bytes } = outcome else { panic!("{wrong}") };
            assert!(found.contains(why), "{found}");
            assert_eq!(bytes, wrong.to_string().into_bytes());
        }
    }

    #[test]
    fn texts_survive_malformed_content() {
        let odd = Outcome::Reply(json!({"content": [
            {"type": "text", "text": "a"}, {"type": "image"}, 7, null, {"type": "text", "text": 5},
            {"type": "text", "text": "b"}
        ]}));
        assert_eq!(odd.texts(), ["a", "b"]);
        assert!(Outcome::Reply(json!({"content": "x"})).texts().is_empty());
        assert!(Outcome::Closed { why: "eof".into() }.texts().is_empty());
    }
}
