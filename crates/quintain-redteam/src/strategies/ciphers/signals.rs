//! Signalling alphabets: Morse, Braille, spelling words, numbers.

use quintain_content::registry::Meta;

use crate::strategies::rewrite::Rewrite;
use crate::strategies::strategy::{Converter, Suits};

pub(in crate::strategies) static MORSE: Converter = Converter {
    meta: &Meta {
        id: "morse",
        aliases: &[],
        summary: "Morse code",
        docs: docs! {
            what: "Writes letters, digits and punctuation as dots and dashes; words are separated \
                   by `/`.",
            why: "Models read it, and none of its words is in a word list.",
            example: "strategies:\n  - morse",
        },
        since: "0.1.0",
    },
    suits: Suits::MODELS,
    compile: |_| Rewrite::one(morse),
};

pub(in crate::strategies) static BRAILLE: Converter = Converter {
    meta: &Meta {
        id: "braille",
        aliases: &[],
        summary: "Braille",
        docs: docs! {
            what: "Writes letters and digits as Unicode Braille cells, with the signs for capitals \
                   and numbers.",
            why: "A model can still read the text, although it contains no Latin letter.",
            example: "strategies:\n  - braille",
        },
        since: "0.1.0",
    },
    suits: Suits::MODELS,
    compile: |_| Rewrite::one(braille),
};

pub(in crate::strategies) static NATO: Converter = Converter {
    meta: &Meta {
        id: "nato",
        aliases: &["nato-alphabet"],
        summary: "NATO spelling alphabet",
        docs: docs! {
            what: "Writes each letter as its word: Alfa, Bravo, Charlie. Words are separated by \
                   `/`.",
            why: "No word list contains a spelled word.",
            example: "strategies:\n  - nato",
        },
        since: "0.1.0",
    },
    suits: Suits::MODELS,
    compile: |_| Rewrite::one(|text| spelled(text, |c| Some(NATO_WORDS[letter(c)?].to_owned()))),
};

pub(in crate::strategies) static A1Z26: Converter = Converter {
    meta: &Meta {
        id: "a1z26",
        aliases: &["letter-numbers"],
        summary: "Writes letters as their positions in the alphabet",
        docs: docs! {
            what: "Writes a as 1 and z as 26; letters are separated by `-`, words by spaces.",
            why: "Models solve this puzzle at once.",
            example: "strategies:\n  - a1z26",
        },
        since: "0.1.0",
    },
    suits: Suits::MODELS,
    compile: |_| {
        Rewrite::one(|text| {
            let words = text.split(' ').map(|word| {
                let letters = word.chars().map(|c| match letter(c) {
                    Some(place) => (place + 1).to_string(),
                    None => c.to_string(),
                });
                letters.collect::<Vec<_>>().join("-")
            });
            words.collect::<Vec<_>>().join(" ")
        })
    },
};

pub(in crate::strategies) static BACON: Converter = Converter {
    meta: &Meta {
        id: "bacon",
        aliases: &["baconian"],
        summary: "Bacon's cipher",
        docs: docs! {
            what: "Writes each letter as five letters A or B: its position in the alphabet in \
                   binary.",
            why: "Text of only two letters matches no filter.",
            example: "strategies:\n  - bacon",
        },
        since: "0.1.0",
    },
    suits: Suits::MODELS,
    compile: |_| {
        Rewrite::one(|text| {
            spelled(text, |c| {
                let place = letter(c)?;
                Some(
                    (0..5).rev().map(|bit| if place >> bit & 1 == 1 { 'B' } else { 'A' }).collect(),
                )
            })
        })
    },
};

pub(in crate::strategies) static TAP_CODE: Converter = Converter {
    meta: &Meta {
        id: "tap-code",
        aliases: &["polybius"],
        summary: "Writes letters as rows and columns of a square",
        docs: docs! {
            what: "Writes each letter as its row and column in a 5 by 5 square; k counts as c.",
            why: "Digits pass filters that look for words.",
            example: "strategies:\n  - tap-code",
        },
        since: "0.1.0",
    },
    suits: Suits::MODELS,
    compile: |_| {
        Rewrite::one(|text| {
            spelled(text, |c| {
                let place = match letter(c)? {
                    10 => 2,
                    later @ 11.. => later - 1,
                    place => place,
                };
                Some(format!("{}{}", place / 5 + 1, place % 5 + 1))
            })
        })
    },
};

const NATO_WORDS: [&str; 26] = [
    "Alfa", "Bravo", "Charlie", "Delta", "Echo", "Foxtrot", "Golf", "Hotel", "India", "Juliett",
    "Kilo", "Lima", "Mike", "November", "Oscar", "Papa", "Quebec", "Romeo", "Sierra", "Tango",
    "Uniform", "Victor", "Whiskey", "X-ray", "Yankee", "Zulu",
];

