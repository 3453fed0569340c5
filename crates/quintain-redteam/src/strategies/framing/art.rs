//! Letters drawn with characters.

use quintain_content::registry::Meta;

use crate::strategies::rewrite::Rewrite;
use crate::strategies::strategy::{Converter, Suits};

pub(in crate::strategies) static ASCII_ART: Converter = Converter {
    meta: &Meta {
        id: "ascii-art",
        aliases: &[],
        summary: "Draws the letters with characters",
        docs: docs! {
            what: "Draws each word in letters five lines high, with the character `ink` (default \
                   `#`).",
            why: "The words exist only visually; models that recognise them act on them.",
            example: "strategies:\n  - id: ascii-art\n    config: {ink: '*'}",
        },
        since: "0.1.0",
    },
    suits: Suits::MODELS,
    compile: |options| {
        let ink = options.text("ink", "#");
        if ink.chars().count() != 1 {
            options.wrong::<()>("ink", "a single character", &ink.as_str().into());
        }
        Rewrite::one(move |text| drawn(text, &ink))
    },
};

/// Five rows of three bits for each letter and digit, leftmost bit first.
const GLYPHS: [(char, [u8; 5]); 36] = [
    ('A', [2, 5, 7, 5, 5]),
    ('B', [6, 5, 6, 5, 6]),
    ('C', [3, 4, 4, 4, 3]),
    ('D', [6, 5, 5, 5, 6]),
    ('E', [7, 4, 6, 4, 7]),
    ('F', [7, 4, 6, 4, 4]),
    ('G', [3, 4, 5, 5, 3]),
    ('H', [5, 5, 7, 5, 5]),
    ('I', [7, 2, 2, 2, 7]),
    ('J', [1, 1, 1, 5, 2]),
    ('K', [5, 5, 6, 5, 5]),
    ('L', [4, 4, 4, 4, 7]),
    ('M', [5, 7, 7, 5, 5]),
    ('N', [6, 5, 5, 5, 5]),
    ('O', [2, 5, 5, 5, 2]),
    ('P', [6, 5, 6, 4, 4]),
    ('Q', [2, 5, 5, 6, 3]),
    ('R', [6, 5, 6, 6, 5]),
    ('S', [3, 4, 2, 1, 6]),
    ('T', [7, 2, 2, 2, 2]),
    ('U', [5, 5, 5, 5, 7]),
    ('V', [5, 5, 5, 5, 2]),
    ('W', [5, 5, 7, 7, 5]),
    ('X', [5, 5, 2, 5, 5]),
    ('Y', [5, 5, 2, 2, 2]),
    ('Z', [7, 1, 2, 4, 7]),
    ('0', [7, 5, 5, 5, 7]),
    ('1', [2, 6, 2, 2, 7]),
    ('2', [6, 1, 2, 4, 7]),
    ('3', [6, 1, 2, 1, 6]),
    ('4', [5, 5, 7, 1, 1]),
    ('5', [7, 4, 6, 1, 6]),
    ('6', [3, 4, 7, 5, 7]),
    ('7', [7, 1, 1, 2, 2]),
    ('8', [7, 5, 7, 5, 7]),
    ('9', [7, 5, 7, 1, 6]),
];

fn drawn(text: &str, ink: &str) -> String {
    let words = text.split_whitespace().map(|word| {
        let rows = (0..5).map(|row| {
            let cells = word.chars().map(|c| cell(c, row, ink));
            cells.collect::<Vec<_>>().join(" ").trim_end().to_owned()
        });
        rows.collect::<Vec<_>>().join("\n")
    });
    words.collect::<Vec<_>>().join("\n\n")
}

/// One row of a letter; a character without a drawing appears unchanged in the middle row.
fn cell(c: char, row: usize, ink: &str) -> String {
    match GLYPHS.iter().find(|(letter, _)| *letter == c.to_ascii_uppercase()) {
        Some((_, rows)) => {
            (0..3).rev().map(|bit| if rows[row] >> bit & 1 == 1 { ink } else { " " }).collect()
        }
        None if row == 2 => c.to_string(),
        None => " ".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::strategies::testing::{first, mistakes};

    #[test]
    fn words_are_drawn() {
        assert_eq!(first("ascii-art", "Hi!"), "# # ###\n# #  #\n###  #  !\n# #  #\n# # ###");
        assert_eq!(first("ascii-art", "a b").split("\n\n").count(), 2);
        assert_eq!(
            mistakes("{id: ascii-art, config: {ink: ''}}"),
            ["`ink` must be a single character, not an empty text"]
        );
    }

    #[test]
    fn every_letter_has_its_own_shape() {
        let shapes: BTreeSet<_> = GLYPHS.iter().map(|(_, rows)| rows).collect();
        assert_eq!(shapes.len(), 36);
    }
}
