//! Summary of a case: its name, its result, the reason, and its place in the suite.

use std::borrow::Cow;

use quintain_evidence::result::{CaseResult, CaseStatus, Component, SourcePlace};
use serde_json::Value;

use crate::text::{json_excerpt, line};

/// Names come from suites, but variables in them may be of any length.
const MAX_NAME: usize = 200;

/// The description, or what distinguishes the case: its variables, its prompt.
pub(crate) fn name(case: &CaseResult) -> String {
    let mut name = match &case.description {
        Some(description) => line(description, MAX_NAME),
        None if case.vars.is_empty() => line(&case.prompt.raw, MAX_NAME),
        None => vars(case),
    };
    if name.is_empty() {
        name = format!("test {}", case.group + 1);
    }
    if case.repeat > 0 { format!("{name} (repeat {})", case.repeat + 1) } else { name }
}

fn vars(case: &CaseResult) -> String {
    // A lone `prompt` is the usual way to write a tool call; its name adds nothing.
    if let (1, Some(Value::String(prompt))) = (case.vars.len(), case.vars.get("prompt")) {
        return line(prompt, MAX_NAME);
    }
    let parts = case.vars.iter().take(8).map(|(key, value)| match value {
        Value::String(text) => format!("{}={}", line(key, 40), line(text, 60)),
        other => format!("{}={}", line(key, 40), line(&json_excerpt(other, false, 60), 60)),
    });
    parts.collect::<Vec<_>>().join(" ")
}

pub(crate) fn status(status: CaseStatus) -> &'static str {
    match status {
        CaseStatus::Passed => "PASS",
        CaseStatus::Failed => "FAIL",
        CaseStatus::Errored => "ERROR",
    }
}

/// The reason of the result, unabridged.
pub(crate) fn reason(case: &CaseResult) -> &str {
    let grade = case.grade.as_ref().map(|grade| grade.reason.as_str());
    case.error.as_deref().or(case.response.error.as_deref()).or(grade).unwrap_or_default()
}

pub(crate) fn passed(case: &CaseResult) -> bool {
    case.status == CaseStatus::Passed
}

/// The response as text; values that are not text as JSON, at most `max_bytes` of them.
pub(crate) fn output(case: &CaseResult, max_bytes: usize) -> Cow<'_, str> {
    match &case.response.output {
        Value::String(text) => Cow::Borrowed(text),
        Value::Null => Cow::Borrowed(""),
        other => Cow::Owned(json_excerpt(other, false, max_bytes)),
    }
}

/// The failed components; a set only if none of its members failed.
pub(crate) fn failures(case: &CaseResult) -> impl Iterator<Item = &Component> {
    let components = case.grade.as_ref().map_or(&[][..], |grade| &grade.components);
    let member_failed = |at: usize| {
        components.iter().any(|member| member.set == Some(at) && !member.verdict.passed())
    };
    components.iter().enumerate().filter_map(move |(at, component)| {
        let fails = !component.verdict.passed();
        let excused = component.set.and_then(|set| components.get(set));
        let excused = excused.is_some_and(|set| set.verdict.passed());
        (fails && !excused && !(component.is_set() && member_failed(at))).then_some(component)
    })
}

pub(crate) fn kind(component: &Component) -> &str {
    component.assertion.get("type").and_then(Value::as_str).unwrap_or("assertion")
}

/// The line to show: that of the failed assertion, otherwise that of the test.
pub(crate) fn place(case: &CaseResult) -> Option<&SourcePlace> {
    failures(case).find_map(|component| component.place.as_ref()).or(case.place.as_ref())
}

/// `contains (suite.yaml:14:9)`: printed before the reason, which may be long.
pub(crate) fn kind_and_place(component: &Component) -> String {
    match &component.place {
        Some(place) => format!("{} ({})", kind_text(component), line(&place.to_string(), 300)),
        None => kind_text(component),
    }
}

pub(crate) fn kind_text(component: &Component) -> String {
    line(kind(component), 80)
}