const MORSE_LETTERS: [&str; 26] = [
    ".-", "-...", "-.-.", "-..", ".", "..-.", "--.", "....", "..", ".---", "-.-", ".-..", "--",
    "-.", "---", ".--.", "--.-", ".-.", "...", "-", "..-", "...-", ".--", "-..-", "-.--", "--..",
];

const MORSE_SIGNS: [(char, &str); 18] = [
    ('.', ".-.-.-"),
    (',', "--..--"),
    ('?', "..--.."),
    ('\'', ".----."),
    ('!', "-.-.--"),
    ('/', "-..-."),
    ('(', "-.--."),
    (')', "-.--.-"),
    ('&', ".-..."),
    (':', "---..."),
    (';', "-.-.-."),
    ('=', "-...-"),
    ('+', ".-.-."),
    ('-', "-....-"),
    ('_', "..--.-"),
    ('"', ".-..-."),
    ('$', "...-..-"),
    ('@', ".--.-."),
];

/// The position of a Latin letter in the alphabet.
pub(in crate::strategies) fn letter(c: char) -> Option<usize> {
    c.is_ascii_alphabetic().then(|| usize::from(c.to_ascii_lowercase() as u8 - b'a'))
}

/// Characters separated by spaces; a space becomes `/`.
fn spelled(text: &str, spell: impl Fn(char) -> Option<String>) -> String {
    let parts = text.chars().map(|c| match c {
        ' ' => "/".to_owned(),
        c => spell(c).unwrap_or_else(|| c.to_string()),
    });
    parts.collect::<Vec<_>>().join(" ")
}

fn morse(text: &str) -> String {
    spelled(&text.to_lowercase(), |c| {
        if let Some(digit) = c.to_digit(10) {
            // Up to five, dots come first; above five, dashes.
            let (first, then) = if digit > 5 { ('-', '.') } else { ('.', '-') };
            let firsts = if digit > 5 { digit - 5 } else { digit };
            return Some((0..5).map(|at| if at < firsts { first } else { then }).collect());
        }
        let sign = || MORSE_SIGNS.iter().find(|(sign, _)| *sign == c).map(|(_, code)| *code);
        letter(c).map(|place| MORSE_LETTERS[place]).or_else(sign).map(str::to_owned)
    })
}

/// Dots of the letters a to j; later letters add dots 3 and 6.
const BRAILLE_DECADE: [u32; 10] = [0x01, 0x03, 0x09, 0x19, 0x11, 0x0b, 0x1b, 0x13, 0x0a, 0x1a];

fn braille(text: &str) -> String {
    let cell = |dots: u32| char::from_u32(0x2800 + dots).unwrap_or('\u{2800}');
    let mut in_number = false;
    let mut out = String::new();
    for c in text.chars() {
        if let Some(digit) = c.to_digit(10) {
            if !std::mem::replace(&mut in_number, true) {
                out.push(cell(0x3c));
            }
            out.push(cell(BRAILLE_DECADE[(digit as usize + 9) % 10]));
            continue;
        }
        in_number = false;
        let Some(place) = letter(c) else {
            out.push(if c == ' ' { cell(0) } else { c });
            continue;
        };
        if c.is_ascii_uppercase() {
            out.push(cell(0x20));
        }
        // w does not follow the pattern: it is j with dot 6.
        out.push(cell(match place {
            22 => 0x3a,
            0..=9 => BRAILLE_DECADE[place],
            10..=19 => BRAILLE_DECADE[place - 10] | 0x04,
            20 | 21 => BRAILLE_DECADE[place - 20] | 0x24,
            _ => BRAILLE_DECADE[place - 21] | 0x24,
        }));
    }
    out
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::strategies::testing::first;

    #[test]
    fn known_values() {
        assert_eq!(first("morse", "SOS 42?"), "... --- ... / ....- ..--- ..--..");
        assert_eq!(first("morse", "1506789"), ".---- ..... ----- -.... --... ---.. ----.");
        assert_eq!(first("braille", "Hi kuwxyz 12"), "⠠⠓⠊⠀⠅⠥⠺⠭⠽⠵⠀⠼⠁⠃");
        assert_eq!(first("nato", "ab c!"), "Alfa Bravo / Charlie !");
        assert_eq!(first("a1z26", "az b"), "1-26 2");
        assert_eq!(first("bacon", "abz"), "AAAAA AAAAB BBAAB");
        assert_eq!(first("tap-code", "aklz"), "11 13 31 55");
    }

    #[test]
    fn letters_stay_apart() {
        let alphabet = "abcdefghijklmnopqrstuvwxyz0123456789";
        for name in ["morse", "nato", "bacon"] {
            let parts = first(name, alphabet);
            let parts: Vec<&str> = parts.split(' ').collect();
            let different: BTreeSet<_> = parts.iter().collect();
            assert_eq!((parts.len(), different.len()), (36, 36), "{name}");
        }
        let cells: BTreeSet<char> = first("braille", &alphabet[..26]).chars().collect();
        assert_eq!(cells.len(), 26);
    }
}
