//! What tests of metrics share.

use quintain_evidence::graded::{Layer, Level, MetricScore, TraceFinding};
use quintain_evidence::inquiry::{Next, Rounds};
use quintain_evidence::surface::Tool;
use quintain_evidence::trace::{Call, Listing, Role, Trace, TraceServer};
use quintain_judge::consultation::reply;
use serde_json::{Map, Value, json};

use super::{CompiledMetric, JudgeMode, Measured, Metric, MetricInput, Options};
use crate::view::View;

/// A trace with one server `server` that offers these tools, and calls without results.
pub(crate) fn trace_with_tools(tools: &[&str], calls: &[&str]) -> Trace {
    let listed = tools.iter().map(|name| Tool(json!({"name": name}))).collect();
    let server = TraceServer {
        name: Some("server".to_owned()),
        listings: vec![Listing { tools: Some(listed), ..Listing::default() }].into(),
        ..TraceServer::default()
    };
    let mut trace = Trace { servers: vec![server], ..Trace::default() };
    trace.say(Role::User, "please");
    for name in calls {
        trace.call(Call::tool(*name, json!({})));
    }
    trace
}

pub(crate) fn finding(check: &str, severity: Level, call: Option<usize>) -> TraceFinding {
    TraceFinding {
        check: check.to_owned(),
        layer: Layer::Call,
        severity,
        call,
        pointer: String::new(),
        message: String::new(),
        evidence: String::new(),
        hint: String::new(),
    }
}

pub(crate) fn compiled(name: &str, options: &Value) -> CompiledMetric {
    let options = options.as_object().cloned().unwrap_or_default();
    super::compile(name, &options).unwrap_or_else(|errors| panic!("{errors}"))
}

pub(crate) fn score(metric: &CompiledMetric, trace: &Trace) -> MetricScore {
    score_with(metric, trace, &[])
}

pub(crate) fn score_with(
    metric: &CompiledMetric,
    trace: &Trace,
    findings: &[TraceFinding],
) -> MetricScore {
    let view = View::new(trace);
    metric.score_alone(&MetricInput {
        view: &view,
        findings,
        not_applicable: &[],
        judge: JudgeMode::None,
    })
}

pub(crate) fn measured(metric: &dyn Metric, trace: &Trace) -> Measured {
    measured_with(metric, trace, &[])
}

pub(crate) fn measured_with(
    metric: &dyn Metric,
    trace: &Trace,
    findings: &[TraceFinding],
) -> Measured {
    let none = Map::new();
    let scorer = metric.compile(&mut Options::new(&none)).expect("works without options");
    let view = View::new(trace);
    let input = MetricInput { view: &view, findings, not_applicable: &[], judge: JudgeMode::None };
    match scorer.next(&input, &Rounds::default()) {
        Next::Done(measured) => measured,
        Next::Ask(questions) => panic!("{questions:?}"),
    }
}

pub(crate) fn measured_value(metric: &dyn Metric, trace: &Trace) -> f64 {
    match measured(metric, trace) {
        Measured::Score(scored) => scored.value,
        other => panic!("{other:?}"),
    }
}

/// A request and the answer to it.
pub(crate) fn exchange(request: &str, answer: &str) -> Trace {
    let mut trace = Trace::default();
    trace.say(Role::User, request);
    trace.say(Role::Assistant, answer);
    trace
}

/// The score with a judge that gives these answers, one after the other.
pub(crate) fn judged_score(
    metric: &CompiledMetric,
    trace: &Trace,
    answers: &[Value],
) -> MetricScore {
    judged_score_with(metric, trace, &[], answers)
}

pub(crate) fn judged_score_with(
    metric: &CompiledMetric,
    trace: &Trace,
    findings: &[TraceFinding],
    answers: &[Value],
) -> MetricScore {
    let view = View::new(trace);
    let input =
        MetricInput { view: &view, findings, not_applicable: &[], judge: JudgeMode::Default };
    let mut rounds = Rounds::default();
    let mut answers = answers.iter();
    loop {
        match metric.next(&input, &rounds) {
            Next::Done(score) => {
                assert_eq!(answers.next(), None, "an answer that nobody asked for");
                return score;
            }
            Next::Ask(questions) => {
                let given = questions.iter().map(|question| {
                    let answer = answers.next();
                    reply(answer.unwrap_or_else(|| panic!("unanswered: {question:?}")).clone())
                });
                let given = given.collect();
                rounds.push(questions, given);
            }
        }
    }
}

/// The score of a run without a judge.
pub(crate) fn undecided(metric: &CompiledMetric, trace: &Trace) -> MetricScore {
    score(metric, trace)
}
