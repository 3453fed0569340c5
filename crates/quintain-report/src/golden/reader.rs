//! Reads reports back as other programs would.

use std::collections::BTreeMap;

use quintain_source::{Diagnostics, SourceFile, Sources};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{fixture, options, report, small};
use crate::find;

/// The shape that readers of promptfoo's results rely on.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Output {
    eval_id: String,
    results: Evaluation,
    config: Value,
    shareable_url: Option<String>,
    metadata: BTreeMap<String, Value>,
    vars: Vec<String>,
    runtime_options: BTreeMap<String, Value>,
    findings: Vec<Value>,
    coverage: BTreeMap<String, Value>,
    quintain: Value,
}

#[derive(Deserialize)]
struct Evaluation {
    version: u32,
    timestamp: String,
    prompts: Vec<Prompt>,
    results: Vec<Row>,
    stats: Stats,
}

#[derive(Deserialize)]
struct Prompt {
    id: String,
    raw: String,
    label: String,
    provider: String,
    metrics: Metrics,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metrics {
    score: f64,
    test_pass_count: usize,
    test_fail_count: usize,
    test_error_count: usize,
    assert_pass_count: usize,
    assert_fail_count: usize,
    total_latency_ms: f64,
    token_usage: TokenUsage,
    named_scores: BTreeMap<String, f64>,
    named_scores_count: BTreeMap<String, usize>,
    named_score_weights: BTreeMap<String, f64>,
    cost: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TokenUsage {
    total: u64,
    num_requests: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stats {
    successes: usize,
    failures: usize,
    errors: usize,
    token_usage: TokenUsage,
    duration_ms: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    id: String,
    prompt_idx: usize,
    test_idx: usize,
    test_case: Value,
    prompt_id: String,
    provider: BTreeMap<String, String>,
    prompt: Value,
    vars: BTreeMap<String, Value>,
    response: Value,
    error: Option<String>,
    failure_reason: u8,
    success: bool,
    score: f64,
    latency_ms: f64,
    grading_result: Option<Grading>,
    named_scores: BTreeMap<String, f64>,
    cost: f64,
    metadata: Value,
    token_usage: Value,
    quintain: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Grading {
    pass: bool,
    score: f64,
    reason: String,
    #[serde(default)]
    named_scores: BTreeMap<String, f64>,
    #[serde(default)]
    component_results: Vec<Grading>,
    assertion: Option<Value>,
    metadata: Option<Value>,
}

fn document() -> String {
    report(find("json").unwrap(), &options(), &fixture::cases(), 12)
}

#[test]
fn readers_of_promptfoo_find_what_they_know() {
    let output: Output = serde_json::from_str(&document()).unwrap();
    assert!(output.eval_id.starts_with("eval-") && output.shareable_url.is_none());
    assert_eq!(output.config["prompts"][0], "{{prompt}}");
    assert_eq!(output.metadata["evaluationCreatedAt"], "2026-01-02T03:04:05.678Z");
    assert_eq!(output.vars, ["prompt"]);
    assert_eq!(output.runtime_options["maxConcurrency"], 4);
    assert!(output.findings.is_empty() && output.coverage.is_empty());
    assert_eq!(output.quintain["flaky"], 1);
    assert_eq!(output.quintain["format_version"], 1);
    let results = output.results;
    assert_eq!((results.version, results.timestamp.len()), (3, 24));
    let stats = results.stats;
    assert_eq!((stats.successes, stats.failures, stats.errors), (5, 4, 3));
    assert_eq!((stats.token_usage.total, stats.token_usage.num_requests), (7, 12));
    assert!(stats.duration_ms > 0.0);
    let [first, second] = &results.prompts[..] else { panic!("two columns") };
    assert_eq!((first.provider.as_str(), second.provider.as_str()), ("payments", "echo"));
    assert_eq!((first.raw.as_str(), first.label.as_str()), ("{{prompt}}", "{{prompt}}"));
    assert_eq!(first.id.len(), 64);
    let metrics = &first.metrics;
    let counts = (metrics.test_pass_count, metrics.test_fail_count, metrics.test_error_count);
    assert_eq!(counts, (4, 4, 1));
    assert_eq!((metrics.assert_pass_count, metrics.assert_fail_count), (8, 5));
    assert_eq!(json!(metrics.named_scores["greet"]), 4.0);
    assert_eq!(json!(metrics.named_scores["derived"]), 0.25);
    assert_eq!(metrics.named_scores_count["greet"], 2);
    assert_eq!(json!(metrics.named_score_weights["inner"]), 2.0);
    assert_eq!(metrics.token_usage.num_requests, 9);
    assert!(metrics.score > 0.0 && metrics.total_latency_ms > 0.0 && metrics.cost < 0.01);
}

#[test]
fn rows_say_what_promptfoos_rows_say() {
    let output: Output = serde_json::from_str(&document()).unwrap();
    let rows = output.results.results;
    let indices: Vec<_> = rows.iter().map(|row| (row.test_idx, row.prompt_idx)).collect();
    // A repetition is a separate test.
    let expected = [
        (0, 0),
        (0, 1),
        (1, 0),
        (1, 1),
        (2, 0),
        (3, 0),
        (4, 0),
        (4, 1),
        (5, 0),
        (6, 0),
        (7, 0),
        (8, 0),
    ];
    assert_eq!(indices, expected);
    let first = &rows[0];
    assert!(first.success && first.error.is_none() && first.failure_reason == 0);
    assert_eq!((first.score, first.latency_ms, first.cost), (1.0, 12.346, 0.0));
    assert_eq!((first.id.len(), first.prompt_id.len()), (36, 64));
    assert_eq!(first.provider["label"], "payments");
    assert_eq!(first.prompt["config"], json!({}));
    assert_eq!(json!(first.named_scores["greet"]), 1.0);
    assert_eq!(first.token_usage["numRequests"], 1);
    assert!(first.test_case.is_object() && first.metadata.is_object());
    assert_eq!(first.quintain["place"]["line"], 10);
    assert_eq!(first.quintain.get("evidence"), None);
    let hostile = &rows[2];
    assert_eq!(hostile.response["output"], fixture::HOSTILE);
    assert_eq!(hostile.vars["prompt"], fixture::HOSTILE);
    assert_eq!((hostile.failure_reason, hostile.success), (1, false));
    assert_eq!(hostile.quintain["proofs"][0]["pointer"], "/content/0/text");
    assert!(hostile.quintain["evidence"]["exchanges"][0]["sent"].is_object());
    let errored = &rows[6];
    assert_eq!(errored.failure_reason, 2);
    assert!(errored.grading_result.is_none());
    assert_eq!(errored.response.as_object().unwrap().len(), 1, "an error and nothing else");
    assert_eq!(errored.quintain["attempts"], 3);
    let set = rows[5].grading_result.as_ref().unwrap();
    assert!(set.pass && set.score > 0.99 && !set.reason.is_empty());
    assert_eq!(json!(set.named_scores["setm"]), 0.5);
    let [whole, members @ ..] = &set.component_results[..] else { panic!("a set") };
    assert!(whole.assertion.is_none() && whole.component_results.len() == 2);
    assert_eq!(whole.metadata.as_ref().unwrap()["assertionSet"]["assertionCount"], 2);
    assert_eq!(members.len(), 2);
    let script = rows[8].grading_result.as_ref().unwrap();
    assert_eq!(script.component_results.len(), 2, "parts follow their script");
    assert_eq!(script.component_results[1].assertion.as_ref().unwrap()["type"], "javascript");
}

#[test]
fn yaml_and_lines_say_what_json_says() {
    let text = |id: &str| report(find(id).unwrap(), &options(), &small(), 11);
    let json: Value = serde_json::from_str(&text("json")).unwrap();
    let rows: Vec<Value> =
        text("jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(json["results"]["results"], Value::Array(rows));
    let mut sources = Sources::new();
    let id = sources.add(SourceFile::new("x.yaml", text("yaml")));
    let yaml = quintain_source::read(&sources, id, &mut Diagnostics::default()).unwrap();
    assert_eq!(yaml.to_json(), json);
}

#[test]
fn the_page_refers_to_nothing_outside() {
    let page = report(find("html").unwrap(), &options(), &fixture::cases(), 12);
    for outside in [" src=", "url(", "@import", "<link", "<iframe", "<img", " onclick", " style="] {
        assert!(!page.contains(outside), "{outside}");
    }
    let scripts = page.matches("<script>").count();
    assert_eq!(scripts, 1, "what targets say starts no script");
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn data_of_the_page_can_be_read_by_its_script() {
    let page = report(find("html").unwrap(), &options(), &fixture::cases(), 12);
    let blocks = page.split("<script type=\"application/json\" id=\"").skip(1);
    let mut ids = Vec::new();
    for block in blocks {
        let (id, rest) = block.split_once("\">").unwrap();
        let (data, _) = rest.split_once("</script>").unwrap();
        let data: Value = serde_json::from_str(data).unwrap();
        if id == "rows" {
            assert_eq!(data.as_array().unwrap().len(), 12);
        }
        ids.push(id);
    }
    assert_eq!(ids.len(), 14, "{ids:?}");
}
