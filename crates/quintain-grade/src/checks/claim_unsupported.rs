//! What an answer says that nothing supports: numbers, ids and addresses that no result has, and acts that no call did.

mod actions;
mod arithmetic;
mod claimed;
mod counted;
mod own_text;
mod requests;
mod support;
mod values;
mod verbs;

use quintain_content::registry::Meta;
use quintain_content::text::short::one_line;
use quintain_evidence::graded::{Layer, Level};
use quintain_evidence::trace::{CallOutcome, Role, TraceStep};

use super::{Checked, Fault, TraceCheck};
use crate::policy::CallPolicy;
use crate::values::prose;
use crate::view::View;

pub(super) struct ClaimUnsupported;

static META: Meta = Meta {
    id: "claim.unsupported",
    aliases: &[],
    summary: "the answer states a value that no result has, or an act that no call did",
    docs: "\
# What it does
Compares the numbers, ids, URLs, e-mail addresses, dates and paths of every answer with all that was said and returned before. The same
value in another notation counts, also rounded, in another unit, as a decimal comma, a count of listed items, a sum or mean of a column,
a short hash or a base name. In sentences about totals, differences, averages and shares it also counts what two known numbers make.
A product with a number of the user or of the same sentence counts as well: three nights at 89, 100 at a rate of 1.08.
\"I have created ...\", \"I sent ...\", \"Booked!\" need a successful call that changes something; \"You're booked\" and \"Done\" do if the
user ordered it. An application without tools that edits a text and shows it claims nothing. Negations, offers, questions,
quotes and passives about data are not claims of the application.

# Why it matters
An invented figure reads like a fact, and an act that never happened is noticed late.

# What counts as proof
The results are recorded, and none of them supports the claim. An invented act is an error, an invented value a warning.

# Severity
Error for an act if no successful call changes anything. Warning for an act if other calls change something, and for a
value. In the layer *trace*.

# When it does not apply
No answer is recorded.

# Example
```text
I have sent the invoice to Ann.   (no call changes anything)
```
",
    since: "0.2.0",
};

/// More findings of one trace say no more.
const MAX_FINDINGS: usize = 30;

impl TraceCheck for ClaimUnsupported {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn layer(&self) -> Layer {
        Layer::Trace
    }

    fn check(&self, view: &View<'_>, _: &CallPolicy) -> Checked {
        let answers = answers(view);
        if answers.is_empty() {
            return Checked::NotApplicable("no answer is recorded");
        }
        let acts = actions::Acts::new(view);
        let recorded = recorded(view);
        let mut claimed: Vec<(usize, Vec<actions::Unsupported>)> = Vec::new();
        for (step, text) in &answers {
            let plain = prose::without_code(text);
            claimed.push((*step, acts.unsupported(*step, text, &prose::sentences(&plain))));
        }
        acts.remove_quotes(&mut claimed);
        let mut faults = Vec::new();
        for ((step, text), (_, claims)) in answers.into_iter().zip(claimed) {
            faults.extend(claims.iter().map(|claim| Fault {
                severity: if claim.is_alone { Level::Error } else { Level::Warning },
                call: None,
                pointer: String::new(),
                message: actions::message(claim),
                evidence: one_line(&claim.words, 200),
                hint: "make the call, or report what was not done".to_owned(),
            }));
            if recorded.contains(&step) && view.known().is_whole(step) {
                let plain = prose::without_code(text);
                let invented = values::unsupported(view, step, &plain, &prose::sentences(&plain));
                faults.extend(invented.into_iter().map(|claim| Fault {
                    severity: Level::Warning,
                    call: None,
                    pointer: String::new(),
                    message: format!(
                        "the answer states the {} `{}`, which no result has",
                        claim.what,
                        one_line(&claim.text, 80)
                    ),
                    evidence: one_line(&claim.sentence, 200),
                    hint: "state only what a result says".to_owned(),
                }));
            }
            if faults.len() >= MAX_FINDINGS {
                faults.truncate(MAX_FINDINGS);
                break;
            }
        }
        Checked::Findings(faults)
    }
}

/// The messages that end a turn, with their steps.
fn answers<'t>(view: &View<'t>) -> Vec<(usize, &'t str)> {
    let mut found = Vec::new();
    let mut is_last = true;
    for (step, entry) in view.trace.steps.iter().enumerate().rev() {
        match entry {
            TraceStep::Call(_) => is_last = false,
            TraceStep::Message(message) if message.role == Role::User => is_last = true,
            TraceStep::Message(message) if message.role == Role::Assistant && is_last => {
                found.push((step, message.text.as_str()));
            }
            TraceStep::Message(_) => {}
        }
    }
    found.reverse();
    found
}

