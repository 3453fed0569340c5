//! Every reporter on a fixed run that grades traces: a failed conversation with hostile text, a passed one with expected
//! calls, a record that could not be read.

use std::sync::Arc;

use quintain_evidence::event::{Column, RunInfo};
use quintain_evidence::graded::{
    GradeSummary, GradedTrace, Layer, Level, MetricScore, NotApplicable, TraceFinding,
};
use quintain_evidence::result::{CaseResult, CaseStatus, SourcePlace, TargetName};
use quintain_evidence::tally::Summary;
use quintain_evidence::tool_selection::{
    ArgumentFigures, ConfusionMatrix, SelectionReport, Share, ToolSelection,
};
use quintain_evidence::trace::{Call, CallOutcome, ExpectedCall, Role, Trace};
use serde_json::{Map, Value, json};

use super::fixture::{self, Case, HOSTILE};
use super::{golden, options, render, summary};
use crate::{Options, all, find};

fn run(planned: usize) -> RunInfo {
    let target = TargetName { id: "grade".into(), label: None };
    let column = Column { target, prompt_idx: 0, raw: "grade".into(), label: "grade".into() };
    RunInfo {
        id: "grade-2026-01-02T03:04:05-abc".into(),
        description: None,
        columns: vec![column],
        config: Value::Null,
        of_traces: true,
        ..fixture::run(planned)
    }
}

fn finding(check: &str, severity: Level, call: Option<usize>, pointer: &str) -> TraceFinding {
    TraceFinding {
        check: check.into(),
        layer: Layer::Call,
        severity,
        call,
        pointer: pointer.into(),
        message: format!("{check} finds a fault"),
        evidence: "\"59.90\"".into(),
        hint: "pass a value of the declared type".into(),
    }
}

fn metric(name: &str, score: Option<f64>, findings: Vec<TraceFinding>) -> MetricScore {
    MetricScore {
        name: name.into(),
        score,
        success: score.map(|score| score >= 0.5),
        threshold: 0.5,
        reason: Some("one of three calls is right".into()),
        findings,
        details: Map::new(),
        judge: Some("whether the answer is right".into()),
        error: None,
    }
}

fn call(name: &str, args: Value, result: Value) -> Call {
    let mut call = Call::tool(name, args);
    call.server = Some("shop".into());
    call.outcome = CallOutcome::Result(result);
    call.took_ms = Some(12.5);
    call
}

fn text(text: &str, is_error: bool) -> Value {
    json!({"content": [{"type": "text", "text": text}], "isError": is_error})
}

fn of_trace(ordinal: usize, name: &str, trace: Trace, graded: GradedTrace) -> CaseResult {
    let mut case = Case::new(ordinal, ordinal).named(name).0;
    case.status = if graded.success { CaseStatus::Passed } else { CaseStatus::Failed };
    case.target = TargetName { id: "grade".into(), label: None };
    case.prompt.raw = trace.request().unwrap_or_default().into();
    case.prompt.label = "grade".into();
    case.vars.clear();
    case.response.output = trace.answer().map_or(Value::Null, Value::from);
    case.place = Some(SourcePlace { file: "traces.jsonl".into(), line: ordinal + 1, column: 1 });
    case.score = if graded.success { 1.0 } else { 0.33 };
    case.error = (!graded.success).then(|| graded.failed_because.join("; "));
    case.evidence.trace = Some(Arc::new(trace));
    case.latency_ms = 0.0;
    case.graded = Some(Box::new(graded));
    case
}

fn failed() -> CaseResult {
    let mut trace = Trace::default();
    trace.say(Role::System, "You help customers of a shop.");
    trace.say(Role::User, "Refund order A-1042.");
    trace.call(call("get_order", json!({"id": "A-1042"}), text("{\"total\": 59.90}", false)));
    trace.call(call("refund", json!({"id": "A-1042", "amount": "59.90"}), text(HOSTILE, true)));
    let mut lost = Call::tool(HOSTILE, json!({"k\u{202e}": HOSTILE}));
    lost.outcome = CallOutcome::Error { code: Some(-32602), message: HOSTILE.into(), data: None };
    trace.call(lost);
    trace.say(Role::Assistant, format!("I have refunded 59.90 EUR. {HOSTILE}"));
    let schema = finding("args.schema", Level::Error, Some(1), "/amount");
    let mut hostile = finding("tool.unknown", Level::Error, Some(2), "/k\u{202e}");
    hostile.message = HOSTILE.into();
    hostile.evidence = HOSTILE.into();
    let missing = finding("tool-correctness", Level::Error, None, "");
    let graded = GradedTrace {
        name: "refund".into(),
        id: Some("t-1".into()),
        success: false,
        findings: vec![
            schema.clone(),
            hostile,
            finding("result.error", Level::Warning, Some(1), "/isError"),
            finding("claim.unsupported", Level::Warning, None, ""),
            finding("efficiency", Level::Info, None, ""),
        ],
        metrics: vec![
            metric("mcp-use", Some(0.33), vec![schema]),
            metric("tool-correctness", Some(0.66), vec![missing]),
            metric("plan-adherence", None, Vec::new()),
        ],
        not_applicable: vec![NotApplicable {
            check: "resource.unused".into(),
            why: "no resource is read".into(),
        }],
        failed_because: vec![
            "findings of severity error or above: 2".into(),
            "mcp-use: 0.33 is below the threshold 0.5".into(),
        ],
        source: Some("traces.jsonl:1:1".into()),
    };
    of_trace(0, "refund", trace, graded)
}

