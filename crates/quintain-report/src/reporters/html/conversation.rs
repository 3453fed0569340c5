//! The conversation of a graded trace for the script of the page: messages and calls in order, with each finding at its
//! place. Long texts are cut, long quiet stretches are folded, very long conversations have gaps.

use std::collections::HashMap;

use quintain_evidence::graded::GradedTrace;
use quintain_evidence::trace::{Args, Call, CallOutcome, Role, Trace, TraceStep};
use serde::Serialize;
use serde_json::Value;

use crate::text::{count, excerpt, json_measured, left_out_note, line};
use crate::traces::{self, Found};

/// A conversation up to this length is shown without gaps.
const MAX_STEPS: usize = 200;
/// Of a longer one, the start, the end and this number of steps with findings.
const FIRST_STEPS: usize = 60;
const LAST_STEPS: usize = 30;
const MAX_FOUND: usize = 100;
/// Up to this length nothing is folded.
const UNFOLDED: usize = 12;
/// Fewer quiet steps in a row are not worth a fold.
const QUIET: usize = 3;
/// Maximum number of findings to show at one place.
const MAX_FINDINGS: usize = 50;
const MAX_EXPECTED: usize = 50;
/// What a text may have when the room for the conversation is used up.
const MIN_TEXT: usize = 200;
/// Texts of a conversation in characters, as a multiple of the longest text.
const ROOM: usize = 20;
/// Longer texts are not compared with structured content.
const MAX_COMPARED: usize = 256 << 10;
/// Arguments up to this length are on one line.
const SHORT_JSON: usize = 72;

#[derive(Serialize)]
pub(super) struct Conversation {
    parts: Vec<Part>,
    metrics: Vec<Metric>,
    expected: Vec<Expected>,
    more_expected: usize,
    /// Checks that say nothing about the trace, with the reason.
    silent: Vec<(String, String)>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
enum Part {
    Message {
        role: &'static str,
        text: String,
        findings: Findings,
    },
    Call(Box<ShownCall>),
    /// Steps without findings in a long conversation.
    Fold {
        label: String,
        parts: Vec<Part>,
    },
    /// Steps that are not in the report.
    Gap {
        label: String,
    },
    /// Findings about something that the trace does not have.
    Rest {
        label: &'static str,
        findings: Findings,
    },
}

#[derive(Serialize)]
struct ShownCall {
    at: usize,
    what: &'static str,
    server: String,
    name: String,
    args: String,
    /// Why the arguments are not JSON, otherwise empty.
    args_note: &'static str,
    /// `ok`, `error` or `none`.
    outcome: &'static str,
    result: String,
    took: Option<f64>,
    findings: Findings,
}

#[derive(Serialize, Default)]
struct Findings {
    list: Vec<Finding>,
    more: usize,
}

#[derive(Serialize)]
struct Finding {
    severity: &'static str,
    check: String,
    pointer: String,
    message: String,
    evidence: String,
    hint: String,
    /// The metric that found it, otherwise empty.
    metric: String,
}

#[derive(Serialize)]
struct Metric {
    name: String,
    /// `pass`, `fail`, `none` or `error`.
    status: &'static str,
    score: String,
    reason: String,
    judge: String,
}

#[derive(Serialize)]
struct Expected {
    name: String,
    args: String,
}

impl Conversation {
    pub(super) fn of(graded: &GradedTrace, trace: &Trace, max_text: usize) -> Self {
        let mut writer = Writer { room: max_text * ROOM, max_text };
        let expected = trace.expected.calls.as_deref().unwrap_or_default();
        Self {
            parts: writer.parts(graded, trace),
            metrics: graded.metrics.iter().take(100).map(metric).collect(),
            expected: expected
                .iter()
                .take(MAX_EXPECTED)
                .map(|call| Expected {
                    name: name(call.server.as_deref(), &call.name),
                    args: call.args.as_ref().map(|args| writer.json(args)).unwrap_or_default(),
                })
                .collect(),
            more_expected: expected.len().saturating_sub(MAX_EXPECTED),
            silent: graded
                .not_applicable
                .iter()
                .take(100)
                .map(|one| (line(&one.check, 80), line(&one.why, 300)))
                .collect(),
        }
    }
}

fn metric(metric: &quintain_evidence::graded::MetricScore) -> Metric {
    let status = match (metric.error.is_some(), metric.success) {
        (true, _) => "error",
        (false, Some(true)) => "pass",
        (false, Some(false)) => "fail",
        (false, None) => "none",
    };
    Metric {
        name: line(&metric.name, 80),
        status,
        score: traces::score(metric),
        reason: excerpt(traces::reason(metric), 2_000),
        judge: excerpt(metric.judge.as_deref().unwrap_or_default(), 1_000),
    }
}

/// `server / name`.
fn name(server: Option<&str>, name: &str) -> String {
    let name = line(name, 200);
    server.map_or_else(|| name.clone(), |server| format!("{} / {name}", line(server, 80)))
}

/// Where a finding belongs: a step by its position, or the end if the trace has no such step.
fn by_step<'a>(graded: &'a GradedTrace, trace: &Trace) -> HashMap<Option<usize>, Vec<Found<'a>>> {
    let calls: Vec<usize> = positions(trace, |step| step.as_call().is_some());
    let is_said =
        |step: &TraceStep| step.as_message().is_some_and(|message| message.role == Role::Assistant);
    let answer = positions(trace, is_said).pop().filter(|_| trace.answer().is_some());
    let mut at: HashMap<Option<usize>, Vec<Found<'a>>> = HashMap::new();
    for found in traces::findings(graded) {
        let step = match found.finding.call {
            Some(call) => calls.get(call).copied(),
            None => answer,
        };
        at.entry(step).or_default().push(found);
    }
    at
}

