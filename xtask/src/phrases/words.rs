//! Words of a text and patterns of words.

/// A word of a passage. Inline code counts as one word, and so does a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) line: usize,
    /// As written.
    pub(super) text: String,
    /// What patterns compare: lower case; "`" for code and placeholders, "#" for a number.
    pub(super) key: String,
}

/// A sequence of words. Each is a list of alternatives separated by `|`; a backquote is any inline code or
/// placeholder, `#` any number, and `*` any word.
#[derive(Debug, Clone)]
pub(super) struct Pattern(Vec<Vec<&'static str>>);

impl Pattern {
    pub(super) fn new(text: &'static str) -> Self {
        Self(text.split(' ').map(|word| word.split('|').collect()).collect())
    }

    pub(super) fn first(&self) -> impl Iterator<Item = &'static str> {
        self.0.first().into_iter().flatten().copied()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// How many words match from this position on.
    pub(super) fn length_at(&self, words: &[Word], at: usize) -> Option<usize> {
        let window = words.get(at..at + self.0.len())?;
        let fits = |(alternatives, word): (&Vec<&str>, &Word)| {
            alternatives.iter().any(|alternative| *alternative == "*" || *alternative == word.key)
        };
        self.0.iter().zip(window).all(fits).then_some(window.len())
    }
}

/// Splits text into passages of words: a passage ends where a sentence or a part of it does.
#[derive(Default)]
pub(super) struct Splitter {
    passages: Vec<Vec<Word>>,
    open: Vec<Word>,
}

impl Splitter {
    /// Adds a line. Inline code between backquotes and placeholders between braces become one word.
    pub(super) fn line(&mut self, line: usize, text: &str) {
        let mut rest = text;
        while let Some(letter) = rest.chars().next() {
            if letter == '`' || letter == '{' {
                let close = if letter == '`' { '`' } else { '}' };
                let end = rest[1..].find(close).map_or(rest.len(), |end| end + 2);
                self.push(line, &rest[..end], "`");
                rest = &rest[end..];
            } else if letter.is_alphanumeric() {
                let is_part = |c: char| c.is_alphanumeric() || "'’-_".contains(c);
                let end = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
                let word = rest[..end].trim_end_matches(['\'', '-', '_', '’']);
                let key = if word.starts_with(|c: char| c.is_ascii_digit()) {
                    "#".to_owned()
                } else {
                    word.to_lowercase()
                };
                self.push(line, word, &key);
                rest = &rest[end..];
            } else {
                if ".;:!?()|".contains(letter) {
                    self.end();
                }
                rest = &rest[letter.len_utf8()..];
            }
        }
    }

    /// Ends the passage.
    pub(super) fn end(&mut self) {
        if !self.open.is_empty() {
            self.passages.push(std::mem::take(&mut self.open));
        }
    }

    pub(super) fn finish(mut self) -> Vec<Vec<Word>> {
        self.end();
        self.passages
    }

    fn push(&mut self, line: usize, text: &str, key: &str) {
        self.open.push(Word { line, text: text.to_owned(), key: key.to_owned() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<Vec<String>> {
        let mut splitter = Splitter::default();
        splitter.line(1, text);
        let passages = splitter.finish();
        passages.into_iter().map(|words| words.into_iter().map(|word| word.key).collect()).collect()
    }

    #[test]
    fn code_placeholders_and_numbers_are_one_word_each() {
        assert_eq!(
            keys("Use `a b` or {name:?}, 42 times"),
            [["use", "`", "or", "`", "#", "times"]]
        );
    }

    #[test]
    fn a_sentence_ends_a_passage_and_a_comma_does_not() {
        assert_eq!(keys("One, two. Three"), vec![vec!["one", "two"], vec!["three"]]);
    }

    #[test]
    fn hyphenated_words_stay_whole() {
        assert_eq!(keys("a third-party's stand-in"), [["a", "third-party's", "stand-in"]]);
    }
}
