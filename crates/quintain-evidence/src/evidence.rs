//! What was sent and what came back. Facts only; opinions are made from them elsewhere.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::json;

use crate::probe::Step;
use crate::tool_call::ToolCall;

/// Everything that a probe brought to light. Verdicts are made from this and from nothing else, so
/// a stored run can be judged again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// The exchanges of the probe in the order of sending.
    pub exchanges: Vec<Exchange>,
    /// Calls that a check asked for beyond the probe (the same call again, a bad argument, ...).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extra: Vec<Extra>,
    /// What was seen outside of the wire while the probe was under way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observations: Vec<Observation>,
}

/// Something that happened outside of the wire and carries the mark of a probe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Observation {
    /// Somebody connected to the listener.
    Connection {
        /// The request line, or the first bytes of what is no HTTP.
        request: String,
        /// Header lines, as they came.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        headers: Vec<String>,
    },
    /// A file appeared or changed in the canary ground.
    File { path: PathBuf, content: String },
    /// A program was started that is not what it seems: a shim that writes down its arguments.
    Program { program: String, arguments: Vec<String> },
    /// A file in a folder that the target was given changed, appeared or went while it did a step.
    Changed {
        path: PathBuf,
        /// The number of the step, from zero.
        step: usize,
        gone: bool,
    },
    /// The process of the target ended.
    Exit { why: String },
}

/// A call that a check asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Extra {
    pub step: Step,
    pub exchange: Exchange,
}

impl Evidence {
    /// The exchange that the case is about: the last one of the probe.
    pub fn last(&self) -> Option<&Exchange> {
        self.exchanges.last()
    }

    /// What came of a call that a check asked for. One that asks the same several times gets as many
    /// answers; `nth` counts from zero.
    pub fn of_step(&self, step: &Step, nth: usize) -> Option<&Exchange> {
        let mut same = self.extra.iter().filter(|extra| extra.step == *step);
        same.nth(nth).map(|extra| &extra.exchange)
    }

    /// The index of such a call for a proof: they follow the probe's own exchanges.
    pub fn index_of_step(&self, step: &Step, nth: usize) -> Option<usize> {
        let mut same = self.extra.iter().enumerate().filter(|(_, extra)| extra.step == *step);
        same.nth(nth).map(|(at, _)| self.exchanges.len() + at)
    }
}

/// One request and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// The key of the server that was asked.
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

/// What came of a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The `result` of the response.
    Reply(Value),
    /// The `result` of a tool call that says `isError: true`.
    ToolError(Value),
    /// The `error` of the response.
    RpcError { code: i64, message: String, data: Option<Value> },
    /// No answer came in time.
    TimedOut {
        #[serde(rename = "after_ms", with = "millis")]
        after: Duration,
    },
    /// The connection ended before an answer came.
    Closed { why: String },
    /// Something came that is not an answer.
    Garbled {
        why: String,
        #[serde(with = "base64_bytes")]
        bytes: Vec<u8>,
    },
    /// We did not send it, or the transport turned it away (a filtered tool, HTTP 401, ...).
    Refused { why: String },
}

impl Exchange {
    /// A request that no session reports on, and what came of it. It took no time.
    pub fn new(server: &str, method: &str, sent: Value, outcome: Outcome) -> Self {
        let (server, method) = (server.to_owned(), method.to_owned());
        Self { server, method, sent, outcome, took: Duration::ZERO, notices: Vec::new() }
    }

    /// A tool call that no session reports on.
    pub fn called(server: &str, tool: &str, arguments: Value, outcome: Outcome) -> Self {
        let sent = json!({"name": tool, "arguments": arguments});
        Self::new(server, "tools/call", sent, outcome)
    }

    /// A step that no session reports on; the reverse of [`Self::step`].
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

    /// A tool call that was answered with this text, for judging what was never sent.
    pub fn answered(text: &str) -> Self {
        Self::called("", "", json!({}), Outcome::says(text))
    }

    /// The same exchange, with how long it took.
    #[must_use]
    pub fn within(mut self, took: Duration) -> Self {
        self.took = took;
        self
    }

    /// The step that asks the same again, of the same server.
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
    /// A result of a tool that says this text.
    pub fn says(text: &str) -> Self {
        Self::Reply(json!({"content": [{"type": "text", "text": text}]}))
    }

    /// Sorts the `result` of a tool call by its own word: success or `isError`.
    pub fn of_tool_result(result: Value) -> Self {
        let failed = result.get("isError").and_then(Value::as_bool).unwrap_or(false);
        if failed { Self::ToolError(result) } else { Self::Reply(result) }
    }

    /// The result of the response, be it success or tool error.
    pub fn result(&self) -> Option<&Value> {
        match self {
            Self::Reply(result) | Self::ToolError(result) => Some(result),
            _ => None,
        }
    }

    /// Whether the server answered at all, in the form the protocol demands.
    pub fn is_answer(&self) -> bool {
        matches!(self, Self::Reply(_) | Self::ToolError(_) | Self::RpcError { .. })
    }

    /// Why there is no answer at all, in words; none if there is one.
    pub fn failure(&self) -> Option<String> {
        match self {
            Self::Reply(_) | Self::ToolError(_) | Self::RpcError { .. } => None,
            Self::TimedOut { after } => Some(format!("no answer after {} ms", after.as_millis())),
            Self::Closed { why } | Self::Garbled { why, .. } | Self::Refused { why } => {
                Some(why.clone())
            }
        }
    }

    /// Everything that came back, as text: contents of every kind, structured data, errors.
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

    /// The texts of the content blocks in order; blocks of other kinds are left out.
    pub fn texts(&self) -> Vec<&str> {
        let content = self.result().and_then(|result| result.get("content"));
        let blocks = content.and_then(Value::as_array).into_iter().flatten();
        blocks
            .filter(|block| block.get("type").and_then(Value::as_str) == Some("text"))
            .filter_map(|block| block.get("text").and_then(Value::as_str))
            .collect()
    }
}

/// All strings and numbers of a value, in order.
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

/// Bytes that are no text have to survive storage as they came.
mod base64_bytes {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&STANDARD.encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(input)?;
        // A mask is no base64; what is left of the bytes then stays as it is written.
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
        let fine = Outcome::of_tool_result(json!({"isError": "true"}));
        assert!(matches!(fine, Outcome::Reply(_)), "only a real boolean counts");
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

    #[test]
    fn evidence_survives_storage() {
        let exchange = |outcome| Exchange {
            server: "s".into(),
            method: "tools/call".into(),
            sent: json!({"name": "t"}),
            outcome,
            took: Duration::from_micros(1_500),
            notices: vec![json!({"method": "notifications/progress"})],
        };
        let outcomes = [
            Outcome::Reply(json!({"content": []})),
            Outcome::RpcError { code: -32602, message: "no".into(), data: Some(json!([1])) },
            Outcome::TimedOut { after: Duration::from_secs(1) },
            Outcome::Garbled { why: "not JSON".into(), bytes: vec![0, 255, b'x'] },
        ];
        let evidence = Evidence { exchanges: outcomes.map(exchange).into(), ..Evidence::default() };
        let stored = serde_json::to_string(&evidence).unwrap();
        assert_eq!(serde_json::from_str::<Evidence>(&stored).unwrap(), evidence);
    }
}