fn positions(trace: &Trace, is_one: impl Fn(&TraceStep) -> bool) -> Vec<usize> {
    trace.steps.iter().enumerate().filter(|(_, step)| is_one(step)).map(|(at, _)| at).collect()
}

struct Writer {
    /// Characters that the texts of the conversation may still have.
    room: usize,
    max_text: usize,
}

impl Writer {
    fn parts(&mut self, graded: &GradedTrace, trace: &Trace) -> Vec<Part> {
        let mut findings = by_step(graded, trace);
        let steps = trace.steps.len();
        let mut with_findings: Vec<usize> = findings.keys().copied().flatten().collect();
        with_findings.sort_unstable();
        with_findings.truncate(MAX_FOUND);
        let is_shown = |at: usize| {
            steps <= MAX_STEPS
                || at < FIRST_STEPS
                || at + LAST_STEPS >= steps
                || with_findings.binary_search(&at).is_ok()
        };
        let request = positions(trace, |step| {
            step.as_message().is_some_and(|message| message.role == Role::User)
        });
        let request = request.first().copied();
        let mut parts = Parts { done: Vec::new(), quiet: Vec::new(), skipped: 0 };
        let (mut calls, mut hidden_findings) = (0, 0);
        for (at, step) in trace.steps.iter().enumerate() {
            let number = calls;
            calls += usize::from(step.as_call().is_some());
            let found = findings.remove(&Some(at)).unwrap_or_default();
            if !is_shown(at) {
                hidden_findings += found.len();
                parts.skip();
                continue;
            }
            let loud = !found.is_empty() || Some(at) == request || at + 1 == steps;
            let found = Self::findings(&found);
            let part = match step {
                TraceStep::Message(message) => Part::Message {
                    role: role(message.role),
                    text: self.text(&message.text),
                    findings: found,
                },
                TraceStep::Call(call) => Part::Call(Box::new(self.call(number, call, found))),
            };
            parts.push(part, loud || steps <= UNFOLDED);
        }
        let mut parts = parts.finish();
        if let Some(rest) = findings.remove(&None) {
            let label = "There is no answer after the last call";
            parts.push(Part::Rest { label, findings: Self::findings(&rest) });
        }
        if hidden_findings > 0 {
            let label = count(hidden_findings, "finding is", "findings are");
            parts.push(Part::Gap { label: format!("{label} only in the JSON report") });
        }
        parts
    }

    fn call(&mut self, at: usize, call: &Call, findings: Findings) -> ShownCall {
        let (args, args_note) = match &call.args {
            Args::Json(value) => (self.json(value), ""),
            Args::Invalid(text) => (self.text(text), "not JSON"),
            Args::Unknown => (String::new(), "not recorded"),
        };
        let outcome = match (&call.outcome, call.is_error()) {
            (CallOutcome::Unknown, _) => "none",
            (_, true) => "error",
            (_, false) => "ok",
        };
        ShownCall {
            at,
            what: call.kind.word(),
            server: line(call.server.as_deref().unwrap_or_default(), 80),
            name: line(&call.name, 200),
            args,
            args_note,
            outcome,
            result: self.result(call),
            took: call.took_ms.filter(|took| took.is_finite()),
            findings,
        }
    }

