//! Private keys in PEM files.

use std::sync::OnceLock;

use super::pattern::Pattern;
use super::{Confidence, Cue, Family};
use crate::registry::Meta;

pub(super) static PRIVATE_KEY: Pattern = Pattern {
    meta: &Meta {
        id: "private-key",
        aliases: &[],
        summary: "Private keys",
        docs: r"# What it does
The first line of a PEM file with a private key, followed by the beginning of the key. The line alone
is not a secret.
",
        since: "0.1.0",
    },
    family: Family::Secret,
    cue: Cue::Words(&["-----BEGIN"]),
    regex: concat!(
        r"(?-u)-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----",
        r"(?:\\[nr]|[ \t\r\n]|[A-Za-z-]+: [ -~\t]*[\r\n])*[A-Za-z0-9+/=]{24,}"
    ),
    judge,
    compiled: OnceLock::new(),
};

fn judge(candidate: &super::pattern::Candidate<'_>) -> Option<Confidence> {
    let body = candidate.found().rsplit("-----").next()?;
    (!super::placeholder::is_placeholder(body.trim_start())).then_some(Confidence::High)
}
