//! International bank account numbers.

use std::sync::OnceLock;

use super::check_digits::mod_97;
use super::{Confidence, Cue, Detector, Family, Hit, MAX_HITS};
use crate::registry::Meta;
use regex::Regex;

/// Looks for the beginning; the length depends on the country.
pub(super) struct Iban {
    start: OnceLock<Option<Regex>>,
}

pub(super) static IBAN: Iban = Iban { start: OnceLock::new() };

static META: Meta = Meta {
    id: "iban",
    aliases: &[],
    summary: "Bank account numbers (IBAN)",
    docs: r"# What it does
Numbers with the length of their country and valid check digits, unbroken or in groups of
four.
",
    since: "0.1.0",
};

/// Countries with the length of their numbers.
const LENGTHS: [(&str, usize); 42] = [
    ("AD", 24),
    ("AE", 23),
    ("AT", 20),
    ("BA", 20),
    ("BE", 16),
    ("BG", 22),
    ("BR", 29),
    ("CH", 21),
    ("CY", 28),
    ("CZ", 24),
    ("DE", 22),
    ("DK", 18),
    ("EE", 20),
    ("ES", 24),
    ("FI", 18),
    ("FR", 27),
    ("GB", 22),
    ("GR", 27),
    ("HR", 21),
    ("HU", 28),
    ("IE", 22),
    ("IL", 23),
    ("IS", 26),
    ("IT", 27),
    ("KW", 30),
    ("LI", 21),
    ("LT", 20),
    ("LU", 20),
    ("LV", 21),
    ("MC", 27),
    ("MT", 31),
    ("NL", 18),
    ("NO", 15),
    ("PL", 28),
    ("PT", 25),
    ("QA", 29),
    ("RO", 24),
    ("RS", 22),
    ("SA", 24),
    ("SE", 24),
    ("SI", 19),
    ("SK", 24),
];

impl Detector for Iban {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn family(&self) -> Family {
        Family::Pii
    }

    fn cue(&self) -> Cue {
        // Some have letters between; the shortest such run is in Malta and Britain.
        Cue::Digits(5)
    }

    fn find(&self, text: &str) -> Vec<Hit> {
        let start = || Regex::new(r"(?-u)\b[A-Z][A-Z][0-9][0-9] ?[A-Z0-9]").ok();
        let Some(start) = self.start.get_or_init(start) else { return Vec::new() };
        let places = start.find_iter(text).filter_map(|found| {
            let start = found.start();
            let end = start + length(&text[start..])?;
            Some(Hit { start, end, kind: META.id, confidence: Confidence::High })
        });
        places.take(MAX_HITS).collect()
    }
}

/// How many bytes a number takes that begins here.
fn length(text: &str) -> Option<usize> {
    let (_, wanted) = LENGTHS.iter().find(|(country, _)| text.starts_with(country))?;
    let mut compact = String::with_capacity(*wanted);
    let mut spaced = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'A'..=b'Z' | b'0'..=b'9' if compact.len() < *wanted => {
                compact.push(char::from(byte));
                spaced = false;
            }
            b' ' if !spaced && compact.len() < *wanted => spaced = true,
            _ if compact.len() == *wanted => {
                return (!byte.is_ascii_alphanumeric() && mod_97(&compact)).then_some(at);
            }
            _ => return None,
        }
    }
    (compact.len() == *wanted && mod_97(&compact)).then_some(text.len())
}
