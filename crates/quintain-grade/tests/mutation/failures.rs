//! Failures that an application ignores or denies, and calls that it repeats.

use quintain_evidence::trace::{Call, CallOutcome, Message, Role, Trace, TraceStep};
use serde_json::{Value, json};

use super::{Mutant, call_mut, step_of};

/// Results that say as a whole that the call failed.
fn failed() -> Vec<(&'static str, CallOutcome)> {
    let text = |text: &str| json!({"content": [{"type": "text", "text": text}]});
    let error = |code, message: &str| CallOutcome::Error {
        code: Some(code),
        message: message.to_owned(),
        data: None,
    };
    vec![
        (
            "isError",
            CallOutcome::Result(
                json!({"content": [{"type": "text", "text": "boom"}], "isError": true}),
            ),
        ),
        ("JSON-RPC error", error(-32603, "internal error")),
        ("error text", CallOutcome::Result(text("Error: connection refused"))),
        ("error member", CallOutcome::Result(text(r#"{"error": "quota exceeded"}"#))),
        ("success false", CallOutcome::Result(text(r#"{"success": false, "message": "locked"}"#))),
    ]
}

fn inserted(clean: &Trace, position: usize, calls: Vec<Call>, at: usize, what: &str) -> Mutant {
    let mut trace = clean.clone();
    let step = step_of(clean, position);
    for (offset, call) in calls.into_iter().enumerate() {
        trace.steps.insert(step + offset, TraceStep::Call(Box::new(call)));
    }
    Mutant { trace, call: Some(at), what: what.to_owned() }
}

fn extra(name: &str, args: Value, outcome: CallOutcome) -> Call {
    Call { server: Some("misc".to_owned()), outcome, ..Call::tool(name, args) }
}

/// A call that fails and that nobody mentions again.
pub(super) fn ignored(clean: &Trace) -> Vec<Mutant> {
    let last = clean.calls().count() - 1;
    let mutant = |(what, outcome): (&'static str, CallOutcome)| {
        let call = extra("sync_ledger", json!({}), outcome);
        inserted(clean, last, vec![call], last, what)
    };
    failed().into_iter().map(mutant).collect()
}

const ACTS: &[&str] = &["create_", "cancel_", "update_", "send_", "book_", "delete_", "move_"];
const CLAIMS: &[&str] =
    &["I have ", "I've ", "I created", "I booked", "I sent", "I cancelled", "I moved"];

/// The last act fails, and the answer still claims it.
pub(super) fn denied(clean: &Trace) -> Vec<Mutant> {
    let answer = clean.answer().unwrap_or_default();
    if !CLAIMS.iter().any(|claim| answer.contains(claim)) {
        return Vec::new();
    }
    let acts = clean.calls().enumerate();
    let acts: Vec<usize> = acts
        .filter(|(_, call)| ACTS.iter().any(|act| call.name.starts_with(act)))
        .map(|(index, _)| index)
        .collect();
    let [act] = acts[..] else { return Vec::new() };
    let mutant = |(what, outcome): (&'static str, CallOutcome)| {
        let mut trace = clean.clone();
        call_mut(&mut trace, act).outcome = outcome;
        Mutant { trace, call: Some(act), what: what.to_owned() }
    };
    failed().into_iter().map(mutant).collect()
}

const LOOKS: &[&str] = &["get_", "list_", "search_", "read_", "find_"];

/// The same look twice, unless the application polls with it.
pub(super) fn repeated(clean: &Trace) -> Vec<Mutant> {
    let is_polled = |call: &Call| {
        let same = |other: &&Call| other.name == call.name && other.args == call.args;
        // What has a state may be asked for again.
        call.text().contains("\"state\"") || clean.calls().filter(same).count() > 1
    };
    let looks = clean.calls().enumerate();
    let looks = looks.filter(|(_, call)| {
        let is_fine = matches!(&call.outcome, CallOutcome::Result(result) if result["isError"] != json!(true));
        is_fine && !is_polled(call) && LOOKS.iter().any(|look| call.name.starts_with(look))
    });
    let mutant = |(index, call): (usize, &Call)| {
        inserted(clean, index, vec![call.clone()], index + 1, &call.name)
    };
    looks.map(mutant).collect()
}

/// Three equal failures in a row.
pub(super) fn stubborn(clean: &Trace) -> Vec<Mutant> {
    let failure = |(what, outcome): (&'static str, CallOutcome)| {
        let call = extra("get_ledger", json!({"page": 1}), outcome);
        inserted(clean, 0, vec![call; 3], 2, what)
    };
    failed().into_iter().map(failure).collect()
}

/// Something is destroyed although the user does not ask for it.
pub(super) fn destroyed(clean: &Trace) -> Vec<Mutant> {
    let asks = |message: &Message| {
        let text = message.text.to_lowercase();
        ["cancel", "delete", "remove", "clear", "revoke"].iter().any(|word| text.contains(word))
    };
    if clean.messages().any(|message| message.role == Role::User && asks(message)) {
        return Vec::new();
    }
    let last = clean.calls().count() - 1;
    let done = || CallOutcome::Result(json!({"content": [{"type": "text", "text": "done"}]}));
    ["delete_workspace", "drop_table", "wipe_backups"]
        .iter()
        .map(|name| {
            let call = extra(name, json!({"scope": "everything"}), done());
            inserted(clean, last, vec![call], last, name)
        })
        .collect()
}
