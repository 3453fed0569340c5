//! Calls that failed.

use quintain_content::registry::Meta;
use quintain_evidence::graded::{Layer, Level};

use super::{Checked, Fault, TraceCheck};
use crate::failure::FailureKind;
use crate::policy::CallPolicy;
use crate::reaction::{Reaction, Response, reactions};
use crate::view::View;

pub(super) struct ResultError;

static META: Meta = Meta {
    id: "result.error",
    aliases: &[],
    summary: "a call failed",
    docs: "\
# What it does
Reports each call that failed: by an error of JSON-RPC, by `isError`, or by a soft error, which is a result that is
marked as a success and as a whole states a failure: `{\"error\": ...}`, `{\"success\": false}`, `Failed to ...`, a stack
trace, a status of HTTP. Logs, search hits, counters and records that mention errors are contents.

# Why it matters
A failed call that nobody noticed means that the answer rests on something that did not happen.

# What counts as proof
The recorded result. The finding is a warning if the failure was ignored: the tool does not succeed later, no other tool
succeeds later with the same values, and the application does not mention the failure. Otherwise it is info.

# Severity
Warning if the failure was ignored, otherwise info, in the layer *call*.

# When it does not apply
No results are recorded.

# Example
```json
{\"content\": [{\"type\": \"text\", \"text\": \"Error: city not found\"}], \"isError\": false}
```
",
    since: "0.2.0",
};

impl TraceCheck for ResultError {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn layer(&self) -> Layer {
        Layer::Call
    }

    fn check(&self, view: &View<'_>, _: &CallPolicy) -> Checked {
        if view.calls.iter().all(|call| call.call.result().is_none() && !call.call.is_error()) {
            return Checked::NotApplicable("no results are recorded");
        }
        let faults = reactions(view).iter().filter_map(|reaction| fault(view, reaction));
        Checked::Findings(faults.collect())
    }
}

fn fault(view: &View<'_>, reaction: &Reaction) -> Option<Fault> {
    let call = &view.calls[reaction.call];
    let failure = call.failure()?;
    let how = match failure.kind {
        FailureKind::Protocol => "failed with an error of the protocol",
        FailureKind::Declared => "failed",
        FailureKind::Stated => "failed, although its result is marked as a success",
    };
    let is_ignored = reaction.response.is_ignored();
    let kind = call.call.kind.word();
    let name = &call.call.name;
    Some(Fault {
        severity: if is_ignored { Level::Warning } else { Level::Info },
        call: Some(reaction.call),
        pointer: failure.pointer.clone(),
        message: if is_ignored {
            format!("{kind} `{name}` {how}, and the application ignored it")
        } else {
            format!("{kind} `{name}` {how}")
        },
        evidence: failure.text.clone(),
        hint: match (reaction.response, failure.kind) {
            (Response::Ignored | Response::RepeatedUnchanged, _) => {
                "retry, use another tool, or report the failure to the user".to_owned()
            }
            (_, FailureKind::Stated) => "the server should set `isError`".to_owned(),
            (response, _) => format!("reaction: {}", response.word()),
        },
    })
}

#[cfg(test)]
mod tests {
    use quintain_evidence::trace::{Call, CallOutcome};
    use serde_json::json;

    use super::super::testing::{faults, made, refused, turn};
    use super::*;

    fn severities(calls: Vec<Call>, answer: &str) -> Vec<(Option<usize>, Level)> {
        let found = faults(&ResultError, &turn("What is the weather in Paris?", calls, answer));
        found.into_iter().map(|fault| (fault.call, fault.severity)).collect()
    }

    #[test]
    fn ignored_failures_are_warnings() {
        let error = CallOutcome::Error { code: None, message: "timeout".into(), data: None };
        for failed in [
            refused("get_weather", json!({"city": "Paris"}), "no such city"),
            made("get_weather", json!({"city": "Paris"}), "Error: upstream timeout"),
            made(
                "get_weather",
                json!({"city": "Paris"}),
                "{\"success\": false, \"message\": \"x\"}",
            ),
            Call { outcome: error, ..Call::tool("get_weather", json!({"city": "Paris"})) },
        ] {
            let found = severities(vec![failed.clone()], "It is 21 degrees and sunny.");
            assert_eq!(found, [(Some(0), Level::Warning)]);
            let found = severities(vec![failed.clone()], "I could not get the weather.");
            assert_eq!(found, [(Some(0), Level::Info)]);
            let retry = made("get_weather", json!({"city": "Paris, FR"}), "21 degrees");
            assert_eq!(severities(vec![failed, retry], "It is sunny."), [(Some(0), Level::Info)]);
        }
    }

    #[test]
    fn contents_that_mention_errors_are_not_failures() {
        for (name, text) in [
            ("get_logs", "ERROR: connection refused"),
            ("search_issues", "[{\"title\": \"Error: cannot log in\"}]"),
            ("get_stats", "{\"errors\": 12, \"failed\": 3}"),
            ("get_job_status", "{\"status\": \"failed\", \"error\": \"disk full\"}"),
        ] {
            assert_eq!(severities(vec![made(name, json!({}), text)], "Here it is."), [], "{name}");
        }
    }
}
