//! Lists of words that are written as one text, so that a long list stays short to read.

use crate::fast_hash::FastSet;

/// The words of a list that is asked often.
pub(crate) fn set(list: &'static str) -> FastSet<&'static str> {
    list.split_ascii_whitespace().collect()
}

/// Whether a list contains a word. Words are separated by white space.
pub(crate) fn contains(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|one| one == word)
}
