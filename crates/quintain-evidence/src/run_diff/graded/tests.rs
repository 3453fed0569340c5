use super::*;
use crate::run_diff::{Key, diff, pairs};

fn row(name: &str, id: Option<&str>, status: CaseStatus) -> GradedRow {
    let key = Key {
        description: Some(name.to_owned()),
        vars: id.map_or(0, |id| id.len() as u64),
        prompt: "grade".to_owned(),
        target: "grade".to_owned(),
    };
    let row = Row { key, test_idx: 0, repeat: 0, status, score: 1.0, latency_ms: 0.0 };
    GradedRow { row, id: id.map(str::to_owned), metrics: Vec::new(), findings: Vec::new() }
}

fn scored(mut row: GradedRow, score: Option<f64>) -> GradedRow {
    let success = score.map(|score| score >= 0.5);
    row.metrics.push(MetricOutcome { name: "mcp-use".to_owned(), score, success });
    row
}

fn found(mut row: GradedRow, findings: &[(&str, u64)]) -> GradedRow {
    row.findings = findings.iter().map(|(check, id)| ((*check).to_owned(), *id)).collect();
    row
}

fn rows(graded: &[GradedRow]) -> Vec<Row> {
    graded.iter().map(|graded| graded.row.clone()).collect()
}

fn compared(mut before: Vec<GradedRow>, after: &[GradedRow]) -> GradeDiff {
    align(&mut before, after);
    let pairs = pairs(&rows(&before), &rows(after));
    compare(&before, after, &pairs)
}

use CaseStatus::{Errored, Failed, Passed};

#[test]
fn verdicts_and_metrics_are_counted_in_both_directions() {
    let before = vec![
        scored(row("a", None, Passed), Some(1.0)),
        scored(row("b", None, Failed), Some(0.0)),
        scored(row("c", None, Failed), Some(0.25)),
        scored(row("d", None, Passed), None),
        row("e", None, Errored),
    ];
    let after = [
        scored(row("e", None, Passed), Some(1.0)),
        scored(row("d", None, Passed), Some(0.9)),
        scored(row("c", None, Passed), Some(0.75)),
        scored(row("b", None, Passed), Some(1.0)),
        scored(row("a", None, Failed), Some(0.0)),
    ];
    let found = compared(before, &after);
    assert_eq!((found.cases, found.verdict.test.worse, found.verdict.test.better), (4, 1, 2));
    assert_eq!((found.verdict.before, found.verdict.after), (Some(0.5), Some(0.75)));
    let metric = &found.metrics["mcp-use"];
    assert_eq!((metric.cases, metric.test.worse, metric.test.better), (3, 1, 2));
    assert_eq!((metric.only_before, metric.only_after), (0, 2));
    let stored = serde_json::to_value(&found).unwrap();
    assert_eq!(stored["verdict"]["method"], "exact");
    assert_eq!(serde_json::from_value::<GradeDiff>(stored).unwrap(), found);
}

#[test]
fn findings_that_only_moved_to_another_call_did_not_change() {
    let before = vec![found(
        row("a", None, Failed),
        &[("args.schema", 1), ("args.schema", 2), ("recovery", 9)],
    )];
    let after = [found(
        row("a", None, Failed),
        &[("args.schema", 2), ("args.schema", 3), ("args.schema", 3), ("recovery", 9)],
    )];
    let found = compared(before, &after);
    let schema = &found.findings["args.schema"];
    assert_eq!((schema.appeared, schema.disappeared), (2, 1));
    assert_eq!(schema.appeared_in, ["a"]);
    assert!(!found.findings.contains_key("recovery"));
}

#[test]
fn a_case_is_found_again_by_its_id_or_its_name() {
    let mut before = vec![
        row("old name", Some("7"), Passed),
        row("same", Some("11"), Passed),
        row("gone", None, Passed),
    ];
    let after = [row("new name", Some("7"), Failed), row("same", Some("222"), Failed)];
    align(&mut before, &after);
    let changes = diff(&rows(&before), &rows(&after));
    assert_eq!(changes.new_failures.len(), 2);
    assert_eq!(changes.removed[0].key.description.as_deref(), Some("gone"));
    assert_eq!(pairs(&rows(&before), &rows(&after)), [(0, 0), (1, 1)]);
}

#[test]
fn an_id_that_occurs_twice_identifies_nothing() {
    let mut before = vec![row("x", Some("7"), Passed)];
    let after = [row("y", Some("7"), Passed), row("z", Some("7"), Passed)];
    align(&mut before, &after);
    assert_eq!(before[0].name(), "x");
}
