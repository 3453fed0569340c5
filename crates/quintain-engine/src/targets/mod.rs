//! Targets that take text: echo, HTTP, commands and providers of the user.

mod code;
mod exec;
mod http;
mod raw;

use std::time::{Duration, Instant};

use quintain_evidence::evidence::{Exchange, Outcome};
use quintain_evidence::response::Response;
use quintain_source::Nunjucks;
use quintain_suite::suite::{Target, TargetKind};
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
    if !matches!(target.kind, TargetKind::Other) {
        return None;
    }
    let id = &target.id;
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
        TargetKind::Mcp(_) | TargetKind::Other => {
            let why = unavailable(target).unwrap_or_else(|| "the target takes no text".to_owned());
            Told::refused("ask", Value::Null, why)
        }
    };
    let is_echo = matches!(target.kind, TargetKind::Echo);
    let took = if is_echo { Duration::ZERO } else { started.elapsed() };
    let exchange = Exchange::new(target.name(), told.method, told.sent, told.outcome).within(took);
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
