//! One planned interaction with a target: what to send, in which order, what to capture.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::tool_call::{self, ToolCall, ToolCallError};

/// What is sent to a target for one case.
#[derive(Debug, Clone, PartialEq)]
pub enum Probe {
    /// For targets that take text: echo, HTTP, commands, models.
    Text(String),
    /// For MCP servers.
    Steps(Vec<PlannedStep>),
}

/// One request of a probe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Step {
    Call(ToolCall),
    /// Any other request: `resources/read`, `prompts/get`, `completion/complete`, ...
    Request {
        method: String,
        params: Map<String, Value>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        server: Option<String>,
    },
}

/// A step whose texts may still refer to captured values of earlier steps.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedStep {
    pub step: Step,
    /// Values to capture from the result for later steps: name and JSONPath.
    pub capture: Vec<(String, String)>,
}

/// Reads the payload of an MCP prompt: a tool call in any dialect, a request (`method` and
/// `params`), or a sequence (`steps`).
///
/// # Errors
/// If it is none of these.
pub fn steps(payload: &Value) -> Result<Vec<PlannedStep>, ToolCallError> {
    match payload.get("steps").and_then(Value::as_array) {
        Some(steps) => steps.iter().map(planned).collect(),
        None => Ok(vec![planned(payload)?]),
    }
}

fn planned(payload: &Value) -> Result<PlannedStep, ToolCallError> {
    let capture = payload.get("capture").and_then(Value::as_object);
    let capture = capture.into_iter().flatten().filter_map(|(name, path)| {
        let path = path.as_str()?;
        Some((name.clone(), path.to_owned()))
    });
    Ok(PlannedStep { capture: capture.collect(), step: step(payload)? })
}

fn step(payload: &Value) -> Result<Step, ToolCallError> {
    let method = payload.get("method").and_then(Value::as_str);
    match method {
        Some(method) if method != "tools/call" => {
            let params = payload.get("params").and_then(Value::as_object);
            let server = payload.get("server").and_then(Value::as_str);
            Ok(Step::Request {
                method: method.to_owned(),
                params: params.cloned().unwrap_or_default(),
                server: server.map(str::to_owned),
            })
        }
        _ => tool_call::from_value(payload).map(Step::Call),
    }
}
