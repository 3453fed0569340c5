//! Test cases of deepeval, in the keys that it loads. A request with its calls and one answer is a case of one turn;
//! everything else is a conversation.

use std::io::{self, Write};

use quintain_content::registry::Meta;
use quintain_evidence::trace::{
    Args, Call, CallKind, CallOutcome, ExpectedCall, Role, Trace, TraceServer, TraceStep,
};
use serde_json::{Map, Value, json};

use super::Writer;

pub(super) struct DeepEval;

static META: Meta = Meta {
    id: "deepeval",
    aliases: &[],
    summary: "test cases of deepeval, one per line",
    docs: "\
# What it does
Writes `LLMTestCase` or `ConversationalTestCase` with results as plain JSON. Times, ids of parents and lists over time have
no place in that format and are left out; of several lists, the last is written.
",
    since: "0.2.0",
};

impl Writer for DeepEval {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn write(&self, trace: &Trace, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, &case(trace))?;
        out.write_all(b"\n")
    }
}

/// Keys of a case, which a label must not replace.
const KEYS: &[&str] = &[
    "id",
    "name",
    "input",
    "turns",
    "mcp_servers",
    "mcpServers",
    "expected_output",
    "expectedOutput",
    "actual_output",
    "actualOutput",
    "tools_called",
    "toolsCalled",
    "expected_tools",
    "expectedTools",
    "mcp_tools_called",
    "mcpToolsCalled",
    "mcp_resources_called",
    "mcpResourcesCalled",
    "mcp_prompts_called",
    "mcpPromptsCalled",
];

fn case(trace: &Trace) -> Value {
    let mut case = Map::new();
    let mut set = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            case.insert(key.to_owned(), value);
        }
    };
    set("id", trace.id.clone().map(Value::from));
    set("name", trace.name.clone().map(Value::from));
    if let Some((input, calls, output)) = single(trace) {
        set("input", Some(input.into()));
        set("actual_output", output.map(Value::from));
        for (key, calls) in lists(&calls) {
            set(key, calls);
        }
    } else {
        let (role, turns) = turns(trace);
        set("chatbot_role", role.map(Value::from));
        set("turns", Some(turns.into()));
    }
    let expected = &trace.expected;
    set("expected_output", expected.output.clone().map(Value::from));
    set("tools_called", expected.called.as_ref().map(|calls| tool_calls(calls)));
    set("expected_tools", expected.calls.as_ref().map(|calls| tool_calls(calls)));
    let servers: Vec<Value> = trace.servers.iter().map(server).collect();
    set("mcp_servers", (!servers.is_empty()).then(|| servers.into()));
    for (key, label) in &trace.labels {
        if !KEYS.contains(&key.as_str()) && !case.contains_key(key) {
            case.insert(key.clone(), label.clone());
        }
    }
    case.into()
}

/// A request, its calls in the order of deepeval's lists, and perhaps an answer.
fn single(trace: &Trace) -> Option<(&str, Vec<&Call>, Option<&str>)> {
    let (first, rest) = trace.steps.split_first()?;
    let request = first.as_message().filter(|said| said.role == Role::User)?;
    let (answer, calls) = match rest.split_last() {
        Some((TraceStep::Message(said), calls)) if said.role == Role::Assistant => {
            (Some(said.text.as_str()), calls)
        }
        _ => (None, rest),
    };
    let calls: Vec<&Call> = calls.iter().map(TraceStep::as_call).collect::<Option<_>>()?;
    let is_sorted = calls.is_sorted_by_key(|call| order(call.kind));
    // Without calls of tools, `tools_called` of such a case would be read as its calls.
    let has_tools = calls.iter().any(|call| call.kind == CallKind::Tool);
    let is_listed = trace.expected.called.as_ref().is_some_and(|called| !called.is_empty());
    (is_sorted && (has_tools || !is_listed)).then_some((request.text.as_str(), calls, answer))
}

fn order(kind: CallKind) -> usize {
    match kind {
        CallKind::Tool => 0,
        CallKind::Resource => 1,
        CallKind::Prompt => 2,
    }
}

