use serde_json::json;

use super::*;

fn row(name: &str, status: CaseStatus) -> Row {
    let key = Key {
        description: Some(name.to_owned()),
        vars: 0,
        prompt: "p".to_owned(),
        target: "t".to_owned(),
    };
    let score = f64::from(u8::from(status == Passed));
    Row { key, test_idx: 0, repeat: 0, status, score, latency_ms: 10.0 }
}

fn repeated(name: &str, passed: u32, all: u32) -> Vec<Row> {
    let status = |n| if n < passed { Passed } else { Failed };
    (0..all).map(|repeat| Row { repeat, ..row(name, status(repeat)) }).collect()
}

fn names(changes: &[CaseChange]) -> Vec<&str> {
    changes.iter().filter_map(|change| change.key.description.as_deref()).collect()
}

use CaseStatus::{Errored, Failed, Passed};

#[test]
fn every_case_finds_its_list() {
    let before = [
        row("breaks", Passed),
        row("repaired", Failed),
        row("bad", Failed),
        row("good", Passed),
        row("gone", Passed),
        Row { score: 0.9, ..row("drifts", Passed) },
    ];
    let after = [
        row("new", Failed),
        Row { score: 0.8, ..row("drifts", Passed) },
        row("good", Passed),
        row("bad", Errored),
        row("repaired", Passed),
        row("breaks", Errored),
    ];
    let diff = diff(&before, &after);
    assert_eq!(names(&diff.new_failures), ["breaks"]);
    assert_eq!(names(&diff.fixed), ["repaired"]);
    assert_eq!(names(&diff.still_failing), ["bad"]);
    assert_eq!(names(&diff.changed_scores), ["drifts"]);
    assert_eq!(diff.added[0].key.description.as_deref(), Some("new"));
    assert_eq!(diff.removed[0].key.description.as_deref(), Some("gone"));
    assert_eq!(diff.unchanged, 1);
    assert!(diff.regressed);
    let stored = serde_json::to_string(&diff).unwrap();
    assert_eq!(serde_json::from_str::<Diff>(&stored).unwrap(), diff);
}

#[test]
fn a_run_does_not_differ_from_itself() {
    let rows = [row("a", Passed), row("b", Failed)];
    let diff = diff(&rows, &rows);
    assert!(!diff.regressed && diff.new_failures.is_empty() && diff.fixed.is_empty());
    assert_eq!((diff.unchanged, diff.still_failing.len()), (1, 1));
    assert!(!diff.still_failing[0].worse);
    assert_eq!(super::diff(&[], &[]), Diff::default());
}

#[test]
fn a_new_case_that_fails_is_no_regression() {
    let diff = diff(&[row("a", Passed)], &[row("a", Passed), row("b", Failed)]);
    assert!(!diff.regressed);
    assert_eq!(diff.added.len(), 1);
}

#[test]
fn a_flaky_case_is_worse_only_beyond_chance() {
    let noise = diff(&repeated("f", 9, 10), &repeated("f", 8, 10));
    assert!(!noise.regressed && !noise.still_failing[0].worse);
    let worse = diff(&repeated("f", 9, 10), &repeated("f", 1, 10));
    assert!(worse.regressed && worse.still_failing[0].worse);
    let after = worse.still_failing[0].after;
    assert_eq!((after.repeats, after.passed), (10, 1));
    let broken = diff(&repeated("f", 10, 10), &repeated("f", 9, 10));
    assert!(broken.regressed && !broken.new_failures[0].worse, "flaky now, but not significant");
}

#[test]
fn tests_that_look_the_same_are_told_apart() {
    let before = [row("x", Passed), row("x", Failed)];
    let after = [row("x", Passed), row("x", Passed)];
    let diff = diff(&before, &after);
    assert_eq!((diff.unchanged, diff.fixed.len()), (1, 1));
}

#[test]
fn a_reworded_variable_is_the_same_case_if_only_one_can_be_meant() {
    let with = |name: &str, vars: u64, status| {
        let mut row = row(name, status);
        row.key.vars = vars;
        row
    };
    let one = diff(&[with("a", 1, Passed)], &[with("a", 2, Failed)]);
    assert_eq!(names(&one.new_failures), ["a"]);
    let two = diff(&[with("a", 1, Passed), with("a", 2, Passed)], &[with("a", 3, Failed)]);
    assert_eq!((two.added.len(), two.removed.len()), (1, 2));
    let mut nameless = [with("a", 1, Passed), with("a", 2, Passed)];
    nameless.iter_mut().for_each(|row| row.key.description = None);
    let none = diff(&nameless[..1], &nameless[1..]);
    assert_eq!((none.added.len(), none.removed.len()), (1, 1));
}

fn timed(latency: impl Fn(u32) -> f64) -> Vec<Row> {
    (0..50).map(|n| Row { latency_ms: latency(n), ..row(&n.to_string(), Passed) }).collect()
}

#[test]
fn latency_shifts_beyond_noise_only() {
    let usual = |n: u32| 10.0 + f64::from(n * 7919 % 50) / 10.0;
    let before = timed(usual);
    let noise = diff(&before, &timed(|n| usual(n + 13) * 1.001));
    assert_eq!(noise.latency["t"].verdict, Shift::None);
    let slower = diff(&before, &timed(|n| usual(n) * 1.5));
    assert_eq!(slower.latency["t"].verdict, Shift::Slower);
    assert!(slower.latency["t"].p_value < 1e-6 && !slower.regressed);
    let faster = diff(&before, &timed(|n| usual(n) * 0.5));
    assert_eq!(faster.latency["t"].verdict, Shift::Faster);
    let few = diff(&before[..5], &timed(|n| usual(n) * 3.0)[..5]);
    assert_eq!(few.latency["t"].verdict, Shift::None, "five measurements prove nothing");
    let odd = diff(&timed(|_| f64::NAN), &timed(|_| f64::INFINITY));
    assert!(odd.latency.is_empty());
}

#[test]
fn the_hash_knows_values_and_not_their_order() {
    let hash = |value: Value| vars_hash(value.as_object().unwrap());
    assert_eq!(hash(json!({"a": 1, "b": [2]})), hash(json!({"b": [2], "a": 1})));
    let different = [
        json!({}),
        json!({"a": 1}),
        json!({"a": "1"}),
        json!({"a": [1]}),
        json!({"a": {"1": null}}),
        json!({"a": null}),
        json!({"ab": "c"}),
        json!({"a": "bc"}),
        json!({"a": "b", "c": "d"}),
    ];
    let hashes: HashSet<u64> = different.iter().cloned().map(hash).collect();
    assert_eq!(hashes.len(), different.len());
    assert_eq!(
        hash(json!({"a": "b"})),
        17_131_700_353_050_965_994,
        "stored, so it must never change"
    );
}
