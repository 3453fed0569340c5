//! Recognises names with random characters of an attempt. Payloads that compute something contain their mark in parts,
//! reversed, or as numbers, so that an echo of the input cannot count as the result.

use quintain_redteam::attack::Nonce;

/// Number of letters of a mark that are enough to recognise it.
const PART: usize = 6;
/// Number of five-digit numbers that are enough.
const NUMBERS: usize = 2;

/// The random values of an attempt.
#[derive(Default)]
pub(super) struct Random {
    /// Parts of marks, forward and reversed.
    parts: Vec<String>,
    numbers: Vec<String>,
}

impl Random {
    pub(super) fn of(drawn: &[String]) -> Self {
        let mut random = Self::default();
        for text in drawn {
            if Nonce::candidates(text).next().is_none() {
                random.numbers.push(text.clone());
                continue;
            }
            let turned: String = text.chars().rev().collect();
            for text in [text, &turned] {
                let parts = text.as_bytes().windows(PART);
                let parts = parts.filter_map(|part| std::str::from_utf8(part).ok());
                random.parts.extend(parts.map(str::to_owned));
            }
        }
        random
    }

    /// Whether a name contains enough random characters of the attempt.
    pub(super) fn is_in(&self, name: &str) -> bool {
        let name = name.to_ascii_lowercase();
        let numbers = self.numbers.iter().filter(|number| name.contains(number.as_str()));
        self.parts.iter().any(|part| name.contains(part.as_str())) || numbers.count() >= NUMBERS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_numbers_of_an_attempt_are_known_again() {
        let drawn = ["abcdefghijkl", "12345", "67890"].map(str::to_owned);
        let random = Random::of(&drawn);
        for name in ["['ghijkl','abcdef'].reverse()", "lkjihgfedcba", "{{12345*67890}}", "X-ABCDEF"]
        {
            assert!(random.is_in(name), "{name}");
        }
        for name in ["abcde", "12345", "thesis.docx", "src", "-o", ""] {
            assert!(!random.is_in(name), "{name}");
        }
        assert!(!Random::default().is_in("anything"));
    }
}