/// The instructions at the start, and the turns. Calls belong to the text that follows them.
fn turns(trace: &Trace) -> (Option<&str>, Vec<Value>) {
    let mut steps = trace.steps.as_slice();
    let mut role = None;
    if let [TraceStep::Message(said), rest @ ..] = steps
        && said.role == Role::System
    {
        role = Some(said.text.as_str());
        steps = rest;
    }
    let mut turns = Vec::new();
    let mut calls: Vec<&Call> = Vec::new();
    for step in steps {
        match step {
            TraceStep::Call(call) => {
                if calls.last().is_some_and(|last| order(last.kind) > order(call.kind)) {
                    turns.push(turn("assistant", "", &std::mem::take(&mut calls)));
                }
                calls.push(call);
            }
            TraceStep::Message(said) => {
                let name = match said.role {
                    Role::Assistant => "assistant",
                    Role::User => "user",
                    Role::System => "system",
                };
                if said.role != Role::Assistant && !calls.is_empty() {
                    turns.push(turn("assistant", "", &std::mem::take(&mut calls)));
                }
                turns.push(turn(name, &said.text, &std::mem::take(&mut calls)));
            }
        }
    }
    if !calls.is_empty() {
        turns.push(turn("assistant", "", &calls));
    }
    (role, turns)
}

fn turn(role: &str, content: &str, calls: &[&Call]) -> Value {
    let mut turn = Map::new();
    turn.insert("role".to_owned(), role.into());
    turn.insert("content".to_owned(), content.into());
    for (key, calls) in lists(calls) {
        if let Some(calls) = calls {
            turn.insert(key.to_owned(), calls);
        }
    }
    turn.into()
}

/// The calls of each kind under the key of deepeval; none for kinds without calls.
fn lists(calls: &[&Call]) -> [(&'static str, Option<Value>); 3] {
    let list = |kind: CallKind, name: &str| {
        let calls = calls.iter().filter(|call| call.kind == kind);
        let calls: Vec<Value> = calls.map(|call| mcp_call(call, name)).collect();
        (!calls.is_empty()).then(|| calls.into())
    };
    [
        ("mcp_tools_called", list(CallKind::Tool, "name")),
        ("mcp_resources_called", list(CallKind::Resource, "uri")),
        ("mcp_prompts_called", list(CallKind::Prompt, "name")),
    ]
}

fn mcp_call(call: &Call, name: &str) -> Value {
    let mut written = Map::new();
    written.insert(name.to_owned(), call.name.clone().into());
    if call.kind != CallKind::Resource {
        written.insert("args".to_owned(), args(&call.args));
    }
    written.insert("result".to_owned(), result(&call.outcome));
    for (key, value) in [("server", &call.server), ("id", &call.id)] {
        if let Some(value) = value {
            written.insert(key.to_owned(), value.clone().into());
        }
    }
    written.into()
}

/// Arguments that are a JSON text are read as JSON again, so a text is written as JSON of a text.
fn args(args: &Args) -> Value {
    match args {
        Args::Json(value @ (Value::String(_) | Value::Null)) => value.to_string().into(),
        Args::Json(value) => value.clone(),
        Args::Invalid(text) => text.clone().into(),
        Args::Unknown => Value::Null,
    }
}

fn result(outcome: &CallOutcome) -> Value {
    match outcome {
        CallOutcome::Result(value) => value.clone(),
        CallOutcome::Unknown => Value::Null,
        CallOutcome::Error { code, message, data } => {
            let mut error = Map::new();
            if let Some(code) = code {
                error.insert("code".to_owned(), (*code).into());
            }
            error.insert("message".to_owned(), message.clone().into());
            if let Some(data) = data {
                error.insert("data".to_owned(), data.clone());
            }
            json!({"jsonrpc": "2.0", "error": error})
        }
    }
}

fn tool_calls(calls: &[ExpectedCall]) -> Value {
    let calls = calls.iter().map(|call| {
        let mut written = Map::new();
        written.insert("name".to_owned(), call.name.clone().into());
        let members = [
            ("type", call.kind.clone().map(Value::from)),
            ("input_parameters", call.args.clone()),
            ("output", call.output.clone()),
            ("server", call.server.clone().map(Value::from)),
        ];
        for (key, value) in members {
            if let Some(value) = value {
                written.insert(key.to_owned(), value);
            }
        }
        Value::from(written)
    });
    calls.collect()
}

fn server(server: &TraceServer) -> Value {
    let mut written = Map::new();
    let mut set = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            written.insert(key.to_owned(), value);
        }
    };
    let end = usize::MAX;
    set("server_name", server.name.clone().map(Value::from));
    set("version", server.version.clone().map(Value::from));
    set("transport", server.transport.clone().map(Value::from));
    set("available_tools", server.tools_at(end).map(|list| json!(list)));
    set("available_resources", server.resources_at(end).map(|list| json!(list)));
    set("available_resource_templates", server.templates_at(end).map(|list| json!(list)));
    set("available_prompts", server.prompts_at(end).map(|list| json!(list)));
    written.into()
}
