//! Grades test cases with the metrics of the product. A judge is a Python function that answers all questions of a round.

use std::ops::ControlFlow;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use quintain_evidence::question::{Answer, ModelRequest, Question};
use quintain_evidence::trace::Trace;
use quintain_grade::evaluate::{Graded, Grading, GradingSession};
use quintain_grade::metrics::{JudgeMode, METRICS, Metric, compile_all};
use quintain_grade::policy::{CallPolicy, FailIf};
use quintain_grade::readers::{self, ReadOptions, Record};
use quintain_grade::selection::SelectionTally;
use quintain_grade::writers;
use quintain_judge::consultation::reply;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Cases that wait for answers together. A judge can answer the questions of all of them concurrently.
const TOGETHER: usize = 64;

/// The metrics of the product: id, other names, summary, default threshold, what a judge decides.
#[pyfunction]
pub(crate) fn metrics() -> String {
    let describe = |metric: &&dyn Metric| {
        let meta = metric.meta();
        json!({
            "id": meta.id, "aliases": meta.aliases, "summary": meta.summary, "docs": meta.docs,
            "threshold": metric.threshold(), "judge": metric.judge(),
        })
    };
    json!(METRICS.iter().map(describe).collect::<Vec<_>>()).to_string()
}

/// How cases are graded.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
#[derive(Default)]
struct Settings {
    metrics: Vec<Chosen>,
    calls: CallPolicy,
    fail_if: Option<FailIf>,
}

#[derive(Deserialize)]
struct Chosen {
    #[serde(rename = "type")]
    name: String,
    #[serde(flatten)]
    options: Map<String, Value>,
}

/// Grades cases, one JSON object a line. Returns `{results, summary, selection}`.
#[pyfunction]
#[pyo3(signature = (cases, settings, judge=None, progress=None))]
pub(crate) fn grade(
    py: Python<'_>,
    cases: &str,
    settings: &str,
    judge: Option<Py<PyAny>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let settings: Settings = serde_json::from_str(settings).map_err(invalid)?;
    let named = settings.metrics.iter().map(|metric| (metric.name.as_str(), &metric.options));
    let compiled = compile_all(named).map_err(invalid)?;
    let grading = Grading {
        metrics: compiled,
        calls: settings.calls,
        fail_if: settings.fail_if.unwrap_or_default(),
    };
    py.detach(|| {
        let traces = read(cases, "deepeval")?;
        let mut sum = Sum::default();
        for (part, group) in traces.chunks(TOGETHER).enumerate() {
            for graded in grade_together(&grading, group, part * TOGETHER, judge.as_ref())? {
                sum.add(graded);
            }
            Python::attach(|py| {
                if let Some(progress) = &progress {
                    progress.call1(py, (sum.results.len(),))?;
                }
                py.check_signals()
            })?;
        }
        Ok(sum.into_json().to_string())
    })
}

fn grade_together(
    grading: &Grading,
    traces: &[Trace],
    first: usize,
    judge: Option<&Py<PyAny>>,
) -> PyResult<Vec<Graded>> {
    let mode = if judge.is_some() { JudgeMode::Default } else { JudgeMode::None };
    let mut sessions: Vec<_> =
        traces.iter().map(|trace| GradingSession::new(grading, trace, mode)).collect();
    loop {
        let asked: Vec<usize> = sessions.iter().map(|session| session.questions().len()).collect();
        if asked.iter().sum::<usize>() == 0 {
            break;
        }
        let questions = sessions.iter().flat_map(GradingSession::questions);
        let mut answers = match judge {
            Some(judge) => ask(judge, questions)?,
            None => questions.map(|_| unavailable()).collect(),
        }
        .into_iter();
        for (session, count) in sessions.iter_mut().zip(asked).filter(|(_, count)| *count > 0) {
            let own: Vec<Answer> = answers.by_ref().take(count).collect();
            session.answer(&own);
        }
    }
    let name = |at: usize| move || format!("case {}", first + at + 1);
    let finish = |(at, session): (usize, GradingSession<'_, '_>)| session.finish(name(at));
    Ok(sessions.into_iter().enumerate().map(finish).collect())
}

