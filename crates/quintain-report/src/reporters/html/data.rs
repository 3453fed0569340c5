//! The data for the script of the page. It is escaped and truncated here, so that the
//! script only displays it.

use std::io::{self, Write};

use quintain_evidence::event::RunInfo;
use quintain_evidence::result::{CaseResult, CaseStatus};
use serde::Serialize;
use serde_json::ser::Formatter;

use super::conversation::Conversation;
use crate::exchanges::{self, Shown};
use crate::gist;
use crate::number::{Number, Numbers, millis};
use crate::text::{excerpt, json_excerpt, line};
use crate::traces;

const MAX_ROW: usize = 160;
/// Maximum bytes of a text of a case that did not pass; passed cases get a quarter of it.
const MAX_TEXT: usize = 16_000;

/// Number, test, column, status, name, latency, score, text, place, repetition, counts of findings in a trace.
type Row = (usize, usize, usize, u8, String, Number, Number, String, String, u32, String);

pub(super) fn row(case: &CaseResult, test: usize, column: usize) -> Row {
    let status = match case.status {
        CaseStatus::Passed => 0,
        CaseStatus::Failed => 1,
        CaseStatus::Errored => 2,
    };
    let score = Number((case.score * 1e4).round() / 1e4);
    let place = gist::place(case).map(ToString::to_string).unwrap_or_default();
    let (name, text) = (gist::name(case), gist_text(case));
    let took = millis(case.latency_ms);
    let place = line(&place, 300);
    let found = case.graded.as_deref().map(traces::severities).unwrap_or_default();
    (case.ordinal, test, column, status, name, took, score, text, place, case.repeat, found)
}

/// The text of a row: the response, or the reason why it did not pass.
pub(super) fn gist_text(case: &CaseResult) -> String {
    if gist::passed(case) {
        line(&gist::output(case, MAX_ROW * 4), MAX_ROW)
    } else {
        line(gist::reason(case), MAX_ROW)
    }
}

pub(super) fn status_class(status: CaseStatus) -> &'static str {
    match status {
        CaseStatus::Passed => "pass",
        CaseStatus::Failed => "fail",
        CaseStatus::Errored => "error",
    }
}

#[derive(Serialize)]
pub(super) struct Run {
    columns: Vec<Column>,
    /// The number of different responses.
    prompts: usize,
    /// Whether the cases are recorded traces.
    traces: bool,
}

#[derive(Serialize)]
struct Column {
    target: String,
    prompt: String,
}

impl Run {
    pub(super) fn of(run: &RunInfo) -> Self {
        let prompts: std::collections::HashSet<_> =
            run.columns.iter().map(|column| &column.label).collect();
        let columns = run.columns.iter().map(|column| Column {
            target: line(column.target.name(), 80),
            prompt: line(&column.label, 80),
        });
        Self { columns: columns.collect(), prompts: prompts.len(), traces: run.of_traces }
    }
}

#[derive(Default, Serialize)]
pub(super) struct Detail {
    reason: String,
    prompt: String,
    output: String,
    vars: String,
    named: String,
    attempts: u32,
    checks: Vec<Check>,
    exchanges: Vec<Shown>,
    /// The number of exchanges that are not shown.
    more: usize,
    /// Of a graded trace. It contains prompt and output.
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation: Option<Conversation>,
}

#[derive(Serialize)]
struct Check {
    ok: bool,
    kind: String,
    reason: String,
    place: String,
    /// Of an `assert-set`.
    member: bool,
}

impl Detail {
    pub(super) fn of(case: &CaseResult) -> Self {
        let max = if gist::passed(case) { MAX_TEXT / 4 } else { MAX_TEXT };
        if let (Some(graded), Some(trace)) = (&case.graded, &case.evidence.trace) {
            return Self {
                reason: excerpt(gist::reason(case), max),
                attempts: case.attempts,
                conversation: Some(Conversation::of(graded, trace, max / 4)),
                ..Self::default()
            };
        }
        let components = case.grade.iter().flat_map(|grade| &grade.components).take(200);
        let checks = components.map(|component| Check {
            ok: component.verdict.passed(),
            kind: gist::kind_text(component),
            reason: excerpt(&component.verdict.reason, max / 4),
            place: component.place.as_ref().map(ToString::to_string).unwrap_or_default(),
            member: component.set.is_some(),
        });
        // A lone `prompt` variable is already shown as the prompt.
        let only_prompt = case.vars.len() == 1 && case.vars.contains_key("prompt");
        let vars = if case.vars.is_empty() || only_prompt {
            String::new()
        } else {
            json_excerpt(&case.vars, true, max)
        };
        let named = if case.named_scores.is_empty() {
            String::new()
        } else {
            json_excerpt(&Numbers(&case.named_scores), true, max)
        };
        Self {
            reason: excerpt(gist::reason(case), max),
            prompt: excerpt(&case.prompt.raw, max),
            output: excerpt(&gist::output(case, max * 4), max),
            vars,
            named,
            attempts: case.attempts,
            checks: checks.collect(),
            exchanges: exchanges::shown(&case.evidence, max / 2),
            more: exchanges::left_out(&case.evidence),
            conversation: None,
        }
    }
}

/// JSON that cannot close its HTML element.
pub(super) fn write(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    let mut serializer = serde_json::Serializer::with_formatter(out, Inert);
    Ok(value.serialize(&mut serializer)?)
}

struct Inert;

impl Formatter for Inert {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(['<', '>', '&']) {
            let (before, after) = rest.split_at(at);
            let (special, after) = after.split_at(1);
            out.write_all(before.as_bytes())?;
            write!(out, "\\u{:04x}", special.as_bytes()[0])?;
            rest = after;
        }
        out.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_cannot_end_its_element() {
        let hostile = ["</script><script>alert(1)</script>", "<!--", "]]>", "&lt;"];
        let mut out = Vec::new();
        write(&mut out, &hostile).unwrap();
        assert!(!out.iter().any(|byte| b"<>&".contains(byte)));
        assert_eq!(serde_json::from_slice::<Vec<String>>(&out).unwrap(), hostile);
    }
}
