//! The recorded exchanges of a case as a trace: one span per request, and one for the whole target. The
//! names are those of promptfoo for an MCP target.

use std::borrow::Cow;

use quintain_evidence::evidence::{Exchange, Outcome};
use quintain_evidence::response::error_text;
use serde_json::Value;

use crate::check::Scene;

/// The method of exchanges with targets other than MCP servers, which are not traced.
const ECHO: &str = "echo";

/// Tools that run a command; their steps are named after the command.
const COMMAND_TOOLS: [&str; 3] = ["exec_command", "local_shell", "shell"];

/// The trace of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct SpanTrace<'a> {
    /// In the order in which they ended; the span of the target is the last.
    spans: Vec<TraceSpan<'a>>,
}

/// One span of a trace.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceSpan<'a> {
    pub name: Cow<'a, str>,
    pub took_ms: f64,
    pub failure: Option<SpanFailure>,
    /// The step of the trajectory.
    pub step: TrajectoryStep<'a>,
    /// Index into the exchanges; none for the span of the target.
    pub exchange: Option<usize>,
}

/// Why a span counts as an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpanFailure {
    /// The tool result has `isError`.
    Tool,
    /// There is no result.
    NoResult(String),
}

/// A step of a trajectory.
#[derive(Debug, Clone, PartialEq)]
pub enum TrajectoryStep<'a> {
    Tool { name: &'a str, args: &'a Value },
    Command { command: String, tool: &'a str },
    Span,
}

impl<'a> SpanTrace<'a> {
    /// The trace of a case; none without an exchange with an MCP server.
    pub fn of(scene: &Scene<'a>) -> Option<Self> {
        let asked = |exchange: &&Exchange| exchange.method != ECHO;
        let exchanges = scene.evidence.exchanges.iter();
        let mut spans: Vec<TraceSpan<'a>> = exchanges
            .enumerate()
            .filter(|(_, exchange)| asked(exchange))
            .map(|(at, exchange)| span(at, exchange))
            .collect();
        if spans.is_empty() {
            return None;
        }
        spans.push(TraceSpan {
            name: Cow::Borrowed(scene.target),
            took_ms: spans.iter().map(|span| span.took_ms).sum(),
            failure: scene.response.error.clone().map(SpanFailure::NoResult),
            step: TrajectoryStep::Span,
            exchange: None,
        });
        Some(Self { spans })
    }

    pub fn spans(&self) -> &[TraceSpan<'a>] {
        &self.spans
    }

    /// The spans in the order in which they started.
    pub fn steps(&self) -> impl Iterator<Item = &TraceSpan<'a>> {
        let (exchanges, target) = self.spans.split_at(self.spans.len().saturating_sub(1));
        target.iter().chain(exchanges)
    }
}

fn span(at: usize, exchange: &Exchange) -> TraceSpan<'_> {
    let failure = match &exchange.outcome {
        Outcome::Reply(_) => None,
        Outcome::ToolError(_) => Some(SpanFailure::Tool),
        _ => error_text(exchange).map(SpanFailure::NoResult),
    };
    let tool = exchange.sent.get("name").and_then(Value::as_str);
    let (name, step) = match tool.filter(|_| exchange.method == "tools/call") {
        Some(tool) => (Cow::Owned(format!("execute_tool {tool}")), step(tool, exchange)),
        None => (Cow::Borrowed(exchange.method.as_str()), TrajectoryStep::Span),
    };
    let took_ms = exchange.took.as_secs_f64() * 1e3;
    TraceSpan { name, took_ms, failure, step, exchange: Some(at) }
}

fn step<'a>(tool: &'a str, exchange: &'a Exchange) -> TrajectoryStep<'a> {
    let args = exchange.sent.get("arguments").unwrap_or(&Value::Null);
    let runs_commands = COMMAND_TOOLS.contains(&tool.trim().to_lowercase().as_str());
    match command(args).filter(|_| runs_commands) {
        Some(command) => TrajectoryStep::Command { command, tool },
        None => TrajectoryStep::Tool { name: tool, args },
    }
}

