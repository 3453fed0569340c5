//! A target's response, in the form that assertions and reports read.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::evidence::{Evidence, Exchange, Outcome};

/// The response of a target to one prompt.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    /// Usually text; transforms may return any value.
    #[serde(default)]
    pub output: Value,
    /// The output before the suite's transforms; none if there are no transforms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untransformed: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The whole result as the target sent it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<Value>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    #[serde(default)]
    pub cached: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_usage: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guardrails: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_probs: Option<Value>,
}

impl Response {
    pub fn text(output: impl Into<String>) -> Self {
        Self { output: Value::String(output.into()), ..Self::default() }
    }

    pub fn failed(error: impl Into<String>) -> Self {
        Self { error: Some(error.into()), ..Self::default() }
    }

    /// The output before transforms.
    pub fn said(&self) -> &Value {
        self.untransformed.as_ref().unwrap_or(&self.output)
    }

    /// The response that code returned: an object with `output` or `error`, or the output itself.
    pub fn of_code(value: Value) -> Self {
        let is_answer = value.get("output").or_else(|| value.get("error")).is_some();
        if !value.is_object() || !is_answer {
            return Self { output: value, ..Self::default() };
        }
        let output = value.get("output").cloned().unwrap_or_default();
        let mut response: Self = serde_json::from_value(without_nulls(value))
            .unwrap_or_else(|error| Self::failed(format!("the answer is malformed: {error}")));
        if response.error.is_none() {
            response.output = output;
        }
        // An empty error counts as none.
        response.error = response.error.filter(|error| !error.is_empty());
        response
    }

    /// The response of MCP servers: that of the last exchange. The output of a tool is the JSON text of its content
    /// blocks, as in promptfoo; for other results it is the whole JSON text.
    pub fn of_mcp(evidence: &Evidence) -> Self {
        let Some(last) = evidence.last() else {
            return Self::failed("MCP Provider error: nothing was sent");
        };
        let mut response = match (&last.outcome, error_text(last)) {
            (_, Some(error)) => Self::failed(error),
            (outcome, None) => {
                let result = outcome.result().cloned().unwrap_or_default();
                let shown = match result.get("content") {
                    Some(content) if last.method == "tools/call" => content.to_string(),
                    None if last.method == "tools/call" => "[]".to_owned(),
                    _ => result.to_string(),
                };
                Self { raw: Some(result), ..Self::text(shown) }
            }
        };
        response.metadata = metadata(last);
        response
    }
}

/// `cost: null` means that there is no cost.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(entries) => {
            entries.into_iter().filter(|(_, entry)| !entry.is_null()).collect()
        }
        other => other,
    }
}

fn metadata(exchange: &Exchange) -> Map<String, Value> {
    let mut metadata = Map::new();
    if exchange.method == "tools/call" {
        let name = exchange.sent.get("name").cloned().unwrap_or_default();
        let arguments = exchange.sent.get("arguments").cloned().unwrap_or_else(|| json!({}));
        metadata.insert("toolName".into(), name);
        metadata.insert("toolArgs".into(), arguments);
    } else {
        metadata.insert("method".into(), exchange.method.clone().into());
        metadata.insert("params".into(), exchange.sent.clone());
    }
    metadata.insert("server".into(), exchange.server.clone().into());
    metadata.insert("isError".into(), matches!(exchange.outcome, Outcome::ToolError(_)).into());
    metadata
}

/// Why there is no result, in the words that existing suites match.
pub fn error_text(exchange: &Exchange) -> Option<String> {
    let what = match &exchange.outcome {
        Outcome::Reply(_) | Outcome::ToolError(_) => return None,
        Outcome::RpcError { code, message, .. } => format!("MCP error {code}: {message}"),
        Outcome::TimedOut { after } => {
            format!("MCP error -32001: Request timed out after {} ms", after.as_millis())
        }
        Outcome::Closed { why } | Outcome::Refused { why } | Outcome::Garbled { why, .. } => {
            why.clone()
        }
    };
    Some(match exchange.method.as_str() {
        "tools/call" => format!("MCP tool error: {what}"),
        method => format!("{method}: {what}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_of_code_is_an_object_or_the_output_itself() {
        assert_eq!(Response::of_code(json!("text")).output, json!("text"));
        assert_eq!(Response::of_code(json!({"a": 1})).output, json!({"a": 1}));
        let whole = Response::of_code(json!({
            "output": {"x": null}, "cost": 0.5, "error": null, "tokenUsage": {"total": 3}, "other": 1
        }));
        assert_eq!(whole.output, json!({"x": null}));
        assert_eq!((whole.cost, whole.error), (Some(0.5), None));
        assert_eq!(whole.token_usage, Some(json!({"total": 3})));
        assert_eq!(Response::of_code(json!({"error": "no"})).error.as_deref(), Some("no"));
        assert!(Response::of_code(json!({"output": 1, "cost": "much"})).error.is_some());
    }
}
