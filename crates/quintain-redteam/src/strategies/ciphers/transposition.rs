//! Ciphers that reorder the characters.

use quintain_content::registry::Meta;

use crate::strategies::rewrite::{Rewrite, each_word};
use crate::strategies::strategy::{Converter, Suits};

pub(in crate::strategies) static REVERSE: Converter = Converter {
    meta: &Meta {
        id: "reverse",
        aliases: &["flip-text"],
        summary: "Reverses the text",
        docs: docs! {
            what: "Reverses the text. `unit` is `text` (all characters), `word` (the characters of \
                   each word) or `order` (the order of the words).",
            why: "Word lists do not match reversed text, but models can read it.",
            example: "strategies:\n  - id: reverse\n    config: {unit: word}",
        },
        since: "0.1.0",
    },
    suits: Suits::MODELS,
    compile: |options| {
        Rewrite::one(options.word(
            "unit",
            &[
                ("text", reversed as fn(&str) -> String),
                ("word", reversed_words),
                ("order", reversed_order),
            ],
        ))
    },
};

pub(in crate::strategies) static RAIL_FENCE: Converter = Converter {
    meta: &Meta {
        id: "rail-fence",
        aliases: &[],
        summary: "Writes the text in a zigzag and reads it in rows",
        docs: docs! {
            what: "Writes the characters in a zigzag over `rails` rows (default 3), and reads them \
                   row by row.",
            why: "It breaks up every word, although all letters are there.",
            example: "strategies:\n  - id: rail-fence\n    config: {rails: 4}",
        },
        since: "0.1.0",
    },
    suits: Suits::MODELS,
    compile: |options| {
        let rails = options.whole("rails", 2..=16, 3);
        Rewrite::one(move |text| rail_fence(text, rails))
    },
};

pub(in crate::strategies) static ODD_EVEN: Converter = Converter {
    meta: &Meta {
        id: "odd-even",
        aliases: &[],
        summary: "Puts every other character first, then the rest",
        docs: docs! {
            what: "Writes the characters at odd positions, then those at even positions.",
            why: "It is the simplest way to break up all words.",
            example: "strategies:\n  - odd-even",
        },
        since: "0.1.0",
    },
    suits: Suits::MODELS,
    compile: |_| {
        Rewrite::one(|text| {
            text.chars().step_by(2).chain(text.chars().skip(1).step_by(2)).collect()
        })
    },
};

pub(in crate::strategies) fn reversed(text: &str) -> String {
    text.chars().rev().collect()
}

pub(in crate::strategies) fn reversed_words(text: &str) -> String {
    each_word(text, reversed)
}

pub(in crate::strategies) fn reversed_order(text: &str) -> String {
    text.split(' ').rev().collect::<Vec<_>>().join(" ")
}

fn rail_fence(text: &str, rails: usize) -> String {
    let period = 2 * (rails - 1);
    let mut rows = vec![String::new(); rails];
    for (at, c) in text.chars().enumerate() {
        let phase = at % period;
        rows[phase.min(period - phase)].push(c);
    }
    rows.concat()
}

#[cfg(test)]
mod tests {
    use crate::strategies::testing::{SAMPLES, first};

    #[test]
    fn known_values() {
        assert_eq!(first("reverse", "abc de"), "ed cba");
        assert_eq!(first("{id: reverse, config: {unit: word}}", "abc, de"), "cba, ed");
        assert_eq!(first("{id: reverse, config: {unit: order}}", "abc de f"), "f de abc");
        assert_eq!(first("rail-fence", "WEAREDISCOVERED"), "WECRERDSOEEAIVD");
        assert_eq!(first("odd-even", "abcde"), "acebd");
    }

    #[test]
    fn no_character_is_lost() {
        let sorted = |text: &str| {
            let mut chars: Vec<char> = text.chars().collect();
            chars.sort_unstable();
            chars
        };
        for text in SAMPLES {
            for name in ["reverse", "rail-fence", "odd-even"] {
                assert_eq!(sorted(&first(name, text)), sorted(text), "{name}");
            }
            assert_eq!(first("reverse", &first("reverse", text)), text);
        }
    }
}