    fn result(&mut self, call: &Call) -> String {
        match &call.outcome {
            CallOutcome::Result(value) if is_text(value) => self.text(&call.text()),
            CallOutcome::Result(value) => self.json(value),
            CallOutcome::Error { code, message, data } => {
                let code = code.map(|code| format!("error {code}: ")).unwrap_or_default();
                let mut text = code + &self.text(message);
                if let Some(data) = data {
                    text.push('\n');
                    text.push_str(&self.json(data));
                }
                text
            }
            CallOutcome::Unknown => String::new(),
        }
    }

    fn findings(found: &[Found<'_>]) -> Findings {
        let list = found.iter().take(MAX_FINDINGS).map(|found| {
            let finding = found.finding;
            Finding {
                severity: finding.severity.word(),
                check: line(&finding.check, 80),
                pointer: line(&finding.pointer, 300),
                message: excerpt(&finding.message, 2_000),
                evidence: excerpt(&finding.evidence, 2_000),
                hint: excerpt(&finding.hint, 1_000),
                metric: line(found.metric.unwrap_or_default(), 80),
            }
        });
        Findings { list: list.collect(), more: found.len().saturating_sub(MAX_FINDINGS) }
    }

    fn limit(&self) -> usize {
        self.max_text.min(self.room).max(MIN_TEXT)
    }

    fn text(&mut self, text: &str) -> String {
        self.took(excerpt(text, self.limit()))
    }

    fn json(&mut self, value: &Value) -> String {
        let short = json_measured(value, false, SHORT_JSON);
        let text = match (short, value) {
            ((text, 0), _) => text,
            (_, value) => {
                let (mut text, left_out) = json_measured(value, true, self.limit());
                if left_out > 0 {
                    text.push_str(&left_out_note(left_out));
                }
                text
            }
        };
        self.took(text)
    }

    fn took(&mut self, text: String) -> String {
        self.room = self.room.saturating_sub(text.len());
        text
    }
}

fn role(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}

/// Whether a result says nothing beyond the text of its blocks.
fn is_text(result: &Value) -> bool {
    let Value::Object(map) = result else { return result.is_string() };
    let Some(blocks) = map.get("content").and_then(Value::as_array) else { return false };
    let is_plain = |block: &Value| block.get("type").is_some_and(|kind| kind == "text");
    let is_known = |(key, value): (&String, &Value)| match key.as_str() {
        "content" | "isError" | "is_error" => true,
        "structuredContent" | "structured_content" => {
            value.is_null() || says_the_same(blocks, value)
        }
        _ => value.is_null(),
    };
    blocks.iter().all(is_plain) && map.iter().all(is_known)
}

/// Servers send structured content as text as well.
fn says_the_same(blocks: &[Value], structured: &Value) -> bool {
    let [block] = blocks else { return false };
    let text = block.get("text").and_then(Value::as_str).unwrap_or_default();
    let parsed = (text.len() <= MAX_COMPARED).then(|| serde_json::from_str::<Value>(text));
    let Some(Ok(parsed)) = parsed else { return false };
    // The Python SDK wraps what is not an object.
    parsed == *structured
        || structured
            .get("result")
            .is_some_and(|inner| *inner == parsed || inner.as_str() == Some(text))
}

/// Collects parts, and folds quiet ones that follow each other.
struct Parts {
    done: Vec<Part>,
    quiet: Vec<Part>,
    skipped: usize,
}

impl Parts {
    fn push(&mut self, part: Part, loud: bool) {
        self.close_gap();
        if loud {
            self.close_fold();
            self.done.push(part);
        } else {
            self.quiet.push(part);
        }
    }

    fn skip(&mut self) {
        self.close_fold();
        self.skipped += 1;
    }

    fn close_gap(&mut self) {
        if self.skipped > 0 {
            let steps = count(self.skipped, "message or call is", "messages and calls are");
            self.done.push(Part::Gap { label: format!("{steps} not in this report") });
            self.skipped = 0;
        }
    }

    fn close_fold(&mut self) {
        let parts = std::mem::take(&mut self.quiet);
        if parts.len() < QUIET {
            self.done.extend(parts);
            return;
        }
        let calls = parts.iter().filter(|part| matches!(part, Part::Call(_))).count();
        let both = [
            (calls, count(calls, "call", "calls")),
            (parts.len() - calls, count(parts.len() - calls, "message", "messages")),
        ];
        let both = both.into_iter().filter(|(number, _)| *number > 0).map(|(_, text)| text);
        let label = format!("{} without findings", both.collect::<Vec<_>>().join(" and "));
        self.done.push(Part::Fold { label, parts });
    }

    fn finish(mut self) -> Vec<Part> {
        self.close_gap();
        self.close_fold();
        self.done
    }
}

#[cfg(test)]
mod tests;
