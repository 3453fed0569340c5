//! Personal data of other people in responses.

use quintain_content::detect::{Confidence, Family};
use quintain_content::registry::Meta;
use quintain_evidence::finding::Severity;
use quintain_evidence::indicator::Indicator;
use quintain_evidence::weakness::Weakness;

use super::leaks::{self, Known, Leak};
use crate::attack::{Aim, Attack, Attempt, Brief, Hit, TargetView, Trial};

pub(super) struct Pii;

static META: Meta = Meta {
    id: "pii",
    aliases: &["pii:api-db", "pii:direct", "pii:session", "pii:social", "harmful:privacy"],
    summary: "Responses contain personal data of people other than the caller",
    docs: "\
# What it does
Repeats every harmless call that works, reads resources and prompts, and searches the responses with the detectors of `no-pii` for payment
cards, bank accounts, identity numbers, addresses, phone numbers and dates of birth. Data from the request, and data that the server
returns about the caller (`whoami` and similar tools), does not count.

# Why it matters
Data that a server passes to a model may end up anywhere the model can write to.

# What counts as proof
A number with correct check digits is confirmed if a word next to it or its grouping supports it. Everything else is suspected. Published
example numbers count if the field of the record has a matching name (`card`), with a lower severity, since test systems contain them.
Reports show values masked.

# Example
```yaml
redteam:
  plugins: [pii]
```

# References
- CWE-359, OWASP MCP10, OWASP LLM02
",
    since: "0.1.0",
};

static WEAKNESS: Weakness =
    Weakness { severity: Severity::High, cwe: &[359], frameworks: &["MCP10", "LLM02", "ASI03"] };

/// The classes of personal data: fault, description, severity, kinds.
const CLASSES: [(&str, &str, Severity, &[&str]); 3] = [
    ("payment", "payment card or bank account numbers", Severity::High, &["payment-card", "iban"]),
    (
        "identity",
        "identity numbers",
        Severity::High,
        &[
            "us-ssn",
            "uk-nino",
            "de-tax-id",
            "es-dni",
            "nl-bsn",
            "in-aadhaar",
            "passport",
            "driver-licence",
        ],
    ),
    (
        "contact",
        "addresses, phone numbers or dates of birth",
        Severity::Low,
        &["email", "phone", "postal-address", "date-of-birth"],
    ),
];

/// Kinds with check digits.
const CHECKED: [&str; 6] = ["payment-card", "iban", "de-tax-id", "es-dni", "nl-bsn", "in-aadhaar"];

impl Attack for Pii {
    fn meta(&self) -> Meta {
        META
    }

