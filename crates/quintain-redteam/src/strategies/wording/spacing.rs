//! Separators between letters or in the middle of words.

use quintain_content::registry::Meta;

use crate::strategies::rewrite::{Rewrite, each_word};
use crate::strategies::strategy::{Converter, Suits};
use crate::strategies::unicode::invisible::spread;

pub(in crate::strategies) static CHAR_SPACE: Converter = Converter {
    meta: &Meta {
        id: "char-space",
        aliases: &["character-space"],
        summary: "Puts spaces between letters and removes punctuation",
        docs: docs! {
            what: "Removes ASCII punctuation and puts a space between all characters.",
            why: "Classifiers that work on tokens see only single letters.",
            example: "strategies:\n  - char-space",
        },
        since: "0.1.0",
    },
    suits: Suits::MODELS,
    compile: |_| {
        Rewrite::one(|text| {
            let bare: String = text.chars().filter(|c| !c.is_ascii_punctuation()).collect();
            spread(&bare, " ")
        })
    },
};

pub(in crate::strategies) static STRING_JOIN: Converter = Converter {
    meta: &Meta {
        id: "string-join",
        aliases: &[],
        summary: "Joins the letters of words with a separator",
        docs: docs! {
            what: "Puts `joiner` (default `-`) between the letters of each word.",
            why: "Readers recognise h-e-l-l-o as a word, but word lists do not match it.",
            example: "strategies:\n  - id: string-join\n    config: {joiner: '.'}",
        },
        since: "0.1.0",
    },
    suits: Suits::MODELS,
    compile: |options| {
        let joiner = options.text("joiner", "-");
        Rewrite::one(move |text| joined_letters(text, &joiner))
    },
};

pub(in crate::strategies) static WORD_SPLIT: Converter = Converter {
    meta: &Meta {
        id: "word-split",
        aliases: &[],
        summary: "Splits words in the middle",
        docs: docs! {
            what: "Splits words of at least `from` letters (default 4) in the middle with \
                   `separator` (default a space).",
            why: "Word lists do not contain half a word.",
            example: "strategies:\n  - id: word-split\n    config: {separator: '-', from: 6}",
        },
        since: "0.1.0",
    },
    suits: Suits::MODELS,
    compile: |options| {
        let separator = options.text("separator", " ");
        let from = options.whole("from", 2..=64, 4);
        Rewrite::one(move |text| {
            each_word(text, |word| {
                let length = word.chars().count();
                if length < from {
                    return word.to_owned();
                }
                let (left, right): (String, String) = (
                    word.chars().take(length / 2).collect(),
                    word.chars().skip(length / 2).collect(),
                );
                format!("{left}{separator}{right}")
            })
        })
    },
};

/// Puts `joiner` between the letters of each word.
pub(in crate::strategies) fn joined_letters(text: &str, joiner: &str) -> String {
    each_word(text, |word| spread(word, joiner))
}

#[cfg(test)]
mod tests {
    use crate::strategies::testing::{SAMPLES, first};

    #[test]
    fn known_values() {
        assert_eq!(first("char-space", "Hi, you"), "H i   y o u");
        assert_eq!(first("string-join", "hi you!"), "h-i y-o-u!");
        assert_eq!(first("word-split", "the password"), "the pass word");
    }

    #[test]
    fn without_the_separator_the_text_is_the_same() {
        for text in SAMPLES {
            for name in ["string-join", "word-split"] {
                let joined = first(
                    &format!(
                        "{{id: {name}, config: {{{}: '¦'}}}}",
                        if name == "string-join" { "joiner" } else { "separator" }
                    ),
                    text,
                );
                assert_eq!(joined.replace('¦', ""), text, "{name}");
            }
        }
    }
}
