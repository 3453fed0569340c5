//! Invisible text.

use quintain_content::registry::Meta;

use crate::strategies::rewrite::Rewrite;
use crate::strategies::strategy::{Converter, Suits};

pub(in crate::strategies) static ASCII_SMUGGLING: Converter = Converter {
    meta: &Meta {
        id: "ascii-smuggling",
        aliases: &["unicode-tags", "unicode-substitution"],
        summary: "Writes the text in invisible tag characters",
        docs: docs! {
            what: "Writes ASCII as tag characters (U+E0000 and following), which are invisible. \
                   `cover` is visible text before it; `framed: true` adds the tags that begin and \
                   end a sequence.",
            why: "A person who approves the text does not see what the model reads.",
            example: "strategies:\n  - id: ascii-smuggling\n    config: {cover: Good morning}",
        },
        since: "0.1.0",
    },
    suits: Suits::BOTH,
    compile: |options| {
        let cover = options.text("cover", "");
        let framed = options.flag("framed", false);
        Rewrite::one(move |text| {
            let tags = tags(text);
            if framed { format!("{cover}\u{e0001}{tags}\u{e007f}") } else { cover.clone() + &tags }
        })
    },
};

pub(in crate::strategies) static EMOJI: Converter = Converter {
    meta: &Meta {
        id: "emoji",
        aliases: &["variation-selectors", "variation-selector-smuggler"],
        summary: "Appends bytes to an emoji as variation selectors",
        docs: docs! {
            what: "Appends each byte as one of the 256 variation selectors to `base`, an emoji \
                   (default 😊). Only the emoji is visible.",
            why: "Text of any length looks like one character.",
            example: "strategies:\n  - id: emoji\n    config: {base: '🦊'}",
        },
        since: "0.1.0",
    },
    suits: Suits::BOTH,
    compile: |options| {
        let base = options.text("base", "😊");
        Rewrite::one(move |text| base.clone() + &selectors(text))
    },
};

pub(in crate::strategies) static SNEAKY_BITS: Converter = Converter {
    meta: &Meta {
        id: "sneaky-bits",
        aliases: &[],
        summary: "Writes bits as invisible operators",
        docs: docs! {
            what: "Writes each bit as an invisible times (0) or invisible plus (1) character. \
                   `cover` is visible text before it.",
            why: "Filters that know tag characters may not know these.",
            example: "strategies:\n  - sneaky-bits",
        },
        since: "0.1.0",
    },
    suits: Suits::BOTH,
    compile: |options| {
        let cover = options.text("cover", "");
        Rewrite::one(move |text| cover.clone() + &operators(text))
    },
};

pub(in crate::strategies) static ZERO_WIDTH: Converter = Converter {
    meta: &Meta {
        id: "zero-width",
        aliases: &["zero-width-space"],
        summary: "Inserts invisible characters between letters",
        docs: docs! {
            what: "Inserts an invisible character between all characters. `sign` is `space` \
                   (U+200B), `joiner` (U+200D), `non-joiner` (U+200C), `word-joiner` (U+2060) or \
                   `soft-hyphen` (U+00AD).",
            why: "The text looks the same, but none of its words matches.",
            example: "strategies:\n  - id: zero-width\n    config: {sign: soft-hyphen}",
        },
        since: "0.1.0",
    },
    suits: Suits::BOTH,
    compile: |options| {
        let sign = options.word(
            "sign",
            &[
                ("space", '\u{200b}'),
                ("joiner", '\u{200d}'),
                ("non-joiner", '\u{200c}'),
                ("word-joiner", '\u{2060}'),
                ("soft-hyphen", '\u{ad}'),
            ],
        );
        Rewrite::one(move |text| spread(text, &sign.to_string()))
    },
};

const ZERO: char = '\u{2062}';
const ONE: char = '\u{2064}';

/// ASCII as invisible tag characters; other characters stay.
pub(crate) fn tags(text: &str) -> String {
    let tag =
        |c: char| char::from_u32(0xe0000 + u32::from(c)).filter(|_| c.is_ascii()).unwrap_or(c);
    text.chars().map(tag).collect()
}

/// Every byte as a variation selector.
pub(crate) fn selectors(text: &str) -> String {
    let selectors = text.bytes().map(|byte| match byte {
        0..16 => char::from_u32(0xfe00 + u32::from(byte)),
        _ => char::from_u32(0xe0100 + u32::from(byte) - 16),
    });
    selectors.flatten().collect()
}

/// Every bit as an invisible operator.
pub(crate) fn operators(text: &str) -> String {
    let bits = text.bytes().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1));
    bits.map(|bit| if bit == 1 { ONE } else { ZERO }).collect()
}

/// Inserts a text between all characters.
pub(in crate::strategies) fn spread(text: &str, between: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    for (at, c) in text.chars().enumerate() {
        if at > 0 {
            out.push_str(between);
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategies::testing::{SAMPLES, first};

    /// The text that is smuggled as tags, variation selectors or invisible operators.
    fn revealed(text: &str) -> String {
        let mut bytes = Vec::new();
        let (mut bits, mut count) = (0_u8, 0);
        for c in text.chars() {
            match c {
                '\u{e0000}'..='\u{e007e}' if c != '\u{e0001}' => {
                    bytes.push((u32::from(c) & 0x7f) as u8);
                }
                '\u{fe00}'..='\u{fe0f}' => bytes.push((u32::from(c) & 0x0f) as u8),
                '\u{e0100}'..='\u{e01ef}' => bytes.push((u32::from(c) - 0xe0100 + 16) as u8),
                ZERO | ONE => {
                    bits = bits << 1 | u8::from(c == ONE);
                    count += 1;
                    if count == 8 {
                        bytes.push(std::mem::take(&mut bits));
                        count = 0;
                    }
                }
                _ => {}
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    #[test]
    fn known_values() {
        assert_eq!(first("ascii-smuggling", "Hi"), "\u{e0048}\u{e0069}");
        assert_eq!(
            first("{id: ascii-smuggling, config: {cover: ok, framed: true}}", "a"),
            "ok\u{e0001}\u{e0061}\u{e007f}"
        );
        assert_eq!(first("emoji", "A\n"), "😊\u{e0131}\u{fe0a}");
        assert_eq!(first("zero-width", "abc"), "a\u{200b}b\u{200b}c");
        assert_eq!(first("sneaky-bits", "A").chars().count(), 8);
    }

    #[test]
    fn smuggled_text_is_revealed() {
        for text in SAMPLES {
            for name in ["emoji", "sneaky-bits"] {
                assert_eq!(revealed(&first(name, text)), text, "{name}");
            }
            let ascii: String =
                text.chars().filter(|c| c.is_ascii() && !"\u{1}\u{7f}".contains(*c)).collect();
            assert_eq!(revealed(&first("ascii-smuggling", &ascii)), ascii);
        }
        assert_eq!(revealed("nothing hidden"), "");
    }
}
