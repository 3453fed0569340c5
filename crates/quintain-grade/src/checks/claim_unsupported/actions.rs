//! Which of the acts that an answer claims no call did.

use std::cell::RefCell;
use std::collections::HashMap;

use quintain_content::text::short::one_line;
use quintain_evidence::trace::TraceStep;

use super::claimed::{self, Claim, Voice};
use super::own_text;
use super::requests::Requests;
use super::support::{self, Changes};
use crate::occurrences::Occurrences;
use crate::statements::Statements;
use crate::values::prose::{Mood, Sentence};
use crate::view::{CallView, View};

/// An act that an answer claims without a call that did it.
#[derive(Debug)]
pub(super) struct Unsupported {
    pub(super) words: String,
    /// Whether no call changed anything; otherwise no call is about this act.
    pub(super) is_alone: bool,
}

/// Claims of one answer that are listed.
const MAX_FOUND: usize = 10;
/// Shorter claims are in other texts by coincidence.
const MIN_QUOTED: usize = 13;

/// What decides about the claims of all answers of a trace.
pub(super) struct Acts<'v, 't> {
    view: &'v View<'t>,
    changes: Changes<'v, 't>,
    requests: Requests,
    /// Whether the application called or was offered anything. Without tools, it edits texts in its own answers.
    has_tools: bool,
    /// The first step at which a result has a verb.
    states: RefCell<HashMap<String, usize>>,
}

impl<'v, 't> Acts<'v, 't> {
    pub(super) fn new(view: &'v View<'t>) -> Self {
        Self {
            view,
            changes: Changes::new(view),
            requests: Requests::new(view),
            has_tools: !view.calls.is_empty() || !view.trace.servers.is_empty(),
            states: RefCell::default(),
        }
    }

