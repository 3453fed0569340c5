//! Identity numbers of some countries, recognised by a check digit or a word.

use std::sync::OnceLock;

use super::check_digits::{dni_letter, eleven, mod_11_10, verhoeff};
use super::pattern::{Candidate, Pattern};
use super::{Confidence, Cue, Family};
use crate::registry::Meta;

pub(super) static UK_NINO: Pattern = Pattern {
    meta: &Meta {
        id: "uk-nino",
        aliases: &[],
        summary: "UK National Insurance numbers",
        docs: r"# What it does
Two assigned letters, six digits and a letter from A to D. Without separators and without a nearby word
the confidence is low.
",
        since: "0.1.0",
    },
    family: Family::Pii,
    cue: Cue::Digits(6),
    regex: r"(?-u)\b[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-D]\b",
    judge: nino,
    compiled: OnceLock::new(),
};

pub(super) static DE_TAX_ID: Pattern = Pattern {
    meta: &Meta {
        id: "de-tax-id",
        aliases: &[],
        summary: "German tax IDs",
        docs: r"# What it does
Eleven digits with a valid check digit after a word such as `Steuer-ID`; without the word, the confidence is
low.
",
        since: "0.1.0",
    },
    family: Family::Pii,
    cue: Cue::Digits(11),
    regex: r"(?-u)\b[1-9][0-9] ?[0-9]{3} ?[0-9]{3} ?[0-9]{3}\b",
    judge: tax_id,
    compiled: OnceLock::new(),
};

pub(super) static ES_DNI: Pattern = Pattern {
    meta: &Meta {
        id: "es-dni",
        aliases: &[],
        summary: "Spanish identity numbers",
        docs: r"# What it does
DNI and NIE numbers with a valid check letter.
",
        since: "0.1.0",
    },
    family: Family::Pii,
    cue: Cue::Digits(7),
    regex: r"(?-u)\b(?:[0-9]{8}|[XYZ]-?[0-9]{7})-?[A-HJ-NP-TV-Z]\b",
    judge: dni,
    compiled: OnceLock::new(),
};

pub(super) static NL_BSN: Pattern = Pattern {
    meta: &Meta {
        id: "nl-bsn",
        aliases: &[],
        summary: "Dutch citizen service numbers",
        docs: r"# What it does
Nine digits with a valid check digit after a word such as `BSN`.
",
        since: "0.1.0",
    },
    family: Family::Pii,
    cue: Cue::Words(&["bsn", "burgerservice", "sofi"]),
    regex: r"(?-u)\b[0-9]{4}[ .]?[0-9]{2}[ .]?[0-9]{3}\b",
    judge: bsn,
    compiled: OnceLock::new(),
};

pub(super) static IN_AADHAAR: Pattern = Pattern {
    meta: &Meta {
        id: "in-aadhaar",
        aliases: &[],
        summary: "Indian Aadhaar numbers",
        docs: r"# What it does
Twelve digits with a valid check digit, in groups of four or after a word such as `Aadhaar`; otherwise
the confidence is low.
",
        since: "0.1.0",
    },
    family: Family::Pii,
    cue: Cue::Digits(12),
    regex: r"(?-u)\b[2-9][0-9]{3}[ -]?[0-9]{4}[ -]?[0-9]{4}\b",
    judge: aadhaar,
    compiled: OnceLock::new(),
};

/// Prefixes that are never assigned.
const NO_NINO: [&str; 7] = ["BG", "GB", "NK", "KN", "TN", "NT", "ZZ"];

fn nino(candidate: &Candidate<'_>) -> Option<Confidence> {
    let found = candidate.found();
    if !candidate.is_isolated() || NO_NINO.iter().any(|prefix| found.starts_with(prefix)) {
        return None;
    }
    let named = candidate.follows(&["national insurance", "nino", "ni number", "insurance number"]);
    Some(match (named, found.matches(' ').count()) {
        (true, _) => Confidence::High,
        (false, 4) => Confidence::Medium,
        (false, _) => Confidence::Low,
    })
}

fn tax_id(candidate: &Candidate<'_>) -> Option<Confidence> {
    let digits = candidate.digits();
    // Among the first ten digits, one occurs two or three times, none more often.
    let most = (0..10).map(|digit| digits.iter().take(10).filter(|d| **d == digit).count()).max();
    if !candidate.is_isolated() || !mod_11_10(&digits) || !matches!(most, Some(2 | 3)) {
        return None;
    }
    let words = [
        "steuer",
        "steuer-id",
        "steueridentifikationsnummer",
        "idnr",
        "tax id",
        "tax_id",
        "tin",
        "steuernummer",
        "steuerid",
        "identifikationsnummer",
    ];
    Some(if candidate.follows(&words) { Confidence::High } else { Confidence::Low })
}

fn dni(candidate: &Candidate<'_>) -> Option<Confidence> {
    let found = candidate.found();
    let letter = found.bytes().next_back()?;
    let first = match found.bytes().next()? {
        b'X' => "0",
        b'Y' => "1",
        b'Z' => "2",
        _ => "",
    };
    let digits: String = found.chars().filter(char::is_ascii_digit).collect();
    let number: u32 = format!("{first}{digits}").parse().ok()?;
    if !candidate.is_isolated() || dni_letter(number) != letter {
        return None;
    }
    // `20240131T` is the start of a timestamp.
    let year = number / 10_000;
    let date = (1900..2100).contains(&year) && number / 100 % 100 <= 12 && number % 100 <= 31;
    let named = candidate.follows(&["dni", "nie", "nif", "documento"]);
    Some(match (named, date) {
        (true, _) => Confidence::High,
        (false, true) => Confidence::Low,
        (false, false) => Confidence::Medium,
    })
}

fn bsn(candidate: &Candidate<'_>) -> Option<Confidence> {
    let named = candidate.follows(&["bsn", "burgerservicenummer", "sofinummer", "sofi"]);
    let valid = candidate.is_isolated() && eleven(&candidate.digits());
    (named && valid).then_some(Confidence::High)
}

fn aadhaar(candidate: &Candidate<'_>) -> Option<Confidence> {
    if !candidate.is_isolated() || !verhoeff(&candidate.digits()) {
        return None;
    }
    let named = candidate.follows(&["aadhaar", "aadhar", "uidai", "uid"]);
    let grouped = matches!(candidate.found().len(), 14);
    Some(match (named, grouped) {
        (true, _) => Confidence::High,
        (false, true) => Confidence::Medium,
        (false, false) => Confidence::Low,
    })
}
