//! Passport and driver's license numbers: they have no fixed format, so a word before them decides.

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
Six to nine digits with up to two letters before them, directly after `passport`.
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
        summary: "Driver's license numbers",
        docs: r"# What it does
Letters and digits directly after `driver licence`, with at least five digits.
",
        since: "0.1.0",
    },
    family: Family::Pii,
    cue: Cue::Words(&["licen"]),
    regex: r#"(?i-u)\b(?:driver'?s?|driving)[ _-]?licen[cs]e(?:[ _-]?(?:no|number|nr|id|num))?["'.]*\s?[:#=]?\s?(?:is )?["']?([A-Z0-9][A-Z0-9-]{5,19})\b"#,
    judge: |candidate| (candidate.digits().len() > 4).then_some(Confidence::High),
    compiled: OnceLock::new(),
};
