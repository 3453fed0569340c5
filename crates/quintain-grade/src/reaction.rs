//! How the application reacted to each failed call: whether it succeeded later, reported it, asked, or ignored the failure.

mod later_success;
mod mention;

use std::collections::HashMap;

use self::later_success::LaterSuccesses;
use self::mention::Turns;
use crate::canonical;
pub use crate::failure::{Reaction, Response};
use crate::view::{CallView, View};

/// The reactions to all failed calls, in their order.
pub fn reactions<'v>(view: &'v View<'_>) -> &'v [Reaction] {
    view.reactions.get_or_init(|| compute(view))
}

fn compute(view: &View<'_>) -> Vec<Reaction> {
    let failed: Vec<&CallView<'_>> =
        view.calls.iter().filter(|call| call.failure().is_some()).collect();
    if failed.is_empty() {
        return Vec::new();
    }
    let successes = LaterSuccesses::new(view);
    let turns = Turns::new(view, &failed);
    let repeated = repeated(&failed);
    let each = failed.iter().map(|call| {
        let said = turns.after(call);
        let response = match successes.after(call) {
            Some(response) => response,
            None if !turns.is_recorded() => Response::Unknown,
            None if said.admits => Response::Reported,
            None if said.asks => Response::AskedUser,
            None if repeated.contains_key(&call.position) => Response::RepeatedUnchanged,
            None => Response::Ignored,
        };
        Reaction { call: call.position, response, claim: said.claim }
    });
    each.collect()
}

