//! Telephone numbers.

use std::sync::OnceLock;

use super::pattern::{Candidate, Pattern};
use super::{Confidence, Cue, Family};
use crate::registry::Meta;

pub(super) static PHONE: Pattern = Pattern {
    meta: &Meta {
        id: "phone",
        aliases: &[],
        summary: "Telephone numbers",
        docs: r"# What it does
International numbers (`+` and 8 to 15 digits), and national ones after a word such as `phone` or `tel`.
Numbers reserved for fiction (`555-01xx`) have low confidence.
",
        since: "0.1.0",
    },
    family: Family::Pii,
    cue: Cue::Digits(7),
    regex: r"(?-u)\+?\(?[0-9](?:[ ./()-]?[ (]?[0-9])+",
    judge,
    compiled: OnceLock::new(),
};

const WORDS: [&str; 14] = [
    "phone",
    "tel",
    "telephone",
    "mobile",
    "cell",
    "fax",
    "whatsapp",
    "telefon",
    "handy",
    "móvil",
    "teléfono",
    "phone_number",
    "phone number",
    "call",
];

fn judge(candidate: &Candidate<'_>) -> Option<Confidence> {
    let found = candidate.found();
    let digits = candidate.digits();
    let glued = |c: char| c.is_alphanumeric() || "_.".contains(c);
    let whole = !candidate.previous().is_some_and(|c| glued(c) || c == '-' || c == ':')
        && !candidate.next().is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':');
    if !whole || is_monotonous(&digits) {
        return None;
    }
    let named = candidate.follows(&WORDS);
    let international = found.starts_with('+') && digits.first() != Some(&0);
    let confidence = match digits.len() {
        8..=15 if international && named => Confidence::High,
        8..=15 if international => Confidence::Medium,
        7..=12 if named && !found.contains('+') && !is_date(found) => Confidence::Medium,
        _ => return None,
    };
    let fictional = found.contains("555-01") || found.contains("555 01") || found.contains("55501");
    Some(if fictional { Confidence::Low } else { confidence })
}

/// `+0000000`, `+11111111`
fn is_monotonous(digits: &[u8]) -> bool {
    digits.iter().skip(2).all(|digit| Some(digit) == digits.last())
}

/// `2024-01-31`, `31.01.2024`
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split(['-', '.', '/', ' ']).collect();
    let year = |part: &&str| part.len() == 4 && (part.starts_with("19") || part.starts_with("20"));
    let short = |part: &&str| part.len() <= 2;
    match parts.as_slice() {
        [a, b, c, ..] => (year(a) && short(b) && short(c)) || (short(a) && short(b) && year(c)),
        _ => false,
    }
}
