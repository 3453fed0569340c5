//! Lists of words in lower case.

use std::sync::OnceLock;

use crate::fast_hash::FastSet;

/// Words, written in one text with spaces between them.
pub struct WordList {
    text: &'static str,
    words: OnceLock<FastSet<&'static str>>,
}

impl WordList {
    pub const fn new(text: &'static str) -> Self {
        Self { text, words: OnceLock::new() }
    }

    pub fn has(&self, word: &str) -> bool {
        self.words.get_or_init(|| self.iter().collect()).contains(word)
    }

    /// Whether one of the words is in the list.
    pub fn has_any<W: AsRef<str>>(&self, words: impl IntoIterator<Item = W>) -> bool {
        words.into_iter().any(|word| self.has(word.as_ref()))
    }

    /// The words in the order in which they are written.
    pub fn iter(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.text.split_ascii_whitespace()
    }
}
