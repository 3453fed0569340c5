//! Targets that take text: echo, HTTP, commands and custom providers.

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

/// What to send to a target.
pub(crate) struct Ask<'a> {
    pub(crate) prompt: &'a str,
    pub(crate) vars: &'a Map<String, Value>,
    pub(crate) templates: &'a Nunjucks,
}

impl Ask<'_> {
    /// The `context` argument of user programs.
    fn context(&self) -> Value {
        json!({"vars": self.vars, "prompt": {"raw": self.prompt, "label": self.prompt}})
    }
}

/// The result: the record of the exchange and the response.
struct Told {
    method: &'static str,
    sent: Value,
    outcome: Outcome,
    response: Response,
}

impl Told {
    /// The result if nothing was sent.
    fn refused(method: &'static str, sent: Value, why: impl Into<String>) -> Self {
        let why = why.into();
        let response = Response::failed(why.clone());
        Self { method, sent, outcome: Outcome::Refused { why }, response }
    }
}

/// Why a target can never answer; `None` if it can.
pub(crate) fn unavailable(target: &Target) -> Option<String> {
    if !matches!(target.kind, TargetKind::Other) {
        return None;
    }
    let id = &target.id;
    Some(format!(
        "the target `{id}` cannot be used: models are not supported yet. An MCP server can be \
         tested without one: write the tool calls as prompts"
    ))
}

/// Sends a prompt to a target. Failures are part of the response.
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

/// The `options` argument of user programs: the target's id, label and configuration.
fn options(target: &Target, config: &Map<String, Value>) -> Value {
    let mut options = Map::new();
    options.insert("id".into(), target.id.clone().into());
    if let Some(label) = &target.label {
        options.insert("label".into(), label.clone().into());
    }
    options.insert("config".into(), config.clone().into());
    Value::Object(options)
}
