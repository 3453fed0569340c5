//! Arabic script: elongation, presentation forms, and transliteration into Latin letters.

use quintain_content::registry::Meta;

use crate::strategies::rewrite::Rewrite;
use crate::strategies::strategy::{Converter, Suits};

pub(in crate::strategies) static TATWEEL: Converter = Converter {
    meta: &Meta {
        id: "tatweel",
        aliases: &["kashida"],
        summary: "Inserts elongation characters between letters",
        docs: docs! {
            what: "Inserts `count` tatweel characters (default 1) between neighbouring letters.",
            why: "Readers of Arabic ignore it, but comparisons do not; in Latin text it is noise.",
            example: "strategies:\n  - id: tatweel\n    config: {count: 2}",
        },
        since: "0.1.0",
    },
    suits: Suits::BOTH,
    compile: |options| {
        let line = "\u{640}".repeat(options.whole("count", 1..=8, 1));
        Rewrite::one(move |text| {
            let mut out = String::with_capacity(text.len() * 3);
            let mut chars = text.chars().peekable();
            while let Some(c) = chars.next() {
                out.push(c);
                if c.is_alphabetic() && chars.peek().is_some_and(|next| next.is_alphabetic()) {
                    out.push_str(&line);
                }
            }
            out
        })
    },
};

pub(in crate::strategies) static ARABIC_FORMS: Converter = Converter {
    meta: &Meta {
        id: "arabic-presentation-form",
        aliases: &[],
        summary: "Replaces Arabic letters with their isolated forms",
        docs: docs! {
            what: "Replaces Arabic letters with the isolated forms of the presentation block. \
                   Other text stays unchanged.",
            why: "Normalisation maps them back; word filters may not.",
            example: "strategies:\n  - arabic-presentation-form",
        },
        since: "0.1.0",
    },
    suits: Suits::BOTH,
    compile: |_| Rewrite::chars(|c| isolated(c).map(String::from)),
};

pub(in crate::strategies) static ARABIZI: Converter = Converter {
    meta: &Meta {
        id: "arabizi",
        aliases: &[],
        summary: "Writes Arabic in Latin letters and digits",
        docs: docs! {
            what: "Writes Arabic letters as in chats: 3 for ain, 7 for ha, 2 for hamza. Other text \
                   stays unchanged.",
            why: "Millions of people write like this, but filters for Arabic look for Arabic \
                  letters.",
            example: "strategies:\n  - arabizi",
        },
        since: "0.1.0",
    },
    suits: Suits::BOTH,
    compile: |_| {
        Rewrite::chars(|c| {
            LETTERS.iter().find(|(letter, ..)| *letter == c).map(|(_, _, latin)| *latin)
        })
    },
};

/// Letter, isolated form, transliteration.
const LETTERS: [(char, char, &str); 36] = [
    ('ء', '\u{fe80}', "2"),
    ('آ', '\u{fe81}', "2a"),
    ('أ', '\u{fe83}', "2"),
    ('ؤ', '\u{fe85}', "2"),
    ('إ', '\u{fe87}', "2"),
    ('ئ', '\u{fe89}', "2"),
    ('ا', '\u{fe8d}', "a"),
    ('ب', '\u{fe8f}', "b"),
    ('ة', '\u{fe93}', "a"),
    ('ت', '\u{fe95}', "t"),
    ('ث', '\u{fe99}', "th"),
    ('ج', '\u{fe9d}', "j"),
    ('ح', '\u{fea1}', "7"),
    ('خ', '\u{fea5}', "5"),
    ('د', '\u{fea9}', "d"),
    ('ذ', '\u{feab}', "dh"),
    ('ر', '\u{fead}', "r"),
    ('ز', '\u{feaf}', "z"),
    ('س', '\u{feb1}', "s"),
    ('ش', '\u{feb5}', "sh"),
    ('ص', '\u{feb9}', "9"),
    ('ض', '\u{febd}', "9'"),
    ('ط', '\u{fec1}', "6"),
    ('ظ', '\u{fec5}', "6'"),
    ('ع', '\u{fec9}', "3"),
    ('غ', '\u{fecd}', "3'"),
    ('ف', '\u{fed1}', "f"),
    ('ق', '\u{fed5}', "q"),
    ('ك', '\u{fed9}', "k"),
    ('ل', '\u{fedd}', "l"),
    ('م', '\u{fee1}', "m"),
    ('ن', '\u{fee5}', "n"),
    ('ه', '\u{fee9}', "h"),
    ('و', '\u{feed}', "w"),
    ('ى', '\u{feef}', "a"),
    ('ي', '\u{fef1}', "y"),
];

fn isolated(c: char) -> Option<char> {
    LETTERS.iter().find(|(letter, ..)| *letter == c).map(|(_, form, _)| *form)
}

#[cfg(test)]
mod tests {
    use crate::strategies::testing::first;

    #[test]
    fn known_values() {
        assert_eq!(first("tatweel", "سلام ab"), "سـلـاـم aـb");
        assert_eq!(
            first("arabic-presentation-form", "سلام a"),
            "\u{feb1}\u{fedd}\u{fe8d}\u{fee1} a"
        );
        assert_eq!(first("arabizi", "مرحبا"), "mr7ba");
    }
}
