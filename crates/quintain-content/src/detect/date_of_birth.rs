//! Dates of birth.

use std::sync::OnceLock;

use super::pattern::{Candidate, Pattern};
use super::{Confidence, Cue, Family};
use crate::registry::Meta;

pub(super) static DATE_OF_BIRTH: Pattern = Pattern {
    meta: &Meta {
        id: "date-of-birth",
        aliases: &[],
        summary: "Dates of birth",
        docs: r"# What it does
A date directly after words such as `born` or `date of birth`. Other dates are ignored.
",
        since: "0.1.0",
    },
    family: Family::Pii,
    cue: Cue::Words(&["birth", "born", "dob", "d.o.b", "geboren", "geburt"]),
    regex: concat!(
        r#"(?i-u)\b(?:dob|d\.o\.b\.?|(?:date[ _-]?of[ _-]?)?birth[ _-]?(?:date|day)?|born(?: on)?"#,
        r#"|geboren(?: am)?|geburtsdatum)["']?\s?[:=]?\s?(?:is )?["']?"#,
        r"([0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{4}",
        r"|[0-9]{1,2}\.? [a-z]{3,9},? [0-9]{4}|[a-z]{3,9} [0-9]{1,2},? [0-9]{4})\b"
    ),
    judge,
    compiled: OnceLock::new(),
};

fn judge(candidate: &Candidate<'_>) -> Option<Confidence> {
    let parts = candidate.found().split(|c: char| !c.is_ascii_digit());
    let year = parts.filter(|part| part.len() == 4).find_map(|part| part.parse::<u32>().ok())?;
    (1900..=2030).contains(&year).then_some(Confidence::High)
}
