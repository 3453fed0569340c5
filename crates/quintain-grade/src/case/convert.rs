//! Test cases into traces. Calls come before the text of their turn: tools, then resources, then prompts.

use quintain_evidence::trace::{
    Args, Call, CallKind, CallOutcome, Expected, ExpectedCall, Listing, Role, Trace, TraceServer,
};
use serde_json::{Value, json};

use super::{
    ConversationalTestCase, LlmTestCase, McpPromptCall, McpResourceCall, McpServer, McpToolCall,
    ToolCall, Turn, TurnRole,
};
use crate::offers;
use crate::outcome;

impl From<LlmTestCase> for Trace {
    fn from(case: LlmTestCase) -> Self {
        let mut trace = Self {
            id: case.id,
            name: case.name,
            servers: servers(case.mcp_servers),
            labels: case.labels,
            ..Self::default()
        };
        trace.say(Role::User, case.input);
        // `tools_called` of a case without MCP calls of tools is all that is known about its calls.
        if case.mcp_tools_called.is_empty() {
            add_general_calls(&mut trace, case.tools_called.as_deref());
        }
        let tools = case.mcp_tools_called;
        add_calls(&mut trace, tools, case.mcp_resources_called, case.mcp_prompts_called);
        trace.is_listed_by_kind = mixes_kinds(&trace);
        if let Some(output) = case.actual_output {
            trace.say(Role::Assistant, output);
        }
        trace.expected = expected(case.expected_tools, case.tools_called, case.expected_output);
        trace
    }
}

impl From<ConversationalTestCase> for Trace {
    fn from(case: ConversationalTestCase) -> Self {
        let mut trace = Self {
            id: case.id,
            name: case.name,
            servers: servers(case.mcp_servers),
            labels: case.labels,
            ..Self::default()
        };
        if let Some(role) = case.chatbot_role {
            trace.say(Role::System, role);
        }
        let has_calls = case.turns.iter().any(|turn| {
            turn.has_mcp_calls()
                || turn.tools_called.as_ref().is_some_and(|calls| !calls.is_empty())
        });
        let last = case.turns.iter().rposition(|turn| turn.role == TurnRole::Assistant);
        let mut called = case.tools_called;
        for (at, mut turn) in case.turns.into_iter().enumerate() {
            if let Some(context) = turn.retrieval_context.take() {
                let known = trace.labels.entry("retrieval_context").or_insert_with(|| json!([]));
                known.as_array_mut().into_iter().for_each(|list| list.push(context.clone()));
            }
            // Calls of the whole case belong to its last turn.
            if !has_calls && Some(at) == last {
                add_general_calls(&mut trace, called.as_deref());
            }
            add_turn(&mut trace, turn, &mut called);
        }
        trace.is_listed_by_kind = mixes_kinds(&trace);
        trace.expected = expected(case.expected_tools, called, case.expected_output);
        trace
    }
}

impl Turn {
    fn has_mcp_calls(&self) -> bool {
        !self.mcp_tools_called.is_empty()
            || !self.mcp_resources_called.is_empty()
            || !self.mcp_prompts_called.is_empty()
    }
}

fn add_turn(trace: &mut Trace, turn: Turn, called: &mut Option<Vec<ToolCall>>) {
    match turn.role {
        TurnRole::User => trace.say(Role::User, turn.content.clone()),
        TurnRole::System => trace.say(Role::System, turn.content.clone()),
        TurnRole::Assistant => {}
    }
    if turn.mcp_tools_called.is_empty() {
        add_general_calls(trace, turn.tools_called.as_deref());
    }
    add_calls(trace, turn.mcp_tools_called, turn.mcp_resources_called, turn.mcp_prompts_called);
    if let Some(tools) = turn.tools_called {
        called.get_or_insert_default().extend(tools);
    }
    if turn.role == TurnRole::Assistant && !turn.content.is_empty() {
        trace.say(Role::Assistant, turn.content);
    }
}

/// Whether calls of different kinds follow each other.
fn mixes_kinds(trace: &Trace) -> bool {
    trace.steps.windows(2).any(|pair| match (pair[0].as_call(), pair[1].as_call()) {
        (Some(call), Some(next)) => call.kind != next.kind,
        _ => false,
    })
}

fn add_calls(
    trace: &mut Trace,
    tools: Vec<McpToolCall>,
    resources: Vec<McpResourceCall>,
    prompts: Vec<McpPromptCall>,
) {
    for call in tools {
        let result = outcome::of(call.result);
        add(trace, CallKind::Tool, call.name, call.args, result, call.server, call.id);
    }
    for call in resources {
        let result = outcome::of(call.result);
        let args = Args::default();
        add(trace, CallKind::Resource, call.uri, args, result, call.server, call.id);
    }
    for call in prompts {
        let result = outcome::of(call.result);
        add(trace, CallKind::Prompt, call.name, call.args, result, call.server, call.id);
    }
}

fn add(
    trace: &mut Trace,
    kind: CallKind,
    name: String,
    args: Args,
    outcome: CallOutcome,
    server: Option<String>,
    id: Option<String>,
) {
    trace.call(Call { outcome, server, id, ..Call::new(kind, name, args) });
}

