//! Secrets without a fixed format, recognised by the name of their variable.

use std::sync::OnceLock;

use super::entropy::{bits, looks_random};
use super::pattern::{Candidate, Pattern};
use super::placeholder::is_placeholder;
use super::{Confidence, Cue, Family};
use crate::registry::Meta;

pub(super) static ASSIGNED_SECRET: Pattern = Pattern {
    meta: &Meta {
        id: "assigned-secret",
        aliases: &[],
        summary: "Values that are assigned to a password or key",
        docs: r"# What it does
Finds the value after `password=`, `api_key:` and similar names, also in connection strings, if it looks
random. Ignores placeholders and code that reads the secret from elsewhere.
",
        since: "0.1.0",
    },
    family: Family::Secret,
    cue: Cue::Words(&["passw", "pwd", "secret", "key", "token", "credential"]),
    regex: concat!(
        r#"(?i-u)(?:password|passwd|passphrase|pwd|secret|api[_-]?key|access[_-]?key(?:[_-]?id)?"#,
        r#"|secret[_-]?key|account[_-]?key|private[_-]?key|token|credentials?)"#,
        r#"["']?\s?(?::=|=>|:|=)\s?["']?([!#-&(-+\--:=?-~]{6,})"#
    ),
    judge,
    compiled: OnceLock::new(),
};

fn judge(candidate: &Candidate<'_>) -> Option<Confidence> {
    let value = candidate.found().trim_end_matches(['.', ')', ']', '}', '`', '\\']);
    let code = value.contains(['(', '{', '[', '$', '`']) || value.contains("::");
    if code || is_placeholder(value) || is_path(value) {
        return None;
    }
    let from = candidate.text.floor_char_boundary(candidate.start.saturating_sub(16));
    let name = candidate.text[from..candidate.start].to_ascii_lowercase();
    let password = name.contains("pass") || name.contains("pwd");
    let mixed = value.bytes().take(256).any(|byte| !byte.is_ascii_alphabetic());
    if value.len() >= 16 && looks_random(value, 3.3) {
        return Some(Confidence::High);
    }
    // Passwords that people choose are shorter, but rarely letters only: that is prose.
    let chosen = password && value.len() >= 8 && mixed && bits(value) >= 2.5 && !is_word(value);
    chosen.then_some(Confidence::Medium)
}

fn is_path(value: &str) -> bool {
    value.starts_with(['/', '.', '~']) || value.contains("://")
}

/// `min_length`, `required|string`: words with separators.
fn is_word(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_lowercase() || b"_-.|/:?!".contains(&byte))
}
