//! Traces from our own evidence: the exchanges of a stored run are calls with their results.

use quintain_evidence::evidence::{Evidence, Exchange, Outcome};
use quintain_evidence::result::CaseResult;
use quintain_evidence::surface::{Prompt, Resource, ResourceTemplate, Surface, Tool};
use quintain_evidence::trace::{
    Args, Call, CallKind, CallOutcome, Expected, Listing, Trace, TraceServer,
};
use serde_json::{Map, Value, json};

use super::model_prompt;
use crate::case::Case;

/// The conversation of one case of a run. A prompt for an MCP server is a call, not something that a user says.
pub fn trace_of(case: &CaseResult) -> Trace {
    let mut trace = Trace {
        id: Some(format!("{}/{}/{}", case.test_idx, case.prompt_idx, case.repeat)),
        name: case.description.clone().or_else(|| Some(case.prompt.label.clone())),
        ..Trace::default()
    };
    add_evidence(&mut trace, &case.evidence);
    if trace.calls().next().is_none() {
        let calls = case.response.metadata.get("toolCalls");
        let mut response =
            json!({"output": case.response.output, "metadata": {"toolCalls": calls}});
        trace.steps = model_prompt::conversation(&case.prompt.raw, &mut response).steps;
    }
    trace.expected = expected(&case.test);
    trace.labels.insert("status".to_owned(), json!(case.status));
    trace.labels.insert("target".to_owned(), case.target.name().into());
    trace.labels.insert("vars".to_owned(), case.vars.clone().into());
    trace
}

/// A server with what it listed when the run connected to it. A run that needs no lists does not ask for them, so an empty
/// list says nothing.
pub fn server_of(name: &str, surface: &Surface) -> TraceServer {
    fn listed<T: Clone>(items: &[T]) -> Option<Vec<T>> {
        (!items.is_empty()).then(|| items.to_vec())
    }
    let listing = Listing {
        tools: listed(&surface.tools),
        resources: listed(&surface.resources),
        templates: listed(&surface.templates),
        prompts: listed(&surface.prompts),
        ..Listing::default()
    };
    let listings = if listing == Listing::default() { Vec::new() } else { vec![listing] };
    TraceServer {
        name: Some(name.to_owned()).filter(|name| !name.is_empty()),
        version: surface.server_version().map(str::to_owned),
        transport: None,
        listings: listings.into(),
    }
}

/// What the author of a test expects, in its metadata under the names of deepeval: `expectedTools` and `expectedOutput`.
fn expected(test: &Value) -> Expected {
    const KEYS: [&str; 4] =
        ["expectedTools", "expected_tools", "expectedOutput", "expected_output"];
    let Some(metadata) = test.get("metadata").and_then(Value::as_object) else {
        return Expected::default();
    };
    let given = metadata.iter().filter(|(key, _)| KEYS.contains(&key.as_str()));
    let mut case: Map<String, Value> =
        given.map(|(key, value)| (key.clone(), value.clone())).collect();
    if case.is_empty() {
        return Expected::default();
    }
    case.insert("input".to_owned(), "".into());
    let case = serde_json::from_value::<Case>(case.into());
    case.map(|case| Trace::from(case).expected).unwrap_or_default()
}

/// Adds the calls and lists of the exchanges in their order.
pub(super) fn add_evidence(trace: &mut Trace, evidence: &Evidence) {
    for exchange in &evidence.exchanges {
        let server = Some(exchange.server.clone()).filter(|server| !server.is_empty());
        if let Some(call) = call(exchange) {
            if server.as_deref().is_some_and(|name| trace.server(name).is_none()) {
                trace.servers.push(TraceServer { name: server.clone(), ..TraceServer::default() });
            }
            trace.call(Call { server, ..call });
        } else if let Outcome::Reply(result) = &exchange.outcome {
            let from = trace.steps.len();
            if let Some(listing) = listing(&exchange.method, result, from) {
                list(trace, server, listing);
            }
        }
    }
}

fn list(trace: &mut Trace, name: Option<String>, listing: Listing) {
    if let Some(server) = trace.servers.iter_mut().find(|server| server.name == name) {
        server.listings.push(listing);
    } else {
        let listings = vec![listing].into();
        trace.servers.push(TraceServer { name, listings, ..TraceServer::default() });
    }
}

