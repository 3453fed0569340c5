//! US Social Security numbers.

use std::sync::OnceLock;

use super::pattern::{Candidate, Pattern};
use super::{Confidence, Cue, Family};
use crate::registry::Meta;

pub(super) static US_SSN: Pattern = Pattern {
    meta: &Meta {
        id: "us-ssn",
        aliases: &[],
        summary: "US Social Security numbers",
        docs: r"# What it does
Numbers of the form `123-45-6789` whose parts are all in assigned ranges, and nine digits in a row
after a word such as `SSN`.
",
        since: "0.1.0",
    },
    family: Family::Pii,
    cue: Cue::Digits(9),
    regex: r"(?-u)\b[0-9]{3}(?:-[0-9]{2}-|[0-9]{2})[0-9]{4}\b",
    judge,
    compiled: OnceLock::new(),
};

const WORDS: [&str; 5] =
    ["ssn", "social security", "social security number", "social_security", "ss#"];

/// Numbers known from advertisements and samples.
const ADVERTISED: [&str; 3] = ["078-05-1120", "219-09-9999", "123-45-6789"];

fn judge(candidate: &Candidate<'_>) -> Option<Confidence> {
    let found = candidate.found();
    let number = candidate.digits().iter().fold(0_u32, |sum, digit| sum * 10 + u32::from(*digit));
    let (area, group, serial) = (number / 1_000_000, number / 10_000 % 100, number % 10_000);
    let given_out = area != 0 && area != 666 && area < 900 && group != 0 && serial != 0;
    if !given_out || !candidate.is_isolated() {
        return None;
    }
    if ADVERTISED.contains(&found) {
        return Some(Confidence::Low);
    }
    match (candidate.follows(&WORDS), found.contains('-')) {
        (true, _) => Some(Confidence::High),
        (false, true) => Some(Confidence::Medium),
        (false, false) => None,
    }
}
