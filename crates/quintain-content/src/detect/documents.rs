//! Passports and driver licences: their numbers have no form of their own, so a word has to say it.

use std::sync::OnceLock;

use super::pattern::Pattern;
use super::{Confidence, Cue, Family};
use crate::registry::Meta;

pub(super) static PASSPORT: Pattern = Pattern {
    meta: &Meta {
        id: "passport",
        aliases: &[],
        summary: "Passport numbers",
        docs: r"# What it does
Six to nine digits, perhaps with letters before, directly behind `passport`.
",
        since: "0.1.0",
    },
    family: Family::Pii,
    cue: Cue::Words(&["passport"]),
    regex: r#"(?i-u)\bpassport(?:[ _-]?(?:no|number|nr|id|num))?["'.]*\s?[:#=]?\s?(?:is )?["']?([A-Z]?[A-Z]?[0-9]{6,9})\b"#,
    judge: |_| Some(Confidence::High),
    compiled: OnceLock::new(),
};

pub(super) static DRIVER_LICENCE: Pattern = Pattern {
    meta: &Meta {
        id: "driver-licence",
        aliases: &[],
        summary: "Numbers of driver licences",
        docs: r"# What it does
Letters and digits directly behind `driver licence`, at least five of them digits.
",
        since: "0.1.0",
    },
    family: Family::Pii,
    cue: Cue::Words(&["licen"]),
    regex: r#"(?i-u)\b(?:driver'?s?|driving)[ _-]?licen[cs]e(?:[ _-]?(?:no|number|nr|id|num))?["'.]*\s?[:#=]?\s?(?:is )?["']?([A-Z0-9][A-Z0-9-]{5,19})\b"#,
    judge: |candidate| (candidate.digits().len() > 4).then_some(Confidence::High),
    compiled: OnceLock::new(),
};