fn call(exchange: &Exchange) -> Option<Call> {
    let (kind, key) = call_kind(&exchange.method)?;
    let name = exchange.sent.get(key).and_then(Value::as_str).unwrap_or_default();
    let mut call = Call::new(kind, name, sent_args(&exchange.sent));
    call.outcome = outcome(&exchange.outcome);
    call.took_ms = Some(exchange.took.as_secs_f64() * 1e3);
    Some(call)
}

/// The kind of call that a method makes, and the parameter with its name.
pub(super) fn call_kind(method: &str) -> Option<(CallKind, &'static str)> {
    Some(match method {
        "tools/call" => (CallKind::Tool, "name"),
        "resources/read" => (CallKind::Resource, "uri"),
        "prompts/get" => (CallKind::Prompt, "name"),
        _ => return None,
    })
}

/// `arguments` of a request; none are an empty object.
pub(super) fn sent_args(params: &Value) -> Args {
    match params.get("arguments") {
        None | Some(Value::Null) => Args::default(),
        Some(arguments) => Args::Json(arguments.clone()),
    }
}

fn outcome(outcome: &Outcome) -> CallOutcome {
    match outcome {
        Outcome::Reply(result) | Outcome::ToolError(result) => CallOutcome::Result(result.clone()),
        Outcome::RpcError { code, message, data } => {
            CallOutcome::Error { code: Some(*code), message: message.clone(), data: data.clone() }
        }
        other => {
            let message = other.failure().unwrap_or_default();
            CallOutcome::Error { code: None, message, data: None }
        }
    }
}

/// The list in the result of a list request, in one page.
fn listing(method: &str, result: &Value, from: usize) -> Option<Listing> {
    let items = |key: &str| result.get(key).and_then(Value::as_array).cloned();
    let mut listing = Listing { from, ..Listing::default() };
    match method {
        "tools/list" => {
            listing.tools = Some(items("tools")?.into_iter().map(Tool).collect());
        }
        "resources/list" => {
            listing.resources = Some(items("resources")?.into_iter().map(Resource).collect());
        }
        "resources/templates/list" => {
            let items = items("resourceTemplates")?;
            listing.templates = Some(items.into_iter().map(ResourceTemplate).collect());
        }
        "prompts/list" => {
            listing.prompts = Some(items("prompts")?.into_iter().map(Prompt).collect());
        }
        _ => return None,
    }
    let is_last_page = result.get("nextCursor").is_none_or(Value::is_null);
    is_last_page.then_some(listing)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn exchanges_become_calls_and_lists() {
        let tools = json!({"tools": [{"name": "pay"}]});
        let evidence = Evidence {
            exchanges: vec![
                Exchange::new("bank", "tools/list", json!({}), Outcome::Reply(tools)),
                Exchange::called("bank", "pay", json!({"n": 1}), Outcome::says("paid")),
                Exchange::new(
                    "bank",
                    "prompts/get",
                    json!({"name": "ask"}),
                    Outcome::TimedOut { after: Duration::from_secs(1) },
                ),
                Exchange::new("bank", "ping", json!({}), Outcome::Reply(json!({}))),
            ],
            ..Evidence::default()
        };
        let mut trace = Trace::default();
        add_evidence(&mut trace, &evidence);
        let calls: Vec<&Call> = trace.calls().collect();
        assert_eq!(calls.len(), 2);
        assert_eq!((calls[0].name.as_str(), calls[0].text().as_ref()), ("pay", "paid"));
        assert!(calls[1].is_error() && calls[1].text().contains("1000 ms"));
        assert_eq!(trace.server("bank").unwrap().tools_at(0).unwrap().len(), 1);
    }

    #[test]
    fn tests_name_what_they_expect_in_their_metadata() {
        let test = json!({"metadata": {"expectedTools": [{"name": "pay"}], "expected_output": "paid", "x": 1}});
        let expected = expected(&test);
        let calls = expected.calls.unwrap();
        assert_eq!((calls[0].name.as_str(), expected.output.as_deref()), ("pay", Some("paid")));
        assert!(super::expected(&json!({"metadata": {"x": 1}})).is_empty());
    }

    #[test]
    fn lists_of_a_surface_are_known_unless_they_are_empty() {
        let tools = vec![Tool(json!({"name": "pay"}))];
        let server = server_of("bank", &Surface { tools, ..Surface::default() });
        assert_eq!(server.tools_at(0).map(<[_]>::len), Some(1));
        assert!(server.prompts_at(0).is_none());
        assert!(server_of("bank", &Surface::default()).listings.is_empty());
    }
}
