//! Faults of single calls: unknown and ambiguous tools, undeclared arguments, resources and prompts that no server offers.

use quintain_evidence::surface::{Prompt, Resource};
use quintain_evidence::trace::{
    Args, Call, CallKind, CallOutcome, Listing, Trace, TraceServer, TraceStep,
};
use serde_json::{Value, json};

use super::{Mutant, call_mut, step_of};

/// All calls of tools, with their positions.
fn tools(trace: &Trace) -> Vec<(usize, &Call)> {
    trace.calls().enumerate().filter(|(_, call)| call.kind == CallKind::Tool).collect()
}

/// The name with two letters swapped.
pub(super) fn misspelled(clean: &Trace) -> Vec<Mutant> {
    let mutant = |(index, call): (usize, &Call)| {
        let mut name: Vec<char> = call.name.chars().collect();
        let at = (1..name.len().saturating_sub(1)).find(|at| name[*at] != name[at + 1])?;
        name.swap(at, at + 1);
        let name: String = name.into_iter().collect();
        let mut trace = clean.clone();
        let called = call_mut(&mut trace, index);
        called.name.clone_from(&name);
        Some(Mutant { trace, call: Some(index), what: name })
    };
    tools(clean).into_iter().filter_map(mutant).collect()
}

/// A tool that another kind of server has.
pub(super) fn invented(clean: &Trace) -> Vec<Mutant> {
    let mutant = |(index, _): (usize, &Call)| {
        let mut trace = clean.clone();
        "execute_workflow_step".clone_into(&mut call_mut(&mut trace, index).name);
        Mutant { trace, call: Some(index), what: "execute_workflow_step".to_owned() }
    };
    tools(clean).into_iter().map(mutant).collect()
}

/// Two servers offer the tool, and the call names neither.
pub(super) fn ambiguous(clean: &Trace) -> Vec<Mutant> {
    let mutant = |(index, call): (usize, &Call)| {
        let server = clean.server(call.server.as_deref()?)?;
        let mut trace = clean.clone();
        trace.servers.push(TraceServer { name: Some("second".to_owned()), ..server.clone() });
        call_mut(&mut trace, index).server = None;
        Some(Mutant { trace, call: Some(index), what: call.name.clone() })
    };
    tools(clean).into_iter().filter_map(mutant).collect()
}

/// An argument that the tool does not declare.
pub(super) fn undeclared(clean: &Trace) -> Vec<Mutant> {
    let mutant = |(index, call): (usize, &Call)| {
        let mut trace = clean.clone();
        // A tool without any property takes whatever is sent.
        call.args.object().filter(|args| !args.is_empty())?;
        let Args::Json(Value::Object(args)) = &mut call_mut(&mut trace, index).args else {
            return None;
        };
        args.insert("verbosityy".to_owned(), json!("full"));
        Some(Mutant { trace, call: Some(index), what: call.name.clone() })
    };
    tools(clean).into_iter().filter_map(mutant).collect()
}

/// A call before the first one, of a server with lists of its own.
fn offered(clean: &Trace, call: Call, listing: Listing) -> Mutant {
    let mut trace = clean.clone();
    let what = format!("{} {}", call.kind.word(), call.name);
    let server = Some("library".to_owned());
    let step = step_of(clean, 0);
    trace.servers.push(TraceServer {
        name: server.clone(),
        listings: vec![listing].into(),
        ..TraceServer::default()
    });
    trace.steps.insert(step, TraceStep::Call(Box::new(Call { server, ..call })));
    Mutant { trace, call: Some(0), what }
}

fn called(kind: CallKind, name: &str, args: Value, result: Value) -> Call {
    Call { outcome: CallOutcome::Result(result), ..Call::new(kind, name, Args::Json(args)) }
}

fn contents(uri: &str, text: &str) -> Value {
    json!({"contents": [{"uri": uri, "mimeType": "text/plain", "text": text}]})
}

fn library() -> Listing {
    Listing {
        resources: Some(vec![Resource(json!({"uri": "docs://handbook/leave", "name": "Leave"}))]),
        prompts: Some(vec![Prompt(json!({
            "name": "summary", "arguments": [{"name": "topic", "required": true}, {"name": "tone"}]
        }))]),
        templates: Some(Vec::new()),
        ..Listing::default()
    }
}

pub(super) fn unlisted_resource(clean: &Trace) -> Vec<Mutant> {
    let uris = ["docs://handbook/leav", "docs://handbook/leave/2", "file:///etc/motd"];
    let call = |uri: &&str| called(CallKind::Resource, uri, json!({}), contents(uri, "Welcome."));
    uris.iter().map(|uri| offered(clean, call(uri), library())).collect()
}

pub(super) fn unused_resource(clean: &Trace) -> Vec<Mutant> {
    let uri = "docs://handbook/leave";
    let text = "Quokkas 4471 may hibernate in the vestibule until Brumaire; see form ZX-0918.";
    vec![offered(clean, called(CallKind::Resource, uri, json!({}), contents(uri, text)), library())]
}

pub(super) fn unknown_prompt(clean: &Trace) -> Vec<Mutant> {
    let messages = json!({"messages": []});
    let call =
        |name: &&str| called(CallKind::Prompt, name, json!({"topic": "leave"}), messages.clone());
    ["sumary", "review"].iter().map(|name| offered(clean, call(name), library())).collect()
}

pub(super) fn prompt_arguments(clean: &Trace) -> Vec<Mutant> {
    let messages = json!({"messages": []});
    let call = |args: Value| called(CallKind::Prompt, "summary", args, messages.clone());
    [json!({}), json!({"tone": "formal"}), json!({"topic": "leave", "lenght": "short"})]
        .into_iter()
        .map(|args| offered(clean, call(args), library()))
        .collect()
}
