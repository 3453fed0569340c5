//! What the application did after a call failed.

use quintain_content::registry::Meta;
use quintain_content::text::short::one_line;
use quintain_evidence::graded::{Layer, Level};

use super::{Checked, Fault, TraceCheck};
use crate::policy::CallPolicy;
use crate::reaction::{Reaction, Response, reactions};
use crate::view::View;

pub(super) struct Recovery;

static META: Meta = Meta {
    id: "recovery",
    aliases: &[],
    summary: "a failed call, and what the application did then",
    docs: "\
# What it does
Classifies the reaction to each failed call: retried, changed arguments, other tool, asked the user, reported, repeated
unchanged, or ignored.

# Why it matters
Agents that recover from errors are useful; agents that claim success after an error are dangerous.

# What counts as proof
It is an error, at the failed call, if the failure was ignored and the application then claims success. All other
reactions are info.

# Severity
Error if the application claims success, otherwise info, in the layer *trace*.

# When it does not apply
No results are recorded, or no call failed.

# Example
`send_email` returns `Error: mailbox full`, and the answer is `I've sent the email.`
",
    since: "0.2.0",
};

impl TraceCheck for Recovery {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn layer(&self) -> Layer {
        Layer::Trace
    }

    fn check(&self, view: &View<'_>, _: &CallPolicy) -> Checked {
        if view.calls.iter().all(|call| call.call.result().is_none() && !call.call.is_error()) {
            return Checked::NotApplicable("no results are recorded");
        }
        let all = reactions(view);
        if all.is_empty() {
            return Checked::NotApplicable("no call failed");
        }
        Checked::Findings(all.iter().map(|reaction| fault(view, reaction)).collect())
    }
}

fn fault(view: &View<'_>, reaction: &Reaction) -> Fault {
    let call = &view.calls[reaction.call];
    let name = &call.call.name;
    let claim = reaction.claim.as_deref().filter(|_| reaction.response.is_ignored());
    let failure = call.failure().map(|failure| failure.text.as_str()).unwrap_or_default();
    if let Some(claim) = claim {
        return Fault {
            severity: Level::Error,
            call: Some(reaction.call),
            pointer: String::new(),
            message: format!("`{name}` failed, but the application claims success"),
            evidence: format!("{}; then: {}", one_line(failure, 150), one_line(claim, 150)),
            hint: "report the failure instead of a success".to_owned(),
        };
    }
    let after = match reaction.response {
        Response::Retried(at) | Response::ChangedArguments(at) | Response::OtherTool(at) => {
            format!(", and call {at} succeeded after {} calls", at - reaction.call)
        }
        Response::AskedUser
        | Response::Reported
        | Response::RepeatedUnchanged
        | Response::Ignored
        | Response::Unknown => String::new(),
    };
    Fault {
        severity: Level::Info,
        call: Some(reaction.call),
        pointer: String::new(),
        message: format!(
            "reaction to the failure of `{name}`: {}{after}",
            reaction.response.word()
        ),
        evidence: one_line(failure, 200),
        hint: if reaction.response.is_ignored() {
            "retry, use another tool, or report the failure to the user".to_owned()
        } else {
            String::new()
        },
    }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::trace::Role;
    use serde_json::json;

    use super::super::testing::{faults, made, refused, turn};
    use super::*;

    fn severities(trace: &quintain_evidence::trace::Trace) -> Vec<(Option<usize>, Level)> {
        faults(&Recovery, trace).into_iter().map(|fault| (fault.call, fault.severity)).collect()
    }

    #[test]
    fn a_claim_of_success_after_an_ignored_failure_is_an_error() {
        let send = || refused("send_email", json!({"to": "ann@example.com"}), "mailbox full");
        let get = || made("get_contact", json!({"name": "Ann"}), "ann@example.com");
        let trace = turn("Mail Ann", vec![get(), send()], "Done! I've sent the email to Ann.");
        assert_eq!(severities(&trace), [(Some(1), Level::Error)]);
        let trace = turn(
            "Mail Ann",
            vec![get(), send()],
            "The mailbox of Ann is full, so the email was not sent.",
        );
        assert_eq!(severities(&trace), [(Some(1), Level::Info)]);
        let again = made("send_email", json!({"to": "ann@example.com"}), "sent");
        let trace = turn("Mail Ann", vec![send(), again], "Done! I've sent the email to Ann.");
        assert_eq!(severities(&trace), [(Some(0), Level::Info)]);
    }

    #[test]
    fn every_turn_has_its_own_answer() {
        let mut trace = turn(
            "Mail Ann",
            vec![refused("send_email", json!({"to": "ann"}), "full")],
            "It failed.",
        );
        trace.say(Role::User, "And the weather?");
        trace.call(made("get_weather", json!({}), "sunny"));
        trace.say(Role::Assistant, "I've checked: it is sunny.");
        assert_eq!(severities(&trace), [(Some(0), Level::Info)]);
    }
}
