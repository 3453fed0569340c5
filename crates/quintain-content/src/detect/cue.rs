//! One pass over a text finds the detectors that need to run.

use std::collections::HashSet;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::ALL;

/// What a text must contain for the detector to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cue {
    /// One of these, in any case.
    Words(&'static [&'static str]),
    /// This number of digits, with at most one other character between two of them.
    Digits(usize),
}

/// Finds words of cues, and knows the detectors that they belong to.
struct Words {
    automaton: AhoCorasick,
    owners: Vec<&'static str>,
}

impl Words {
    fn new(kind: Option<AhoCorasickKind>) -> Option<Self> {
        let mut words: Vec<&str> = Vec::new();
        let mut owners = Vec::new();
        for detector in ALL {
            if let Cue::Words(cues) = detector.cue() {
                words.extend(cues);
                owners.extend(cues.iter().map(|_| detector.meta().id));
            }
        }
        let mut builder = AhoCorasick::builder();
        let automaton = builder.ascii_case_insensitive(true).kind(kind).build(words).ok()?;
        Some(Self { automaton, owners })
    }

    /// The fast automaton takes longer to build than a short text takes to search, so it is built for those who search much.
    fn for_length(length: usize) -> Option<&'static Self> {
        let before = SEARCHED.fetch_add(length, Ordering::Relaxed);
        if before.saturating_add(length) < WORTHWHILE { SLOW.as_ref() } else { FAST.as_ref() }
    }
}

/// Bytes from which on the fast automaton pays.
const WORTHWHILE: usize = 64 << 10;
/// Bytes that were searched so far.
static SEARCHED: AtomicUsize = AtomicUsize::new(0);
static SLOW: LazyLock<Option<Words>> =
    LazyLock::new(|| Words::new(Some(AhoCorasickKind::NoncontiguousNFA)));
static FAST: LazyLock<Option<Words>> = LazyLock::new(|| Words::new(None));

/// The ids of the detectors whose cue is in the text.
pub(super) fn cued(text: &str) -> HashSet<&'static str> {
    let digits = longest_number(text.as_bytes());
    let mut cued: HashSet<&'static str> = ALL
        .iter()
        .filter(|detector| matches!(detector.cue(), Cue::Digits(wanted) if digits >= wanted))
        .map(|detector| detector.meta().id)
        .collect();
    let with_words = |detector: &&&dyn super::Detector| matches!(detector.cue(), Cue::Words(_));
    let Some(Words { automaton, owners }) = Words::for_length(text.len()) else {
        // Without the automaton every detector runs.
        cued.extend(ALL.iter().filter(with_words).map(|detector| detector.meta().id));
        return cued;
    };
    let wanted = cued.len() + ALL.iter().filter(with_words).count();
    for found in automaton.find_overlapping_iter(text) {
        cued.insert(owners[found.pattern().as_usize()]);
        if cued.len() == wanted {
            break;
        }
    }
    cued
}

/// The most digits in a row, with one other character between two of them at most.
fn longest_number(text: &[u8]) -> usize {
    let (mut longest, mut digits, mut gap) = (0, 0, 0);
    for byte in text {
        if byte.is_ascii_digit() {
            digits += 1;
            gap = 0;
            longest = longest.max(digits);
        } else {
            gap += 1;
            if gap > 1 {
                digits = 0;
            }
        }
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clean_text_cues_nobody() {
        assert!(cued("The quick brown fox jumps over 12 lazy dogs.").is_empty());
    }

    #[test]
    fn digits_may_have_gaps_of_one() {
        assert_eq!(longest_number(b"a 12-34 5 b  678"), 5);
        assert_eq!(longest_number(b""), 0);
    }
}