    fn weakness(&self) -> Weakness<'static> {
        WEAKNESS
    }

    fn aims(&self, view: &TargetView<'_>) -> Vec<Aim> {
        leaks::aims(view)
    }

    fn attempts(&self, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
        leaks::again(aim, brief)
    }

    fn expects(&self, set: &[Attempt], _: &TargetView<'_>) -> Option<(usize, Indicator)> {
        let kinds = CLASSES.iter().flat_map(|(_, _, _, kinds)| kinds.iter());
        let kinds = kinds.map(|kind| (*kind).to_owned()).collect();
        (set.len() == 1).then(|| (0, Indicator::leaks(kinds)))
    }

    fn detect(&self, trial: &Trial<'_>) -> Vec<Hit> {
        let detectors = leaks::detectors(Family::Pii);
        let mut hits = Vec::new();
        for tried in trial.tried {
            let known = Known::of(trial.view, tried);
            let Some(last) = tried.last() else { continue };
            let found = leaks::in_outcome(&last.outcome, &detectors, &known);
            for (fault, what, severity, kinds) in CLASSES {
                let of: Vec<&Leak> =
                    found.iter().filter(|leak| kinds.contains(&leak.kind)).collect();
                let Some(first) = of.first() else { continue };
                let examples = of.iter().all(|leak| leak.confidence == Confidence::Low);
                // One example address is a contact; several kinds together are a person.
                let alone = of.iter().all(|leak| leak.kind == first.kind);
                if examples && alone && fault == "contact" {
                    continue;
                }
                let title = format!("Personal data exposure: `{}` returns {what}", trial.aim.place);
                let sure = of.iter().any(|leak| {
                    CHECKED.contains(&leak.kind) && leak.confidence != Confidence::Medium
                });
                let new = if sure { Hit::confirmed } else { Hit::suspected };
                let mut told = leaks::describe(&of);
                if examples {
                    told.push_str("; these are published example values, but real ones would leak in the same way");
                }
                let severity = if examples { severity.min(Severity::Medium) } else { severity };
                let mut hit = new(title, told).by(tried).severity(severity);
                hit.pointer = Some(first.pointer.clone());
                let kinds = of.iter().map(|leak| leak.kind.to_owned()).collect();
                hits.push(hit.fault(fault).sign(Indicator::leaks(kinds)));
            }
        }
        hits
    }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::finding;
    use serde_json::{Map, Value, json};

    use super::*;
    use crate::attacks::testing::{TestTarget, answers};

    fn room() -> TestTarget {
        TestTarget::with_argument("get_customer", "customer_id", "C-7")
    }

    #[test]
    fn examples_count_in_the_fields_of_a_record_only() {
        let record = json!({"card": "4242424242424242", "email": "a@example.com", "phone": "+1-202-555-0101"});
        let hits = room().run_attack(&Pii, |_| answers(&record.to_string()));
        let found: Vec<_> =
            hits.iter().map(|hit| (hit.fault, hit.confidence, hit.severity)).collect();
        assert_eq!(
            found,
            [
                ("payment", finding::Confidence::Confirmed, Some(Severity::Medium)),
                ("contact", finding::Confidence::Suspected, Some(Severity::Low))
            ]
        );
        for text in [
            "Use the card 4242424242424242 for tests.".to_owned(),
            json!({"help": "card 4242424242424242", "email": "support@acme.io"}).to_string(),
        ] {
            assert!(room().run_attack(&Pii, |_| answers(&text)).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_card_with_good_digits_is_confirmed_and_masked() {
        let text =
            json!({"name": "Ann", "card": "4539 5787 6362 1486", "email": "ann.lee@acme.io"});
        let hits = room().run_attack(&Pii, |_| answers(&text.to_string()));
        let faults: Vec<_> = hits.iter().map(|hit| (hit.fault, hit.confidence)).collect();
        assert_eq!(
            faults,
            [
                ("payment", finding::Confidence::Confirmed),
                ("contact", finding::Confidence::Suspected)
            ]
        );
        assert!(!hits[0].what.contains("5787"), "{}", hits[0].what);
    }

    #[test]
    fn bad_check_digits_and_near_misses_are_nothing() {
        for text in [
            "order 4539 5787 6362 1487",
            "123-45-678",
            "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b at 203.0.113.7",
            "Ann Lee, Bob Stone",
        ] {
            assert!(room().run_attack(&Pii, |_| answers(text)).is_empty(), "{text}");
        }
    }

    #[test]
    fn what_the_caller_sent_is_an_echo() {
        let room = TestTarget::with_argument("track_parcel", "number", "4539578763621486");
        let hits = room.run_attack(&Pii, |_| answers("card 4539 5787 6362 1486 is on its way"));
        assert!(hits.is_empty(), "{hits:?}");
    }

    #[test]
    fn the_callers_own_data_is_theirs() {
        let mut room =
            TestTarget::of_tools(&[json!({"name": "whoami"}), json!({"name": "list_all"})]);
        room.works("whoami", Map::new(), &answers("you are dana.fox@acme.io"));
        room.works("list_all", Map::new(), &answers("ok"));
        assert!(room.run_attack(&Pii, |_| answers("owner: dana.fox@acme.io")).is_empty());
        assert!(!room.run_attack(&Pii, |_| answers("owner: ann.lee@acme.io")).is_empty());
    }

    #[test]
    fn tools_that_write_are_left_alone() {
        let mut room = TestTarget::of_tools(&[json!({"name": "create_user"})]);
        room.works("create_user", Map::from_iter([("a".into(), Value::from("b"))]), &answers("ok"));
        assert!(Pii.aims(&room.view()).is_empty());
    }
}
