//! Lists of words that are written as one text, so that a long list stays short to read.

/// Whether a list contains a word. Words are separated by white space.
pub(crate) fn contains(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|one| one == word)
}
