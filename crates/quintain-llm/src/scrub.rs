//! Removes known keys from texts of servers, which like to quote what they were sent.

use secrecy::{ExposeSecret, SecretString};

const MASK: &str = "***";
/// Shorter texts are words, not keys.
const SHORTEST: usize = 4;

pub(crate) fn scrub(text: &str, secrets: &[SecretString]) -> String {
    let mut text = text.to_owned();
    for secret in secrets.iter().map(ExposeSecret::expose_secret) {
        if secret.len() >= SHORTEST && text.contains(secret) {
            text = text.replace(secret, MASK);
        }
    }
    text
}

/// Whether a text contains one of the secrets.
pub(crate) fn contains(text: &str, secrets: &[SecretString]) -> bool {
    let mut secrets = secrets.iter().map(ExposeSecret::expose_secret);
    secrets.any(|secret| secret.len() >= SHORTEST && text.contains(secret))
}
