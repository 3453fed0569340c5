//! Own scores, and the table of deepeval's peculiarities.

use quintain_evidence::graded::MetricScore;
use quintain_evidence::trace::Trace;
use serde_json::json;

use super::*;
use crate::metrics::testing::{compiled, score, trace_with_tools};

fn call(name: &str, args: Option<Value>) -> ExpectedCall {
    ExpectedCall { name: name.to_owned(), args, ..ExpectedCall::default() }
}

fn calls(list: &Value) -> Vec<ExpectedCall> {
    let read = |entry: &Value| match entry {
        Value::String(name) => call(name, None),
        entry => call(entry[0].as_str().unwrap(), Some(entry[1].clone())),
    };
    list.as_array().unwrap().iter().map(read).collect()
}

fn graded(options: &Value, expected: &Value, called: &Value) -> MetricScore {
    let mut trace = Trace::default();
    trace.expected.calls = Some(calls(expected));
    trace.expected.called = Some(calls(called));
    score(&compiled("tool-correctness", options), &trace)
}

fn value(options: &Value, expected: &Value, called: &Value) -> f64 {
    graded(options, expected, called).score.unwrap()
}

fn near(one: f64, other: f64) {
    assert!((one - other).abs() < 1e-9, "{one} is not {other}");
}

#[test]
fn extra_and_missing_calls_lower_the_score() {
    let own = json!({});
    near(value(&own, &json!(["a", "b"]), &json!(["b", "a"])), 1.0);
    near(value(&own, &json!(["a", "a"]), &json!(["a", "a"])), 1.0);
    near(value(&own, &json!(["a"]), &json!(["a", "b", "c"])), 0.5);
    near(value(&own, &json!(["a", "b", "c"]), &json!(["a"])), 0.5);
    near(value(&own, &json!([]), &json!([])), 1.0);
    near(value(&own, &json!([]), &json!(["a"])), 0.0);
    near(value(&own, &json!(["a"]), &json!([])), 0.0);
}

#[test]
fn parts_are_reported() {
    let found = graded(&json!({}), &json!(["a", "b"]), &json!(["b", "a", "x", "y"]));
    assert_eq!(found.details["precision"], 0.5);
    assert_eq!(found.details["recall"], 1.0);
    assert_eq!(found.details["order"], 0.5);
    near(found.score.unwrap(), 2.0 / 3.0);
    assert_eq!(found.findings.len(), 2);
}

#[test]
fn arguments_fit_in_part() {
    let expected = json!([["a", {"x": 1, "y": 9}], ["a", {"x": 1}]]);
    let called = json!([["a", {"x": 1}], ["a", {"x": 1, "y": 2}]]);
    near(value(&json!({}), &expected, &called), 0.75);
    near(value(&json!({"evaluationParams": []}), &expected, &called), 1.0);
    let loose = json!({"comparators": {"a": {"y": {"tolerance": 7}}}});
    near(value(&loose, &expected, &called), 1.0);
    let found = graded(&json!({}), &expected, &called);
    assert_eq!(found.findings[0].pointer, "/y");
}

#[test]
fn orders_are_demands() {
    let before = json!({"before": [["a", "b"]]});
    near(value(&before, &json!(["a", "b"]), &json!(["a", "b"])), 1.0);
    near(value(&before, &json!(["a", "b"]), &json!(["b", "a"])), 0.0);
    let never = json!({"never": ["rm"], "anyTime": ["log"]});
    near(value(&never, &json!(["a"]), &json!(["log", "a", "log"])), 1.0);
    near(value(&never, &json!(["a"]), &json!(["a", "rm"])), 0.0);
    let ordered = json!({"shouldConsiderOrdering": true});
    near(value(&ordered, &json!(["a", "b"]), &json!(["b", "a"])), 0.5);
    let exact = json!({"shouldExactMatch": true});
    near(value(&exact, &json!(["a", "b"]), &json!(["b", "a"])), 0.0);
    near(value(&exact, &json!(["a", "b"]), &json!(["a", "b"])), 1.0);
}

#[test]
fn findings_are_at_the_calls_of_the_trace() {
    let mut trace = trace_with_tools(&["a", "b"], &["a", "b", "a"]);
    trace.expected.calls = Some(vec![call("b", None)]);
    let found = score(&compiled("tool-correctness", &json!({})), &trace);
    let positions: Vec<_> = found.findings.iter().map(|finding| finding.call).collect();
    assert_eq!(positions, [Some(0), Some(2)]);
    trace.expected.called = Some(vec![call("a", None), call("b", None), call("a", None)]);
    let same = score(&compiled("tool-correctness", &json!({})), &trace);
    assert_eq!(same.findings, found.findings, "a list of the same calls has the same places");
    trace.expected.called = Some(vec![call("a", None), call("b", None)]);
    let other = score(&compiled("tool-correctness", &json!({})), &trace);
    assert_eq!(other.findings[0].call, None);
    trace.expected.calls = None;
    assert_eq!(score(&compiled("tool-correctness", &json!({})), &trace).score, None);
}

#[test]
fn mistakes_in_options_are_reported_together() {
    let options = json!({
        "compat": "ragas", "evaluationParams": ["input"], "before": "a", "comparators": 1, "never": "x"
    });
    let Err(errors) = crate::metrics::compile("tool-correctness", options.as_object().unwrap())
    else {
        panic!("four mistakes")
    };
    assert_eq!(errors.0.len(), 4, "{errors}");
}

#[test]
fn compatible_scores_repeat_known_peculiarities() {
    let plain = json!({"compat": "deepeval"});
    let ordered = json!({"compat": "deepeval", "should_consider_ordering": true});
    let params = json!({"compat": "deepeval", "evaluation_params": ["INPUT_PARAMETERS"]});
    near(value(&plain, &json!(["a"]), &json!(["a", "b", "c", "rm"])), 1.0);
    near(value(&plain, &json!(["a", "a"]), &json!(["a", "a"])), 0.5);
    near(value(&ordered, &json!(["a", "a"]), &json!(["a", "a"])), 1.0);
    let expected = json!([["a", {"x": 1, "y": 9}], ["a", {"x": 1}]]);
    let called = json!([["a", {"x": 1}], ["a", {"x": 1, "y": 2}]]);
    near(value(&params, &expected, &called), 0.5);
    near(value(&plain, &json!([["a", {"x": 1}]]), &json!([["a", {"x": 2}]])), 1.0);
    near(value(&params, &json!([["a", {"x": [1, 2]}]]), &json!([["a", {"x": [2, 1]}]])), 0.0);
    near(value(&params, &json!([["a", {"x": 1}]]), &json!([["a", {"x": 1.0}]])), 1.0);
    near(value(&params, &json!([["a", {"x": 1}]]), &json!([["a", {"x": true}]])), 1.0);
    near(value(&plain, &json!([]), &json!(["a"])), 0.0);
    near(value(&plain, &json!([]), &json!([])), 1.0);
    let crash = graded(&params, &json!(["a"]), &json!([["a", {"x": 1}]]));
    assert_eq!((crash.score, crash.success), (None, Some(false)));
    assert!(crash.error.is_some());
}
