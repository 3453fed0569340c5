//! E-mail addresses.

use std::sync::OnceLock;

use super::pattern::{Candidate, Pattern};
use super::{Confidence, Cue, Family};
use crate::registry::Meta;

pub(super) static EMAIL: Pattern = Pattern {
    meta: &Meta {
        id: "email",
        aliases: &[],
        summary: "E-mail addresses",
        docs: r"# What it does
E-mail addresses. Addresses in documentation domains (`example.com`, `.test`, ...) and role
addresses (`noreply@`, `support@`) have low confidence.
",
        since: "0.1.0",
    },
    family: Family::Pii,
    cue: Cue::Words(&["@"]),
    regex: r"(?-u)[A-Za-z0-9._%+-]+@(?:[A-Za-z0-9-]+\.)+[A-Za-z][A-Za-z]+",
    judge,
    compiled: OnceLock::new(),
};

/// Endings of files that look like domains: `icon@2x.png`.
const FILES: [&str; 14] = [
    "png", "jpg", "jpeg", "gif", "svg", "webp", "css", "js", "ts", "json", "html", "xml", "md",
    "py",
];
const RESERVED: [&str; 5] = ["example", "test", "invalid", "localhost", "local"];
const NOBODY: [&str; 9] =
    ["noreply", "no-reply", "support", "info", "admin", "contact", "hello", "sales", "help"];

fn judge(candidate: &Candidate<'_>) -> Option<Confidence> {
    let (local, domain) = candidate.found().rsplit_once('@')?;
    let domain = domain.to_ascii_lowercase();
    let (rest, ending) = domain.rsplit_once('.')?;
    let too_long = local.len() > 64 || domain.len() > 253;
    // The address of a repository.
    let repository = local == "git" || candidate.next() == Some(':');
    if too_long
        || repository
        || candidate.is_in_url()
        || FILES.contains(&ending)
        || local.starts_with('.')
    {
        return None;
    }
    let label = rest.rsplit('.').next().unwrap_or(rest);
    let local = local.to_ascii_lowercase();
    let of_documents = RESERVED.contains(&ending) || RESERVED.contains(&label);
    if of_documents || NOBODY.contains(&local.as_str()) {
        return Some(Confidence::Low);
    }
    Some(Confidence::High)
}
