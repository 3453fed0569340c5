//! What was sent and what came back. Facts only; opinions are made from them elsewhere.

use std::time::Duration;

use serde_json::Value;

/// One request and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Exchange {
    /// The key of the server that was asked.
    pub server: String,
    pub method: String,
    /// The whole request as it was sent.
    pub sent: Value,
    pub outcome: Outcome,
    pub took: Duration,
    /// Notifications that arrived while the request was open (progress, log messages, ...).
    pub notices: Vec<Value>,
}

/// What came of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The `result` of the response.
    Reply(Value),
    /// The `result` of a tool call that says `isError: true`.
    ToolError(Value),
    /// The `error` of the response.
    RpcError { code: i64, message: String, data: Option<Value> },
    /// No answer came in time.
    TimedOut { after: Duration },
    /// The connection ended before an answer came.
    Closed { why: String },
    /// Something came that is not an answer.
    Garbled { why: String, bytes: Vec<u8> },
    /// We did not send it, or the transport turned it away (a filtered tool, HTTP 401, ...).
    Refused { why: String },
}

impl Outcome {
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
}
