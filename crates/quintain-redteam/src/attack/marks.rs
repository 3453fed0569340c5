//! Marks and numbers that a target cannot foresee: they follow from a key that only this run knows. Knows
//! nothing of where the key comes from.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// Letters of a mark: 56 bits, so that nobody guesses one and no two are alike.
const LETTERS: usize = 12;

/// The key of one run. It is never written anywhere.
#[derive(Clone)]
pub struct MarkKey([u8; 32]);

impl MarkKey {
    /// A key of random bytes.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// A key that anybody can repeat, for attempts that are written to a file instead of being sent.
    pub fn of_seed(seed: u64) -> Self {
        Self(Sha256::digest(seed.to_be_bytes()).into())
    }

    /// The marks of one purpose; two purposes share none.
    pub fn marks(&self, purpose: &str) -> Marks {
        let digest = Sha256::new().chain_update(self.0).chain_update(purpose);
        Marks { key: digest.finalize().into(), drawn: 0 }
    }
}

/// A sequence of marks and numbers. What was drawn says nothing about what comes next.
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

/// Random letters that occur nowhere by themselves; none of them is a digit, so that arithmetic cannot produce
/// them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Nonce(String);

impl Nonce {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Every text inside of another one that could be a mark.
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
