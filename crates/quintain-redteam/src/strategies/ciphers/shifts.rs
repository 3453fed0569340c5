//! Ciphers that shift letters along the alphabet.

use quintain_content::registry::Meta;

use crate::strategies::options::Options;
use crate::strategies::rewrite::{Rewrite, each_char};
use crate::strategies::strategy::{Converter, Suits};

pub(in crate::strategies) static ROT13: Converter = Converter {
    meta: &Meta {
        id: "rot13",
        aliases: &[],
        summary: "Shifts letters by 13 places (ROT13)",
        docs: docs! {
            what: "Replaces each Latin letter with the one 13 places further in the alphabet.",
            why: "It is the best-known cipher: every model reads it, few filters do.",
            example: "strategies:\n  - rot13",
        },
        since: "0.1.0",
    },
    suits: Suits::MODELS,
    compile: |_| Rewrite::one(|text| shifted(text, 13)),
};

pub(in crate::strategies) static CAESAR: Converter = Converter {
    meta: &Meta {
        id: "caesar",
        aliases: &[],
        summary: "Shifts letters by a fixed number of places",
        docs: docs! {
            what: "Replaces each Latin letter with the one `offset` places further in the alphabet \
                   (default 3).",
            why: "Filters that decode rot13 do not try the other 24 offsets.",
            example: "strategies:\n  - id: caesar\n    config: {offset: 7}",
        },
        since: "0.1.0",
    },
    suits: Suits::MODELS,
    compile: |options| {
        let offset = options.whole("offset", 1..=25, 3) as u8;
        Rewrite::one(move |text| shifted(text, offset))
    },
};

pub(in crate::strategies) static ATBASH: Converter = Converter {
    meta: &Meta {
        id: "atbash",
        aliases: &[],
        summary: "Reverses the alphabet: a becomes z",
        docs: docs! {
            what: "Replaces a with z, b with y, and so on; digits likewise.",
            why: "Models decode this cipher without being asked, and it has no key.",
            example: "strategies:\n  - atbash",
        },
        since: "0.1.0",
    },
    suits: Suits::MODELS,
    compile: |_| Rewrite::chars(|c| mirrored(c).map(String::from)),
};

pub(in crate::strategies) static ROT47: Converter = Converter {
    meta: &Meta {
        id: "rot47",
        aliases: &[],
        summary: "Shifts printable ASCII by 47 places (ROT47)",
        docs: docs! {
            what: "Like rot13, but over all 94 visible ASCII characters: digits and punctuation \
                   are shifted too.",
            why: "It also hides numbers, paths and URLs.",
            example: "strategies:\n  - rot47",
        },
        since: "0.1.0",
    },
    suits: Suits::MODELS,
    compile: |_| {
        Rewrite::chars(|c| {
            c.is_ascii_graphic().then(|| char::from((c as u8 - b'!' + 47) % 94 + b'!').to_string())
        })
    },
};

pub(in crate::strategies) static VIGENERE: Converter = Converter {
    meta: &Meta {
        id: "vigenere",
        aliases: &[],
        summary: "Shifts letters by the letters of a key",
        docs: docs! {
            what: "Shifts each Latin letter by the alphabet position of the next letter of `key` \
                   (default `quintain`).",
            why: "No single shift decodes it; a model that knows the key can.",
            example: "strategies:\n  - id: vigenere\n    config: {key: lemon}",
        },
        since: "0.1.0",
    },
    suits: Suits::MODELS,
    compile: vigenere,
};

fn vigenere(options: &mut Options<'_>) -> Rewrite {
    let key = options.text("key", "quintain");
    let shifts: Vec<u8> = key
        .bytes()
        .filter(u8::is_ascii_alphabetic)
        .map(|letter| letter.to_ascii_lowercase() - b'a')
        .collect();
    if shifts.is_empty() {
        options.wrong::<()>("key", "a text with letters from a to z", &key.into());
    }
    Rewrite::one(move |text| {
        let mut shifts = shifts.iter().cycle();
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            let shift = if c.is_ascii_alphabetic() { shifts.next() } else { None };
            out.push(shift.map_or(c, |shift| shifted_char(c, *shift)));
        }
        out
    })
}

pub(in crate::strategies) fn shifted(text: &str, places: u8) -> String {
    each_char(text, |c| c.is_ascii_alphabetic().then(|| shifted_char(c, places).to_string()))
}

fn shifted_char(c: char, places: u8) -> char {
    let first = match c {
        'a'..='z' => b'a',
        'A'..='Z' => b'A',
        _ => return c,
    };
    char::from((c as u8 - first + places) % 26 + first)
}

fn mirrored(c: char) -> Option<char> {
    let (first, last) = match c {
        'a'..='z' => (b'a', b'z'),
        'A'..='Z' => (b'A', b'Z'),
        '0'..='9' => (b'0', b'9'),
        _ => return None,
    };
    Some(char::from(first + (last - c as u8)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategies::testing::{SAMPLES, first, mistakes};

    #[test]
    fn known_values() {
        assert_eq!(first("rot13", "Hello, é 1"), "Uryyb, é 1");
        assert_eq!(first("caesar", "xyz"), "abc");
        assert_eq!(first("atbash", "abc XYZ 09"), "zyx CBA 90");
        assert_eq!(first("rot47", "Hello! 1"), "w6==@P `");
        assert_eq!(
            first("{id: vigenere, config: {key: lemon}}", "Attack at dawn"),
            "Lxfopv ef rnhr"
        );
        assert_eq!(
            mistakes("{id: vigenere, config: {key: '1'}}"),
            ["`key` must be a text with letters from a to z, not `1`"]
        );
    }

    #[test]
    fn twice_is_once_back() {
        for text in SAMPLES {
            for name in ["rot13", "atbash", "rot47"] {
                assert_eq!(first(name, &first(name, text)), text, "{name}");
            }
            for offset in 1..=25 {
                let there = first(&format!("{{id: caesar, config: {{offset: {offset}}}}}"), text);
                assert_eq!(shifted(&there, 26 - offset), text);
            }
        }
    }
}
