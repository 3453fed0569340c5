//! `compat: deepeval` against scores that deepeval 4.3.1 gave; `tests/deepeval/record.py` recorded them.

use quintain_evidence::trace::{ExpectedCall, Trace};
use quintain_grade::evaluate::Grading;
use quintain_grade::metrics::{self, CompiledMetric};
use serde_json::{Value, json};

/// The modes in the order of the recorded scores.
fn modes() -> Vec<CompiledMetric> {
    let mut modes = Vec::new();
    for (exact, ordered) in [(false, false), (false, true), (true, false)] {
        for params in [
            json!([]),
            json!(["input-parameters"]),
            json!(["output"]),
            json!(["input-parameters", "output"]),
        ] {
            let options = json!({
                "compat": "deepeval",
                "shouldExactMatch": exact,
                "shouldConsiderOrdering": ordered,
                "evaluationParams": params,
            });
            modes.push(
                metrics::compile("ToolCorrectnessMetric", options.as_object().unwrap()).unwrap(),
            );
        }
    }
    modes
}

fn calls(list: &Value) -> Vec<ExpectedCall> {
    let read = |call: &Value| {
        let field = |index: usize| call.get(index).filter(|value| !value.is_null());
        ExpectedCall {
            name: call[0].as_str().unwrap().to_owned(),
            server: None,
            kind: field(3).and_then(Value::as_str).map(ToOwned::to_owned),
            args: field(1).cloned(),
            output: field(2).cloned(),
        }
    };
    list.as_array().unwrap().iter().map(read).collect()
}

#[test]
fn scores_are_those_of_deepeval_in_all_modes() {
    let grading = Grading { metrics: modes(), ..Grading::default() };
    let recorded = include_str!("../deepeval/cases.jsonl");
    let (mut compared, mut raised) = (0, 0);
    for (number, line) in recorded.lines().enumerate() {
        let record: Value = serde_json::from_str(line).unwrap();
        let mut trace = Trace::default();
        trace.expected.calls = Some(calls(&record["e"]));
        trace.expected.called = Some(calls(&record["c"]));
        let graded = grading.grade(&trace, String::new).trace;
        let scores = record["s"].as_array().unwrap();
        assert_eq!(scores.len(), graded.metrics.len());
        for (mode, (theirs, ours)) in scores.iter().zip(&graded.metrics).enumerate() {
            let place = format!("line {}, mode {mode}", number + 1);
            if let Some(theirs) = theirs.as_f64() {
                // Python adds the shares of keys in the order of their hashes; the last bits may differ.
                let is_same = ours.score.is_some_and(|ours| (ours - theirs).abs() < 1e-12);
                assert!(is_same, "{place}: {:?} is not {theirs}\n{line}", ours.score);
            } else {
                assert!(ours.score.is_none() && ours.error.is_some(), "{place}");
                raised += 1;
            }
            compared += 1;
        }
    }
    assert!(compared >= 48_000 && raised > 1_000, "{compared} {raised}");
    println!("{compared} scores compared; deepeval raises an exception in {raised} of them");
}
