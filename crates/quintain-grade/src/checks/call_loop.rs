//! Calls that repeat without getting anywhere.

use std::collections::HashMap;

use quintain_content::registry::Meta;
use quintain_content::text::short::one_line;
use quintain_evidence::graded::{Layer, Level};
use quintain_evidence::lexicon;

use super::{Checked, Fault, TraceCheck};
use crate::policy::CallPolicy;
use crate::repetition::{Repeatable, is_pending, repeatables, states_pending};
use crate::view::View;
use crate::word_list;

pub(super) struct CallLoop;

/// Longer periods are not looked for.
const MAX_PERIOD: usize = 64;
/// Repetitions that make a loop.
const ROUNDS: usize = 3;
/// Gestures and pauses: each has an effect of its own, and all have the same result.
const GESTURES: &str = "back click down drag forward hover key keypress left next pause press right scroll sleep step \
    swipe tap tick type undo up wait zoom";

static META: Meta = Meta {
    id: "call.loop",
    aliases: &[],
    summary: "calls repeat three times or more without a new result",
    docs: "\
# What it does
Reports a call that fails three times with equal arguments, and a series of calls that is repeated three times with equal
arguments and equal results. The finding is at the call that completes the third round.

# Why it matters
An agent in a loop spends time and tokens until a limit stops it.

# What counts as proof
The recorded calls of one turn. Failures count until the call succeeds or another call changes something. Polling that
leads to another result, or for something that is not finished yet, is not a loop.

# Severity
Warning, in the layer *trace*.

# When it does not apply
Fewer than three calls are recorded.

# Example
`search {\"q\": \"a\"}`, `open {\"id\": 1}`, three times in this order with the same results
",
    since: "0.2.0",
};

impl TraceCheck for CallLoop {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn layer(&self) -> Layer {
        Layer::Trace
    }

    fn check(&self, view: &View<'_>, _: &CallPolicy) -> Checked {
        if view.calls.len() < ROUNDS {
            return Checked::NotApplicable("fewer than three calls are recorded");
        }
        let all = repeatables(view);
        let mut is_covered = vec![false; all.len()];
        let mut faults = failures(view, &all, &mut is_covered);
        for turn in all.chunk_by(|left, right| left.turn == right.turn) {
            periods(view, turn, &mut is_covered, &mut faults);
        }
        faults.sort_by_key(|fault| fault.call);
        Checked::Findings(faults)
    }
}

/// Equal calls of one turn that fail three times, with no success and no change in between.
fn failures(view: &View<'_>, all: &[Repeatable], is_covered: &mut [bool]) -> Vec<Fault> {
    let mut counts: HashMap<(usize, usize), (usize, Vec<usize>)> = HashMap::new();
    let mut changes = 0;
    let mut faults = Vec::new();
    for one in all {
        let call = &view.calls[one.position];
        if call.failure().is_none() {
            changes += usize::from(!call.reads_only());
            counts.remove(&(one.turn, one.key));
            continue;
        }
        // A server that is not finished yet may refuse until it is.
        if states_pending(call) {
            continue;
        }
        let (since, failed) =
            counts.entry((one.turn, one.key)).or_insert_with(|| (changes, Vec::new()));
        if *since != changes {
            *since = changes;
            failed.clear();
        }
        failed.push(one.position);
        if failed.len() == ROUNDS {
            let text = call.failure().map(|failure| failure.text.as_str()).unwrap_or_default();
            faults.push(Fault {
                severity: Level::Warning,
                call: Some(one.position),
                pointer: String::new(),
                message: format!(
                    "`{}` fails for the third time with the same arguments",
                    call.call.name
                ),
                evidence: one_line(text, 200),
                hint: "change the arguments, use another tool, or report the failure".to_owned(),
            });
        }
        if failed.len() >= ROUNDS {
            failed.iter().for_each(|position| is_covered[*position] = true);
            failed.drain(..failed.len() - ROUNDS);
        }
    }
    faults
}

/// Periods of calls in one turn that are repeated with equal results, the shortest first.
fn periods(view: &View<'_>, turn: &[Repeatable], is_covered: &mut [bool], faults: &mut Vec<Fault>) {
    let longest = (turn.len() / ROUNDS).min(MAX_PERIOD);
    for period in 1..=longest {
        let mut equal = 0;
        for at in period..turn.len() {
            let (now, before) = (turn[at], turn[at - period]);
            let is_equal = now.key == before.key && now.outcome == before.outcome;
            equal = if is_equal { equal + 1 } else { 0 };
            let needed = period * (ROUNDS - 1);
            if equal < needed {
                continue;
            }
            let round = &turn[at + 1 - period..=at];
            let is_new = equal == needed && !round.iter().any(|one| is_covered[one.position]);
            let start = if equal == needed { at + 1 - period * ROUNDS } else { at };
            if is_new && !is_progress(view, turn, at, period) {
                faults.push(fault(view, round));
            }
            turn[start..=at].iter().for_each(|one| is_covered[one.position] = true);
        }
    }
}

