#![expect(clippy::float_cmp, reason = "sums of these numbers are exact")]
use serde_json::{Value, json};

use super::*;
use crate::event::Column;
use crate::response::Response;
use crate::result::{Component, Grade, PromptText, TargetName};
use crate::verdict::Verdict;

fn target() -> TargetName {
    TargetName { id: "echo".into(), label: None }
}

fn run(planned: usize) -> RunInfo {
    let column =
        Column { target: target(), prompt_idx: 0, raw: "{{a}}".into(), label: "{{a}}".into() };
    RunInfo {
        id: "eval-1".into(),
        created: "2026-01-01T00:00:00Z".into(),
        description: None,
        config: json!({}),
        columns: vec![column],
        planned,
        options: serde_json::Map::default(),
        tags: BTreeMap::new(),
        version: "0".into(),
        of_traces: false,
    }
}

fn case(test_idx: usize, repeat: u32, status: CaseStatus, output: &str) -> CaseResult {
    let prompt = PromptText { raw: "x".into(), label: "{{a}}".into() };
    CaseResult {
        test_idx,
        group: test_idx,
        repeat,
        description: Some(format!("test {test_idx}")),
        test: json!({}),
        status,
        score: f64::from(u8::from(status == CaseStatus::Passed)),
        response: Response::text(output),
        latency_ms: 1.0,
        attempts: 1,
        ..CaseResult::blank(test_idx * 10 + repeat as usize, target(), prompt)
    }
}

fn graded(
    components: Vec<(Value, Option<usize>, Verdict)>,
    named: &[(&str, f64, Option<f64>)],
) -> CaseResult {
    let components = components.into_iter().map(|(assertion, set, verdict)| Component {
        assertion,
        place: None,
        verdict,
        set,
    });
    let weights =
        named.iter().filter_map(|(name, _, weight)| Some(((*name).to_owned(), (*weight)?)));
    let named_weights = weights.collect();
    let named: BTreeMap<String, f64> =
        named.iter().map(|(name, score, _)| ((*name).to_owned(), *score)).collect();
    let grade = Grade {
        pass: true,
        score: 1.0,
        reason: String::new(),
        named_scores: named.clone(),
        named_weights,
        components: components.collect(),
    };
    let mut case = case(0, 0, CaseStatus::Passed, "x");
    case.vars.insert("who".into(), json!("me"));
    CaseResult { grade: Some(grade), named_scores: named, ..case }
}

fn summary(cases: &[CaseResult]) -> Summary {
    let mut tally = Tally::new(&run(cases.len() + 1));
    cases.iter().for_each(|case| tally.add(case));
    tally.finish(Duration::from_millis(5), false)
}

#[test]
fn a_test_that_passes_now_and_then_is_flaky() {
    use CaseStatus::{Failed, Passed};
    let summary = summary(&[
        case(0, 0, Passed, "a"),
        case(1, 0, Failed, "a"),
        case(0, 1, Failed, "b"),
        case(1, 1, Failed, "a"),
        case(0, 2, Passed, "a"),
    ]);
    assert_eq!((summary.flaky, summary.varying, summary.missing), (1, 1, 1));
    let [unsteady] = &summary.unsteady[..] else { panic!("{:?}", summary.unsteady) };
    assert_eq!((unsteady.runs, unsteady.passed, unsteady.distinct), (3, 2, 2));
    let groups = [Answers { count: 2, ordinal: 0 }, Answers { count: 1, ordinal: 1 }];
    assert_eq!(unsteady.answers, groups);
    assert_eq!(unsteady.description.as_deref(), Some("test 0"));
}

#[test]
fn tests_that_differ_from_each_other_are_not_flaky() {
    let summary =
        summary(&[case(0, 0, CaseStatus::Passed, "a"), case(1, 0, CaseStatus::Failed, "b")]);
    assert_eq!((summary.flaky, summary.varying), (0, 0));
    assert!(summary.unsteady.is_empty());
}

#[test]
fn the_same_verdict_on_other_answers_varies_and_is_not_flaky() {
    let cases: Vec<_> = (0..200).map(|n| case(0, n, CaseStatus::Passed, &n.to_string())).collect();
    let summary = summary(&cases);
    assert_eq!((summary.flaky, summary.varying), (0, 1));
    assert_eq!(summary.unsteady[0].distinct, 64, "counted up to the limit");
    assert_eq!(summary.unsteady[0].answers.len(), 20);
}

#[test]
fn named_scores_are_weighted_as_promptfoo_weighs_them() {
    let mut set = Verdict::new(true, 0.5, "");
    set.named_scores.insert("inner".into(), 0.0);
    let mut script = Verdict::new(false, 0.3, "parts");
    script.named_scores.insert("a".into(), 0.5);
    script.components.push(Verdict::pass("x"));
    let case = graded(
        vec![
            (json!({"type": "contains", "metric": "greet"}), None, Verdict::pass("")),
            (json!({"type": "contains", "metric": "greet", "weight": 3}), None, Verdict::pass("")),
            (json!({"type": "assert-set", "metric": "setm", "weight": 2}), None, set),
            (json!({"type": "contains", "metric": "inner"}), Some(2), Verdict::fail("")),
            (json!({"type": "javascript"}), None, script),
            (json!({"type": "equals", "metric": "m {{ who }}"}), None, Verdict::pass("")),
        ],
        &[
            ("greet", 1.0, Some(4.0)),
            ("setm", 0.5, Some(2.0)),
            ("inner", 0.0, Some(2.0)),
            ("a", 0.5, Some(1.0)),
            ("m me", 1.0, Some(1.0)),
            ("?", 0.5, None),
        ],
    );
    let summary = summary(&[case]);
    let column = &summary.columns[0];
    let of = |map: &BTreeMap<String, f64>| {
        ["greet", "setm", "inner", "a", "m me", "?"].map(|name| map[name])
    };
    assert_eq!(of(&column.named_scores), [4.0, 1.0, 0.0, 0.5, 1.0, 0.5]);
    assert_eq!(of(&column.named_weights), [4.0, 2.0, 2.0, 1.0, 1.0, 1.0]);
    assert_eq!(column.named_counts["greet"], 2);
    assert_eq!(column.named_counts["setm"], 1);
    assert_eq!((column.asserts_passed, column.asserts_failed), (5, 2));
}

#[test]
fn percentiles_are_measured_values() {
    let measured: Vec<f64> = (1..=100).rev().map(f64::from).collect();
    let latency = Latency::of(&measured).unwrap();
    assert_eq!((latency.min, latency.p50, latency.p99, latency.max), (1.0, 50.0, 99.0, 100.0));
    assert_eq!(Latency::of(&[7.0]).unwrap().p99, 7.0);
    assert_eq!(Latency::of(&[]), None);
}

#[test]
fn tokens_are_added_up_and_lies_do_not_overflow() {
    let mut tokens = Tokens::default();
    tokens.add(Some(&json!({"total": u64::MAX, "prompt": 3, "completion": "x"})));
    tokens.add(Some(&json!({"total": 5})));
    tokens.add(None);
    assert_eq!((tokens.total, tokens.prompt, tokens.requests), (u64::MAX, 3, 3));
}