/// Adds general calls that may be MCP calls: those of that type, those of a tool that a server lists, and all if no
/// tools are listed.
fn add_general_calls(trace: &mut Trace, called: Option<&[ToolCall]>) {
    let mut lists =
        trace.servers.iter().filter_map(|server| server.tools_at(usize::MAX)).peekable();
    let names: Option<std::collections::HashSet<String>> = lists
        .peek()
        .is_some()
        .then(|| lists.flatten().filter_map(|tool| tool.name()).map(str::to_owned).collect());
    for call in called.into_iter().flatten() {
        let is_mcp = call.kind.as_deref().is_some_and(|kind| kind.eq_ignore_ascii_case("mcp"));
        if !is_mcp && names.as_ref().is_some_and(|names| !names.contains(&call.name)) {
            continue;
        }
        let args = match &call.input_parameters {
            Some(Value::String(text)) => Args::from_text(text),
            Some(parameters) => Args::Json(parameters.clone()),
            None => Args::Unknown,
        };
        let outcome = call.output.clone().map_or(CallOutcome::Unknown, outcome::of);
        let name = call.name.clone();
        add(trace, CallKind::Tool, name, args, outcome, call.server.clone(), None);
    }
}

fn expected(
    calls: Option<Vec<ToolCall>>,
    called: Option<Vec<ToolCall>>,
    output: Option<String>,
) -> Expected {
    let list = |calls: Vec<ToolCall>| calls.into_iter().map(ExpectedCall::from).collect();
    Expected { calls: calls.map(list), called: called.map(list), output }
}

impl From<ToolCall> for ExpectedCall {
    fn from(call: ToolCall) -> Self {
        Self {
            name: call.name,
            server: call.server,
            kind: call.kind.map(|kind| kind.to_ascii_uppercase()),
            args: call.input_parameters,
            output: call.output,
        }
    }
}

pub(crate) fn servers(servers: Vec<McpServer>) -> Vec<TraceServer> {
    servers.into_iter().map(TraceServer::from).collect()
}

impl From<McpServer> for TraceServer {
    fn from(server: McpServer) -> Self {
        // Applications put what `resources/templates/list` returns into the same list.
        let is_template = |item: &Value| {
            ["uriTemplate", "uri_template"]
                .iter()
                .any(|key| item.get(key).is_some_and(Value::is_string))
        };
        let (mixed, resources) = match server.available_resources {
            Some(items) => {
                let (mixed, own): (Vec<_>, Vec<_>) = items.into_iter().partition(is_template);
                (mixed, Some(own))
            }
            None => (Vec::new(), None),
        };
        let mut templates = server.available_resource_templates;
        if !mixed.is_empty() {
            templates.get_or_insert_default().extend(mixed);
        }
        let listing = Listing {
            from: 0,
            tools: server.available_tools.map(offers::tools),
            resources: resources.map(offers::resources),
            templates: templates.map(offers::templates),
            prompts: server.available_prompts.map(offers::prompts),
            outdated: Vec::new(),
        };
        let listings =
            if listing == Listing::default() { Vec::new() } else { vec![listing] }.into();
        Self {
            name: server.server_name,
            version: server.version,
            transport: server.transport,
            listings,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn general_calls_count_only_without_mcp_calls() {
        let called = vec![ToolCall::new("a").input_parameters(json!({"x": 1})).output("ok")];
        let case = LlmTestCase { tools_called: Some(called), ..LlmTestCase::new("q", "r") };
        let trace = Trace::from(case.clone());
        let call = trace.calls().next().unwrap();
        assert_eq!((call.name.as_str(), call.text().as_ref()), ("a", "ok"));
        assert_eq!(trace.expected.called.as_ref().map(Vec::len), Some(1));

        let tools = vec![McpToolCall::new("a", json!({"x": 1}))];
        let trace = Trace::from(LlmTestCase { mcp_tools_called: tools, ..case });
        assert_eq!(trace.calls().count(), 1);
    }

    #[test]
    fn functions_that_no_server_lists_are_not_mcp_calls() {
        let server = McpServer::new().available_tools([json!({"name": "a"})]);
        let called = vec![
            ToolCall::new("a"),
            ToolCall::new("local"),
            ToolCall { kind: Some("mcp".into()), ..ToolCall::new("gone") },
        ];
        let case = LlmTestCase {
            mcp_servers: vec![server],
            tools_called: Some(called),
            ..LlmTestCase::new("q", "r")
        };
        let trace = Trace::from(case);
        let names: Vec<&str> = trace.calls().map(|call| call.name.as_str()).collect();
        assert_eq!(names, ["a", "gone"]);
    }

    #[test]
    fn templates_in_the_list_of_resources_are_templates() {
        let server = McpServer::new().available_resources([
            json!({"uri": "file:///a.md"}),
            json!({"uriTemplate": "menu://{date}"}),
        ]);
        let server = TraceServer::from(server);
        assert_eq!(server.resources_at(0).map(<[_]>::len), Some(1));
        let templates = server.templates_at(0).unwrap();
        assert_eq!(templates[0].uri_template(), Some("menu://{date}"));
    }

    #[test]
    fn the_order_between_lists_is_unknown() {
        let tools = vec![McpToolCall::new("a", json!({}))];
        let one = LlmTestCase { mcp_tools_called: tools, ..LlmTestCase::new("q", "r") };
        assert!(!Trace::from(one.clone()).is_listed_by_kind);
        let resources = vec![McpResourceCall::new("x://y")];
        let both = LlmTestCase { mcp_resources_called: resources, ..one };
        assert!(Trace::from(both).is_listed_by_kind);
    }

    #[test]
    fn calls_come_before_the_text_of_their_turn() {
        let turn = Turn {
            mcp_tools_called: vec![McpToolCall::new("t", json!({}))],
            ..Turn::assistant("done")
        };
        let trace = Trace::from(ConversationalTestCase::new(vec![Turn::user("go"), turn]));
        let kinds: Vec<bool> = trace.steps.iter().map(|step| step.as_call().is_some()).collect();
        assert_eq!(kinds, [false, true, false]);
        assert_eq!(trace.answer(), Some("done"));
    }
}
