use quintain_evidence::graded::{Layer, Level, TraceFinding};
use serde_json::{Value, json};

use super::*;

fn finding(check: &str, call: Option<usize>, severity: Level) -> TraceFinding {
    TraceFinding {
        check: check.to_owned(),
        layer: Layer::Call,
        severity,
        call,
        pointer: "/a".to_owned(),
        message: format!("{check} is wrong"),
        evidence: "seen".to_owned(),
        hint: "do it right".to_owned(),
    }
}

fn graded(findings: Vec<TraceFinding>) -> GradedTrace {
    GradedTrace {
        name: "one".to_owned(),
        id: None,
        success: false,
        findings,
        metrics: Vec::new(),
        not_applicable: Vec::new(),
        failed_because: Vec::new(),
        source: None,
    }
}

fn called(result: Value) -> Call {
    let mut call = Call::tool("get", json!({"a": 1}));
    call.outcome = CallOutcome::Result(result);
    call
}

fn shown(graded: &GradedTrace, trace: &Trace) -> Value {
    serde_json::to_value(Conversation::of(graded, trace, 1_000)).unwrap()
}

#[test]
fn findings_are_at_their_call_and_those_without_one_at_the_answer() {
    let mut trace = Trace::default();
    trace.say(Role::User, "please");
    trace.call(called(json!({"content": [{"type": "text", "text": "one"}]})));
    trace.say(Role::Assistant, "working");
    trace.call(called(json!({"content": [{"type": "text", "text": "two"}]})));
    trace.say(Role::Assistant, "done");
    let graded = graded(vec![
        finding("args.schema", Some(1), Level::Error),
        finding("claim.unsupported", None, Level::Warning),
    ]);
    let shown = shown(&graded, &trace);
    let checks: Vec<&Value> =
        (0..5).map(|at| &shown["parts"][at]["findings"]["list"][0]["check"]).collect();
    let none = &Value::Null;
    let (schema, claim) = (&json!("args.schema"), &json!("claim.unsupported"));
    assert_eq!(checks, [none, none, none, schema, claim]);
    assert_eq!(shown["parts"][3]["result"], "two");
}

#[test]
fn findings_about_a_missing_answer_or_call_come_last() {
    let mut trace = Trace::default();
    trace.say(Role::Assistant, "working");
    trace.call(called(json!({"content": []})));
    let graded = graded(vec![
        finding("claim.unsupported", None, Level::Error),
        finding("args.schema", Some(7), Level::Error),
    ]);
    let shown = shown(&graded, &trace);
    assert_eq!(shown["parts"][2]["kind"], "rest");
    assert_eq!(shown["parts"][2]["findings"]["list"].as_array().unwrap().len(), 2);
}

#[test]
fn long_texts_and_results_say_how_much_is_cut() {
    let mut trace = Trace::default();
    trace.say(Role::User, "x".repeat(5_000));
    trace.call(called(json!({"rows": "y".repeat(50_000)})));
    let shown = shown(&graded(Vec::new()), &trace);
    assert!(shown["parts"][0]["text"].as_str().unwrap().ends_with("x… (3.9 KiB more)"));
    let result = shown["parts"][1]["result"].as_str().unwrap();
    assert!(result.len() < 1_100 && result.ends_with("y… (47.9 KiB more)"), "{result}");
}

#[test]
fn hidden_characters_are_shown() {
    let mut trace = Trace::default();
    trace.say(Role::User, "a\u{202e}b\u{200b}c\u{1b}[1m");
    trace.call(Call::tool("t\u{202e}", json!({"k\u{200b}": "\u{202e}"})));
    let text = shown(&graded(Vec::new()), &trace).to_string();
    for hidden in ['\u{202e}', '\u{200b}', '\u{1b}'] {
        assert!(!text.contains(hidden), "{hidden:?} in {text}");
    }
}

#[test]
fn quiet_stretches_of_long_conversations_fold() {
    let mut trace = Trace::default();
    trace.say(Role::User, "please");
    (0..20).for_each(|_| trace.call(called(json!("fine"))));
    trace.say(Role::Assistant, "done");
    let shown = shown(&graded(vec![finding("args.schema", Some(9), Level::Error)]), &trace);
    let parts = shown["parts"].as_array().unwrap();
    let kinds: Vec<_> = parts.iter().map(|part| part["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["message", "fold", "call", "fold", "message"]);
    assert_eq!(parts[1]["label"], "9 calls without findings");
    assert_eq!(parts[2]["at"], 9);
}

#[test]
fn ten_thousand_steps_stay_small_and_keep_their_findings() {
    let mut trace = Trace::default();
    for _ in 0..5_000 {
        trace.say(Role::User, "z".repeat(2_000));
        trace.call(called(json!("r".repeat(2_000))));
    }
    let shown = shown(&graded(vec![finding("args.schema", Some(2_500), Level::Error)]), &trace);
    let text = shown.to_string();
    assert!(text.len() < 100_000, "{}", text.len());
    assert!(text.contains("\"at\":2500") && text.contains("args.schema"));
    assert!(text.contains("messages and calls are not in this report"));
}