/// The command in the arguments of a shell tool.
fn command(args: &Value) -> Option<String> {
    let (given, separator) = [("cmd", " "), ("command", " "), ("commands", "; ")]
        .into_iter()
        .find_map(|(key, separator)| Some((args.get(key)?, separator)))?;
    let command = match given {
        Value::String(text) => text.trim().to_owned(),
        Value::Array(parts) => {
            let parts = parts.iter().map(quintain_content::text::js::string);
            let parts = parts.map(|part| part.trim().to_owned()).filter(|part| !part.is_empty());
            parts.collect::<Vec<_>>().join(separator)
        }
        _ => return None,
    };
    Some(command).filter(|command| !command.is_empty())
}

impl TraceSpan<'_> {
    /// The type of the step, as promptfoo names it.
    pub fn kind(&self) -> &'static str {
        match self.step {
            TrajectoryStep::Tool { .. } => "tool",
            TrajectoryStep::Command { .. } => "command",
            TrajectoryStep::Span => "span",
        }
    }

    /// All names that a pattern can match.
    pub fn aliases(&self) -> impl Iterator<Item = &str> {
        let (short, tool, program) = match &self.step {
            TrajectoryStep::Tool { name, .. } => (Some(*name), None, None),
            TrajectoryStep::Command { command, tool } => {
                (Some(command.as_str()), Some(*tool), command.split_whitespace().next())
            }
            TrajectoryStep::Span => (None, None, None),
        };
        std::iter::once(self.name.as_ref()).chain(short).chain(tool).chain(program)
    }

    /// `tool:echo`
    pub fn label(&self) -> String {
        let name = match &self.step {
            TrajectoryStep::Tool { name, .. } => name,
            TrajectoryStep::Command { command, .. } => command.as_str(),
            TrajectoryStep::Span => &self.name,
        };
        format!("{}:{name}", self.kind())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::{TestScene, called};

    fn labels(stage: &TestScene) -> Vec<String> {
        stage.with(|scene| SpanTrace::of(scene).unwrap().steps().map(TraceSpan::label).collect())
    }

    #[test]
    fn every_exchange_and_the_target_are_spans() {
        let mut stage = called("add", json!({"a": 1}));
        stage.evidence.exchanges.extend(called("fail", json!({})).evidence.exchanges);
        stage.evidence.exchanges[1].outcome = Outcome::ToolError(json!({"isError": true}));
        stage.with(|scene| {
            let trace = SpanTrace::of(scene).unwrap();
            let names: Vec<&str> = trace.spans().iter().map(|span| span.name.as_ref()).collect();
            assert_eq!(names, ["execute_tool add", "execute_tool fail", "target"]);
            assert_eq!(trace.spans()[1].failure, Some(SpanFailure::Tool));
            assert!((trace.spans()[2].took_ms - 20.0).abs() < 1e-9);
        });
        assert_eq!(labels(&stage), ["span:target", "tool:add", "tool:fail"]);
    }

    #[test]
    fn text_for_a_target_without_mcp_leaves_no_trace() {
        let mut stage = called("add", json!({}));
        stage.evidence.exchanges[0].method = "echo".to_owned();
        assert!(stage.with(|scene| SpanTrace::of(scene).is_none()));
        assert!(TestScene::output("x").with(|scene| SpanTrace::of(scene).is_none()));
    }

    #[test]
    fn shell_tools_go_by_their_command() {
        let stage = called("shell", json!({"command": ["git", " push "]}));
        assert_eq!(labels(&stage), ["span:target", "command:git push"]);
        stage.with(|scene| {
            let trace = SpanTrace::of(scene).unwrap();
            let aliases: Vec<&str> = trace.spans()[0].aliases().collect();
            assert_eq!(aliases, ["execute_tool shell", "git push", "shell", "git"]);
        });
        assert_eq!(labels(&called("shell", json!({"cmd": 5})))[1], "tool:shell");
    }

    #[test]
    fn malformed_calls_are_spans_of_their_method() {
        let mut stage = called("x", json!({}));
        stage.evidence.exchanges[0].sent = json!([]);
        assert_eq!(labels(&stage), ["span:target", "span:tools/call"]);
    }
}