/// Whether the calls of a period wait for something, or are gestures.
fn is_progress(view: &View<'_>, turn: &[Repeatable], end: usize, period: usize) -> bool {
    let round = &turn[end + 1 - period..=end];
    let is_gesture = |one: &Repeatable| {
        let words = lexicon::words(&view.calls[one.position].call.name);
        words.iter().any(|word| word_list::contains(GESTURES, word))
    };
    if round.iter().all(is_gesture) || round.iter().any(|one| is_pending(&view.calls[one.position]))
    {
        return true;
    }
    // The first calls that differ from the loop show whether waiting had an effect.
    let later = turn[end + 1..].iter().take(period * ROUNDS * 4);
    let reads = |one: &Repeatable| view.calls[one.position].reads_only();
    let changes = round.iter().any(|one| !reads(one) && !is_gesture(one));
    let mut next =
        later.take_while(|one| reads(one) || round.iter().any(|loops| loops.key == one.key));
    !changes
        && next.any(|one| {
            round
                .iter()
                .any(|loops| loops.key == one.key && loops.outcome != one.outcome && reads(one))
        })
}

fn fault(view: &View<'_>, round: &[Repeatable]) -> Fault {
    let names: Vec<&str> =
        round.iter().map(|one| view.calls[one.position].call.name.as_str()).collect();
    let last = round.last().map(|one| one.position);
    let message = match names.as_slice() {
        [one] => {
            format!("`{one}` is called three times in a row with the same arguments and result")
        }
        _ => format!(
            "{} calls are repeated three times with the same arguments and results",
            names.len()
        ),
    };
    Fault {
        severity: Level::Warning,
        call: last,
        pointer: String::new(),
        message,
        evidence: one_line(&names.join(", "), 200),
        hint: "stop, or do something else with the result".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::trace::{Call, Role};
    use serde_json::json;

    use super::super::testing::{found_at, made, refused, turn};
    use super::*;

    fn found(calls: Vec<Call>) -> Vec<usize> {
        found_at(&CallLoop, &turn("Look", calls, "Here."))
    }

    fn repeat(times: usize, calls: &[Call]) -> Vec<Call> {
        std::iter::repeat_n(calls, times).flatten().cloned().collect()
    }

    #[test]
    fn three_identical_failures_are_a_loop() {
        let fail = refused("book", json!({"room": 1}), "taken");
        assert_eq!(found(repeat(2, std::slice::from_ref(&fail))), [0; 0]);
        assert_eq!(found(repeat(3, std::slice::from_ref(&fail))), [2]);
        assert_eq!(found(repeat(6, std::slice::from_ref(&fail))), [2]);
        let look = made("list_rooms", json!({}), "1, 2");
        let mixed = vec![fail.clone(), look.clone(), fail.clone(), look, fail.clone()];
        assert_eq!(found(mixed), [4]);
        let other = refused("book", json!({"room": 2}), "taken");
        assert_eq!(found(vec![fail.clone(), other, fail]), [0; 0]);
    }

    #[test]
    fn a_success_a_change_or_the_user_ends_the_count() {
        let fail = refused("query", json!({"q": "x"}), "no connection");
        let good = made("query", json!({"q": "x"}), "rows");
        assert_eq!(
            found(vec![fail.clone(), fail.clone(), good, fail.clone(), fail.clone()]),
            [0; 0]
        );
        let start = made("start_database", json!({}), "started");
        assert_eq!(found(vec![fail.clone(), fail.clone(), start, fail.clone()]), [0; 0]);
        let mut trace = turn("a", vec![fail.clone(), fail.clone()], "It failed.");
        trace.say(Role::User, "Try again");
        trace.call(fail);
        assert_eq!(found_at(&CallLoop, &trace), [0; 0]);
    }

    #[test]
    fn periods_with_equal_results_are_loops() {
        let search = made("search", json!({"q": "a"}), "1");
        let open = made("read", json!({"id": 1}), "text");
        assert_eq!(found(repeat(3, &[search.clone(), open.clone()])), [5]);
        assert_eq!(found(repeat(2, &[search.clone(), open.clone()])), [0; 0]);
        assert_eq!(found(repeat(4, std::slice::from_ref(&search))), [2]);
        let mut shifted = vec![open.clone()];
        shifted.extend(repeat(3, &[search.clone(), open.clone()]));
        assert_eq!(found(shifted), [5]);
        let third = made("read", json!({"id": 1}), "other");
        assert_eq!(
            found(vec![search.clone(), open.clone(), search.clone(), open, search, third]),
            [0; 0]
        );
    }

    #[test]
    fn polling_and_gestures_are_clean() {
        let poll = |text: &str| made("get_job", json!({"job_id": 1}), text);
        let wait = made("sleep", json!({"seconds": 5}), "ok");
        let mut calls = repeat(5, &[wait.clone(), poll("running")]);
        calls.extend([wait, poll("done")]);
        assert_eq!(found(calls), [0; 0]);
        assert_eq!(found(repeat(4, &[poll("queued")])), [0; 0]);
        let stock = |text: &str| made("get_price", json!({"id": 1}), text);
        let mut calls = repeat(4, &[stock("12")]);
        calls.push(stock("11"));
        assert_eq!(found(calls), [0; 0]);
        assert_eq!(found(repeat(4, &[made("press_key", json!({"key": "Tab"}), "ok")])), [0; 0]);
        let early = refused("get_result", json!({"job_id": 1}), "job is still running");
        assert_eq!(found(repeat(5, &[early])), [0; 0]);
    }

    #[test]
    fn ten_thousand_calls_take_no_time() {
        let calls: Vec<Call> =
            (0..10_000).map(|n| made("search", json!({"q": n % 70}), "x")).collect();
        assert_eq!(found(calls), [0; 0], "the period is longer than what is looked for");
    }
}
