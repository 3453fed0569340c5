use std::ops::ControlFlow;

use proptest::prelude::*;
use quintain_evidence::surface::{Prompt, Tool};
use quintain_evidence::trace::{
    Args, Call, CallKind, CallOutcome, Expected, ExpectedCall, Listing, Message, ProtocolFault,
    Role, TraceServer, TraceStep,
};
use serde_json::{Map, Value, json};

use super::*;
use crate::readers::{self, ReadOptions, Record};

fn written(format: &str, trace: &Trace) -> String {
    let mut out = Vec::new();
    by_name(format).unwrap().write(trace, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn read(format: &str, text: &str) -> Trace {
    let mut found = None;
    let reader = readers::by_name(format);
    let mut sink = |record: Record| {
        match record {
            Record::Trace(trace, _) => found = Some(*trace),
            Record::Bad(bad) => panic!("{bad} in {text}"),
        }
        ControlFlow::Continue(())
    };
    readers::read(text.as_bytes(), "x", reader, &ReadOptions::default(), &mut sink).unwrap();
    found.unwrap()
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        ".{0,8}".prop_map(Value::from),
        Just(json!("{\"a\": 1}")),
        Just(json!("{\"jsonrpc\": \"2.0\", \"result\": \"x\"}")),
        Just(json!("content=[] isError=False")),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((".{0,6}", inner.clone()), 0..4)
                .prop_map(|members| members.into_iter().collect::<Map<_, _>>().into()),
            inner.clone().prop_map(|inner| json!({"jsonrpc": "2.0", "id": 1, "result": inner})),
            inner.prop_map(|inner| json!({"jsonrpc": "2.0", "error": inner})),
        ]
    })
}

fn text() -> impl Strategy<Value = String> {
    ".{0,12}"
}

fn name() -> impl Strategy<Value = String> {
    "[a-c_]{1,3}"
}

fn args() -> impl Strategy<Value = Args> {
    prop_oneof![value().prop_map(Args::Json), text().prop_map(Args::Invalid), Just(Args::Unknown)]
}

fn outcome() -> impl Strategy<Value = CallOutcome> {
    let error =
        (prop::option::of(any::<i64>()), text(), prop::option::of(name().prop_map(Value::from)));
    prop_oneof![
        value().prop_map(CallOutcome::Result),
        error.prop_map(|(code, message, data)| CallOutcome::Error { code, message, data }),
        Just(CallOutcome::Unknown),
    ]
}

fn kind() -> impl Strategy<Value = CallKind> {
    prop_oneof![Just(CallKind::Tool), Just(CallKind::Resource), Just(CallKind::Prompt)]
}

fn call() -> impl Strategy<Value = Call> {
    let known =
        (kind(), name(), prop::option::of(name()), prop::option::of(name()), args(), outcome());
    let times = (
        prop::option::of(-1e10..1e10_f64),
        prop::option::of(0.0..1e9_f64),
        prop::option::of(name()),
    );
    (known, times).prop_map(|((kind, name, server, id, args, outcome), (at, took_ms, parent))| {
        Call { kind, name, server, id, args, outcome, at, took_ms, parent }
    })
}

fn step() -> impl Strategy<Value = TraceStep> {
    let role = prop_oneof![Just(Role::System), Just(Role::User), Just(Role::Assistant)];
    prop_oneof![
        call().prop_map(|call| TraceStep::Call(Box::new(call))),
        (role, text(), prop::option::of(any::<u32>())).prop_map(|(role, text, at)| {
            TraceStep::Message(Message { role, text, at: at.map(f64::from) })
        }),
    ]
}

fn server() -> impl Strategy<Value = TraceServer> {
    let listing =
        (0_usize..9, prop::option::of(prop::collection::vec(name(), 0..3)), any::<bool>());
    let listings = prop::collection::vec(listing, 0..3);
    (prop::option::of(name()), listings).prop_map(|(name, listings)| TraceServer {
        name,
        version: None,
        transport: Some("stdio".into()),
        listings: listings
            .into_iter()
            .map(|(from, tools, has_prompts)| Listing {
                from,
                tools: tools.map(|names| {
                    names.into_iter().map(|name| Tool(json!({"name": name}))).collect()
                }),
                prompts: has_prompts.then(|| vec![Prompt(json!({"name": "p"}))]),
                ..Listing::default()
            })
            .collect(),
    })
}

