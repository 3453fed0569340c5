//! Letters in other shapes: full-width, superscript, rotated, mathematical.

use quintain_content::registry::Meta;

use crate::strategies::rewrite::Rewrite;
use crate::strategies::strategy::{Converter, Suits};

pub(in crate::strategies) static FULL_WIDTH: Converter = Converter {
    meta: &Meta {
        id: "full-width",
        aliases: &["fullwidth"],
        summary: "Full-width forms",
        docs: docs! {
            what: "Replaces visible ASCII with the full-width forms of East Asian text.",
            why: "Databases, file systems and URLs fold them to ASCII after validation.",
            example: "strategies:\n  - full-width",
        },
        since: "0.1.0",
    },
    suits: Suits::BOTH,
    compile: |_| Rewrite::chars(|c| wide(c).map(String::from)),
};

pub(in crate::strategies) static SUPERSCRIPT: Converter = Converter {
    meta: &Meta {
        id: "superscript",
        aliases: &[],
        summary: "Superscript letters",
        docs: docs! {
            what: "Replaces letters and digits with superscript ones, as far as Unicode has them.",
            why: "Normalisation restores the letters; a plain comparison does not match.",
            example: "strategies:\n  - superscript",
        },
        since: "0.1.0",
    },
    suits: Suits::BOTH,
    compile: |_| table(PLAIN, "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖ𐞥ʳˢᵗᵘᵛʷˣʸᶻᴬᴮᶜᴰᴱᶠᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᵠᴿˢᵀᵁⱽᵂˣʸᶻ⁰¹²³⁴⁵⁶⁷⁸⁹"),
};

pub(in crate::strategies) static SMALL_CAPS: Converter = Converter {
    meta: &Meta {
        id: "small-caps",
        aliases: &[],
        summary: "Small capitals",
        docs: docs! {
            what: "Replaces lowercase letters with small capitals of the phonetic alphabets.",
            why: "They look like letters, and normalisation does not fold them.",
            example: "strategies:\n  - small-caps",
        },
        since: "0.1.0",
    },
    suits: Suits::MODELS,
    compile: |_| table("abcdefghijklmnopqrstuvwyz", "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡʏᴢ"),
};

pub(in crate::strategies) static UPSIDE_DOWN: Converter = Converter {
    meta: &Meta {
        id: "upside-down",
        aliases: &["flipped"],
        summary: "Rotates the text by 180 degrees",
        docs: docs! {
            what: "Replaces characters with rotated ones and reverses the text.",
            why: "People and models can read it; a filter cannot.",
            example: "strategies:\n  - upside-down",
        },
        since: "0.1.0",
    },
    suits: Suits::MODELS,
    compile: |_| {
        let turned = pairs("abcdefghijklmnopqrstuvwxyz.,?!'\"()[]{}<>&_1234567890", TURNED);
        Rewrite::one(move |text| {
            let turn = |c: char| replaced(&turned, c.to_ascii_lowercase()).unwrap_or(c);
            text.chars().rev().map(turn).collect()
        })
    },
};

pub(in crate::strategies) static MATH_LETTERS: Converter = Converter {
    meta: &Meta {
        id: "math-letters",
        aliases: &["unicode-fonts"],
        summary: "Mathematical letters",
        docs: docs! {
            what: "Replaces Latin letters with mathematical ones. `style` is `bold`, \
                   `bold-italic`, `bold-script`, `bold-fraktur`, `sans`, `sans-bold` or \
                   `monospace`.",
            why: "They look like another font but are other characters; normalisation restores the \
                  letters.",
            example: "strategies:\n  - id: math-letters\n    config: {style: monospace}",
        },
        since: "0.1.0",
    },
    suits: Suits::BOTH,
    compile: |options| {
        // Only styles without gaps; the others have letters in other blocks.
        let start = options.word(
            "style",
            &[
                ("bold", 0x1d400),
                ("bold-italic", 0x1d468),
                ("bold-script", 0x1d4d0),
                ("bold-fraktur", 0x1d56c),
                ("sans", 0x1d5a0),
                ("sans-bold", 0x1d5d4),
                ("monospace", 0x1d670),
            ],
        );
        Rewrite::chars(move |c| in_blocks(c, start, start + 26).map(String::from))
    },
};

