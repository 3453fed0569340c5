//! Numbers in words that state how many of something there are: "eight orders", but not "a four-star hotel".

use crate::values::token::{Number, Token};
use crate::values::units::Dimension;
use crate::values::word_list::WordList;

/// People use smaller numbers in idioms, and to count what they say themselves.
const SMALL: f64 = 3.0;
/// Words after a number in which its noun is.
const MAX_WORDS: usize = 3;

/// What an answer itself consists of.
static OWN: WordList = WordList::new(
    "things reasons ways tips ideas thoughts words steps points options examples questions \
     takeaways senses parts sections bullets sentences paragraphs aspects factors categories \
     areas phases stages lines times suggestions alternatives",
);

/// Words before a number that names or orders something.
static LABELS: WordList = WordList::new(
    "top step level chapter page option phase part of in tier stage grade table room gate platform \
     number no day week version line",
);

/// Spans of time that people name without measuring them: seven days a week.
const USUAL: [f64; 9] = [7.0, 10.0, 12.0, 14.0, 24.0, 30.0, 60.0, 90.0, 365.0];

/// Whether a number in words states a count or an amount.
pub(super) fn states_count(text: &str, token: &Token<'_>, number: &Number) -> bool {
    let value = number.readings.first.value;
    let (before, after) = (&text[..token.start], &text[token.end..]);
    let last = before.trim_end().rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    // A capital inside of a sentence begins a name: `the Four Seasons`.
    let begins = before.trim_end_matches(|c: char| c.is_whitespace() || "*_#>-•|(\"".contains(c));
    let is_first = begins.is_empty() || begins.ends_with(['.', '!', '?', ':', '\n']);
    let is_named = token.text.starts_with(char::is_uppercase) && !is_first;
    let begins_with_article =
        ["a ", "an ", "A ", "An "].iter().any(|word| token.text.starts_with(word));
    if value <= SMALL
        || value.fract() != 0.0
        || is_named
        || begins_with_article
        || token.text.eq_ignore_ascii_case("dozen")
        || after.starts_with('-')
        || LABELS.has(&last.to_lowercase())
    {
        return false;
    }
    match number.unit.map(|unit| unit.dimension) {
        Some(Dimension::Time) => !USUAL.contains(&value),
        Some(_) => true,
        None => {
            let clause = after.split(['.', ',', ';', ':', '(', '\n', '!', '?', '–', '—']).next();
            let words = clause.unwrap_or_default().split_whitespace().take(MAX_WORDS);
            let nouns: Vec<&str> =
                words.take_while(|word| *word != "of" && *word != "or").collect();
            let is_plural = |word: &&&str| {
                word.len() > 3 && word.ends_with('s') && word.chars().all(char::is_lowercase)
            };
            nouns.iter().find(is_plural).is_some_and(|noun| !OWN.has(noun))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::token::{Kind, tokens};

    fn states(text: &str) -> bool {
        tokens(text).iter().any(|token| match &token.kind {
            Kind::Number(number) => states_count(text, token, number),
            _ => false,
        })
    }

    #[test]
    fn counts_and_amounts_are_stated() {
        for text in [
            "There are eight items.",
            "There are seven log files.",
            "It is seven degrees.",
            "Eleven orders are open.",
            "It costs two hundred and ten euros.",
            "I found twenty-five open tickets.",
            "It took four hours.",
        ] {
            assert!(states(text), "{text}");
        }
    }

    #[test]
    fn idioms_names_and_labels_are_not() {
        for text in [
            "It is open twenty-four hours.",
            "Seven days a week.",
            "A four-star hotel.",
            "The Four Seasons has rooms.",
            "Here are five things to know.",
            "Nine out of ten agree.",
            "One in five users agrees.",
            "A hundred times better.",
            "See step four.",
            "There are three orders.",
            "It went from zero to five.",
            "A dozen eggs.",
            "High five!",
        ] {
            assert!(!states(text), "{text}");
        }
    }
}
