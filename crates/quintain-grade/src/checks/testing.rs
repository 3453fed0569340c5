//! Traces for the tests of checks, and the test of the registry.

use quintain_evidence::surface::Tool;
use quintain_evidence::trace::{Call, CallOutcome, Listing, Role, Trace, TraceServer};
use serde_json::{Value, json};

use super::{Checked, Fault, TraceCheck};
use crate::policy::CallPolicy;
use crate::view::View;

/// What a check finds under the default policy.
pub(super) fn faults(check: &dyn TraceCheck, trace: &Trace) -> Vec<Fault> {
    match check.check(&View::new(trace), &CallPolicy::default()) {
        Checked::Findings(faults) => faults,
        Checked::OfRules(faults) => faults.into_iter().map(|(_, fault)| fault).collect(),
        Checked::NotApplicable(_) => Vec::new(),
    }
}

/// The positions of the calls at which a check finds something.
pub(super) fn found_at(check: &dyn TraceCheck, trace: &Trace) -> Vec<usize> {
    faults(check, trace).into_iter().filter_map(|fault| fault.call).collect()
}

pub(super) fn server(name: &str, tools: Vec<Value>) -> TraceServer {
    let tools = Some(tools.into_iter().map(Tool).collect());
    let listings = vec![Listing { tools, ..Listing::default() }].into();
    TraceServer { name: Some(name.to_owned()), listings, ..TraceServer::default() }
}

/// A conversation of one turn.
pub(super) fn turn(request: &str, calls: Vec<Call>, answer: &str) -> Trace {
    let mut trace = Trace::default();
    trace.say(Role::User, request);
    for call in calls {
        trace.call(call);
    }
    trace.say(Role::Assistant, answer);
    trace
}

/// A call whose result is a text.
pub(super) fn made(name: &str, args: Value, text: &str) -> Call {
    with_result(name, args, json!({"content": [{"type": "text", "text": text}]}))
}

pub(super) fn with_result(name: &str, args: Value, result: Value) -> Call {
    Call { outcome: CallOutcome::Result(result), ..Call::tool(name, args) }
}

/// A call that the server refuses with `isError`.
pub(super) fn refused(name: &str, args: Value, text: &str) -> Call {
    with_result(name, args, json!({"content": [{"type": "text", "text": text}], "isError": true}))
}

#[test]
fn every_check_is_documented_under_its_own_id() {
    let mut ids = std::collections::HashSet::new();
    for check in super::CHECKS {
        let meta = check.meta();
        assert!(ids.insert(meta.id), "{} is registered twice", meta.id);
        assert!(!meta.summary.ends_with('.'), "{}", meta.id);
        for heading in ["What it does", "Why it matters", "What counts as proof", "Example"] {
            assert!(meta.docs.contains(&format!("# {heading}\n")), "{}: {heading}", meta.id);
        }
    }
}

#[test]
fn an_empty_trace_has_no_findings() {
    let (found, _) = super::run(&Trace::default(), &CallPolicy::default());
    assert_eq!(found, []);
}
