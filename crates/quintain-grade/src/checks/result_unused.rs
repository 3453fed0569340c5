//! A result of which nothing is used.

use quintain_content::registry::Meta;
use quintain_content::text::short::one_line;
use quintain_evidence::graded::{Layer, Level};
use quintain_evidence::trace::{CallKind, CallOutcome};

use super::{Checked, Fault, TraceCheck};
use crate::effect::Effect;
use crate::policy::CallPolicy;
use crate::values::embedded_json::embedded;
use crate::values::leaves::leaves;
use crate::view::{CallView, View};

pub(super) struct ResultUnused;

static META: Meta = Meta {
    id: "result.unused",
    aliases: &[],
    summary: "nothing of a result reappears in later arguments or in the answer",
    docs: "\
# What it does
Takes what each successful call of a tool brought that was not known before (ids, numbers, dates, rare words) and looks for it in all
later arguments and in what the application says. Calls that change something are left out: their effect is their use.

# Why it matters
A result that nobody uses costs time and tokens. Often the answer ignores what the user asked for.

# What counts as proof
The result brought something new, and nothing of it reappears in any notation.

# Severity
Info, in the layer *trace*.

# When it does not apply
No answer is recorded, or the results are too large to compare.

# Example
```text
get_weather -> 21 °C, cloudy      answer: The meeting is at 10:00.
```
",
    since: "0.2.0",
};

impl TraceCheck for ResultUnused {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn layer(&self) -> Layer {
        Layer::Trace
    }

    fn check(&self, view: &View<'_>, _: &CallPolicy) -> Checked {
        if view.trace.answer().is_none() {
            return Checked::NotApplicable("no answer is recorded");
        }
        if !view.known().is_whole(view.trace.steps.len()) {
            return Checked::NotApplicable("the results are too large to compare");
        }
        let uses = view.uses();
        let mut used = uses.of_answers.clone();
        used.extend(uses.of_calls.iter().flatten());
        let unused =
            view.calls.iter().filter(|call| is_expected(call) && uses.fresh[call.position] > 0);
        let unused = unused.filter(|call| !used.contains(&call.position));
        Checked::Findings(unused.map(fault).collect())
    }
}

/// Whether a result is there to be used.
fn is_expected(call: &CallView<'_>) -> bool {
    let has_result = matches!(call.call.outcome, CallOutcome::Result(_)) && has_content(call);
    call.call.kind == CallKind::Tool
        && has_result
        && call.succeeded()
        && call.effect() != Effect::Changes
}

/// An empty list is an answer, too, but nothing of it can reappear.
fn has_content(call: &CallView<'_>) -> bool {
    match call.call.structured().cloned().or_else(|| embedded(call.text())) {
        Some(value) => !leaves(&value).is_empty(),
        None => !call.text().trim().is_empty(),
    }
}

fn fault(call: &CallView<'_>) -> Fault {
    Fault {
        severity: Level::Info,
        call: Some(call.position),
        pointer: String::new(),
        message: format!("nothing of the result of `{}` is used", call.call.name),
        evidence: one_line(call.text(), 200),
        hint: "leave the call out, or use its result".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::conversation::{found, trace};
    use super::*;

    #[test]
    fn a_result_without_any_use_is_found() {
        let trace = trace("When is the meeting?")
            .call(
                "get_weather",
                json!({"city": "Oslo"}),
                json!({"temp": 21.5, "sky": "cloudy", "wind": "breeze"}),
            )
            .call("find_meeting", json!({}), json!({"start": "10:15", "room": "Tokyo-4"}))
            .answer("It starts at 10:15.");
        let calls: Vec<_> =
            found(&ResultUnused, &trace).into_iter().map(|fault| fault.call).collect();
        assert_eq!(calls, [Some(0)]);
    }

    #[test]
    fn a_failure_is_not_there_to_be_used() {
        let trace = trace("Show me notes.txt")
            .call(
                "read_file",
                json!({"path": "notes.txt"}),
                json!("Error: ENOENT: no such file or directory"),
            )
            .answer("I couldn't find notes.txt.");
        assert_eq!(found(&ResultUnused, &trace), []);
    }

    #[test]
    fn values_words_and_counts_are_uses() {
        for (result, answer) in [
            (json!({"temp": 21.4}), "About 21.4 degrees."),
            (json!({"sky": "cloudy", "wind": "gusty"}), "It is cloudy."),
            (json!({"available": false}), "It is not available."),
            (json!([{"k": 1}, {"k": 2}, {"k": 3}]), "There are three of them."),
            (json!({"placed": "2026-05-03"}), "On May 3."),
            (json!([]), "There are none."),
        ] {
            let trace =
                trace("How is it?").call("get_it", json!({}), result.clone()).answer(answer);
            assert_eq!(found(&ResultUnused, &trace), [], "{result}");
        }
        let trace = trace("How?")
            .call("a", json!({}), json!({"id": "x-9912"}))
            .call("b", json!({"id": "x-9912"}), json!({}))
            .answer("Ok.");
        assert_eq!(found(&ResultUnused, &trace), []);
    }
}
