//! Signs that a task failed, and what each weighs.

use std::collections::HashMap;

use quintain_evidence::lexicon::{self, Sense};
use quintain_evidence::trace::{CallKind, TraceServer};

use super::deliverables;
use super::wording::Wording;
use crate::tasks::Task;
use crate::view::{CallView, Offer};

/// A sign that a task failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signal {
    NoAnswer,
    CutOff,
    AdmitsFirst,
    Admits,
    Regrets,
    OwnKnowledge,
    RefersElsewhere,
    AsksForInput,
    LastCallFailed,
    NothingSucceeded,
    NothingRead,
    NeverWorked,
    FileMissing,
    Template,
    Invented,
    NotAsTold,
    Unsupported,
}

/// The weights. A sign that alone decides weighs more than a half, others need company. They were set by hand and are coarse
/// on purpose: the order follows how often a sign occurs in failed and in successful tasks of human-labelled traces of an
/// agent, and where it is too rare to know, how plainly it contradicts a success. The test of agreement changes each of
/// them at random by up to a half.
const WEIGHTS: [(Signal, f64, &str); 17] = [
    (Signal::NoAnswer, 1.0, "there is no answer"),
    (Signal::CutOff, 0.55, "the answer is cut off"),
    (Signal::AdmitsFirst, 0.55, "the answer opens with a failure"),
    (Signal::Admits, 0.3, "the answer admits that something did not work"),
    (Signal::Regrets, 0.15, "the answer apologises"),
    (Signal::OwnKnowledge, 0.2, "the answer offers general knowledge instead of results"),
    (Signal::RefersElsewhere, 0.15, "the answer refers the user elsewhere"),
    (Signal::AsksForInput, 0.15, "the answer asks the user for input"),
    (Signal::LastCallFailed, 0.55, "the last call failed"),
    (Signal::NothingSucceeded, 0.55, "no call succeeded"),
    (Signal::NothingRead, 0.4, "every attempt to read something failed"),
    (Signal::NeverWorked, 0.15, "a tool failed repeatedly and was given up"),
    (Signal::FileMissing, 0.35, "no successful call touches a file that the user names"),
    (Signal::Template, 0.55, "what was written is a template with placeholders"),
    (Signal::Invented, 0.4, "the answer or what was written is called invented data"),
    (Signal::NotAsTold, 0.55, "a tool or server that the user names was not used"),
    (Signal::Unsupported, 0.3, "many claims of the answer are in no result"),
];

impl Signal {
    fn entry(self) -> Option<&'static (Self, f64, &'static str)> {
        WEIGHTS.iter().find(|(signal, ..)| *signal == self)
    }

    pub(super) fn weight(self) -> f64 {
        self.entry().map_or(0.0, |(_, weight, _)| *weight)
    }

    pub(super) fn words(self) -> &'static str {
        self.entry().map_or("", |(.., words)| words)
    }
}

/// The signs in one task, in the order of the weights.
pub(super) fn signals(task: &Task<'_, '_>, servers: &[TraceServer]) -> Vec<Signal> {
    let mut found = match task.answer {
        Some(answer) => wording(&Wording::of(answer)),
        None => vec![Signal::NoAnswer],
    };
    let has_lists = servers.iter().any(|server| server.tools_at(usize::MAX).is_some());
    // Lists that have none of the called tools say nothing about them.
    let is_covered = task.calls.iter().any(|call| call.tool().is_some());
    let calls: Vec<(&CallView<'_>, bool)> = task
        .calls
        .iter()
        .filter(|call| !only_finds_tools(call, is_covered))
        .map(|call| (call, call.failure().is_some()))
        .collect();
    let succeeded: Vec<&CallView<'_>> =
        calls.iter().filter(|(_, failed)| !failed).map(|(call, _)| *call).collect();
    if calls.last().is_some_and(|(_, failed)| *failed) {
        found.push(Signal::LastCallFailed);
    }
    if succeeded.is_empty() {
        // An answer without calls is fine where there was nothing to call.
        if !calls.is_empty() || (has_lists && !task.calls.is_empty()) {
            found.push(Signal::NothingSucceeded);
        }
    } else if nothing_read(&calls) {
        found.push(Signal::NothingRead);
    }
    if never_worked(&calls) {
        found.push(Signal::NeverWorked);
    }
    if deliverables::is_missing(&task.requests, &succeeded) {
        found.push(Signal::FileMissing);
    }
    if deliverables::is_template(&task.requests, &succeeded) {
        found.push(Signal::Template);
    }
    if deliverables::is_invented(&task.requests, task.answer, &succeeded) {
        found.push(Signal::Invented);
    }
    if deliverables::ignores_named(&task.requests, servers, &succeeded) {
        found.push(Signal::NotAsTold);
    }
    found
}

fn wording(wording: &Wording) -> Vec<Signal> {
    let mut found = Vec::new();
    let mut add = |is: bool, signal| found.extend(is.then_some(signal));
    add(wording.is_cut_off, Signal::CutOff);
    add(wording.admits_first, Signal::AdmitsFirst);
    add(wording.admits && !wording.admits_first, Signal::Admits);
    add(wording.regrets, Signal::Regrets);
    add(wording.own_knowledge, Signal::OwnKnowledge);
    add(wording.refers, Signal::RefersElsewhere);
    add(wording.asks, Signal::AsksForInput);
    found
}

/// Whether a call only looks for tools, as agents with very many tools do; it brings the task no further.
fn only_finds_tools(call: &CallView<'_>, is_covered: bool) -> bool {
    if call.call.kind != CallKind::Tool {
        return false;
    }
    let words = lexicon::words(&call.call.name);
    let about_tools = words.iter().any(|word| matches!(word.as_str(), "tool" | "tools"))
        && (Sense::OnlyLooks.is_in(&words) || Sense::Lists.is_in(&words));
    // A tool of the host or of a router is in no list of a server and works nevertheless.
    let of_host = matches!(call.offer, Offer::NotOffered | Offer::Unknown)
        && call.call.server.as_deref().is_none_or(|server| server == "router")
        && is_covered
        && call.failure().is_none();
    about_tools || of_host || matches!(words.as_slice(), [one] if one == "route")
}

/// Whether something was to be read, and all that succeeded are calls that write.
fn nothing_read(calls: &[(&CallView<'_>, bool)]) -> bool {
    let tried = calls.iter().any(|(call, failed)| *failed && call.reads_only());
    let mut succeeded = calls.iter().filter(|(_, failed)| !failed);
    tried && succeeded.all(|(call, _)| Sense::Writes.is_in(&lexicon::words(&call.call.name)))
}

/// Whether some tool failed at least twice and never succeeded.
fn never_worked(calls: &[(&CallView<'_>, bool)]) -> bool {
    let mut tries: HashMap<(Option<&str>, &str), (usize, bool)> = HashMap::new();
    for (call, failed) in calls {
        let (failures, has_worked) = tries.entry((call.server(), &call.call.name)).or_default();
        *failures += usize::from(*failed);
        *has_worked |= !failed;
    }
    tries.values().any(|(failures, has_worked)| *failures >= 2 && !has_worked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sign_has_one_weight() {
        for (signal, weight, words) in WEIGHTS {
            assert_eq!(WEIGHTS.iter().filter(|(other, ..)| *other == signal).count(), 1);
            assert!(weight > 0.0 && weight <= 1.0 && !words.is_empty());
        }
    }
}