fn unavailable() -> Answer {
    Answer::Unavailable("no judge is configured".to_owned())
}

/// Hands questions to the judge: `{prompt, schema, asked_by, sample}` each. It returns `{"output": …}` or
/// `{"error": "…"}` for each, in their order.
fn ask<'q>(
    judge: &Py<PyAny>,
    questions: impl Iterator<Item = &'q Question>,
) -> PyResult<Vec<Answer>> {
    let asked: Vec<Option<Value>> = questions.map(as_json).collect();
    let texts: Vec<String> = asked.iter().flatten().map(Value::to_string).collect();
    let answers: Vec<String> = Python::attach(|py| judge.call1(py, (texts,))?.extract(py))?;
    let mut answers = answers.into_iter();
    let answer = |asked: Option<Value>| match asked {
        None => Answer::Unavailable("a Python judge answers in text only".to_owned()),
        Some(_) => answers.next().map_or_else(unavailable, |text| answer_of(&text)),
    };
    Ok(asked.into_iter().map(answer).collect())
}

fn as_json(question: &Question) -> Option<Value> {
    let Question::Model(question) = question else { return None };
    let ModelRequest::Chat { prompt, schema } = &question.request else { return None };
    Some(json!({
        "prompt": prompt, "schema": schema, "asked_by": question.asked_by,
        "sample": question.sample, "model": question.model,
    }))
}

fn answer_of(text: &str) -> Answer {
    match serde_json::from_str::<Map<String, Value>>(text) {
        Err(error) => Answer::Failed(format!("the answer of the judge is not JSON: {error}")),
        Ok(mut answer) => match (answer.remove("error"), answer.remove("output")) {
            (Some(Value::String(error)), _) => Answer::Failed(error),
            (_, Some(output)) => reply(output),
            _ => Answer::Failed("the judge gave no answer".to_owned()),
        },
    }
}

/// The results so far.
#[derive(Default)]
struct Sum {
    results: Vec<Value>,
    passed: usize,
    selection: SelectionTally,
}

impl Sum {
    fn add(&mut self, graded: Graded) {
        if let Some(selection) = &graded.selection {
            self.selection.add(selection);
        }
        self.passed += usize::from(graded.trace.success);
        self.results.push(json!(graded.trace));
    }

    fn into_json(self) -> Value {
        let total = self.results.len();
        let summary = json!({"total": total, "passed": self.passed, "failed": total - self.passed});
        json!({"results": self.results, "summary": summary, "selection": self.selection.report()})
    }
}

/// Converts conversations of a format (`openai-chat`, `anthropic` …) to test cases, one JSON object each.
#[pyfunction]
pub(crate) fn convert(py: Python<'_>, text: &str, format: &str) -> PyResult<Vec<String>> {
    py.detach(|| {
        let writer = writers::by_name("deepeval").ok_or_else(|| invalid("no such writer"))?;
        let write = |trace: &Trace| {
            let mut line = Vec::new();
            writer.write(trace, &mut line).map_err(invalid)?;
            String::from_utf8(line).map(|line| line.trim_end().to_owned()).map_err(invalid)
        };
        read(text, format)?.iter().map(write).collect()
    })
}

/// Reads traces of a format. The first record that cannot be read is an error.
fn read(text: &str, format: &str) -> PyResult<Vec<Trace>> {
    let reader = readers::by_name(format)
        .ok_or_else(|| invalid(format!("`{format}` is not a format of traces")))?;
    let mut traces = Vec::new();
    let mut bad = None;
    let mut sink = |record| match record {
        Record::Trace(trace, _) => {
            traces.push(*trace);
            ControlFlow::Continue(())
        }
        Record::Bad(found) => {
            bad = Some(found);
            ControlFlow::Break(())
        }
    };
    readers::read(text.as_bytes(), "cases", Some(reader), &ReadOptions::default(), &mut sink)
        .map_err(invalid)?;
    bad.map_or(Ok(traces), |bad| Err(invalid(bad)))
}

fn invalid(problem: impl ToString) -> PyErr {
    PyValueError::new_err(problem.to_string())
}
