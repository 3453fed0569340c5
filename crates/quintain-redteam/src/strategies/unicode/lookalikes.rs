//! Letters of other alphabets that look the same.

use quintain_content::registry::Meta;
use rand::RngExt as _;
use rand::seq::IndexedRandom as _;

use crate::strategies::rewrite::Rewrite;
use crate::strategies::strategy::{Converter, Suits};

pub(in crate::strategies) static HOMOGLYPH: Converter = Converter {
    meta: &Meta {
        id: "homoglyph",
        aliases: &["homoglyphs"],
        summary: "Replaces every letter with a lookalike",
        docs: docs! {
            what: "Replaces Latin letters and digits with Cyrillic, Greek and other characters of \
                   the same shape.",
            why: "A person reads the same word, but a comparison of bytes does not match.",
            example: "strategies:\n  - homoglyph",
        },
        since: "0.1.0",
    },
    suits: Suits::BOTH,
    compile: |_| Rewrite::chars(|c| alike(c).map(String::from)),
};

pub(in crate::strategies) static CONFUSABLE: Converter = Converter {
    meta: &Meta {
        id: "unicode-confusable",
        aliases: &["confusable"],
        summary: "Replaces random letters with lookalikes",
        docs: docs! {
            what: "Replaces a random share of the letters, each with one of several lookalikes: \
                   `share` (default 0.5).",
            why: "Filters that fold one table of lookalikes miss the others.",
            example: "strategies:\n  - id: unicode-confusable\n    config: {share: 0.3}",
        },
        since: "0.1.0",
    },
    suits: Suits::BOTH,
    compile: |options| {
        let share = options.share("share", 0.5);
        Rewrite::by_chance(move |text, random| {
            let confused = text.chars().map(|c| {
                let more =
                    MORE.iter().find(|(letter, _)| *letter == c).map_or("", |(_, more)| more);
                let choice: Vec<char> = alike(c).into_iter().chain(more.chars()).collect();
                let new =
                    if random.random_bool(share) { choice.choose(random).copied() } else { None };
                new.unwrap_or(c)
            });
            confused.collect()
        })
    },
};

const LOWER: [char; 26] = [
    'а', 'Ƅ', 'с', 'ԁ', 'е', 'ƒ', 'ɡ', 'һ', 'і', 'ј', 'κ', 'ӏ', 'ｍ', 'ո', 'о', 'р', 'ԛ', 'г', 'ѕ',
    'τ', 'υ', 'ν', 'ԝ', 'х', 'у', 'ż',
];
const UPPER: [char; 26] = [
    'Α', 'В', 'С', 'Ꭰ', 'Е', 'Ϝ', 'Ԍ', 'Н', 'Ι', 'Ј', 'К', 'Ꮮ', 'М', 'Ν', 'О', 'Р', 'Ԛ', 'Я', 'Ѕ',
    'Т', 'Ս', 'Ѵ', 'Ԝ', 'Х', 'Υ', 'Ꮓ',
];

/// More lookalikes, from Greek, Cyrillic, Armenian, Cherokee and mathematics.
const MORE: [(char, &str); 22] = [
    ('a', "α𝖺𝚊ａ"),
    ('b', "𝖻𝚋ｂЬ"),
    ('c', "ϲ𝖼𝚌ｃⅽ"),
    ('d', "𝖽𝚍ｄⅾ"),
    ('e', "𝖾𝚎ｅҽ"),
    ('g', "𝗀𝚐ｇց"),
    ('h', "𝗁𝚑ｈհ"),
    ('i', "ι𝗂𝚒ｉⅰ"),
    ('k', "𝗄𝚔ｋк"),
    ('l', "𝗅𝚕ｌⅼ"),
    ('m', "𝗆𝚖ⅿ"),
    ('n', "𝗇𝚗ｎ"),
    ('o', "ο𝗈𝚘ｏօ"),
    ('p', "ρ𝗉𝚙ｐ"),
    ('s', "𝗌𝚜ｓ"),
    ('t', "𝗍𝚝ｔ"),
    ('u', "𝗎𝚞ｕս"),
    ('v', "𝗏𝚟ｖⅴ"),
    ('x', "𝗑𝚡ｘⅹ"),
    ('y', "𝗒𝚢ｙү"),
    ('A', "А𝖠𝙰Ａ"),
    ('O', "Ο𝖮𝙾Ｏ"),
];

fn alike(c: char) -> Option<char> {
    match c {
        'a'..='z' => Some(LOWER[usize::from(c as u8 - b'a')]),
        'A'..='Z' => Some(UPPER[usize::from(c as u8 - b'A')]),
        '0'..='9' => char::from_u32(0x1d7f6 + u32::from(c) - u32::from('0')),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::strategies::testing::{first, texts};

    #[test]
    fn known_values() {
        assert_eq!(first("homoglyph", "admin 0-9"), "аԁｍіո 𝟶-𝟿");
    }

    #[test]
    fn no_letter_stands_for_two() {
        let all: BTreeSet<char> = LOWER.iter().chain(&UPPER).copied().collect();
        assert_eq!(all.len(), 52);
        assert!(all.iter().all(|c| !c.is_ascii()));
    }

    #[test]
    fn chance_chooses_letters_and_lookalikes() {
        let entry = "{id: unicode-confusable, config: {share: 1.0}}";
        let one = texts(entry, "password", 1).remove(0);
        assert!(one.chars().all(|c| !c.is_ascii()), "{one}");
        assert_eq!(one.chars().count(), 8);
        assert_ne!(one, texts(entry, "password", 2)[0]);
        assert_eq!(one, texts(entry, "password", 1)[0]);
    }
}