fn expected_call() -> impl Strategy<Value = ExpectedCall> {
    (name(), prop::option::of(Just("MCP".to_owned())), prop::option::of(name())).prop_map(
        |(name, kind, output)| {
            let args = output.is_some().then(|| json!({"a": 1}));
            ExpectedCall { name, server: None, kind, args, output: output.map(Value::from) }
        },
    )
}

fn trace() -> impl Strategy<Value = Trace> {
    let calls = || prop::option::of(prop::collection::vec(expected_call(), 0..3));
    let expected = (calls(), calls(), prop::option::of(text()));
    let steps = prop::collection::vec(step(), 0..8);
    let servers = prop::collection::vec(server(), 0..3);
    (prop::option::of(name()), servers, steps, expected, any::<bool>()).prop_map(
        |(id, servers, steps, (calls, called, output), is_capture)| Trace {
            name: id.clone(),
            id,
            servers,
            steps,
            expected: Expected { calls, called, output },
            labels: json!({"tags": ["x"], "score": 0.1}).as_object().cloned().unwrap_or_default(),
            protocol: is_capture
                .then(|| ProtocolFault {
                    rule: "malformed".into(),
                    call: Some(1),
                    message: "m".into(),
                    evidence: "e".into(),
                })
                .into_iter()
                .collect(),
            is_capture,
            is_listed_by_kind: is_capture,
        },
    )
}

/// Whether deepeval's format, which has no system messages, can express any of it.
fn has_turns(trace: &Trace) -> bool {
    let is_said = |message: &Message| message.role != Role::System && !message.text.is_empty();
    trace.calls().next().is_some() || trace.messages().any(is_said)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn our_own_format_keeps_everything(trace in trace()) {
        // A record without any step is not a trace.
        prop_assume!(!trace.steps.is_empty() || !trace.expected.is_empty());
        let text = written("native", &trace);
        prop_assert_eq!(text.lines().count(), 1);
        prop_assert_eq!(read("native", &text), trace);
    }

    #[test]
    fn a_test_case_survives_writing_and_reading(trace in trace()) {
        prop_assume!(has_turns(&trace));
        // What deepeval's format cannot express is lost with the first writing.
        let first = read("deepeval", &written("deepeval", &trace));
        let second = read("deepeval", &written("deepeval", &first));
        prop_assert_eq!(second, first);
    }

    #[test]
    fn calls_keep_their_order_and_content(trace in trace()) {
        prop_assume!(has_turns(&trace));
        let again = read("deepeval", &written("deepeval", &trace));
        let names = |trace: &Trace| trace.calls().map(|call| (call.kind, call.name.clone())).collect::<Vec<_>>();
        // Without calls of its own, a case has those that deepeval compares.
        if trace.calls().any(|call| call.kind == CallKind::Tool) {
            prop_assert_eq!(names(&again), names(&trace));
        }
    }
}

#[test]
fn a_case_of_one_turn_has_the_keys_that_deepeval_loads() {
    let mut trace = Trace::default();
    trace.say(Role::User, "Add 1 and 2");
    let mut call = Call::tool("add", json!({"a": 1, "b": 2}));
    call.outcome = CallOutcome::Result(json!({"content": [{"type": "text", "text": "3"}]}));
    trace.call(call);
    trace.say(Role::Assistant, "3");
    assert_eq!(
        serde_json::from_str::<Value>(&written("deepeval", &trace)).unwrap(),
        json!({
            "input": "Add 1 and 2", "actual_output": "3",
            "mcp_tools_called": [{"name": "add", "args": {"a": 1, "b": 2},
                "result": {"content": [{"type": "text", "text": "3"}]}}]
        })
    );
}

#[test]
fn every_format_has_a_name_of_its_own() {
    let mut names: Vec<&str> = WRITERS.iter().map(|writer| writer.meta().id).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), WRITERS.len());
}
