//! Targets that take text: echo, HTTP, commands and providers of the user.

mod code;
mod exec;
mod http;
mod raw;

use std::time::{Duration, Instant};

use quintain_core::evidence::{Exchange, Outcome};
use quintain_core::response::Response;
use quintain_core::suite::{Target, TargetKind};
use quintain_source::Nunjucks;
use serde_json::{Map, Value, json};

use crate::outside::Outside;

/// What a target is asked.
pub(crate) struct Ask<'a> {
    pub(crate) prompt: &'a str,
    pub(crate) vars: &'a Map<String, Value>,
    pub(crate) templates: &'a Nunjucks,
}

impl Ask<'_> {
    /// What programs of the user are told besides the prompt.
    fn context(&self) -> Value {
        json!({"vars": self.vars, "prompt": {"raw": self.prompt, "label": self.prompt}})
    }
}

/// What came of it: the record, and the answer that is made of it.
struct Told {
    method: &'static str,
    sent: Value,
    outcome: Outcome,
    response: Response,
}

impl Told {
    /// Nothing was sent.
    fn refused(method: &'static str, sent: Value, why: impl Into<String>) -> Self {
        let why = why.into();
        let response = Response::failed(why.clone());
        Self { method, sent, outcome: Outcome::Refused { why }, response }
    }
}

/// Why a target cannot be asked at all, if so.
pub(crate) fn unavailable(target: &Target) -> Option<String> {
    let TargetKind::Other { id, .. } = &target.kind else { return None };
    Some(format!(
        "the target `{id}` cannot be asked: models are not available yet. An MCP server can be \
         tested without one: write the tool calls as prompts"
    ))
}

/// Asks a target. What goes wrong is part of the answer.
pub(crate) async fn ask(target: &Target, ask: &Ask<'_>, outside: &Outside) -> (Exchange, Response) {
    let started = Instant::now();
    let told = match &target.kind {
        TargetKind::Echo => echo(ask),
        TargetKind::Http(http) => http::ask(http, ask, outside).await,
        TargetKind::Exec(exec) => exec::ask(target, exec, ask, outside).await,
        TargetKind::Code(code) => code::ask(target, code, ask, outside).await,
        TargetKind::Mcp(_) | TargetKind::Other { .. } => {
            let why = unavailable(target).unwrap_or_else(|| "the target takes no text".to_owned());
            Told::refused("ask", Value::Null, why)
        }
    };
    let is_echo = matches!(target.kind, TargetKind::Echo);
    let exchange = Exchange {
        server: target.name().to_owned(),
        method: told.method.to_owned(),
        sent: told.sent,
        outcome: told.outcome,
        took: if is_echo { Duration::ZERO } else { started.elapsed() },
        notices: Vec::new(),
    };
    (exchange, told.response)
}

fn echo(ask: &Ask<'_>) -> Told {
    let said = Value::String(ask.prompt.to_owned());
    Told {
        method: "echo",
        sent: json!({"prompt": ask.prompt}),
        outcome: Outcome::Reply(said.clone()),
        response: Response {
            raw: Some(said.clone()),
            output: said,
            cost: Some(0.0),
            ..Response::default()
        },
    }
}

/// What programs of the user are told about the target they stand for.
fn options(target: &Target, config: &Map<String, Value>) -> Value {
    let mut options = Map::new();
    options.insert("id".into(), target.id.clone().into());
    if let Some(label) = &target.label {
        options.insert("label".into(), label.clone().into());
    }
    options.insert("config".into(), config.clone().into());
    Value::Object(options)
}

/// The answer that code made: an object with `output` or `error`, or the output itself.
fn provided(value: Value) -> Response {
    let is_answer = value.get("output").or_else(|| value.get("error")).is_some();
    if !value.is_object() || !is_answer {
        return Response { output: value, ..Response::default() };
    }
    let output = value.get("output").cloned().unwrap_or_default();
    let mut response: Response = serde_json::from_value(without_nulls(value))
        .unwrap_or_else(|error| Response::failed(format!("the answer is malformed: {error}")));
    if response.error.is_none() {
        response.output = output;
    }
    // An empty error is none.
    response.error = response.error.filter(|error| !error.is_empty());
    response
}

/// `cost: null` means that there is none.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(entries) => {
            entries.into_iter().filter(|(_, entry)| !entry.is_null()).collect()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_of_code_is_an_object_or_the_output_itself() {
        assert_eq!(provided(json!("text")).output, json!("text"));
        assert_eq!(provided(json!({"a": 1})).output, json!({"a": 1}));
        let whole = provided(json!({
            "output": {"x": null}, "cost": 0.5, "error": null, "tokenUsage": {"total": 3}, "other": 1
        }));
        assert_eq!(whole.output, json!({"x": null}));
        assert_eq!((whole.cost, whole.error), (Some(0.5), None));
        assert_eq!(whole.token_usage, Some(json!({"total": 3})));
        assert_eq!(provided(json!({"error": "no"})).error.as_deref(), Some("no"));
        assert!(provided(json!({"output": 1, "cost": "much"})).error.is_some());
    }
}