pub(in crate::strategies) static CIRCLED: Converter = Converter {
    meta: &Meta {
        id: "circled",
        aliases: &["enclosed"],
        summary: "Letters in circles or squares",
        docs: docs! {
            what: "Replaces letters with enclosed ones. `form` is `circle`, `filled-circle`, \
                   `square`, `filled-square` or `flags` (regional indicators). Only `circle` has \
                   lowercase letters.",
            why: "Filters take them for pictures; a model reads letters.",
            example: "strategies:\n  - id: circled\n    config: {form: flags}",
        },
        since: "0.1.0",
    },
    suits: Suits::BOTH,
    compile: |options| {
        let (upper, lower) = options.word(
            "form",
            &[
                ("circle", (0x24b6, 0x24d0)),
                ("filled-circle", (0x1f150, 0x1f150)),
                ("square", (0x1f130, 0x1f130)),
                ("filled-square", (0x1f170, 0x1f170)),
                ("flags", (0x1f1e6, 0x1f1e6)),
            ],
        );
        // Two adjacent regional indicators would be displayed as a flag.
        let behind = if upper == 0x1f1e6 { "\u{200c}" } else { "" };
        Rewrite::chars(move |c| in_blocks(c, upper, lower).map(|c| format!("{c}{behind}")))
    },
};

const PLAIN: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const TURNED: &str = "ɐqɔpǝɟƃɥᴉɾʞlɯuodbɹsʇnʌʍxʎz˙'¿¡,„)(][}{><⅋‾⇂ᘔƐㄣϛ9ㄥ860";

fn wide(c: char) -> Option<char> {
    match c {
        ' ' => Some('\u{3000}'),
        '!'..='~' => char::from_u32(u32::from(c) + 0xfee0),
        _ => None,
    }
}

/// The letter in blocks of 26 that begin at these code points.
fn in_blocks(c: char, upper: u32, lower: u32) -> Option<char> {
    match c {
        'A'..='Z' => char::from_u32(upper + u32::from(c) - u32::from('A')),
        'a'..='z' => char::from_u32(lower + u32::from(c) - u32::from('a')),
        _ => None,
    }
}

fn pairs(from: &str, to: &str) -> Vec<(char, char)> {
    from.chars().zip(to.chars()).collect()
}

fn replaced(pairs: &[(char, char)], c: char) -> Option<char> {
    pairs.iter().find(|(from, _)| *from == c).map(|(_, to)| *to)
}

fn table(from: &str, to: &str) -> Rewrite {
    let pairs = pairs(from, to);
    Rewrite::chars(move |c| replaced(&pairs, c).map(String::from))
}

#[cfg(test)]
mod tests {
    use crate::strategies::testing::first;

    #[test]
    fn known_values() {
        assert_eq!(first("full-width", "../a b"), "．．／ａ\u{3000}ｂ");
        assert_eq!(first("superscript", "aZ9!"), "ᵃᶻ⁹!");
        assert_eq!(first("small-caps", "abxz"), "ᴀʙxᴢ");
        assert_eq!(first("upside-down", "Hey?1 0"), "0 ⇂¿ʎǝɥ");
        assert_eq!(first("math-letters", "aZ1"), "𝐚𝐙1");
        assert_eq!(first("{id: math-letters, config: {style: monospace}}", "aZ"), "𝚊𝚉");
        assert_eq!(first("circled", "aZ"), "ⓐⓏ");
        assert_eq!(first("{id: circled, config: {form: flags}}", "us"), "🇺\u{200c}🇸\u{200c}");
    }

    #[test]
    fn tables_have_two_equal_sides() {
        let from = "abcdefghijklmnopqrstuvwxyz.,?!'\"()[]{}<>&_1234567890";
        assert_eq!(from.chars().count(), super::TURNED.chars().count());
        let raised = first("superscript", super::PLAIN);
        assert_eq!(raised.chars().count(), 62);
        assert!(raised.chars().all(|c| !c.is_ascii()), "{raised}");
    }
}
