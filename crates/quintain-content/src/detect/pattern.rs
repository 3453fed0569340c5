//! A detector that combines a regular expression with a function that checks each match.

use std::sync::OnceLock;

use regex::Regex;

use super::{Confidence, Cue, Detector, Family, Hit, MAX_HITS};
use crate::registry::Meta;

/// Expressions have no long repetitions with an upper bound, which would make
/// them slow. The first group, if there is one, is the match.
pub(super) struct Pattern {
    pub(super) meta: &'static Meta,
    pub(super) family: Family,
    pub(super) cue: Cue,
    pub(super) regex: &'static str,
    /// Checks a match; none if it is something else.
    pub(super) judge: fn(&Candidate<'_>) -> Option<Confidence>,
    pub(super) compiled: OnceLock<Option<Regex>>,
}

/// A match of the regular expression.
pub(super) struct Candidate<'t> {
    pub(super) text: &'t str,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// How many bytes before a candidate words count.
const NEAR: usize = 48;

impl<'t> Candidate<'t> {
    pub(super) fn found(&self) -> &'t str {
        &self.text[self.start..self.end]
    }

    /// The digits alone.
    pub(super) fn digits(&self) -> Vec<u8> {
        self.found().bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0').collect()
    }

    pub(super) fn previous(&self) -> Option<char> {
        self.text[..self.start].chars().next_back()
    }

    pub(super) fn next(&self) -> Option<char> {
        self.text[self.end..].chars().next()
    }

    /// Whether it is not part of something longer: a hash, a UUID, a path, a decimal number.
    pub(super) fn is_isolated(&self) -> bool {
        let glued = |c: char| c.is_alphanumeric() || "_-/\\".contains(c);
        let before = self.previous().is_some_and(|c| glued(c) || ".+".contains(c));
        let mut after = self.text[self.end..].chars();
        let behind = match after.next() {
            // A full stop ends a sentence, unless a digit follows.
            Some('.') => after.next().is_some_and(|c| c.is_ascii_digit()),
            Some(c) => glued(c),
            None => false,
        };
        !before && !behind
    }

    /// Whether it is part of a URL: `https://name@host`.
    pub(super) fn is_in_url(&self) -> bool {
        let from = self.text.floor_char_boundary(self.start.saturating_sub(NEAR));
        let word = self.text[from..self.start].rsplit(char::is_whitespace).next();
        word.is_some_and(|word| word.contains("://"))
    }

    /// Whether one of these words (in lower case) precedes it closely.
    pub(super) fn follows(&self, words: &[&str]) -> bool {
        let from = self.text.floor_char_boundary(self.start.saturating_sub(NEAR));
        let before = self.text[from..self.start].to_ascii_lowercase();
        words.iter().any(|word| has_word(&before, word))
    }
}

/// Whether the text contains the word, not as part of a longer one.
fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

impl Detector for Pattern {
    fn meta(&self) -> &'static Meta {
        self.meta
    }

    fn family(&self) -> Family {
        self.family
    }

    fn cue(&self) -> Cue {
        self.cue
    }

    fn find(&self, text: &str) -> Vec<Hit> {
        let Some(regex) = self.compiled.get_or_init(|| Regex::new(self.regex).ok()) else {
            return Vec::new();
        };
        let hit = |(start, end): (usize, usize)| {
            let confidence = (self.judge)(&Candidate { text, start, end })?;
            Some(Hit { start, end, kind: self.meta.id, confidence })
        };
        if regex.captures_len() == 1 {
            let places = regex.find_iter(text).map(|found| (found.start(), found.end()));
            return places.filter_map(hit).take(MAX_HITS).collect();
        }
        let places = regex.captures_iter(text).filter_map(|found| {
            let found = found.iter().skip(1).flatten().next()?;
            Some((found.start(), found.end()))
        });
        places.filter_map(hit).take(MAX_HITS).collect()
    }
}