fn passed() -> CaseResult {
    let mut trace = Trace::default();
    trace.say(Role::User, "Where is A-7?");
    trace.call(call("get_order", json!({"id": "A-7"}), json!({"rows": "y".repeat(9_000)})));
    trace.say(Role::Assistant, "On its way.");
    trace.expected.calls = Some(vec![ExpectedCall {
        name: "get_order".into(),
        args: Some(json!({"id": "A-7"})),
        ..ExpectedCall::default()
    }]);
    let graded = GradedTrace {
        name: "status".into(),
        id: None,
        success: true,
        findings: Vec::new(),
        metrics: vec![metric("mcp-use", Some(1.0), Vec::new())],
        not_applicable: Vec::new(),
        failed_because: Vec::new(),
        source: None,
    };
    of_trace(1, "status", trace, graded)
}

fn unreadable() -> CaseResult {
    let mut case = passed();
    (case.ordinal, case.test_idx, case.group) = (2, 2, 2);
    case.description = Some("traces.jsonl:3:1".into());
    case.place = Some(SourcePlace { file: "traces.jsonl".into(), line: 3, column: 1 });
    case.prompt.raw.clear();
    case.response.output = Value::Null;
    case.graded = None;
    case.evidence.trace = None;
    case.status = CaseStatus::Errored;
    case.score = 0.0;
    case.error = Some("traces.jsonl:3:1: invalid JSON".into());
    case
}

fn selection() -> SelectionReport {
    let tool = |name: &str, right, called, expected| ToolSelection {
        tool: name.into(),
        precision: Share::new(right, called),
        recall: Share::new(right, expected),
        f1: (called + expected > 0).then(|| 2.0 * right as f64 / (called + expected) as f64),
    };
    SelectionReport {
        cases: 20,
        accuracy: Share::new(16, 20),
        tools: vec![tool("get_order", 12, 13, 14), tool("refund", 4, 5, 5), tool(HOSTILE, 0, 2, 0)],
        confusion: ConfusionMatrix {
            labels: vec!["get_order".into(), "refund".into(), HOSTILE.into(), "(none)".into()],
            counts: vec![vec![12, 1, 1, 0], vec![0, 4, 1, 0], vec![0; 4], vec![1, 0, 0, 0]],
        },
        arguments: ArgumentFigures {
            hallucinated_names: Share::new(1, 16),
            all_expected_present: Share::new(15, 16),
            all_required_present: Share::new(16, 16),
            values_match: Share::new(0, 0),
        },
    }
}

fn report_of(cases: &[CaseResult]) -> (RunInfo, Summary) {
    let run = run(cases.len());
    let mut summary = summary(&run, cases, false);
    let mut grade = GradeSummary { bad_records: 1, ..GradeSummary::default() };
    cases.iter().filter_map(|case| case.graded.as_deref()).for_each(|graded| grade.add(graded));
    grade.selection = Some(selection());
    summary.grade = Some(Box::new(grade));
    summary.latency = None;
    (run, summary)
}

fn rendered(id: &str, options: &Options) -> String {
    let cases = [failed(), passed(), unreadable()];
    let (run, summary) = report_of(&cases);
    render(find(id).unwrap(), options, &run, &cases, &summary)
}

#[test]
fn every_format_reports_graded_traces() {
    for reporter in all() {
        let id = reporter.meta().id;
        golden(&format!("graded.{id}"), &rendered(id, &options()));
    }
}

#[test]
fn graded_traces_fit_the_terminal() {
    for width in [60, 80, 132] {
        let text = rendered("console", &Options { width, ..options() });
        for line in text.lines() {
            assert!(crate::text::columns(line) <= width, "{width}: {line}");
        }
    }
}

#[test]
fn graded_traces_cannot_inject_markup_or_hide_characters() {
    for id in ["console", "txt", "markdown", "junit", "html"] {
        let text = rendered(id, &options());
        for hidden in ['\u{1b}', '\u{202e}', '\u{202c}', '\u{0}', '\r'] {
            assert!(!text.contains(hidden), "{id} shows {hidden:?}");
        }
        assert!(text.contains("U+202E"), "{id} hides it");
    }
    let page = rendered("html", &options());
    assert!(!page.contains("<script>alert") && !page.contains("<b>&amp;"));
}

#[test]
fn a_large_confusion_matrix_is_bounded() {
    let names: Vec<String> = (0..300).map(|at| format!("tool_{at}")).collect();
    let counts = (0..300).map(|row| (0..300).map(|at| u64::from(at == row)).collect()).collect();
    let (run, mut summary) = report_of(&[]);
    let grade = summary.grade.as_mut().unwrap();
    let selection = grade.selection.as_mut().unwrap();
    selection.confusion = ConfusionMatrix { labels: names.clone(), counts };
    let share = Share::new(1, 1);
    let tool =
        |tool: String| ToolSelection { tool, precision: share, recall: share, f1: Some(1.0) };
    selection.tools = names.into_iter().map(tool).collect();
    for (id, more) in [
        ("console", "... and 288 more tools"),
        ("markdown", "... and 288 more tools"),
        ("html", "280 tools"),
    ] {
        let text = render(find(id).unwrap(), &options(), &run, &[], &summary);
        assert!(text.contains(more), "{id}");
        assert!(text.len() < 200_000, "{id}: {}", text.len());
    }
}
