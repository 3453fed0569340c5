//! Ids and secrets that nobody can guess, and bytes as text.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// 128 random bits as text for URLs.
///
/// # Panics
/// If the operating system provides no randomness: an id that can be guessed would be worse.
pub fn random_id() -> String {
    URL_SAFE_NO_PAD.encode(random_bytes::<16>())
}

/// 256 random bits as text for URLs.
///
/// # Panics
/// As [`random_id`].
pub fn random_secret() -> String {
    URL_SAFE_NO_PAD.encode(random_bytes::<32>())
}

/// Random bytes.
///
/// # Panics
/// As [`random_id`].
pub fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0_u8; N];
    getrandom::fill(&mut bytes).expect("the operating system provides randomness");
    bytes
}

/// Bytes in lower-case hexadecimal digits.
pub fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
