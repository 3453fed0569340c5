//! Marks and numbers that a target cannot predict: they are derived from a key that only this run knows. Does not know
//! where the key comes from.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// Letters of a mark: 56 bits, so that marks cannot be guessed and do not collide.
const LETTERS: usize = 12;

/// The key of one run. It is never stored.
#[derive(Clone)]
pub struct MarkKey([u8; 32]);

impl MarkKey {
    /// A key of random bytes.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// A reproducible key, for attempts that are written to a file instead of being sent.
    pub fn of_seed(seed: u64) -> Self {
        Self(Sha256::digest(seed.to_be_bytes()).into())
    }

    /// The marks of one purpose; different purposes have different marks.
    pub fn marks(&self, purpose: &str) -> Marks {
        let digest = Sha256::new().chain_update(self.0).chain_update(purpose);
        Marks { key: digest.finalize().into(), drawn: 0 }
    }
}

/// A sequence of marks and numbers. Known ones do not reveal the next.
#[derive(Clone)]
pub struct Marks {
    key: [u8; 32],
    drawn: u64,
}

impl Marks {
    pub fn number(&mut self) -> u64 {
        self.drawn += 1;
        let digest = Sha256::new().chain_update(self.key).chain_update(self.drawn.to_be_bytes());
        let bytes: [u8; 32] = digest.finalize().into();
        bytes.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    pub fn mark(&mut self) -> Nonce {
        let mut number = self.number();
        let letters = (0..LETTERS).map(|_| {
            let letter = char::from(b'a' + (number % 26) as u8);
            number /= 26;
            letter
        });
        Nonce(letters.collect())
    }
}

/// Random letters that do not occur otherwise. It contains no digits, so that arithmetic cannot produce it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Nonce(String);

impl Nonce {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Every part of a text that could be a mark.
    pub fn candidates(text: &str) -> impl Iterator<Item = &str> {
        let letters = |part: &&[u8]| part.iter().all(u8::is_ascii_lowercase);
        let parts = text.as_bytes().windows(LETTERS).filter(letters);
        parts.filter_map(|part| std::str::from_utf8(part).ok())
    }
}

impl fmt::Display for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_and_a_purpose_decide_every_mark() {
        let drawn = |key: u8, purpose: &str| {
            let mut marks = MarkKey::new([key; 32]).marks(purpose);
            [marks.mark(), marks.mark()]
        };
        assert_eq!(drawn(1, "a"), drawn(1, "a"));
        assert_ne!(drawn(1, "a"), drawn(2, "a"));
        assert_ne!(drawn(1, "a"), drawn(1, "b"));
        assert_ne!(drawn(1, "a")[0], drawn(1, "a")[1]);
        assert_eq!(drawn(1, "a")[0].as_str().len(), LETTERS);
    }

    #[test]
    fn marks_are_found_inside_of_names() {
        let mark = MarkKey::of_seed(1).marks("x").mark();
        for name in [format!("quintain-{mark}.txt"), format!("quintain{mark}"), mark.to_string()] {
            assert!(Nonce::candidates(&name).any(|found| found == mark.as_str()), "{name}");
        }
        assert_eq!(Nonce::candidates("short-words-only").count(), 0);
        assert_eq!(Nonce::candidates("ä").count(), 0);
    }
}
