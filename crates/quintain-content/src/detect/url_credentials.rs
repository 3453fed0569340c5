//! Passwords in URLs.

use std::sync::OnceLock;

use super::pattern::{Candidate, Pattern};
use super::placeholder::is_placeholder;
use super::{Confidence, Cue, Family};
use crate::registry::Meta;

pub(super) static URL_CREDENTIALS: Pattern = Pattern {
    meta: &Meta {
        id: "url-credentials",
        aliases: &[],
        summary: "Passwords in URLs",
        docs: r"# What it does
`scheme://user:password@host`, in web addresses and database connection strings. Sample passwords
(`user:password@`) have low confidence.
",
        since: "0.1.0",
    },
    family: Family::Secret,
    cue: Cue::Words(&["://"]),
    regex: r"(?-u)\b[A-Za-z][A-Za-z0-9+.-]*://[!#-&(-.0-9;=?A-~]*:([!#-&(-.0-;=?A-~]+)@[A-Za-z0-9\[]",
    judge,
    compiled: OnceLock::new(),
};

const EVERYBODY: [&str; 10] =
    ["password", "pass", "pwd", "secret", "user", "username", "postgres", "root", "admin", "guest"];

fn judge(candidate: &Candidate<'_>) -> Option<Confidence> {
    let password = candidate.found();
    // A placeholder or a template.
    if is_placeholder(password) || password.contains(['{', '}', '$']) {
        return None;
    }
    let known = EVERYBODY.contains(&password.to_ascii_lowercase().as_str());
    Some(if known { Confidence::Low } else { Confidence::High })
}