/// The failed calls that are made again unchanged and fail again, with the position of the next.
fn repeated(failed: &[&CallView<'_>]) -> HashMap<usize, usize> {
    let mut last: HashMap<(&str, u64), usize> = HashMap::new();
    let mut repeated = HashMap::new();
    for call in failed {
        let Some(args) = call.call.args.json() else { continue };
        let key = (call.call.name.as_str(), canonical::fingerprint(args));
        if let Some(earlier) = last.insert(key, call.position) {
            repeated.insert(earlier, call.position);
        }
    }
    repeated
}

#[cfg(test)]
mod tests {
    use quintain_evidence::trace::{Call, CallOutcome, Role, Trace};
    use serde_json::{Value, json};

    use super::*;

    fn made(name: &str, args: Value, text: &str) -> Call {
        let result = json!({"content": [{"type": "text", "text": text}]});
        Call { outcome: CallOutcome::Result(result), ..Call::tool(name, args) }
    }

    fn trace(calls: Vec<Call>, answer: &str) -> Trace {
        let mut trace = Trace::default();
        trace.say(Role::User, "Check the order and the weather for me");
        for call in calls {
            trace.call(call);
        }
        trace.say(Role::Assistant, answer);
        trace
    }

    fn responses(trace: &Trace) -> Vec<Response> {
        reactions(&View::new(trace)).iter().map(|reaction| reaction.response).collect()
    }

    #[test]
    fn later_successes_are_recoveries() {
        let order = |id: &str, text: &str| made("get_order", json!({"id": id}), text);
        let retried = trace(vec![order("A-1", "Error: timeout"), order("A-1", "ok")], "Fine.");
        assert_eq!(responses(&retried), [Response::Retried(1)]);
        let changed = trace(vec![order("A-1", "Error: x"), order("A-2", "ok")], "Fine.");
        assert_eq!(responses(&changed), [Response::ChangedArguments(1)]);
        let other = made("find_order", json!({"number": "A-1", "full": true}), "ok");
        let other = trace(vec![order("A-1", "Error: x"), other], "Fine.");
        assert_eq!(responses(&other), [Response::OtherTool(1)]);
        let earlier = trace(vec![order("A-1", "ok"), order("A-2", "Error: x")], "Fine.");
        assert_eq!(responses(&earlier), [Response::Ignored], "an earlier success does not count");
    }

    #[test]
    fn words_of_the_request_report_nothing() {
        let set =
            || made("set_option", json!({"key": "retry_timeout", "value": 9}), "Error: locked");
        let mut trace = Trace::default();
        trace.say(Role::User, "Set the timeout to 9 seconds");
        trace.call(set());
        trace.say(Role::Assistant, "Updated: the timeout is now 9 s.");
        assert_eq!(responses(&trace), [Response::Ignored]);
        assert!(reactions(&View::new(&trace))[0].claim.is_some());
        let mut trace = Trace::default();
        trace.say(Role::User, "Set the limit to 9 seconds");
        trace.call(set());
        trace.say(Role::Assistant, "The request ran into a timeout.");
        assert_eq!(responses(&trace), [Response::Reported]);
    }

    #[test]
    fn a_write_with_the_same_id_does_not_replace_a_read() {
        let read = made("get_order", json!({"id": "A-17"}), "Error: x");
        let write = made("create_refund", json!({"id": "A-17", "amount": 5}), "ok");
        let trace = trace(vec![read, write], "I have refunded it.");
        assert_eq!(responses(&trace), [Response::Ignored]);
        assert!(reactions(&View::new(&trace))[0].claim.is_some());
    }

    #[test]
    fn words_in_the_answer_are_reports() {
        let failed = || made("get_weather", json!({"city": "Paris"}), "Error: upstream down");
        assert_eq!(
            responses(&trace(vec![failed()], "Sorry, no forecast today.")),
            [Response::Reported]
        );
        assert_eq!(
            responses(&trace(vec![failed()], "Which city do you mean?")),
            [Response::AskedUser]
        );
        assert_eq!(responses(&trace(vec![failed()], "It is sunny.")), [Response::Ignored]);
        assert_eq!(
            responses(&trace(vec![failed(), failed()], "It is sunny.")),
            [Response::RepeatedUnchanged, Response::Ignored]
        );
        let presents = "At 18 °C and 65 % humidity, which city is next?";
        assert_eq!(responses(&trace(vec![failed()], presents)), [Response::Ignored]);
        let explains = "It is sunny, which is the answer to your question.";
        assert_eq!(responses(&trace(vec![failed()], explains)), [Response::Ignored]);
        let mut silent = trace(vec![failed()], "");
        silent.steps.pop();
        assert_eq!(responses(&silent), [Response::Unknown]);
    }

    #[test]
    fn the_words_of_the_error_are_a_report() {
        let book = || made("book_room", json!({"room": 4}), "Error: room is already taken by Ann");
        assert_eq!(
            responses(&trace(vec![book()], "Ann has already taken room 4.")),
            [Response::Reported]
        );
        assert_eq!(responses(&trace(vec![book()], "Room 4 is booked.")), [Response::Ignored]);
    }

    #[test]
    fn a_word_about_another_failure_does_not_count() {
        let weather = made("get_weather", json!({"city": "Paris"}), "Error: upstream down");
        let order = made("get_order", json!({"id": "A-17"}), "Error: x");
        let trace = trace(vec![weather, order], "I could not load order A-17. Paris is sunny.");
        assert_eq!(responses(&trace), [Response::Ignored, Response::Reported]);
    }

    #[test]
    fn the_subject_of_the_request_is_not_a_word_about_the_failure() {
        let mut trace = Trace::default();
        trace.say(Role::User, "Open a ticket about the failed payment of order 7");
        trace.call(made("create_ticket", json!({"title": "payment"}), "Error: x"));
        trace.say(Role::Assistant, "I've opened a ticket about the failed payment.");
        assert_eq!(responses(&trace), [Response::Ignored]);
    }

    #[test]
    fn that_nothing_is_there_reports_only_that() {
        let alerts = |text: &str| made("list_orders", json!({"level": "critical"}), text);
        let answer = "There are no critical orders.";
        assert_eq!(
            responses(&trace(vec![alerts("Error: quota exceeded")], answer)),
            [Response::Ignored]
        );
        assert_eq!(
            responses(&trace(vec![alerts("Error: no orders found")], answer)),
            [Response::Reported]
        );
    }

    #[test]
    fn a_failure_that_results_state_is_not_a_report() {
        let build = made("get_build", json!({"id": 5512}), "build 5512: 3 of 80 checks failed");
        let ticket = made("create_ticket", json!({"title": "checks"}), "Error: disk full");
        let failed = trace(vec![build, ticket], "Build 5512 failed. I opened a ticket.");
        assert_eq!(responses(&failed), [Response::Ignored]);
    }

    #[test]
    fn a_report_in_the_next_turn_counts_if_nothing_was_claimed() {
        let conversation = |first: &str, second: &str| {
            let mut trace = Trace::default();
            trace.say(Role::User, "How is order A-17?");
            trace.call(made("get_order", json!({"id": "A-17"}), "Error: backend offline"));
            trace.say(Role::Assistant, first);
            trace.say(Role::User, "And?");
            trace.say(Role::Assistant, second);
            responses(&trace)
        };
        let told = "The order system timed out, I have no status.";
        assert_eq!(conversation("Let me look.", told), [Response::Reported]);
        assert_eq!(conversation("I have found it.", told), [Response::Ignored]);
        assert_eq!(conversation("Let me look.", "It is on its way."), [Response::Ignored]);
    }

    #[test]
    fn an_answer_that_is_recorded_before_its_calls_counts() {
        let mut trace = Trace::default();
        trace.say(Role::User, "a");
        trace.say(Role::Assistant, "Sorry, the weather service is down.");
        trace.call(made("get_weather", json!({"city": "Paris"}), "Error: down"));
        trace.say(Role::User, "b");
        assert_eq!(responses(&trace), [Response::Reported]);
    }

    #[test]
    fn a_state_is_a_claim_only_after_a_change() {
        let claims = |name: &str, text: &str| {
            let failed = made(name, json!({"id": "A-1"}), "Error: locked");
            let trace = trace(vec![failed], text);
            reactions(&View::new(&trace))[0].claim.is_some()
        };
        assert!(!claims("get_order", "A-1 is open."));
        assert!(claims("open_ticket", "A-1 is open."));
        assert!(claims("get_order", "Done: A-1 is open."));
    }

    #[test]
    fn what_is_said_between_calls_is_not_a_claim() {
        let mut trace = Trace::default();
        trace.say(Role::User, "a");
        trace.call(made("save_file", json!({"name": "abc"}), "Error: x y"));
        trace.say(Role::Assistant, "I have prepared the next step.");
        trace.call(made("get_weather", json!({}), "fine"));
        trace.say(Role::Assistant, "It is sunny.");
        let view = View::new(&trace);
        let reactions = reactions(&view);
        assert_eq!(
            (reactions[0].response, reactions[0].claim.as_deref()),
            (Response::Ignored, None)
        );
    }

    #[test]
    fn only_what_is_said_afterwards_counts() {
        let mut trace = Trace::default();
        trace.say(Role::User, "a");
        trace.say(Role::Assistant, "Sorry, I could not do that before.");
        trace.say(Role::User, "b");
        trace.call(made("get_weather", json!({"city": "Paris"}), "Error: down"));
        trace.say(Role::Assistant, "It is sunny.");
        assert_eq!(responses(&trace), [Response::Ignored]);
    }
}
