//! JSON Web Tokens.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

use std::sync::OnceLock;

use super::pattern::{Candidate, Pattern};
use super::{Confidence, Cue, Family};
use crate::registry::Meta;

pub(super) static JWT: Pattern = Pattern {
    meta: &Meta {
        id: "jwt",
        aliases: &[],
        summary: "JSON Web Tokens",
        docs: r"# What it does
Three parts separated by dots; the first is JSON that names an algorithm. Tokens without a signature
and the well-known sample token have low confidence.
",
        since: "0.1.0",
    },
    family: Family::Secret,
    cue: Cue::Words(&["eyJ"]),
    regex: r"(?-u)\beyJ[A-Za-z0-9_-]+\.eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*",
    judge,
    compiled: OnceLock::new(),
};

/// Longer texts are not token headers.
const MAX_HEADER: usize = 8_192;

fn judge(candidate: &Candidate<'_>) -> Option<Confidence> {
    let mut parts = candidate.found().split('.');
    let (header, payload, signature) = (parts.next()?, parts.next()?, parts.next()?);
    if header.len() > MAX_HEADER {
        return None;
    }
    let header: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(header).ok()?).ok()?;
    let algorithm = header.get("alg")?.as_str()?;
    let unsigned = signature.is_empty() || algorithm.eq_ignore_ascii_case("none");
    // "John Doe" with the number 1234567890.
    let introduction = payload.starts_with("eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lI");
    Some(if unsigned || introduction { Confidence::Low } else { Confidence::High })
}
