//! Calls through a router: a tool such as `execute(server, tool, params)` that calls tools of other servers. The calls
//! that it makes become calls of those servers.

use std::collections::HashSet;

use quintain_evidence::trace::{Args, Call, CallKind, CallOutcome, Trace, TraceServer, TraceStep};
use serde_json::Value;

use crate::json_input::prefix;
use crate::json_input::record::json_in;
use crate::outcome;

/// How a router's calls are written. What is not named is recognised by its usual names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Router {
    /// The tool that calls others; none means any tool with the arguments below.
    pub tool: Option<String>,
    /// The name of the argument with the server.
    pub server_arg: Option<String>,
    /// The name of the argument with the tool.
    pub tool_arg: Option<String>,
    /// The name of the argument with the arguments.
    pub params_arg: Option<String>,
}

/// The server to which the other tools of a router belong.
const ROUTER_SERVER: &str = "router";

const SERVER_ARGS: &[&str] = &["server", "server_name", "serverName"];
const TOOL_ARGS: &[&str] = &["tool", "tool_name", "toolName"];
const PARAMS_ARGS: &[&str] = &["params", "arguments", "args", "parameters"];

/// Replaces the calls of a router by the calls that it makes. `known` are the servers that users named themselves.
pub(super) fn unwrap(trace: &mut Trace, router: &Router, known: &[TraceServer]) {
    // A conversation with servers of its own and without a router stays as it is.
    let is_listed = |server: &TraceServer| server.name.is_some() && !server.listings.is_empty();
    if trace.servers.iter().any(is_listed) && !trace.calls().any(|call| is_routed(call, router)) {
        return;
    }
    name_router(trace);
    let listed: HashSet<&str> = offered(known);
    let mut servers: Vec<String> = Vec::new();
    let mut seen = HashSet::new();
    for step in &mut trace.steps {
        let TraceStep::Call(call) = step else { continue };
        if call.kind != CallKind::Tool {
            continue;
        }
        if !unwrap_call(call, router)
            && call.server.is_none()
            && !listed.contains(call.name.as_str())
        {
            call.server = Some(ROUTER_SERVER.to_owned());
        }
        if let Some(server) = &call.server
            && seen.insert(server.clone())
        {
            servers.push(server.clone());
        }
    }
    // A server that nothing is known about offers anything. With a list of servers, a name that is not in it is wrong.
    for name in servers {
        let is_guess = known.is_empty() || name == ROUTER_SERVER;
        if is_guess && trace.server(&name).is_none() {
            trace.servers.push(TraceServer { name: Some(name), ..TraceServer::default() });
        }
    }
}

/// The tools that the application gave to its model are those of the router.
fn name_router(trace: &mut Trace) {
    if let [server] = trace.servers.as_mut_slice()
        && server.name.is_none()
    {
        server.name = Some(ROUTER_SERVER.to_owned());
    }
}

fn offered(servers: &[TraceServer]) -> HashSet<&str> {
    let listings = servers.iter().flat_map(|server| &server.listings);
    let tools = listings.flat_map(|listing| listing.tools.iter().flatten());
    tools.filter_map(|tool| tool.name()).collect()
}

fn is_routed(call: &Call, router: &Router) -> bool {
    call.kind == CallKind::Tool
        && router.tool.as_ref().is_none_or(|tool| *tool == call.name)
        && routed(call, router).is_some()
}

fn unwrap_call(call: &mut Call, router: &Router) -> bool {
    if !is_routed(call, router) {
        return false;
    }
    let Some((server, tool, args)) = routed(call, router) else { return false };
    call.server = server;
    call.name = tool;
    call.args = args;
    if let CallOutcome::Result(result) = &call.outcome
        && let Some(inner) = inner_result(result)
    {
        call.outcome = outcome::of(inner);
    }
    true
}

fn routed(call: &Call, router: &Router) -> Option<(Option<String>, String, Args)> {
    let args = call.args.object()?;
    let find = |named: Option<&String>, usual: &[&str]| match named {
        Some(name) => args.get(name),
        None => usual.iter().find_map(|name| args.get(*name)),
    };
    let text = |value: Option<&Value>| value?.as_str().map(str::to_owned);
    let server = text(find(router.server_arg.as_ref(), SERVER_ARGS));
    let tool = text(find(router.tool_arg.as_ref(), TOOL_ARGS))?;
    let params = find(router.params_arg.as_ref(), PARAMS_ARGS);
    // Without a name for the tool, only a call with server and tool is certainly one of a router.
    if router.tool.is_none() && server.is_none() && router.tool_arg.is_none() {
        return None;
    }
    let args = match params {
        None | Some(Value::Null) => Args::default(),
        Some(Value::String(text)) => Args::from_text(text),
        Some(other) => Args::Json(other.clone()),
    };
    Some((server, tool, args))
}

/// The result of the called tool in the text of the router's result.
fn inner_result(result: &Value) -> Option<Value> {
    let [block] = result.get("content")?.as_array()?.as_slice() else { return None };
    let text = block.get("text")?.as_str().filter(|text| text.trim_start().starts_with('{'))?;
    // Logs cut long results.
    let inner = json_in(text).or_else(|| prefix::completed(text))?;
    outcome::is_result(&inner).then_some(inner)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn unwrapped(name: &str, args: Value, router: &Router) -> Call {
        let mut trace = Trace::default();
        trace.call(Call::tool(name, args));
        unwrap(&mut trace, router, &[]);
        trace.calls().next().unwrap().clone()
    }

    #[test]
    fn usual_names_are_recognised() {
        for args in [
            json!({"server": "git", "tool": "log", "params": {"n": 1}}),
            json!({"server_name": "git", "tool_name": "log", "arguments": "{\"n\": 1}"}),
        ] {
            let call = unwrapped("execute-tool", args, &Router::default());
            assert_eq!((call.server.as_deref(), call.name.as_str()), (Some("git"), "log"));
            assert_eq!(call.args, Args::Json(json!({"n": 1})));
        }
    }

    #[test]
    fn other_tools_stay_calls_of_the_router() {
        let call = unwrapped("route", json!({"query": "music"}), &Router::default());
        assert_eq!((call.server.as_deref(), call.name.as_str()), (Some("router"), "route"));
        let call = unwrapped("search", json!({"tool": "hammer"}), &Router::default());
        assert_eq!(call.name, "search");
    }

    #[test]
    fn named_arguments_are_used() {
        let router = Router {
            tool: Some("dispatch".into()),
            tool_arg: Some("fn".into()),
            params_arg: Some("with".into()),
            ..Router::default()
        };
        let call = unwrapped("dispatch", json!({"fn": "log", "with": "{not json"}), &router);
        assert_eq!((call.server, call.name), (None, "log".into()));
        assert_eq!(call.args, Args::Invalid("{not json".into()));
    }

    #[test]
    fn the_result_of_the_called_tool_is_unwrapped() {
        let inner = json!({"content": [{"type": "text", "text": "5"}], "isError": true});
        let mut call = Call::tool("execute", json!({"server": "a", "tool": "b", "params": {}}));
        call.outcome = CallOutcome::Result(
            json!({"content": [{"type": "text", "text": inner.to_string()}], "isError": false}),
        );
        let mut trace = Trace::default();
        trace.call(call);
        unwrap(&mut trace, &Router::default(), &[]);
        let call = trace.calls().next().unwrap();
        assert_eq!(call.result(), Some(&inner));
        assert!(call.is_error());
        assert!(trace.server("a").is_some_and(|server| server.listings.is_empty()));
    }
}