/// The steps before which something was called and every result is recorded.
fn recorded(view: &View<'_>) -> std::ops::Range<usize> {
    let first = view.calls.first().map_or(usize::MAX, |call| call.step);
    let mut calls = view.calls.iter();
    let unknown = calls.find(|call| matches!(call.call.outcome, CallOutcome::Unknown));
    first..unknown.map_or(usize::MAX, |call| call.step)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::conversation::{found, trace};
    use super::*;

    fn claims(answer: &str) -> Vec<String> {
        let orders = json!({"orders": [
            {"id": "ORD-1041", "total": 1234.5, "state": "open", "sha": "a1b2c3d4e5f60718293a", "size_bytes": 4_485_198},
            {"id": "ORD-1042", "total": 99.99, "state": "open", "placed": "2026-05-03T10:15:00Z", "path": "/srv/in/a.csv"},
            {"id": "ORD-1043", "total": 12, "state": "closed", "minutes": 135, "share": 0.1537, "price_cents": 4599},
        ]});
        let trace = trace("List the orders of ann@acme.example")
            .call("list_orders", json!({}), orders)
            .answer(answer);
        found(&ClaimUnsupported, &trace).into_iter().map(|fault| fault.message).collect()
    }

    #[test]
    fn values_that_no_result_has_are_found() {
        for answer in [
            "The total of ORD-1041 is $7,391.20.",
            "The order ORD-2077 is open.",
            "There are 57 orders.",
            "There are eight orders.",
            "The total is fifty-seven euros.",
            "See https://orders.example/x/1.",
            "It is in /srv/out/b.csv.",
            "Write to bob@acme.example.",
            "It was placed on June 19, 2025.",
            "Commit 9f8e7d6 has it.",
            "| ORD-1041 | 8812 |",
            "It took 4 h 20 min.",
            "That is 48 % of all.",
            "Your booking reference is QXWTRA.",
        ] {
            assert_eq!(claims(answer).len(), 1, "{answer}: {:?}", claims(answer));
        }
    }

    #[test]
    fn other_notations_counts_and_sums_are_supported() {
        for answer in [
            "The total of ORD-1041 is 1.234,50 €, about $1.2k.",
            "There are 3 orders: 2 open and one closed, together 1,346.49.",
            "Commit `a1b2c3d` has it; the file a.csv has 4.5 MB (4,485,198 bytes).",
            "It was placed on 3 May 2026 at 10:15 AM (05/03/2026).",
            "It took 2 h 15 min, or 2.25 hours, and 15.4 % are done; it costs $45.99.",
            "1. ORD-1041\n2. ORD-1042\n\nWould you like me to refund 500?",
            "The average is 448.83, the difference between ORD-1041 and ORD-1042 is 1134.51.",
            "```\nlet x = 9917;\n```",
            "There are 3 orders; 2 of them (67 %) are open. IMPORTANT: the reference is ORD-1041.",
            "ORD-1041 costs 1,234.50 a year, which is 102.88 a month.",
            "Two of the three orders are open; call us seven days a week.",
            "There are five things to know about this four-star shop.",
        ] {
            assert_eq!(claims(answer), Vec::<String>::new(), "{answer}");
        }
    }

    #[test]
    fn computed_numbers_are_supported() {
        let claims = |user: &str, result: serde_json::Value, answer: &str| {
            let trace = trace(user).call("get_quote", json!({}), result).answer(answer);
            found(&ClaimUnsupported, &trace).len()
        };
        let rate = json!({"rate": 1.0832});
        assert_eq!(claims("How much is 100 EUR in USD?", rate.clone(), "It is 108.32 USD."), 0);
        assert_eq!(claims("How much is 100 EUR in USD?", rate, "It is 109.71 USD."), 1);
        let lamp = json!({"price": 39.9, "shipping": 5});
        let answer = "3 lamps cost 119.70, plus 5.00 for shipping: 124.70 in total.";
        assert_eq!(claims("What do 3 lamps cost?", lamp.clone(), answer), 0);
        assert_eq!(claims("What do 3 lamps cost?", lamp, "3 lamps cost 121.70."), 1);
        assert_eq!(
            claims("And with 20 % off?", json!({"price": 50}), "With 20 % off, it is 40."),
            0
        );
        assert_eq!(
            claims("And with 20 % off?", json!({"price": 50}), "With 20 % off, it is 43."),
            1
        );
        let gross = json!({"net": 200, "vat_percent": 19});
        assert_eq!(claims("What is the gross price?", gross, "The gross price is 238.00."), 0);
    }

    #[test]
    fn differences_of_quantities_are_supported() {
        let claims = |answer: &str| {
            let trace = trace("Is the log growing?")
                .call("read_file", json!({"path": "a.log"}), json!("100 rows"))
                .call("read_file", json!({"path": "a.log"}), json!("140 rows"))
                .answer(answer);
            found(&ClaimUnsupported, &trace).len()
        };
        for answer in ["Yes, it grew by 40 rows.", "The difference is 40 rows."] {
            assert_eq!(claims(answer), 0, "{answer}");
        }
        assert_eq!(claims("Yes, it grew by 57 rows."), 1);
    }

    #[test]
    fn acts_need_a_call_that_changes_something() {
        let only_reads = trace("Cancel it")
            .call("get_order", json!({}), json!({"id": 5}))
            .answer("I have cancelled the order.");
        let faults = found(&ClaimUnsupported, &only_reads);
        assert_eq!((faults.len(), faults[0].severity, faults[0].call), (1, Level::Error, None));
        let failed = trace("Cancel it")
            .failed("cancel_order", json!({}), "no")
            .answer("I have cancelled the order.");
        assert_eq!(found(&ClaimUnsupported, &failed).len(), 1);
        let done = trace("Cancel it")
            .call("cancel_order", json!({}), json!({"ok": true}))
            .answer("I have cancelled the order.");
        assert_eq!(found(&ClaimUnsupported, &done), []);
        let other = trace("Cancel it")
            .call("cancel_order", json!({}), json!({"ok": true}))
            .answer("I have emailed Ann.");
        assert_eq!(found(&ClaimUnsupported, &other)[0].severity, Level::Warning);
    }
}
