//! Complete postal addresses: street, number and postal code.

use std::sync::OnceLock;

use super::pattern::Pattern;
use super::{Confidence, Cue, Family};
use crate::registry::Meta;

pub(super) static POSTAL_ADDRESS: Pattern = Pattern {
    meta: &Meta {
        id: "postal-address",
        aliases: &[],
        summary: "Postal addresses",
        docs: r"# What it does
A street with a number and a postal code, in US, British and German format. A street alone is not
enough.
",
        since: "0.1.0",
    },
    family: Family::Pii,
    cue: Cue::Words(&[
        "street",
        " st",
        "avenue",
        " ave",
        "road",
        " rd",
        "lane",
        " ln",
        "drive",
        " dr",
        "boulevard",
        "blvd",
        "court",
        "straße",
        "strasse",
        "str.",
        "weg",
        "platz",
        "allee",
    ]),
    regex: concat!(
        r"\b[0-9]{1,5}[A-Za-z]? (?:[A-Z][a-z]+\.? ){1,3}",
        r"(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct)\.?,? ",
        r"(?:[A-Za-z0-9#.]+,? ){1,5}",
        r"(?:[A-Z][A-Z] [0-9]{5}(?:-[0-9]{4})?|[A-Z]{1,2}[0-9][A-Z0-9]? [0-9][A-Z]{2})\b",
        r"|\b[A-ZÄÖÜ][a-zäöüß-]+(?: ?[Ss]tra(?:ß|ss)e|str\.|weg|platz|allee) [0-9]{1,4}[a-z]?,? ",
        r"(?:D-)?[0-9]{5} [A-ZÄÖÜ][a-zäöüß]+"
    ),
    judge: |_| Some(Confidence::Medium),
    compiled: OnceLock::new(),
};
