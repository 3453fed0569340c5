//! Payment card numbers.

use std::sync::OnceLock;

use super::check_digits::luhn;
use super::pattern::{Candidate, Pattern};
use super::{Confidence, Cue, Family};
use crate::registry::Meta;

pub(super) static PAYMENT_CARD: Pattern = Pattern {
    meta: &Meta {
        id: "payment-card",
        aliases: &[],
        summary: "Credit and debit card numbers",
        docs: r"# What it does
Numbers in the range of an issuer with a valid check digit. In groups, or after a word such as `card`,
the confidence is high. Published test card numbers have low confidence.
",
        since: "0.1.0",
    },
    family: Family::Pii,
    cue: Cue::Digits(13),
    regex: r"(?-u)\b[0-9](?:[ -]?[0-9])+\b",
    judge,
    compiled: OnceLock::new(),
};

const WORDS: [&str; 12] = [
    "card",
    "visa",
    "mastercard",
    "amex",
    "credit",
    "debit",
    "pan",
    "cc",
    "card_number",
    "cardnumber",
    "card number",
    "kreditkarte",
];

/// Published test card numbers.
const TESTS: [&str; 14] = [
    "4111111111111111",
    "4242424242424242",
    "4012888888881881",
    "4000056655665556",
    "4000000000000002",
    "5555555555554444",
    "5105105105105100",
    "2223003122003222",
    "5200828282828210",
    "378282246310005",
    "371449635398431",
    "6011111111111117",
    "6011000990139424",
    "30569309025904",
];

fn judge(candidate: &Candidate<'_>) -> Option<Confidence> {
    let digits = candidate.digits();
    if !candidate.is_isolated() || !is_issued(&digits) || !luhn(&digits) {
        return None;
    }
    let found = candidate.found();
    let compact: String = found.chars().filter(char::is_ascii_digit).collect();
    if TESTS.contains(&compact.as_str()) {
        return Some(Confidence::Low);
    }
    let groups: Vec<usize> = found.split([' ', '-']).map(str::len).collect();
    let grouped = match groups.as_slice() {
        [_] => false,
        [4, 6, 4 | 5] | [4, 4, 4, 4] | [4, 4, 4, 4, 3] => true,
        // Several unrelated numbers in a row.
        _ => return None,
    };
    let sure = grouped || candidate.follows(&WORDS);
    Some(if sure { Confidence::High } else { Confidence::Medium })
}

/// Whether an issuer has numbers with this length and prefix.
fn is_issued(digits: &[u8]) -> bool {
    let start = |count: usize| {
        digits.iter().take(count).fold(0_u32, |start, digit| start * 10 + u32::from(*digit))
    };
    let (two, three, four) = (start(2), start(3), start(4));
    match digits.len() {
        13 | 19 => digits[0] == 4,
        14 => (300..=305).contains(&three) || matches!(two, 36 | 38 | 39),
        15 => matches!(two, 34 | 37),
        16 => {
            digits[0] == 4
                || (51..=55).contains(&two)
                || (2221..=2720).contains(&four)
                || four == 6011
                || (644..=649).contains(&three)
                || two == 65
                || (3528..=3589).contains(&four)
        }
        _ => false,
    }
}