    /// The claimed acts of an answer that no call supports. Quotes are among them.
    pub(super) fn unsupported(
        &self,
        step: usize,
        text: &str,
        sentences: &[Sentence<'_>],
    ) -> Vec<Unsupported> {
        let done = self.changes.before(step);
        let request = self.requests.at(step);
        let stated =
            sentences.iter().filter(|sentence| sentence.mood == Mood::Statement).take(2000);
        let stated: Vec<&Sentence<'_>> = stated.collect();
        let mut claims: Vec<(usize, Claim)> = Vec::new();
        for (index, sentence) in stated.iter().enumerate() {
            claims.extend(claimed::claims(sentence.text).into_iter().map(|claim| (index, claim)));
        }
        let says_done = stated.iter().take(2).any(|sentence| claimed::says_done(sentence.text));
        if claims.is_empty() && !says_done {
            return Vec::new();
        }
        // Vague claims count only in an answer that neither admits a failure nor asks. The check of recoveries judges
        // answers after a change that failed.
        let said = Statements::read(text);
        let is_settled = !self.changes.has_failed(request.turn, step)
            && said.admissions.is_empty()
            && !said.asks;
        let is_new = !done.iter().any(|change| change.step() > request.start);
        let is_strict = is_new || claims.len() > 1;
        let mut found: Vec<Unsupported> = Vec::new();
        for (index, claim) in &claims {
            let is_wanted = request.ordered.contains(&claim.act)
                || *index == 0 && claim.voice == Voice::Elliptic && !request.ordered.is_empty();
            let is_claim = match claim.voice {
                Voice::Active => true,
                Voice::Elliptic => {
                    is_settled
                        && (claim.is_plain
                            || is_wanted
                            || claim.names_recipient && !self.is_subject(step, claim))
                }
                Voice::Passive => {
                    is_settled
                        && (claim.is_plain || is_wanted)
                        && !self.is_known_state(step, &claim.verb)
                }
            };
            let is_supported = || done.iter().rev().any(|change| change.supports(claim, is_strict));
            let is_own_text =
                || !self.has_tools && own_text::shows_edit(&claim.verb, stated[*index].text, text);
            if is_claim && !is_supported() && !is_own_text() {
                found.push(Unsupported { words: claim.words.clone(), is_alone: done.is_empty() });
            }
            if found.len() >= MAX_FOUND {
                break;
            }
        }
        if found.is_empty() && says_done && is_settled && is_new && !request.ordered.is_empty() {
            let words = stated.first().map_or("", |sentence| sentence.text.trim());
            found.push(Unsupported { words: words.to_owned(), is_alone: done.is_empty() });
        }
        found
    }

    /// Whether a result states what a passive says: `"status": "paid"`.
    fn is_known_state(&self, step: usize, verb: &str) -> bool {
        let mut states = self.states.borrow_mut();
        let first = states.entry(verb.to_owned()).or_insert_with(|| {
            let has = |call: &&CallView<'_>| support::start(call.text()).contains(verb);
            self.view.calls.iter().find(has).map_or(usize::MAX, |call| call.step)
        });
        *first < step
    }

    /// Whether what was read in the turn of an answer is about the act: "Invoice sent to Ann" may be data.
    fn is_subject(&self, step: usize, claim: &Claim) -> bool {
        let end = self.view.calls.partition_point(|call| call.step < step);
        let turn = self.requests.at(step).start;
        let own = self.view.calls[..end].iter().rev().take_while(|call| call.step > turn);
        own.take(MAX_FOUND).any(|call| support::is_subject(call, claim.act))
    }

    /// Removes the claims in the words of another author: a result or the user has them, too.
    pub(super) fn remove_quotes(&self, found: &mut [(usize, Vec<Unsupported>)]) {
        let claims = found.iter().flat_map(|(_, claims)| claims);
        let claims = claims.filter(|claim| claim.words.len() >= MIN_QUOTED);
        let words: Vec<String> = claims.map(|claim| claim.words.clone()).collect();
        if words.is_empty() {
            return;
        }
        let mut calls = self.view.calls.iter();
        let texts = self.view.trace.steps.iter().enumerate().filter_map(|(step, entry)| {
            let text = match entry {
                TraceStep::Message(message) => message.text.as_str(),
                TraceStep::Call(_) => calls.next()?.text(),
            };
            Some((step, text))
        });
        let quoted = Occurrences::find(words, texts);
        for (step, claims) in found {
            claims.retain(|claim| quoted.first(&claim.words).is_none_or(|first| first >= *step));
        }
    }
}

pub(super) fn message(claim: &Unsupported) -> String {
    let words = one_line(&claim.words, 80);
    if claim.is_alone {
        format!("the answer claims \"{words}\", but no successful call changes anything")
    } else {
        format!("the answer claims \"{words}\", but no successful call is about that")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::super::conversation::{TraceBuilder, found, trace};
    use super::super::ClaimUnsupported;

    fn count(conversation: &TraceBuilder) -> usize {
        found(&ClaimUnsupported, conversation).len()
    }

    #[test]
    fn short_claims_need_a_call_if_the_user_wanted_it() {
        for (request, answer) in [
            ("Reserve a table at Luigi's", "Reserved! See you there."),
            ("Merge the pull request", "Merged the pull request into main."),
            ("Book me in with Dr. Ray", "You're booked with Dr. Ray."),
            ("Schedule the review", "The review is now scheduled."),
            ("Change the address, please", "Done, the parcel goes to the new address."),
            ("Send the minutes to Lena", "All done - the minutes are sent."),
        ] {
            let read = trace(request).call("get_info", json!({}), json!({"name": "x"}));
            assert_eq!(count(&read.answer(answer)), 1, "{answer}");
        }
    }

    #[test]
    fn short_claims_about_data_and_after_calls_are_fine() {
        for (request, answer) in [
            ("Which invoices are paid?", "The first invoice is paid."),
            ("When was it created?", "Created on a Monday."),
            ("Close the ticket", "The ticket is already closed."),
            ("Close the ticket", "Which ticket do you mean? One is closed."),
            ("Sum it up", "Done: all is well."),
            ("Book the room", "The room is booked by Lena, so I could not take it."),
        ] {
            let read = trace(request).call("get_info", json!({}), json!({"name": "x"}));
            assert_eq!(count(&read.answer(answer)), 0, "{answer}");
        }
        let booked =
            trace("Reserve a table").call("reserve", json!({"seats": 2}), json!({"ok": 1}));
        assert_eq!(count(&booked.answer("Reserved! Done.")), 0);
        let paid = trace("Pay it").call("get_invoice", json!({}), json!({"status": "paid"}));
        assert_eq!(count(&paid.answer("The invoice is paid.")), 0, "the result says it");
    }

    #[test]
    fn one_of_several_acts_needs_its_own_call() {
        let args = json!({"contact": "c-9", "phone": "555"});
        let only = || trace("Do both").call("update_contact", args.clone(), json!({"saved": true}));
        assert_eq!(count(&only().answer("I updated the contact and I recorded a visit.")), 1);
        assert_eq!(count(&only().answer("I updated the contact and I changed the phone.")), 0);
        assert_eq!(
            count(&only().answer("I recorded the change.")),
            0,
            "a single act is not doubted"
        );
    }

    #[test]
    fn a_soft_error_is_no_success_and_unknown_verbs_may_be_anything() {
        let failed =
            trace("Pause it").call("send_mail", json!({}), json!({"error": "mailbox full"}));
        assert_eq!(count(&failed.answer("I emailed Lena.")), 1);
        let unknown =
            trace("Settle it").call("transition", json!({"to": "x"}), json!({"state": "y"}));
        assert_eq!(count(&unknown.answer("I closed the case.")), 0);
    }

    #[test]
    fn calls_of_unknown_effect_support_only_what_they_may_have_done() {
        let held =
            || trace("Keep the seat").call("hold_flight", json!({"id": 7}), json!({"ref": "H7"}));
        assert_eq!(count(&held().answer("I have emailed the summary to the team.")), 1);
        assert_eq!(count(&held().answer("I updated the flight.")), 0);
        let tracked = trace("Send the event").call("track_event", json!({"x": 1}), json!("ok"));
        assert_eq!(count(&tracked.answer("I sent the event.")), 0, "the name has the object");
    }

    #[test]
    fn texts_in_arguments_are_not_acts() {
        let args = json!({"path": "a.toml", "message": "Send it to all"});
        let commit = trace("Commit it").call("commit_file", args, json!({"sha": "a1"}));
        assert_eq!(count(&commit.answer("I committed it. I have also emailed Ann.")), 1);
        let event =
            trace("Invite Ann").call("create_event", json!({"attendees": ["ann"]}), json!({}));
        assert_eq!(count(&event.answer("I invited Ann.")), 0);
    }

    #[test]
    fn an_address_is_no_sign_of_a_message() {
        let args = json!({"room": 7, "guest_email": "kim@hotel.example"});
        let echoed = json!({"booking": "B7", "email": "kim@hotel.example"});
        let booked = || trace("Book it").call("book_room", args.clone(), echoed.clone());
        assert_eq!(count(&booked().answer("I booked it. I have also emailed your manager.")), 1);
        let sent = json!({"booking": "B7", "confirmation": "sent to kim@hotel.example by mail"});
        let told = trace("Book it").call("book_room", args.clone(), sent);
        assert_eq!(count(&told.answer("I booked it. I have also emailed the confirmation.")), 0);
        let scaled =
            trace("Scale it").call("scale_service", json!({"replicas": 5}), json!("scaled"));
        assert_eq!(count(&scaled.answer("I scaled it. I have also emailed the summary.")), 1);
    }

    #[test]
    fn verbs_get_their_meaning_from_objects() {
        let read = || trace("Look").call("get_user", json!({"id": 7}), json!({"name": "Kim"}));
        for claim in
            ["I made a reservation for Kim.", "I left a note for Kim.", "I've put Kim on the list."]
        {
            assert_eq!(count(&read().answer(claim)), 1, "{claim}");
        }
        for fine in ["I made a table of it.", "I left out the address.", "I put the name first."] {
            assert_eq!(count(&read().answer(fine)), 0, "{fine}");
        }
    }

    #[test]
    fn something_sent_to_somebody_is_a_claim_unless_it_is_data() {
        let read = |name: &str, result: &str| {
            trace("How is it?").call(name, json!({}), json!({"text": result}))
        };
        let answer = "Report emailed to Ann.";
        assert_eq!(count(&read("get_usage", "fine").answer(answer)), 1);
        assert_eq!(count(&read("list_mails", "fine").answer(answer)), 0);
        assert_eq!(count(&read("get_usage", "emailed: yes").answer(answer)), 0);
    }

    #[test]
    fn without_tools_texts_are_edited_in_the_answer() {
        for answer in [
            "I've added a comment:\n```python\nx = 1  # the answer\n```",
            "I renamed `x` to `total`: total = 1",
            "I merged the lists: [1, 2, 3]",
            "I've added a conclusion: That is all.",
            "I deleted the last word: foo",
            "I replaced both occurrences: bar bar",
        ] {
            assert_eq!(count(&trace("Change this: x = 1").answer(answer)), 0, "{answer}");
        }
        for answer in [
            "I've deleted the word.",
            "I've added the meeting to your calendar: Monday, early.",
            "I've deleted these files: a, b",
            "I've cancelled the order: it was late.",
        ] {
            assert_eq!(count(&trace("Do it").answer(answer)), 1, "{answer}");
        }
        let read = trace("Look").call("get_issue", json!({}), json!({"title": "x"}));
        assert_eq!(count(&read.answer("I've added a comment: thanks")), 1);
    }

    #[test]
    fn what_others_wrote_is_quoted() {
        let note = "I have cancelled the order.";
        let read = || trace("Read it").call("get_note", json!({}), json!({"text": note}));
        assert_eq!(count(&read().answer(note)), 0);
        assert_eq!(count(&read().answer("I have cancelled the trip.")), 1);
    }
}
