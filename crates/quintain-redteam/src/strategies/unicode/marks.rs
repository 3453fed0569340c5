//! Combining marks above, below and through letters.

use quintain_content::registry::Meta;
use rand::RngExt as _;

use crate::strategies::rewrite::Rewrite;
use crate::strategies::strategy::{Converter, Suits};

pub(in crate::strategies) static ZALGO: Converter = Converter {
    meta: &Meta {
        id: "zalgo",
        aliases: &[],
        summary: "Adds many combining marks to every letter",
        docs: docs! {
            what: "Adds up to `intensity` random combining marks (default 5) to every letter.",
            why: "Tokens break up and comparisons fail, while the letters stay readable.",
            example: "strategies:\n  - id: zalgo\n    config: {intensity: 3}",
        },
        since: "0.1.0",
    },
    suits: Suits::BOTH,
    compile: |options| {
        let intensity = options.whole("intensity", 1..=20, 5);
        Rewrite::by_chance(move |text, random| {
            let mut out = String::with_capacity(text.len() * 2 * intensity);
            for c in text.chars() {
                out.push(c);
                if c.is_alphanumeric() {
                    let marks = random.random_range(1..=intensity);
                    out.extend((0..marks).filter_map(|_| mark(random.random_range(0..0x70))));
                }
            }
            out
        })
    },
};

pub(in crate::strategies) static DIACRITICS: Converter = Converter {
    meta: &Meta {
        id: "diacritics",
        aliases: &["diacritic"],
        summary: "Adds accents to vowels",
        docs: docs! {
            what: "Adds an accent to the letters in `letters` (default `aeiou`). `accent` is \
                   `acute`, `grave`, `umlaut`, `tilde` or `circumflex`.",
            why: "A filter that compares without folding accents finds no match.",
            example: "strategies:\n  - id: diacritics\n    config: {accent: umlaut}",
        },
        since: "0.1.0",
    },
    suits: Suits::BOTH,
    compile: |options| {
        let accent = options.word(
            "accent",
            &[
                ("acute", '\u{301}'),
                ("grave", '\u{300}'),
                ("umlaut", '\u{308}'),
                ("tilde", '\u{303}'),
                ("circumflex", '\u{302}'),
            ],
        );
        let letters = options.text("letters", "aeiou");
        Rewrite::chars(move |c| {
            let wanted = letters.chars().any(|letter| letter.eq_ignore_ascii_case(&c));
            wanted.then(|| format!("{c}{accent}"))
        })
    },
};

pub(in crate::strategies) static STRIKETHROUGH: Converter = Converter {
    meta: &Meta {
        id: "strikethrough",
        aliases: &[],
        summary: "Adds a line through, under or over every character",
        docs: docs! {
            what: "Adds a combining line to every character. `line` is `through`, `under` or \
                   `over`.",
            why: "The text stays readable, but none of its words matches.",
            example: "strategies:\n  - id: strikethrough\n    config: {line: under}",
        },
        since: "0.1.0",
    },
    suits: Suits::BOTH,
    compile: |options| {
        let line = options
            .word("line", &[("through", '\u{336}'), ("under", '\u{332}'), ("over", '\u{305}')]);
        Rewrite::chars(move |c| (!c.is_whitespace()).then(|| format!("{c}{line}")))
    },
};

/// Leaves out U+034F, a joiner without a shape, so that every mark is visible.
fn mark(at: usize) -> Option<char> {
    char::from_u32(0x300 + at as u32).filter(|c| *c != '\u{34f}')
}

#[cfg(test)]
mod tests {
    use crate::strategies::testing::{SAMPLES, first};

    #[test]
    fn known_values() {
        assert_eq!(first("diacritics", "Abe"), "A\u{301}be\u{301}");
        assert_eq!(first("strikethrough", "a b"), "a\u{336} b\u{336}");
    }

    #[test]
    fn without_its_marks_the_text_is_the_same() {
        for text in SAMPLES.iter().filter(|text| text.is_ascii()) {
            for name in ["zalgo", "diacritics", "strikethrough"] {
                let bare: String = first(name, text)
                    .chars()
                    .filter(|c| !('\u{300}'..='\u{36f}').contains(c))
                    .collect();
                assert_eq!(bare, *text, "{name}");
            }
        }
        assert!(first("zalgo", "abc").chars().count() > 5);
    }
}
